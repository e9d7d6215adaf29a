/** Nodes of schemas, and what is told of them. */
import { KubeError } from "@lotse/client/meta";

/** A node of an OpenAPI v3 schema. */
export type SchemaNode = { [key: string]: unknown };

/**
 * Something that a schema says and an API server with its CRD does not check.
 *
 * @example
 * ```ts
 * for (const { path, what, todo } of Shop.gaps()) console.warn(`${path}: ${what} → ${todo}`);
 * ```
 */
export interface SchemaGap {
  /** `spec.ports[].name` */
  readonly path: string;
  /** What is not checked, and why. */
  readonly what: string;
  readonly todo: string;
}

/** The schema cannot be written as a CRD. */
export class SchemaError extends KubeError {
  override readonly code: string = "LOTSE_SCHEMA";
}

/** What keeps fields that are not described. */
export const PRESERVE = "x-kubernetes-preserve-unknown-fields";

/** The rules of a node, in CEL. */
export const RULES = "x-kubernetes-validations";

/** Said by `immutable()`, for the object around the field: it has the field from the beginning, or never. */
export const IMMUTABLE = "x-lotse-immutable";

/** Said by `atomic()`: which word a CRD has for it depends on the type. */
export const ATOMIC = "x-lotse-atomic";

/** What a schema says at this node and no word of a CRD does: `[{ what, todo }]`. */
export const UNSAID = "x-lotse-unsaid";

/** What to do about a check that a CRD cannot carry. */
export const AS_A_RULE = "say it as a rule, rule(schema, expression, message), or check it in the handler";
