import { ConfigError } from "../meta/index.ts";

/**
 * What the client must know about a kind to talk about it: where it lives and how it is spelled. A description is data;
 * it comes from a class, from the tables of built-in kinds, or from the server's discovery.
 */
export interface KindDescription {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** `"status"`, `"scale"`, … */
  readonly subresources: readonly string[];
}

/** The part of a {@link KindDescription} that cannot be derived. */
export type KindSketch = Partial<KindDescription> & Pick<KindDescription, "group" | "version" | "kind">;

/** The word for "in all namespaces" wherever a namespace is asked for. */
export const allNamespaces = "*";

const EVERY_VERB = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

/** `"v1"` for the core group, else `"apps/v1"`. */
export const apiVersionOf = (d: { readonly group: string; readonly version: string }): string =>
  d.group === "" ? d.version : `${d.group}/${d.version}`;

/** The group and version in an `apiVersion`. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/**
 * Fills in what a sketch leaves out: names by the English rule that the Kubernetes generators use, namespaced, all verbs.
 *
 * @example
 * ```ts
 * describeKind({ group: "example.com", version: "v1", kind: "Policy" }).plural; // "policies"
 * ```
 */
export function describeKind(sketch: KindSketch): KindDescription {
  const singular = sketch.singular ?? sketch.kind.toLowerCase();
  return {
    group: sketch.group,
    version: sketch.version,
    kind: sketch.kind,
    plural: sketch.plural ?? pluralOf(singular),
    singular,
    namespaced: sketch.namespaced ?? true,
    shortNames: sketch.shortNames ?? [],
    categories: sketch.categories ?? [],
    verbs: sketch.verbs ?? EVERY_VERB,
    subresources: sketch.subresources ?? [],
  };
}

/**
 * The path of a kind's collection, of one object, or of a subresource.
 *
 * @example
 * ```ts
 * pathOf(Pod.description, { namespace: "default", name: "web", subresource: "status" });
 * // "/api/v1/namespaces/default/pods/web/status"
 * ```
 */
export function pathOf(
  d: KindDescription,
  o: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly subresource?: string | undefined;
  } = {},
): string {
  const version = segment(d.version, "a version");
  let path = d.group === "" ? `/api/${version}` : `/apis/${segment(d.group, "a group")}/${version}`;
  if (d.namespaced && o.namespace !== undefined && o.namespace !== allNamespaces) {
    path += `/namespaces/${segment(o.namespace, "a namespace")}`;
  }
  path += `/${segment(d.plural, "a resource")}`;
  if (o.name !== undefined) path += `/${segment(o.name, "a", d.kind)}`;
  if (o.subresource !== undefined) {
    for (const step of o.subresource.split("/")) path += `/${segment(step, "a subresource of", d.kind)}`;
  }
  return path;
}

/** Names that mean themselves in a path; nearly all are such. */
const PLAIN_NAME = /^[\w-][\w.-]*$/;

/** One step of a path: anything else would ask for something else, for a list or for the parent. */
function segment(name: string, what: string, kind?: string): string {
  if (PLAIN_NAME.test(name)) return name;
  if (name !== "" && name !== "." && name !== ".." && !/[/%]/.test(name)) return encodeURIComponent(name);
  throw new ConfigError(
    `${JSON.stringify(name)} cannot be the name of ${kind === undefined ? what : `${what} ${kind}`}`,
    {
      hint:
        name === ""
          ? "say which one; list() has them all"
          : 'no object is called ".", "..", or has "/" or "%" in its name',
    },
  );
}

function pluralOf(singular: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
