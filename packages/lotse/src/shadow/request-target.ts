/** What a request is about: a kind, an object of it, or something that no object is. Pure. */
import type { RawRequest } from "@lotse/client";

/** See the module comment. */
export interface RequestTarget {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** With everything below it: `proxy/metrics`. */
  readonly subresource: string | undefined;
}

/** Subresources of namespaces, which look like kinds in a namespace. */
const OF_NAMESPACES = new Set(["status", "finalize"]);

/** What the path is about; undefined when it is about no kind, such as `/version`. */
export function targetOf(path: string): RequestTarget | undefined {
  const words = (path.split("?", 1)[0] ?? "").split("/").filter(Boolean).map(decodeURIComponent);
  const [root, ...rest] = words;
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "api" ? "" : (rest.shift() ?? "");
  const version = rest.shift();
  if (version === undefined || rest.length === 0) return undefined;
  let namespace: string | undefined;
  const ofNamespace = rest.length === 3 && OF_NAMESPACES.has(rest[2] ?? "");
  if (rest[0] === "namespaces" && rest.length > 2 && !ofNamespace) [, namespace] = rest.splice(0, 2);
  const [plural = "", name, ...subresource] = rest;
  return { group, version, plural, namespace, name, subresource: subresource.join("/") || undefined };
}

/** The request with its whole query in one place: what is added to it must not end up behind another question mark. */
export function withQueryApart<R extends Pick<RawRequest, "path" | "query">>(request: R): R {
  const at = request.path.indexOf("?");
  if (at < 0) return request;
  const said = Object.fromEntries(new URLSearchParams(request.path.slice(at + 1)));
  return { ...request, path: request.path.slice(0, at), query: { ...said, ...request.query } };
}

/** The path of the same target with another name, or of its whole kind. */
export function pathTo({ group, version, plural, namespace, name, subresource }: RequestTarget): string {
  const root = group === "" ? ["api", version] : ["apis", group, version];
  const place = namespace === undefined ? [] : ["namespaces", namespace];
  const words = [...root, ...place, plural, ...(name === undefined ? [] : [name])];
  const below = subresource?.split("/") ?? [];
  return `/${[...words, ...below].map(encodeURIComponent).join("/")}`;
}

/** The kind of a target, as kubectl spells it. */
export function resourceOf({ plural, group }: Pick<RequestTarget, "plural" | "group">): string {
  return group === "" ? plural : `${plural}.${group}`;
}
