import type { Json, Script, Step } from "../script.ts";
import { asSets, headersOnly, shape } from "../views.ts";
import { get } from "./requests.ts";

const aggregated = (version: string) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

const groupVersions = [
  "admissionregistration.k8s.io/v1",
  "apiextensions.k8s.io/v1",
  "apiregistration.k8s.io/v1",
  "apps/v1",
  "authentication.k8s.io/v1",
  "authorization.k8s.io/v1",
  "autoscaling/v1",
  "autoscaling/v2",
  "batch/v1",
  "certificates.k8s.io/v1",
  "coordination.k8s.io/v1",
  "discovery.k8s.io/v1",
  "events.k8s.io/v1",
  "flowcontrol.apiserver.k8s.io/v1",
  "networking.k8s.io/v1",
  "node.k8s.io/v1",
  "policy/v1",
  "rbac.authorization.k8s.io/v1",
  "resource.k8s.io/v1",
  "scheduling.k8s.io/v1",
  "storage.k8s.io/v1",
];

/** What the server says that it serves. */
export const discovery: Script = {
  title: "discovery",
  steps: [
    get("asks for the version", "/version", {}, { view: shape }),
    get("asks for the core group", "/api"),
    get("asks for the groups", "/apis", {}, { view: builtInGroups }),
    get("asks for the core resources", "/api/v1", {}, { view: asSets }),
    ...groupVersions.flatMap((groupVersion): Step[] => [
      get(`asks for the resources of ${groupVersion}`, `/apis/${groupVersion}`, {}, { view: asSets }),
    ]),
    ...[...new Set(groupVersions.map((groupVersion) => groupVersion.split("/")[0] ?? ""))].map((group) =>
      get(`asks for the group ${group}`, `/apis/${group}`),
    ),
    ...["v2", "v2beta1"].flatMap((version) => [
      get(`asks for the core group at once, ${version}`, "/api", {}, { accept: aggregated(version), view: asSets }),
      get(`asks for all groups at once, ${version}`, "/apis", {}, { accept: aggregated(version), view: builtInGroups }),
    ]),
    get(
      "asks for all groups at once as kubectl does",
      "/apis",
      { timeout: "32s" },
      {
        accept: `${aggregated("v2")},${aggregated("v2beta1")},application/json`,
        view: (body) => (body as { kind: Json; apiVersion: Json }).apiVersion,
      },
    ),
    get("asks for all groups at once in an unknown version", "/apis", {}, { accept: aggregated("v9") }),
    get(
      "asks for all groups at once in an unknown version with a fallback",
      "/apis",
      {},
      { accept: `${aggregated("v9")},application/json`, view: (body) => (body as { kind: Json }).kind },
    ),
    get("asks for the OpenAPI documents", "/openapi/v3", {}, { view: openApiPaths }),
    ...["api", "apis", "version", "api/v1", ...groupVersions.map((groupVersion) => `apis/${groupVersion}`)].map(
      (path) => get(`asks for the OpenAPI document ${path}`, `/openapi/v3/${path}`, {}, { view: structureOnly }),
    ),
    get("asks for the OpenAPI document of a group", "/openapi/v3/apis/apps", {}, { view: structureOnly }),
    get("asks for an OpenAPI document as XML", "/openapi/v3/apis/apps/v1", {}, { accept: "text/xml" }),
    ...["spec.v3@v1.0", "spec.v3.v1.0"].map((name) =>
      get(
        `asks for an OpenAPI document as ${name}`,
        "/openapi/v3/apis/apps/v1",
        {},
        { accept: `application/com.github.proto-openapi.${name}+protobuf`, view: headersOnly },
      ),
    ),
    get("asks for an OpenAPI document that there is not", "/openapi/v3/apis/none.io/v1"),
    get(
      "asks for an OpenAPI document with a wrong hash",
      "/openapi/v3/apis/apps/v1",
      { hash: "wrong" },
      { view: headersOnly },
    ),
    get("asks for the old OpenAPI document", "/openapi/v2", {}, { view: oldStructureOnly }),
    get("asks for the old OpenAPI document as XML", "/openapi/v2", {}, { accept: "text/xml" }),
    get(
      "asks for the old OpenAPI document as anything",
      "/openapi/v2",
      {},
      { accept: "*/*", view: (body) => (body as { swagger: Json }).swagger },
    ),
  ],
};

/** Groups in their own order, without those that other scripts bring and alpha or beta versions. */
function builtInGroups(body: Json): Json {
  const { groups, items, ...rest } = body as { groups?: Json[]; items?: Json[] };
  const stable = (version: string) => !/alpha|beta/.test(version);
  const list = (groups ?? items ?? []) as {
    name?: string;
    metadata?: { name?: string };
    versions: { version: string }[];
  }[];
  const kept = list
    .map((group) => ({ ...group, versions: group.versions.filter(({ version }) => stable(version)) }))
    .filter((group) => !/diff/.test(group.name ?? group.metadata?.name ?? "") && group.versions.length > 0);
  return { ...rest, groups: asSets(kept as unknown as Json) };
}

function openApiPaths(body: Json): Json {
  const paths = Object.keys((body as { paths: object }).paths);
  return paths
    .filter((path) => /^(api|apis|version|api\/v1|apis\/[^/]+(\/v\d+)?)$/.test(path) && !/diff/.test(path))
    .sort();
}

/** What a document says apart from its prose and unions, which nobody reads: the embedded cluster does not carry them. */
function structureOnly(body: Json): Json {
  return JSON.parse(
    JSON.stringify(body, (key, value: unknown) => {
      if (key === "x-kubernetes-unions" || (key === "description" && typeof value === "string")) return undefined;
      if (key === "x-kubernetes-group-version-kind" && Array.isArray(value)) return stableKinds(value as Kind[]);
      return unwrapped(value);
    }),
  ) as Json;
}

interface Kind {
  readonly group: string;
  readonly version: string;
}

/** A reference with prose beside it is wrapped; without the prose nothing tells it from one that stands alone. */
function unwrapped(value: unknown): unknown {
  const { allOf, ...beside } = (value ?? {}) as { allOf?: readonly { $ref?: unknown }[]; description?: unknown };
  const more = Object.keys(beside).filter((key) => key !== "description");
  const single = Array.isArray(allOf) && allOf.length === 1 && typeof allOf[0]?.$ref === "string";
  return single && more.length === 0 ? allOf[0] : value;
}

/** Which groups share a type depends on beta versions and internal groups that only one of them serves. */
function stableKinds(kinds: readonly Kind[]): Json {
  if (kinds.length > 5) return "<of every group>";
  const stable = kinds.filter(
    ({ group, version }) => /^v\d+$/.test(version) && !/internal|storagemigration/.test(group),
  );
  return stable.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) as unknown as Json;
}

/** The paths and definitions of the old document that are not of other scripts, nor alpha or beta. */
function oldStructureOnly(body: Json): Json {
  const document = structureOnly(body) as {
    paths: { [path: string]: Json };
    definitions: { [name: string]: Json };
    parameters?: { [name: string]: Json };
  };
  const { parameters = {}, ...rest } = document;
  const kept = (record: { [key: string]: Json }): { [key: string]: Json } =>
    Object.fromEntries(
      Object.entries(record)
        .filter(([key]) => !/diff|alpha|beta|internal\.apiserver|storagemigration|^.logs|openid|well-known/.test(key))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  // The real server writes parameters that occur often once, and refers to them.
  const resolved = JSON.parse(
    JSON.stringify({ ...rest, paths: kept(document.paths), definitions: kept(document.definitions) }, (_, value) => {
      const ref = (value as { $ref?: unknown } | null)?.$ref;
      const shared = typeof ref === "string" && ref.startsWith("#/parameters/");
      return shared ? parameters[ref.slice("#/parameters/".length)] : value;
    }),
  ) as { paths: { [path: string]: Json } };
  return { ...resolved, paths: withSortedParameters(resolved.paths) } as unknown as Json;
}

function withSortedParameters(value: Json): Json {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      ["parameters", "consumes", "produces"].includes(key) && Array.isArray(inner)
        ? [...(inner as Json[])].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
        : inner,
    ),
  ) as Json;
}

function nameOf(parameter: Json): string {
  if (typeof parameter === "string") return parameter;
  const { name, in: where } = parameter as { name: string; in: string };
  return `${name}/${where}`;
}
