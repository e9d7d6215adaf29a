import type { Json } from "@lotse/client/meta";

/** The types that a schema node can ask for. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean";

/** One rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/**
 * A schema node: the subset of OpenAPI v3 that Kubernetes speaks, spelled as on the wire, so that the
 * `openAPIV3Schema` of a CustomResourceDefinition is one without conversion. The generated tables of the built-in
 * kinds use the same shape; `$ref` occurs in them only.
 */
export interface Schema {
  readonly $ref?: string;
  readonly type?: SchemaType | (string & {});
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly example?: Json;
  readonly nullable?: boolean;

  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly enum?: readonly Json[];

  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;

  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;

  // Known to JSONSchemaProps, yet refused by the structural check; named here so that the check can look at them.
  readonly id?: string;
  readonly $schema?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly dependencies?: Readonly<Record<string, Schema | readonly string[]>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalItems?: Schema | boolean;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };

  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map" | (string & {});
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular" | (string & {});
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/** Finds the schema that a `$ref` of a generated table names. */
export type Resolver = (ref: string) => Schema;

/** The resolver of schemas without references: those of custom resources. */
export const noReferences: Resolver = (ref) => {
  throw new Error(`the schema refers to ${ref}, and nothing here resolves references`);
};

/**
 * The node that `schema` stands for. A reference may sit alone, inside a one-element `allOf` (the OpenAPI v3 way to
 * put a default or a description beside it), or beside other keywords, which then win over the target's.
 */
export function resolveSchema(schema: Schema, resolve: Resolver): Schema {
  if (!isReference(schema)) return schema;
  const known = RESOLVED.get(schema);
  if (known?.resolve === resolve) return known.target;
  const target = followReference(schema, resolve);
  RESOLVED.set(schema, { resolve, target });
  return target;
}

/** What references lead to: every write of an object asks for those of its kind, and they never change. */
const RESOLVED = new WeakMap<Schema, { readonly resolve: Resolver; readonly target: Schema }>();

function followReference(schema: Schema, resolve: Resolver): Schema {
  if (schema.$ref !== undefined) {
    const { $ref, ...own } = schema;
    const target = resolveSchema(resolve($ref), resolve);
    for (const _ in own) return { ...target, ...own };
    return target;
  }
  const only = schema.allOf?.[0];
  if (only?.$ref === undefined) return schema;
  const { allOf: _, ...own } = schema;
  return { ...resolveSchema(resolve(only.$ref), resolve), ...own };
}

/** Whether a node stands for another one by reference. */
export function isReference(schema: Schema | undefined): boolean {
  return schema?.$ref !== undefined || (schema?.allOf?.length === 1 && schema.allOf[0]?.$ref !== undefined);
}

/**
 * The schema of a whole custom resource: that of its definition, with the fields of every object beside. `objectMeta`
 * is the schema of ObjectMeta, or a reference to it.
 */
export function wholeObjectSchema(schema: Schema, objectMeta: Schema): Schema {
  const text: Schema = { type: "string" };
  return {
    ...schema,
    type: "object",
    properties: { ...schema.properties, apiVersion: text, kind: text, metadata: objectMeta },
  };
}
