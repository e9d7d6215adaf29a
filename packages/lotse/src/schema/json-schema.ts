/** How a schema of any library becomes JSON Schema, and which static types it stands for. */
import { isObject } from "@lotse/client/meta";
import type { SchemaNode } from "./node.ts";
import { withZodRules } from "./rules-of-zod.ts";

/** What a library can be asked for: definitions are nearest to OpenAPI, which not every library has. */
export type JsonSchemaTarget = "openapi-3.0" | "draft-2020-12";

/**
 * A schema that can describe itself as JSON Schema: zod ≥ 4.2, arktype ≥ 2.2 and everything else that implements
 * Standard JSON Schema. Lotse imports none of them.
 */
export interface JsonSchemaSource<Output = unknown, Input = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: JsonSchemaTarget }) => Record<string, unknown>;
    };
  };
}

/** The type of what is read: fields with a default are there. */
export type OutputOf<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : Record<string, unknown>
  : Record<string, unknown>;

/** What one may write, where a field with a default may be left out. It has to take what was read as well. */
export type InputOf<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer Input }
    ? OutputOf<S> extends Input
      ? Input
      : OutputOf<S>
    : Record<string, unknown>
  : Record<string, unknown>;

/** What a schema says of itself, or why it cannot: a sentence's end, and what to do. */
export type JsonSchemaReading =
  | { readonly json: unknown }
  | { readonly problem: string; readonly hint: string; readonly cause?: unknown };

/** Asks a schema for its JSON Schema. Never throws: what is wrong is for the caller to tell, who knows whose schema it is. */
export function readJsonSchema(schema: JsonSchemaSource): JsonSchemaReading {
  // Schemas of some libraries are functions.
  const convert = schema && (schema as Partial<JsonSchemaSource>)["~standard"]?.jsonSchema?.input;
  if (!convert) {
    return {
      problem: "is not a schema that can describe itself as JSON Schema",
      hint: "use zod 4.2 or newer, arktype 2.2 or newer, or any library with Standard JSON Schema",
    };
  }
  try {
    return { json: withZodRules(describeItself(convert), schema, readJson) };
  } catch (cause) {
    return {
      problem: `has no JSON form: ${(cause as Error).message}`,
      hint: "use types that JSON has: no dates, maps, sets or big integers",
      cause,
    };
  }
}

/** A library throws for what it does not support, be it the target or a part of the schema: the second one tells which. */
function describeItself(convert: (options: { readonly target: JsonSchemaTarget }) => Record<string, unknown>): unknown {
  try {
    return convert({ target: "openapi-3.0" });
  } catch {
    return convert({ target: "draft-2020-12" });
  }
}

/** What a schema says of itself; undefined when it cannot, or is none. */
export function readJson(schema: unknown): SchemaNode | undefined {
  const read = isObject(schema) ? readJsonSchema(schema as unknown as JsonSchemaSource) : undefined;
  return read && "json" in read ? (read.json as SchemaNode) : undefined;
}
