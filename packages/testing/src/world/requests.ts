/** A request of an operator, in the words of Kubernetes. */
import type { RawRequest } from "@lotse/client";

/** See the module comment. */
export interface OperatorRequest {
  readonly verb: "get" | "list" | "watch" | "create" | "update" | "patch" | "apply" | "delete" | "deletecollection";
  /** `configmaps`, `widgets.example.com`; empty for a path that names none, such as `/version`. */
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** Undefined where many objects are meant, or the server makes the name. */
  readonly name: string | undefined;
  /** What the server begins the name with, where it makes one. */
  readonly generateName: string | undefined;
  /** Whether it changes something: no question, and no review, which is a question in the form of a write. */
  readonly writes: boolean;
  /** A list by which the operator fills its copy of the cluster; what handlers list themselves is none. */
  readonly fillsCache: boolean;
  readonly raw: RawRequest;
}

const APPLY = "application/apply-patch";

/** What a request asks for. */
export function operatorRequest(raw: RawRequest): OperatorRequest {
  const { resource, namespace, name: inPath, subresource } = placeOf(raw.path);
  const { metadata } = (isBody(raw.body) ? raw.body : {}) as { metadata?: { name?: string; generateName?: string } };
  const name = inPath ?? (raw.method === "POST" ? metadata?.name : undefined);
  const verb = verbOf(raw, inPath !== undefined);
  const writes =
    !["get", "list", "watch"].includes(verb) && !/reviews(\.|$)/.test(resource) && raw.query?.dryRun === undefined;
  return {
    verb,
    resource,
    subresource,
    namespace,
    name,
    generateName: name === undefined ? metadata?.generateName : undefined,
    writes,
    // Streams wait by themselves when a list fails; whoever else lists lets the client try again.
    fillsCache: verb === "list" && raw.retry === false && raw.query?.limit !== undefined,
    raw,
  };
}

/** `create configmaps default/a`, as people say it. */
export function requestText({ verb, resource, subresource, namespace, name, generateName }: OperatorRequest): string {
  const object = [namespace, name ?? (generateName === undefined ? undefined : `${generateName}*`)]
    .filter(Boolean)
    .join("/");
  return [verb, subresource ? `${resource}/${subresource}` : resource, object].filter(Boolean).join(" ");
}

function isBody(body: unknown): body is object {
  return typeof body === "object" && body !== null && !Array.isArray(body);
}

function verbOf({ method, query, headers }: RawRequest, named: boolean): OperatorRequest["verb"] {
  if (method === "POST") return "create";
  if (method === "PUT") return "update";
  if (method === "PATCH") return String(headers?.["content-type"] ?? "").startsWith(APPLY) ? "apply" : "patch";
  if (method === "DELETE") return named ? "delete" : "deletecollection";
  if (query?.watch === true || query?.watch === "true") return "watch";
  return named ? "get" : "list";
}

interface Place {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const NOWHERE: Place = { resource: "", namespace: undefined, name: undefined, subresource: undefined };

/** `/apis/example.com/v1/namespaces/default/widgets/a/status` → widgets.example.com, default, a, status. */
function placeOf(path: string): Place {
  const [, root, ...rest] = path.split("/");
  if (root !== "api" && root !== "apis") return NOWHERE;
  const group = root === "apis" ? rest[0] : undefined;
  const steps = rest.slice(root === "apis" ? 2 : 1).map(decodeURIComponent);
  // `/namespaces/a/pods` is about pods; `/namespaces/a`, `/namespaces/a/status` and `/finalize` about the namespace.
  const isPlaced = steps[0] === "namespaces" && steps.length > 2 && !["status", "finalize"].includes(steps[2] ?? "");
  const [plural, name, subresource] = isPlaced ? steps.slice(2) : steps;
  if (!plural) return NOWHERE;
  const resource = group === undefined ? plural : `${plural}.${group}`;
  return { resource, namespace: isPlaced ? steps[1] : undefined, name, subresource };
}
