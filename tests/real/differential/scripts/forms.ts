import type { Json, Script } from "../script.ts";
import { definition } from "./definitions.ts";
import { configMap, get, patch, post, remove, tables } from "./requests.ts";

const maps = "/api/v1/namespaces/{{ns}}/configmaps";
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "forms.diff.io";
const ships = (version: string) => `/apis/${group}/${version}/namespaces/{{ns}}/ships`;
const accept = "application/yaml";

/** Kinds whose columns have something of their own. */
const printed = [
  ..."ipaddresses servicecidrs".split(" ").map((plural) => `networking.k8s.io/v1/${plural}`),
  ..."csinodes csistoragecapacities volumeattachments volumeattributesclasses"
    .split(" ")
    .map((plural) => `storage.k8s.io/v1/${plural}`),
  ..."mutatingadmissionpolicies mutatingadmissionpolicybindings validatingadmissionpolicies validatingadmissionpolicybindings"
    .split(" ")
    .map((plural) => `admissionregistration.k8s.io/v1/${plural}`),
  ..."resourceclaims resourceslices resourceclaimtemplates deviceclasses"
    .split(" ")
    .map((plural) => `resource.k8s.io/v1/${plural}`),
  "apiregistration.k8s.io/v1/apiservices",
  "events.k8s.io/v1/events",
  "autoscaling/v2/horizontalpodautoscalers",
];

/** What each column is called, of which type it is, and when it is shown; the rows are each server's own. */
function columns(body: Json): Json {
  const { columnDefinitions } = body as { columnDefinitions: Record<string, Json>[] };
  return columnDefinitions.map(({ name, type, format, priority }) => ({ name, type, format, priority }) as Json);
}

const version = (name: string, storage: boolean, properties: Json): Json => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
});
const text: Json = { type: "string" };
const ship = (name: string, of: string): Json => ({
  apiVersion: `${group}/${of}`,
  kind: "Ship",
  metadata: { name },
  spec: { a: "1" },
});

/** The forms of an answer: YAML, the columns of tables, and what each version of a kind shows. */
export const forms: Script = {
  title: "forms",
  namespace: "diff-forms",
  steps: [
    get("reads nothing as YAML", `${maps}/none`, {}, { accept }),
    post(
      "creates with an answer in YAML",
      maps,
      configMap(
        "style",
        {
          data: {
            number: "1",
            truth: "true",
            lines: "a\nb\n",
            spaces: " a ",
            colon: "a: b",
            date: "2026-01-01",
            dash: "- a",
            nothing: "",
            word: "yes",
            quote: "it's",
            plain: "a-b.c/d",
          },
        },
        {
          labels: { b: "1", a: "2" },
          finalizers: ["example.com/a"],
        },
      ),
      { accept, query: { dryRun: "All" } },
    ),
    ...printed.map((path) => get(`lists ${path} as a table`, `/apis/${path}`, {}, { accept: tables, view: columns })),
    post(
      "defines two versions with defaults of their own",
      crds,
      definition(
        group,
        "Ship",
        {},
        {},
        {
          versions: [
            version("v1", true, {
              a: text,
              both: { type: "string", default: "stored" },
              old: { type: "string", default: "o" },
            }),
            version("v2", false, { a: text, both: text, own: { type: "string", default: "not stored" } }),
          ],
        },
      ),
    ),
    get("waits until it is served", ships("v1"), {}, { until: { status: 200 } }),
    get("waits until it is served in its other version", ships("v2"), {}, { until: { status: 200 } }),
    post("creates in the version that is stored", ships("v1"), ship("one", "v1")),
    post("creates in the other version", ships("v2"), ship("two", "v2")),
    get("reads in the other version", `${ships("v2")}/one`),
    get("reads in the version that is stored", `${ships("v1")}/two`),
    get("lists in the other version", ships("v2")),
    patch("merge", "changes in the other version", `${ships("v2")}/one`, { spec: { own: "x", a: "2" } }),
    remove("deletes its definition", `${crds}/ships.${group}`, undefined, { view: () => null }),
  ],
};
