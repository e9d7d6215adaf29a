/**
 * Which kinds does the server serve? Asked in two requests where the server aggregates its answer (1.30 and newer, beta
 * since 1.26), in one for each group version elsewhere. A group whose own server is down must not hide the others: it
 * is listed in `failures`.
 */
import { errorMessage } from "../meta/index.ts";
import { type RawRequest, type RawResponse, UnexpectedAnswerError } from "../transport/index.ts";
import { apiVersionOf, type KindDescription, parseApiVersion } from "./description.ts";

/** A part of the API that could not be asked. */
export interface DiscoveryFailure {
  /** The group version; `*` where the list of groups could not be had, so that any group may be missing. */
  readonly apiVersion: string;
  readonly message: string;
  /** What was thrown, where something was. */
  readonly error?: unknown;
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

/** The two lists that everything begins with, and what is unknown without them. */
const ROOTS = { "/api": "v1", "/apis": "*" } as const;

/**
 * Asks the server for its kinds. Rejects only when neither the core group nor the list of groups can be had; whatever
 * else fails is in `failures`, and what is known without it is there.
 */
export async function discoverKinds(ask: Ask): Promise<Discovery> {
  const paths = Object.keys(ROOTS) as (keyof typeof ROOTS)[];
  const answers = await Promise.allSettled(paths.map((path) => discoverRoot(ask, path)));
  const parts = answers.map((answer, index): Part => {
    if (answer.status === "fulfilled") return answer.value;
    if (answers.every(({ status }) => status === "rejected")) throw answer.reason;
    const apiVersion = ROOTS[paths[index] as keyof typeof ROOTS];
    return { kinds: [], apiVersions: [], failures: [failureOf(apiVersion, answer.reason)] };
  });
  return {
    kinds: parts.flatMap(({ kinds }) => kinds),
    apiVersions: parts.flatMap(({ apiVersions }) => apiVersions),
    failures: parts.flatMap(({ failures }) => failures),
  };
}

/** Whether a kind that was not found may be there all the same, in a part of the API that did not answer. */
export function mayBeHidden({ failures }: Discovery, group: string): boolean {
  return failures.some(({ apiVersion }) =>
    apiVersion === "*" ? group !== "" : parseApiVersion(apiVersion).group === group,
  );
}

function failureOf(apiVersion: string, error: unknown): DiscoveryFailure {
  return { apiVersion, message: errorMessage(error), error };
}

async function discoverRoot(ask: Ask, path: "/api" | "/apis"): Promise<Part> {
  const response = await ask({ method: "GET", path, headers: { accept: AGGREGATED } });
  const answer = await response.json<AggregatedGroups | LegacyVersions | LegacyGroups>();
  switch (answer?.kind) {
    case "APIGroupDiscoveryList":
      return readAggregated(answer);
    case "APIVersions":
    case "APIGroupList":
      return discoverEach(ask, groupVersionsOf(answer));
    default:
      // Taken for an empty list it would say that all kinds are gone.
      throw strangeAnswer(path, answer);
  }
}

function strangeAnswer(path: string, answer: unknown): UnexpectedAnswerError {
  const text = JSON.stringify(answer) ?? "nothing";
  const said = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return new UnexpectedAnswerError(`GET ${path}: the server answered with something that lists no kinds: ${said}`, {
    request: { method: "GET", path },
    status: 200,
    hint: "is there a proxy in between that answers in the server's place?",
  });
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
    else part.failures.push(failureOf(apiVersionOf(at), answer.reason));
  });
  return part;
}

async function askResources(ask: Ask, at: GroupVersion): Promise<LegacyResource[]> {
  const path = at.group === "" ? `/api/${at.version}` : `/apis/${at.group}/${at.version}`;
  const response = await ask({ method: "GET", path });
  const answer = await response.json<{ resources?: LegacyResource[] | null }>();
  if (answer?.resources === undefined) throw strangeAnswer(path, answer);
  return answer.resources ?? [];
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
