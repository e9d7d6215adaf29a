/** What can be done at which path: the operations of OpenAPI, made from a table by verb and a few rules of naming. */
import { lookup } from "@lotse/client/meta";
import type { Endpoint, Subresource } from "../../registry/index.ts";

/** Types that a parameter in a path or a query can have. */
export type ParameterType = "string" | "integer" | "boolean";

/** A parameter of an operation, in the terms that both versions of OpenAPI share. */
export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly type: ParameterType;
}

/** A body or an answer: its media types and the component that describes it; undefined for plain text. */
export interface Content {
  readonly types: readonly string[];
  readonly ref: string | undefined;
}

/** What a client can do at a path, in the terms that both versions of OpenAPI share. */
export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly action?: string;
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly parameters: readonly Parameter[];
  readonly body?: Content & { readonly required: boolean };
  /** By status code. That of a request without credentials is the same everywhere and left out. */
  readonly responses: Readonly<Record<string, Content>>;
}

/** The operations of each path, by method. */
export type Paths = Record<string, Record<string, Operation>>;

/** How an endpoint's kinds are called in a document. */
export interface Names {
  readonly object: string;
  readonly list: string;
  readonly subresource: (sub: Subresource) => string;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const STATUS = `${META}.Status`;
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const DOCUMENT_TYPES = ["application/json", PROTOBUF, "application/yaml"];

const query = (type: ParameterType, ...names: string[]): Parameter[] =>
  names.map((name) => ({ name, in: "query", type }));
const path = (name: string): Parameter => ({ name, in: "path", type: "string" });

const LIST = [
  ...query("boolean", "allowWatchBookmarks"),
  ...query("string", "continue", "fieldSelector", "labelSelector"),
  ...query("integer", "limit"),
  ...query("string", "resourceVersion", "resourceVersionMatch"),
  ...query("boolean", "sendInitialEvents"),
  ...query("string", "shardSelector"),
  ...query("integer", "timeoutSeconds"),
  ...query("boolean", "watch"),
];
const DELETE = [
  ...query("string", "dryRun"),
  ...query("integer", "gracePeriodSeconds"),
  ...query("boolean", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents"),
  ...query("string", "propagationPolicy"),
];
const DELETE_COLLECTION = [...DELETE, ...LIST.filter(({ name }) => name !== "allowWatchBookmarks" && name !== "watch")];
const WRITE = query("string", "dryRun", "fieldManager", "fieldValidation");
const PATCH = [...WRITE, ...query("boolean", "force")];
const LOG = [
  ...query("string", "container", "stream"),
  ...query("boolean", "follow", "insecureSkipTLSVerifyBackend", "previous", "timestamps"),
  ...query("integer", "limitBytes", "sinceSeconds", "tailLines"),
];
const STREAMS = query("boolean", "stderr", "stdin", "stdout", "tty");

/** Subresources that open a connection, with what they are asked. */
const CONNECT: Readonly<Record<string, readonly Parameter[]>> = {
  attach: [...query("string", "container"), ...STREAMS],
  exec: [...query("string", "command", "container"), ...STREAMS],
  portforward: query("integer", "ports"),
  proxy: query("string", "path"),
};
const PROXY_METHODS = ["delete", "get", "head", "options", "patch", "post", "put"];

const CODES = { create: ["200", "201", "202"], replace: ["200", "201"], patch: ["200", "201"] } as const;

/** Built-in kinds whose deletion is documented with a Status although it answers with the object. */
const DOCUMENTED_WITH_STATUS: ReadonlySet<string> = new Set(["namespaces"]);

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, as names of operations have it. */
export function groupTitle(group: string): string {
  if (group === "") return "Core";
  return group
    .replace(/\.k8s\.io$/, "")
    .split(/[.-]/)
    .map(title)
    .join("");
}

const title = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
const untitled = (word: string): string => word.slice(0, 1).toLowerCase() + word.slice(1);

/** What operations are sorted under: `rbacAuthorization_v1`, or the group alone. */
export function tagOf(group: string, version?: string): string {
  const name = untitled(groupTitle(group));
  return version === undefined ? name : `${name}_${version}`;
}

/** The paths of one resource in one version. */
export function operationsOf({ resource, version }: Endpoint, names: Names): Paths {
  const group = `${groupTitle(resource.group)}${title(version.version)}`;
  const scope = resource.namespaced ? "Namespaced" : "";
  const root = resource.group === "" ? `/api/${version.version}` : `/apis/${resource.group}/${version.version}`;
  const inScope = resource.namespaced ? `${root}/namespaces/{namespace}` : root;
  const collection = `${inScope}/${resource.plural}`;
  const item = `${collection}/{name}`;
  const namespace = resource.namespaced ? [path("namespace")] : [];
  const one = [path("name"), ...namespace];
  const own = { group: resource.group, version: version.version, kind: resource.kind };
  const pretty = query("string", "pretty");
  // The documents of custom resources are written by another hand, which knows fewer words.
  const { custom } = resource;
  const types = custom ? ["application/json", "application/yaml"] : DOCUMENT_TYPES;
  const streams = custom ? types : [...types, "application/json;stream=watch", `${PROTOBUF};stream=watch`].sort();
  const patches = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    ...(custom ? [] : ["application/strategic-merge-patch+json"]),
  ];
  const tag = tagOf(resource.group, version.version);
  const anything = ["*/*"];
  const bodies = custom ? types : anything;
  const answers = (ref: string, ...codes: string[]): Record<string, Content> =>
    Object.fromEntries(codes.map((code) => [code, { types, ref }]));
  const options = { types: bodies, ref: `${META}.DeleteOptions`, required: false };

  const read = (id: string, where: readonly Parameter[], ref: string, kind = own): Operation => ({
    id: `read${group}${scope}${id}`,
    tag,
    action: "get",
    kind,
    parameters: [...where, ...pretty, ...(custom ? query("string", "resourceVersion") : [])],
    responses: answers(ref, "200"),
  });
  const write = (
    verb: "create" | "replace" | "patch",
    id: string,
    where: readonly Parameter[],
    ref: string,
    kind = own,
  ): Operation => ({
    id: `${verb}${group}${scope}${id}`,
    tag,
    action: { create: "post", replace: "put", patch: "patch" }[verb],
    kind,
    parameters: [...where, ...pretty, ...(verb === "patch" ? PATCH : WRITE)],
    body:
      verb === "patch"
        ? { types: patches, ref: `${META}.Patch`, required: true }
        : { types: bodies, ref, required: true },
    responses: answers(ref, ...CODES[verb].slice(0, custom && verb === "patch" ? 1 : undefined)),
  });
  const list = (id: string, where: readonly Parameter[], action = "list", ref = names.list): Operation => ({
    id,
    tag,
    action,
    kind: own,
    parameters: [...where, ...pretty, ...LIST],
    responses: { "200": { types: streams, ref } },
  });

  const has = (verb: string) => version.verbs.includes(verb);
  const paths: Paths = {};
  const add = (where: string, method: string, operation: Operation | false) => {
    if (!operation) return;
    paths[where] ??= {};
    (paths[where] as Record<string, Operation>)[method] = operation;
  };
  const { kind } = resource;
  add(collection, "get", has("list") && list(`list${group}${scope}${kind}`, namespace));
  add(collection, "post", has("create") && write("create", kind, namespace, names.object));
  add(
    collection,
    "delete",
    has("deletecollection") && {
      id: `delete${group}Collection${scope}${kind}`,
      tag,
      action: "deletecollection",
      kind: own,
      parameters: [...namespace, ...pretty, ...(custom ? LIST : DELETE_COLLECTION)],
      ...(custom ? {} : { body: options }),
      responses: answers(STATUS, "200"),
    },
  );
  add(item, "get", has("get") && read(kind, one, names.object));
  add(item, "put", has("update") && write("replace", kind, one, names.object));
  add(item, "patch", has("patch") && write("patch", kind, one, names.object));
  const shown = resource.strategy.deleteReturnsObject && !DOCUMENTED_WITH_STATUS.has(resource.plural);
  add(
    item,
    "delete",
    has("delete") && {
      id: `delete${group}${scope}${kind}`,
      tag,
      action: "delete",
      kind: own,
      parameters: [...one, ...pretty, ...DELETE],
      body: options,
      responses: answers(shown ? names.object : STATUS, "200", "202"),
    },
  );
  if (resource.namespaced && has("list")) {
    add(`${root}/${resource.plural}`, "get", list(`list${group}${kind}ForAllNamespaces`, []));
  }
  // Custom resources are younger than the paths that say "watch".
  if (has("watch") && !custom) {
    const event = `${META}.WatchEvent`;
    const everywhere = resource.namespaced ? "ForAllNamespaces" : "";
    const watched = `${inScope.replace(root, `${root}/watch`)}/${resource.plural}`;
    add(
      `${root}/watch/${resource.plural}`,
      "get",
      list(`watch${group}${kind}List${everywhere}`, [], "watchlist", event),
    );
    if (resource.namespaced) {
      add(watched, "get", list(`watch${group}${scope}${kind}List`, namespace, "watchlist", event));
    }
    if (has("get")) add(`${watched}/{name}`, "get", list(`watch${group}${scope}${kind}`, one, "watch", event));
  }

  for (const sub of version.subresources) {
    const where = `${item}/${sub.name}`;
    const id = `${kind}${title(sub.name)}`;
    const spoken = custom ? own : { group: sub.group, version: sub.version, kind: sub.kind };
    const ref = names.subresource(sub);
    const asked = lookup(CONNECT, sub.name);
    if (asked !== undefined) {
      const connect = (method: string, suffix: string, more: readonly Parameter[]): Operation => ({
        id: `connect${group}${title(method)}${scope}${id}${suffix}`,
        tag,
        action: "connect",
        kind: spoken,
        parameters: [...one, ...more, ...asked],
        responses: { "200": { types: anything, ref: undefined } },
      });
      for (const method of sub.name === "proxy" ? PROXY_METHODS : ["get", "post"]) {
        add(where, method, connect(method, "", []));
        if (sub.name === "proxy") add(`${where}/{path}`, method, connect(method, "WithPath", [path("path")]));
      }
      continue;
    }
    if (sub.name === "log") {
      const text = { types: [...types, "text/plain"].sort(), ref: undefined };
      const log = read(id, one, ref, own);
      add(where, "get", { ...log, parameters: [...log.parameters, ...LOG], responses: { "200": text } });
      continue;
    }
    add(where, "get", sub.verbs.includes("get") && read(id, one, ref, spoken));
    add(where, "put", sub.verbs.includes("update") && write("replace", id, one, ref, spoken));
    add(where, "patch", sub.verbs.includes("patch") && write("patch", id, one, ref, spoken));
    add(where, "post", sub.verbs.includes("create") && write("create", id, one, ref, spoken));
  }
  return paths;
}

/** The path of a document of discovery. */
export function documentOperation(id: string, tag: string, ref: string, plain = false): Operation {
  return {
    id,
    tag,
    parameters: [],
    responses: { "200": { types: plain ? ["application/json"] : DOCUMENT_TYPES, ref } },
  };
}
