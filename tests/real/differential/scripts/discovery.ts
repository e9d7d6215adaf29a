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
    get("asks for an OpenAPI document", "/openapi/v3/apis/coordination.k8s.io/v1", {}, { view: openApiNames }),
    get(
      "asks for the OpenAPI document of apiextensions",
      "/openapi/v3/apis/apiextensions.k8s.io/v1",
      {},
      { view: openApiNames },
    ),
    get("asks for the core OpenAPI document", "/openapi/v3/api/v1", {}, { view: openApiPathsOfDocument }),
    get(
      "asks for an OpenAPI document with a wrong hash",
      "/openapi/v3/apis/apps/v1",
      { hash: "wrong" },
      { view: headersOnly },
    ),
    get(
      "asks for the old OpenAPI document",
      "/openapi/v2",
      {},
      { view: (body) => (body as { swagger: Json }).swagger },
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

function openApiNames(body: Json): Json {
  const document = body as { openapi: Json; paths: object; components: { schemas: object } };
  return {
    openapi: document.openapi,
    paths: Object.keys(document.paths)
      .filter((path) => !path.includes("/watch/"))
      .sort(),
    schemas: Object.keys(document.components.schemas).sort(),
  };
}

function openApiPathsOfDocument(body: Json): Json {
  return (openApiNames(body) as { paths: Json }).paths;
}
