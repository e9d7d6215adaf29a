/**
 * Which kinds does the server serve? Asked in two requests where the server aggregates its answer (1.30 and newer, beta
 * since 1.26), in one for each group version elsewhere. A group whose own server is down must not hide the others: it
 * is listed in `failures`.
 */
import { errorMessage } from "../meta/index.ts";
import type { RawRequest, RawResponse } from "../transport/index.ts";
import { apiVersionOf, type KindDescription } from "./description.ts";

/** A group version that could not be asked. */
export interface DiscoveryFailure {
  readonly apiVersion: string;
  readonly message: string;
}

/** All kinds of a server: core first, groups in the server's order, versions by the server's preference. */
export interface Discovery {
  readonly kinds: readonly KindDescription[];
  readonly apiVersions: readonly string[];
  readonly failures: readonly DiscoveryFailure[];
}

type Ask = (request: RawRequest) => Promise<RawResponse>;

const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat("application/json")
  .join(",");

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

interface AggregatedGroups {
  kind: "APIGroupDiscoveryList";
  items?: {
    metadata?: { name?: string };
    versions?: { version: string; freshness?: string; resources?: AggregatedResource[] }[];
  }[];
}

interface AggregatedResource {
  resource: string;
  responseKind?: { kind?: string };
  scope?: string;
  singularResource?: string;
  shortNames?: string[];
  categories?: string[];
  verbs?: string[];
  subresources?: { subresource: string }[];
}

interface LegacyVersions {
  kind: "APIVersions";
  versions?: string[];
}

interface LegacyGroups {
  kind: "APIGroupList";
  groups?: {
    name: string;
    versions?: { version: string }[];
    preferredVersion?: { version: string };
  }[];
}

interface LegacyResource {
  name: string;
  kind: string;
  namespaced?: boolean;
  singularName?: string;
  shortNames?: string[];
  categories?: string[];
  verbs?: string[];
}

interface Part {
  readonly kinds: KindDescription[];
  readonly apiVersions: string[];
  readonly failures: DiscoveryFailure[];
}

/** Asks the server for its kinds. Rejects only when neither the core group nor the list of groups can be had. */
export async function discoverKinds(ask: Ask): Promise<Discovery> {
  const [core, groups] = await Promise.all([discoverRoot(ask, "/api"), discoverRoot(ask, "/apis")]);
  return {
    kinds: [...core.kinds, ...groups.kinds],
    apiVersions: [...core.apiVersions, ...groups.apiVersions],
    failures: [...core.failures, ...groups.failures],
  };
}

async function discoverRoot(ask: Ask, path: "/api" | "/apis"): Promise<Part> {
  const response = await ask({ method: "GET", path, headers: { accept: AGGREGATED } });
  const answer = await response.json<AggregatedGroups | LegacyVersions | LegacyGroups>();
  if (answer.kind === "APIGroupDiscoveryList") return readAggregated(answer);
  return discoverEach(ask, groupVersionsOf(answer));
}

function readAggregated(answer: AggregatedGroups): Part {
  const part: Part = { kinds: [], apiVersions: [], failures: [] };
  for (const item of answer.items ?? []) {
    for (const { version, resources, freshness } of item.versions ?? []) {
      const at: GroupVersion = { group: item.metadata?.name ?? "", version };
      part.apiVersions.push(apiVersionOf(at));
      // A stale entry may still carry what the server saw last: better than nothing.
      if (freshness === "Stale") {
        part.failures.push({ apiVersion: apiVersionOf(at), message: "the server behind it does not answer" });
      }
      for (const resource of resources ?? []) {
        const kind = resource.responseKind?.kind;
        if (kind) part.kinds.push(fromAggregated(at, kind, resource));
      }
    }
  }
  return part;
}

function fromAggregated(at: GroupVersion, kind: string, resource: AggregatedResource): KindDescription {
  return {
    ...at,
    kind,
    plural: resource.resource,
    singular: resource.singularResource || kind.toLowerCase(),
    namespaced: resource.scope === "Namespaced",
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: resource.verbs ?? [],
    subresources: (resource.subresources ?? []).map((sub) => sub.subresource),
  };
}

function groupVersionsOf(answer: LegacyVersions | LegacyGroups): GroupVersion[] {
  if (answer.kind === "APIVersions") return (answer.versions ?? []).map((version) => ({ group: "", version }));
  return (answer.groups ?? []).flatMap(({ name, versions = [], preferredVersion }) => {
    const all = versions.map(({ version }) => version);
    const preferred = preferredVersion?.version;
    const ordered = preferred === undefined ? all : [preferred, ...all.filter((version) => version !== preferred)];
    return ordered.map((version) => ({ group: name, version }));
  });
}

async function discoverEach(ask: Ask, groupVersions: readonly GroupVersion[]): Promise<Part> {
  const part: Part = { kinds: [], apiVersions: groupVersions.map(apiVersionOf), failures: [] };
  const answers = await Promise.allSettled(groupVersions.map((at) => askResources(ask, at)));
  answers.forEach((answer, index) => {
    const at = groupVersions[index] as GroupVersion;
    if (answer.status === "fulfilled") part.kinds.push(...fromLegacy(at, answer.value));
    else part.failures.push({ apiVersion: apiVersionOf(at), message: errorMessage(answer.reason) });
  });
  return part;
}

async function askResources(ask: Ask, at: GroupVersion): Promise<LegacyResource[]> {
  const path = at.group === "" ? `/api/${at.version}` : `/apis/${at.group}/${at.version}`;
  const response = await ask({ method: "GET", path });
  return (await response.json<{ resources?: LegacyResource[] }>()).resources ?? [];
}

function fromLegacy(at: GroupVersion, resources: readonly LegacyResource[]): KindDescription[] {
  const subresources = new Map<string, string[]>();
  for (const { name } of resources) {
    const slash = name.indexOf("/");
    if (slash < 0) continue;
    const owner = name.slice(0, slash);
    subresources.set(owner, [...(subresources.get(owner) ?? []), name.slice(slash + 1)]);
  }
  return resources
    .filter(({ name }) => !name.includes("/"))
    .map((resource) => ({
      ...at,
      kind: resource.kind,
      plural: resource.name,
      singular: resource.singularName || resource.kind.toLowerCase(),
      namespaced: resource.namespaced === true,
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      verbs: resource.verbs ?? [],
      subresources: subresources.get(resource.name) ?? [],
    }));
}
