import type { IncomingMessage } from "node:http";

/** Kubernetes' verbs, and `apply` for a server-side apply. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "apply" | "delete";

/** A request as the proxy sees it. */
export interface Seen {
  readonly verb: Verb;
  readonly write: boolean;
  /** The plural; empty for paths that name no resource. */
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  /** `patch things/one/status`. */
  readonly label: string;
  /** How many requests with this label there were before. */
  readonly index: number;
  readonly body: unknown;
}

/** Reads a request; `counts` counts labels. */
export function seen(request: IncomingMessage, bytes: Buffer, counts: Map<string, number>): Seen {
  const url = new URL(request.url ?? "/", "http://cluster");
  const body: unknown = bytes.length > 0 ? JSON.parse(bytes.toString("utf8")) : undefined;
  const { resource, name = "", subresource = "" } = readPath(url.pathname);
  const verb = verbOf(request, url.searchParams, name);
  const named = name || (body as { metadata?: { name?: string } } | undefined)?.metadata?.name || "";
  const label = `${verb} ${[resource, named, subresource].filter(Boolean).join("/")}`;
  const index = counts.get(label) ?? 0;
  counts.set(label, index + 1);
  return {
    verb,
    write: !["get", "list", "watch"].includes(verb),
    resource,
    name: named,
    subresource,
    label,
    index,
    body,
  };
}

function readPath(path: string): { resource: string; name?: string | undefined; subresource?: string | undefined } {
  const parts = path.split("/").filter(Boolean);
  const rest = parts[0] === "api" ? parts.slice(2) : parts[0] === "apis" ? parts.slice(3) : [];
  const [resource = "", name, subresource] = rest[0] === "namespaces" && rest.length > 2 ? rest.slice(2) : rest;
  return { resource, name, subresource };
}

function verbOf(request: IncomingMessage, query: URLSearchParams, name: string): Verb {
  switch (request.method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return request.headers["content-type"]?.startsWith("application/apply-patch") ? "apply" : "patch";
    case "DELETE":
      return "delete";
    default:
      if (query.has("watch")) return "watch";
      return name ? "get" : "list";
  }
}
