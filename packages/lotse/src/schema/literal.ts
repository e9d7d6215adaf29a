/** Plain JSON Schema as a schema: static types from the literal itself, and nothing to load at run time. */
import { isObject } from "@lotse/client/meta";
import { type InputOf, type JsonSchemaSource, type OutputOf, readJsonSchema } from "./json-schema.ts";
import { SchemaError, type SchemaNode } from "./node.ts";
import { type OwnSchema, ownSchema, type SchemaPlace } from "./own-schema.ts";

type TypeName = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** A schema inside of another: a literal, or one of a library. */
export type SchemaPart = SchemaLiteral | JsonSchemaSource;

/**
 * JSON Schema as far as a CRD can say it.
 *
 * @example
 * ```ts
 * const port = { type: "integer", minimum: 1, maximum: 65_535 } as const satisfies SchemaLiteral;
 * ```
 */
export interface SchemaLiteral {
  readonly type?: TypeName | readonly TypeName[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean | number;
  readonly exclusiveMaximum?: boolean | number;
  readonly multipleOf?: number;
  readonly items?: SchemaPart;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaPart;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly anyOf?: readonly SchemaPart[];
  readonly oneOf?: readonly SchemaPart[];
  readonly allOf?: readonly SchemaPart[];
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly object[];
  /** A CRD has no references: write the schema out. */
  readonly $ref?: never;
}

type Mode = "in" | "out";

/** The type of what is read, or of what one may write. */
export type ValueOf<S, M extends Mode> = S extends { readonly "~standard": unknown }
  ? M extends "out"
    ? OutputOf<S>
    : InputOf<S>
  : Checked<S, M> | (S extends { readonly nullable: true } ? null : never);

type Checked<S, M extends Mode> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly "x-kubernetes-int-or-string": true }
      ? number | string
      : S extends { readonly type: infer T }
        ? Typed<S, T extends readonly (infer Each)[] ? Each : T, M>
        : S extends { readonly anyOf: readonly (infer Part)[] }
          ? ValueOf<Part, M>
          : S extends { readonly oneOf: readonly (infer Part)[] }
            ? ValueOf<Part, M>
            : S extends { readonly allOf: infer Parts }
              ? All<Parts, M>
              : unknown;

type All<Parts, M extends Mode> = Parts extends readonly [infer First, ...infer Rest]
  ? ValueOf<First, M> & All<Rest, M>
  : unknown;

type Typed<S, T, M extends Mode> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? S extends { readonly items: infer Item }
            ? ValueOf<Item, M>[]
            : unknown[]
          : T extends "object"
            ? ObjectOf<S, M>
            : unknown;

type ObjectOf<S, M extends Mode> = S extends { readonly properties: infer P }
  ? Flat<
      { -readonly [K in PresentIn<S, P, M>]: ValueOf<P[K], M> } & {
        -readonly [K in Exclude<keyof P, PresentIn<S, P, M>>]?: ValueOf<P[K], M> | undefined;
      }
    > &
      (KeepsMore<S> extends true ? { [key: string]: unknown } : unknown)
  : S extends { readonly additionalProperties: infer Each }
    ? Each extends boolean
      ? Record<string, unknown>
      : Record<string, ValueOf<Each, M>>
    : KeepsMore<S> extends true
      ? Record<string, unknown>
      : Record<never, never>;

type KeepsMore<S> = S extends { readonly "x-kubernetes-preserve-unknown-fields": true }
  ? true
  : S extends { readonly additionalProperties: false }
    ? false
    : S extends { readonly additionalProperties: unknown }
      ? true
      : false;

/** The fields that are always there: required ones; and those with a default, which one need not write. */
type PresentIn<S, P, M extends Mode> = {
  [K in keyof P]: HasDefault<P[K]> extends true ? (M extends "out" ? K : never) : K extends RequiredIn<S> ? K : never;
}[keyof P];

type RequiredIn<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type HasDefault<S> = S extends { readonly "~standard": unknown }
  ? undefined extends InputOf<S>
    ? undefined extends OutputOf<S>
      ? false
      : true
    : false
  : S extends { readonly default: unknown }
    ? true
    : false;

type Flat<T> = { [K in keyof T]: T[K] };

/** The schema of a literal. */
export type SchemaOf<S> = OwnSchema<
  ValueOf<S, "out">,
  HasDefault<S> extends true ? ValueOf<S, "in"> | undefined : ValueOf<S, "in">
>;

/**
 * Plain JSON Schema with static types, for `resource()` and beside schemas of any library: nothing is loaded for it at
 * run time. Schemas of a library may stand inside of it.
 *
 * @example
 * ```ts
 * const spec = schema({
 *   type: "object",
 *   properties: { currency: { type: "string", pattern: "^[A-Z]{3}$" }, amount: { type: "number", default: 1 } },
 *   required: ["currency"],
 * });
 * export const Rate = resource({ group: "rates.example.com", version: "v1", kind: "Rate", spec });
 * ```
 */
export function schema<const S extends SchemaLiteral>(literal: S): SchemaOf<S> {
  const parts: SchemaPlace[] = [];
  const json = resolve(literal, "", parts);
  return ownSchema(() => json, parts);
}

/** The literal with its parts written out; schemas of libraries are noted with their place. */
function resolve(part: unknown, path: string, parts: SchemaPlace[]): SchemaNode {
  if (isSource(part)) {
    parts.push([path, part]);
    const read = readJsonSchema(part);
    if ("json" in read) return read.json as SchemaNode;
    throw new SchemaError(`${path === "" ? "the schema" : path} ${read.problem}`, {
      hint: read.hint,
      cause: read.cause,
    });
  }
  if (!isObject(part)) {
    throw new SchemaError(`${path === "" ? "the schema" : path} is ${JSON.stringify(part)} and no schema`, {
      hint: 'write { type: "string" }',
    });
  }
  if (part.$ref !== undefined) {
    throw new SchemaError(`${path === "" ? "the schema" : path} is a reference, which a CRD cannot have`, {
      hint: "write the schema out, or put it into a constant",
    });
  }
  const node: SchemaNode = structuredCloneOf(part);
  if (isObject(part.properties)) {
    const entries = Object.entries(part.properties);
    node.properties = Object.fromEntries(entries.map(([key, one]) => [key, resolve(one, `${path}.${key}`, parts)]));
    checkRequired(part, path);
  }
  if (part.items !== undefined) node.items = resolve(part.items, `${path}[]`, parts);
  if (isObject(part.additionalProperties)) {
    node.additionalProperties = resolve(part.additionalProperties, `${path}.*`, parts);
  }
  for (const key of ["anyOf", "oneOf", "allOf"] as const) {
    const list = part[key];
    if (Array.isArray(list)) node[key] = list.map((one) => resolve(one, path, parts));
  }
  return node;
}

const PARTS = new Set(["properties", "items", "additionalProperties", "anyOf", "oneOf", "allOf"]);

function structuredCloneOf(part: Readonly<Record<string, unknown>>): SchemaNode {
  const own = Object.entries(part).filter(([key, value]) => !PARTS.has(key) || typeof value === "boolean");
  return structuredClone(Object.fromEntries(own));
}

function checkRequired(part: Readonly<Record<string, unknown>>, path: string): void {
  if (!Array.isArray(part.required) || !isObject(part.properties)) return;
  const properties = part.properties;
  const missing = part.required.find((name) => !Object.hasOwn(properties, name));
  if (missing === undefined) return;
  throw new SchemaError(
    `${path === "" ? "the schema" : path} requires ${JSON.stringify(missing)}, which it does not describe`,
    {
      hint: `there are ${Object.keys(properties).join(", ")}`,
    },
  );
}

function isSource(value: unknown): value is JsonSchemaSource {
  // Schemas of some libraries are functions.
  return (
    (isObject(value) || typeof value === "function") && (value as { "~standard"?: unknown })["~standard"] !== undefined
  );
}
