import type { Json, Script } from "../script.ts";
import { withoutProse } from "../views.ts";
import { configMap, get, partial, partialList, post, remove, table, tables } from "./requests.ts";

const all = "/api/v1/namespaces/{{ns}}/configmaps";
const mine = { labelSelector: "suite=lists" };

/** Lists: paging, selectors, versions, transforms. */
export const lists: Script = {
  title: "lists",
  namespace: "diff-lists",
  steps: [
    get("lists nothing", all, mine, { capture: { before: "metadata.resourceVersion" } }),
    ...["c", "a", "e", "b", "d"].map((name, index) =>
      post(
        `creates ${name}`,
        all,
        configMap(
          name,
          { data: { n: String(index) } },
          { labels: { suite: "lists", name, n: String(index), ...(index % 2 ? { odd: "" } : {}) } },
        ),
      ),
    ),
    get("lists", all, mine, { capture: { now: "metadata.resourceVersion", rvA: "items.0.metadata.resourceVersion" } }),
    get("lists all namespaces", "/api/v1/configmaps", mine),
    get("lists a namespace that is not there", "/api/v1/namespaces/nowhere/configmaps"),
    ...[
      "name=a",
      "name==a",
      "name!=a",
      "name in (a,b)",
      "name notin (a,b)",
      "odd",
      "!odd",
      "n>2",
      "n<2",
      "name=a,n=1",
      "name=",
      "name in ()",
      "a b",
      "=x",
      "name in (a",
      "n>x",
      "name=a=b",
      ",",
      "name=a,",
      "a//b=c",
      `k=${"v".repeat(64)}`,
      "name in (a),odd",
      "-x",
      "name!",
    ].map((labelSelector) =>
      get(`selects by label ${labelSelector}`, all, {
        labelSelector:
          labelSelector.includes("!") || labelSelector.startsWith("name not")
            ? `suite=lists,${labelSelector}`
            : labelSelector,
      }),
    ),
    ...[
      "metadata.name=a",
      "metadata.name==a",
      "metadata.name!=a",
      "metadata.namespace=diff-lists",
      "metadata.namespace=other",
      "metadata.name=a,",
      "metadata.name=a,metadata.name=b",
      "data.n=1",
      "x",
      "metadata.name in (a)",
      "metadata.labels.n=1",
      "=a",
    ].map((fieldSelector) => get(`selects by field ${fieldSelector}`, all, { ...mine, fieldSelector })),
    get("selects a name across namespaces", "/api/v1/configmaps", { ...mine, fieldSelector: "metadata.name=a" }),
    get("lists the first page", all, { limit: "2" }, { view: withoutCount }),
    get(
      "lists the first page of a selection",
      all,
      { ...mine, limit: "2" },
      { capture: { next: "metadata.continue" } },
    ),
    get(
      "lists the second page",
      all,
      { ...mine, limit: "2", continue: "{{next}}" },
      { capture: { last: "metadata.continue" } },
    ),
    get("lists the last page", all, { ...mine, limit: "2", continue: "{{last}}" }),
    get("lists a page exactly as long", all, { ...mine, limit: "5" }),
    get("lists with limit 0", all, { ...mine, limit: "0" }),
    get("lists with a negative limit", all, { ...mine, limit: "-1" }),
    get("lists with a limit that is no number", all, { ...mine, limit: "x" }),
    get("continues with a version", all, { ...mine, limit: "2", continue: "{{next}}", resourceVersion: "{{now}}" }),
    get("continues with version 0", all, { ...mine, limit: "2", continue: "{{next}}", resourceVersion: "0" }),
    get("continues with a match", all, { ...mine, limit: "2", continue: "{{next}}", resourceVersionMatch: "Exact" }),
    get("continues with nonsense", all, { ...mine, limit: "2", continue: "nonsense" }),
    get("continues with broken base64", all, { ...mine, limit: "2", continue: "%%%" }),
    get("lists version 0", all, { ...mine, resourceVersion: "0" }),
    get("lists version 0 with a limit", all, { ...mine, resourceVersion: "0", limit: "2" }),
    get("lists not older than now", all, { ...mine, resourceVersion: "{{now}}", resourceVersionMatch: "NotOlderThan" }),
    get("lists not older than 0", all, { ...mine, resourceVersion: "0", resourceVersionMatch: "NotOlderThan" }),
    get("lists exactly the past", all, { ...mine, resourceVersion: "{{before}}", resourceVersionMatch: "Exact" }),
    get("lists exactly now with a limit", all, {
      ...mine,
      resourceVersion: "{{now}}",
      resourceVersionMatch: "Exact",
      limit: "2",
    }),
    get("lists exactly 0", all, { ...mine, resourceVersion: "0", resourceVersionMatch: "Exact" }),
    get("lists a match without a version", all, { ...mine, resourceVersionMatch: "Exact" }),
    get("lists an unknown match", all, { ...mine, resourceVersion: "{{now}}", resourceVersionMatch: "Sometimes" }),
    get("lists a version that is no number", all, { ...mine, resourceVersion: "x" }),
    get("lists a negative version", all, { ...mine, resourceVersion: "-1" }),
    get("lists a past version with a limit", all, { ...mine, resourceVersion: "{{rvA}}", limit: "2" }),
    get("lists with sendInitialEvents", all, { ...mine, sendInitialEvents: "true" }),
    get("lists with a bad watch", all, { ...mine, watch: "maybe" }, { watch: { events: 5 } }),
    get("lists with watch=false", all, { ...mine, watch: "false" }),
    get("lists with a bad timeout", all, { ...mine, timeoutSeconds: "x" }),
    get("lists a version of the future", all, { ...mine, resourceVersion: "99999999" }, { view: () => null }),

    table("lists as a table", all, mine),
    table("lists a page as a table", all, { ...mine, limit: "2" }),
    table("lists as a table with objects", all, { ...mine, includeObject: "Object" }),
    table("lists as a table without objects", all, { ...mine, includeObject: "None" }),
    table("lists as a table with nonsense", all, { ...mine, includeObject: "Some" }),
    table("reads as a table", `${all}/a`, {}),
    table("reads an absent one as a table", `${all}/zz`, {}),
    get("lists as an old table", all, mine, {
      accept: "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
      view: withoutProse,
    }),
    get("lists as kubectl asks", all, mine, {
      accept: `${tables},application/json;as=Table;g=meta.k8s.io;v=v1beta1,application/json`,
      view: withoutProse,
    }),
    get("lists as partial objects", all, mine, { accept: partialList }),
    get("reads as a partial object", `${all}/a`, {}, { accept: partial }),
    get("lists as a partial object", all, mine, { accept: partial }),
    get("reads as a partial list", `${all}/a`, {}, { accept: partialList }),
    get("lists as an unknown transform", all, mine, { accept: "application/json;as=Picture;g=meta.k8s.io;v=v1" }),
    get("lists as an unknown transform with a fallback", all, mine, {
      accept: "application/json;as=Picture;g=meta.k8s.io;v=v1,application/json",
    }),
    get("lists as XML", all, mine, { accept: "text/xml" }),
    get("lists as anything", all, mine, { accept: "*/*" }),
    get("lists as any application", all, mine, { accept: "application/*" }),
    get(
      "reads as YAML",
      `${all}/a`,
      {},
      {
        accept: "application/yaml",
        view: (body) =>
          String(body)
            .split("\n")
            .filter((line) => /^\S/.test(line))
            .sort(),
      },
    ),
    get("lists as JSON before YAML", all, mine, { accept: "application/json, application/yaml" }),
    post("creates as a table", all, configMap("tabled"), {
      accept: tables,
      query: { dryRun: "All" },
      view: withoutProse,
    }),
    post("creates as a partial object", all, configMap("tabled"), { accept: partial, query: { dryRun: "All" } }),

    remove("deletes a selection dry", all, undefined, { query: { labelSelector: "odd", dryRun: "All" } }),
    remove("deletes a selection", all, undefined, { query: { labelSelector: "odd" } }),
    remove("deletes an empty selection", all, undefined, { query: { labelSelector: "odd" } }),
    remove("deletes with a bad selector", all, undefined, { query: { labelSelector: "a b" } }),
    remove("deletes with a bad option", all, { propagationPolicy: "Sideways" }, { query: mine }),
    remove("deletes by field", all, undefined, { query: { ...mine, fieldSelector: "metadata.name=c" } }),
    post(
      "creates one with a finalizer",
      all,
      configMap("f", {}, { labels: { suite: "lists" }, finalizers: ["a.io/x"] }),
    ),
    remove("deletes a collection with a finalizer", all, { propagationPolicy: "Background" }, { query: mine }),
    get("lists what the deletion left", all, mine),
    remove("deletes across namespaces", "/api/v1/configmaps"),
  ],
};

/** A new namespace holds a ConfigMap with certificates on one side only: how many remain differs by it. */
function withoutCount(body: Json): Json {
  const { metadata, ...list } = body as { [key: string]: Json };
  const { remainingItemCount, ...rest } = metadata as { [key: string]: Json };
  return { ...list, metadata: { ...rest, remainingItemCount: typeof remainingItemCount } };
}
