import type { Codec } from "./codec.ts";
import type { ApiObject } from "./object.ts";
import type { Strategy } from "./strategy.ts";

/** A path below an object and the kind that it speaks. */
export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** Where a kind keeps its replicas, as dotted paths from the root. */
export interface ScalePaths {
  readonly spec: string;
  readonly status: string;
  /** A label selector: a text in custom resources, an object or a map in built-in kinds. */
  readonly selector: string | undefined;
}

/** A column of `kubectl get` that a CustomResourceDefinition declares. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** One version of a resource. */
export interface ResourceVersion {
  readonly version: string;
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly codec: Codec;
  readonly scale: ScalePaths | undefined;
  /** Told in a warning with every answer. */
  readonly deprecation: string | undefined;
  readonly columns: readonly PrinterColumn[] | undefined;
  /** Fields that a CustomResourceDefinition makes selectable in this version, with the way to read them as text. */
  readonly selectable: Readonly<Record<string, (object: ApiObject) => string>> | undefined;
}

/** A kind of object that the server stores, whatever version a client speaks. */
export interface Resource {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Its table in the store. Two resources that show the same objects (both kinds of events) share one. */
  readonly table: string;
  readonly storageVersion: string;
  /** Served versions, the preferred one first. */
  readonly versions: ReadonlyMap<string, ResourceVersion>;
  readonly strategy: Strategy;
  /** Defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  /** Why nothing can be created any more, when its definition is being deleted. */
  readonly closed: boolean;
}

/** A resource in the version that a request names. */
export interface Endpoint {
  readonly resource: Resource;
  readonly version: ResourceVersion;
}

/** `v1` for the core group, else `apps/v1`. */
export const apiVersionOf = (group: string, version: string): string =>
  group === "" ? version : `${group}/${version}`;

/** What objects of an endpoint carry as apiVersion and kind. */
export function gvkOf({ resource, version }: Endpoint): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(resource.group, version.version), kind: resource.kind };
}

/** The kind as errors about its objects name it. */
export function namedKind({ group, kind, strategy }: Resource): { readonly group: string; readonly kind: string } {
  return { group: strategy.errorGroup ?? group, kind };
}

/** The key of an object in its table of the store: `namespace/name`, or the name alone without a namespace. */
export const storeKey = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** The object that a key stands for: what {@link storeKey} was given. */
export function parseStoreKey(key: string): { readonly namespace: string | undefined; readonly name: string } {
  const slash = key.indexOf("/");
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
