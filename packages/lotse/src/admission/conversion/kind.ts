import type { KubeBody } from "@lotse/client";
import type { SchemaNode } from "../../schema/index.ts";
import type { ConvertFunction } from "./call.ts";

/** The two functions between one version and the stored one. */
export interface AnyConversion {
  readonly to: ConvertFunction;
  readonly from: ConvertFunction;
}

/** A kind as far as conversion has to know it. */
export interface ConvertedKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly storageVersion: string;
  /** All of them; with the structural schema of the whole object. */
  readonly versions: readonly { readonly name: string; readonly schema: () => SchemaNode }[];
  /** By version; a version without one has the schema of the stored version. */
  readonly conversions: ReadonlyMap<string, AnyConversion>;
  readonly lossless: boolean;
}

/** What a class made by `resource()` has of it. */
export interface VersionedClass extends Omit<ConvertedKind, "group" | "kind" | "plural"> {
  readonly description: { readonly group: string; readonly kind: string; readonly plural: string };
}

/** A kind with the conversions that were declared with it, and those that were declared elsewhere (`on.convert`). */
export function convertedKind(
  { description: { group, kind, plural }, storageVersion, versions, conversions, lossless }: VersionedClass,
  others: ReadonlyMap<string, AnyConversion> = new Map(),
): ConvertedKind {
  // A schema is written anew at each call, and asked for with each object.
  const schemas = new Map<string, SchemaNode>();
  const remembered = versions.map(({ name, schema }) => ({
    name,
    schema: () => {
      const known = schemas.get(name) ?? schema();
      schemas.set(name, known);
      return known;
    },
  }));
  return {
    group,
    kind,
    plural,
    storageVersion,
    versions: remembered,
    conversions: new Map([...conversions, ...others]),
    lossless,
  };
}

/** Whether `value` looks like an object of Kubernetes at all. */
export function isBody(value: unknown): value is KubeBody {
  const { apiVersion, kind } = (typeof value === "object" && value !== null ? value : {}) as Partial<KubeBody>;
  return typeof apiVersion === "string" && typeof kind === "string";
}
