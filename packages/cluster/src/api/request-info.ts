/** What a request is about, read from its method, path and query alone. */
export interface RequestInfo {
  /** Kubernetes' verb for resource requests (`list`, `watch`, `patch`, …), else the method in lower case. */
  readonly verb: string;
  readonly path: string;
  readonly segments: readonly string[];
  /** Present when the path names a resource: `/api/v1/…` or `/apis/GROUP/VERSION/…`. */
  readonly target: ResourceTarget | undefined;
  /** The one name that the field selector of a list or watch asks for. */
  readonly selectedName?: string | undefined;
}

/** The resource that a path names, as far as the path tells: whether it is served is not known yet. */
export interface ResourceTarget {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** What follows the subresource, for proxies. */
  readonly rest: string;
}

/** Third segments that belong to the Namespace object itself and do not name a resource in it. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

/** Reads the URL grammar of the API. A trailing slash means nothing; a path that cannot be decoded names nothing. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const segments = splitPath(path);
  const parsed = segments && parseTarget(segments);
  const base = { path, segments: segments ?? [] };
  if (!parsed) return { ...base, verb: method.toLowerCase(), target: undefined };
  const { target, deprecatedWatch } = parsed;
  const verb = verbOf(method, target, query, deprecatedWatch);
  const selectedName = verb === "list" || verb === "watch" ? nameIn(query.get("fieldSelector") ?? "") : undefined;
  return { ...base, verb, target, selectedName };
}

/** A user who may read one object only may list and watch it by its name. */
function nameIn(fieldSelector: string): string | undefined {
  const name = /(?:^|,)metadata\.name==?([^,=!]+)(?:,|$)/.exec(fieldSelector)?.[1];
  return name === undefined || name === "." || name === ".." || /[/%]/.test(name) ? undefined : name;
}

function splitPath(path: string): string[] | undefined {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  try {
    return trimmed.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function parseTarget(segments: readonly string[]): { target: ResourceTarget; deprecatedWatch: boolean } | undefined {
  const core = segments[0] === "api";
  if (!core && segments[0] !== "apis") return undefined;
  const group = core ? "" : (segments[1] ?? "");
  const version = segments[core ? 1 : 2] ?? "";
  let rest = segments.slice(core ? 2 : 3);
  const deprecatedWatch = rest[0] === "watch" && rest.length > 1;
  if (deprecatedWatch) rest = rest.slice(1);
  if (rest.length === 0 || version === "") return undefined;

  let namespace: string | undefined;
  if (rest[0] === "namespaces" && rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] as string)) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [resource = "", name, subresource, ...tail] = rest;
  return { target: { group, version, resource, namespace, name, subresource, rest: tail.join("/") }, deprecatedWatch };
}

function verbOf(method: string, target: ResourceTarget, query: URLSearchParams, deprecatedWatch: boolean): string {
  switch (method) {
    case "GET":
      if (deprecatedWatch) return "watch";
      if (target.name !== undefined) return "get";
      return isTrue(query.get("watch")) ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return target.name === undefined ? "deletecollection" : "delete";
    default:
      return method.toLowerCase();
  }
}

/** How the API reads a boolean of the query: present and not one of the spellings of false. */
export function isTrue(value: string | null): boolean {
  return value !== null && !["false", "0", "f", "F", "FALSE", "False"].includes(value);
}
