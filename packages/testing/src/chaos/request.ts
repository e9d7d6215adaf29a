import type { IncomingHttpHeaders } from "node:http";

/** Kubernetes' verbs; `apply` is a server-side apply, `connect` a stream into a pod, or what is proxied to it. */
export type ChaosVerb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "apply"
  | "delete"
  | "deletecollection"
  | "connect";

/** A request as the proxy sees it. */
export interface ChaosRequest {
  readonly verb: ChaosVerb;
  /** Whether it changes objects. A review asks a question in the form of a write, and is none. */
  readonly write: boolean;
  /** Empty for the core group, and for paths that name no resource. */
  readonly group: string;
  /** The plural; empty for paths that name no resource. */
  readonly resource: string;
  /** Empty for objects of the cluster, and for requests over all namespaces. */
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** `patch things/one/status`; for paths that name no resource `get /version`. */
  readonly label: string;
  /** How many requests with this label there were before. */
  readonly index: number;
  /** How many writes there were before this one, over all objects; Events and Leases are not counted. */
  readonly writes: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** The body, where it is JSON. */
  readonly body: unknown;
}

/** What the requests so far have in common, which is part of how the next one is read. */
export class RequestCounts {
  readonly #labels = new Map<string, number>();
  #writes = 0;

  /** How many had this label; counts one more. */
  label(label: string): number {
    const count = this.#labels.get(label) ?? 0;
    this.#labels.set(label, count + 1);
    return count;
  }

  /** How many writes there were; counts one more if this is one. */
  write(counts: boolean): number {
    return counts ? this.#writes++ : this.#writes;
  }
}

/** What a server knows of a request before it has answered. */
export interface ReceivedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const READS: ReadonlySet<ChaosVerb> = new Set(["get", "list", "watch", "connect"]);
const CONNECTIONS = new Set(["exec", "attach", "portforward", "proxy"]);
/** Written all the time, and by themselves: a number of writes that counted them would mean nothing. */
const UNCOUNTED = new Set(["events", "leases"]);

/** Reads a request. */
export function readRequest(received: ReceivedRequest, bytes: Buffer, counts: RequestCounts): ChaosRequest {
  const { method = "GET", url: path = "/", headers } = received;
  const url = new URL(path, "http://cluster");
  const body = bodyOf(bytes, headers);
  const { group, resource, namespace, name = "", subresource = "", watched } = readPath(url.pathname);
  const watch = watched || !["", "false", "0"].includes(url.searchParams.get("watch") ?? "");
  // What is no resource is asked for by its path.
  const verb = verbOf({ method, headers, watch, name: resource === "" ? url.pathname : name, subresource });
  const named = name || nameIn(body);
  const target = resource === "" ? url.pathname : [resource, named, subresource].filter(Boolean).join("/");
  const label = `${verb} ${target}`;
  const write = !READS.has(verb) && resource !== "" && !resource.endsWith("reviews") && subresource !== "token";
  return {
    verb,
    write,
    group,
    resource,
    namespace,
    name: named,
    subresource,
    label,
    index: counts.label(label),
    writes: counts.write(write && !UNCOUNTED.has(resource)),
    method,
    path,
    body,
  };
}

/** Undefined where it is in another form, such as protobuf, or compressed: such bodies pass and nobody looks into them. */
function bodyOf(bytes: Buffer, headers: IncomingHttpHeaders): unknown {
  if (bytes.length === 0 || headers["content-encoding"] !== undefined) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

function nameIn(body: unknown): string {
  const { name } = (body as { metadata?: { name?: unknown } } | null | undefined)?.metadata ?? {};
  return typeof name === "string" ? name : "";
}

interface PathParts {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** Asked for by the old form of a watch. */
  readonly watched: boolean;
}

function readPath(path: string): PathParts {
  const parts = path.split("/").filter(Boolean).map(decoded);
  const isCore = parts[0] === "api";
  const all = isCore ? parts.slice(2) : parts[0] === "apis" ? parts.slice(3) : [];
  const group = isCore ? "" : (parts[1] ?? "");
  const watched = all[0] === "watch";
  const rest = watched ? all.slice(1) : all;
  const inside = rest[0] === "namespaces" && rest.length > 2 && !["status", "finalize"].includes(rest[2] ?? "");
  const [resource = "", name, subresource] = inside ? rest.slice(2) : rest;
  return {
    group: resource === "" ? "" : group,
    resource,
    namespace: inside ? (rest[1] ?? "") : "",
    name,
    subresource,
    watched,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function verbOf(o: {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly watch: boolean;
  readonly name: string;
  readonly subresource: string;
}): ChaosVerb {
  if (CONNECTIONS.has(o.subresource)) return "connect";
  switch (o.method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return o.headers["content-type"]?.startsWith("application/apply-patch") ? "apply" : "patch";
    case "DELETE":
      return o.name === "" ? "deletecollection" : "delete";
    default:
      if (o.watch) return "watch";
      return o.name === "" ? "list" : "get";
  }
}
