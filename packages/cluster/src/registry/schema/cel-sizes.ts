import { escapeName } from "./cel-types.ts";
import type { Schema } from "./types.ts";

/** What a value is, as far as the cost of looking at it depends on it. */
export type SizedKind =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration"
  | "dyn"
  | "list"
  | "map"
  | "object"
  | "optional"
  | "opaque";

/** The type of an expression's value, with how large a request can make it. */
export interface SizedType {
  readonly kind: SizedKind;
  /** The most items, members or characters; 0 for what has none. */
  readonly most: number;
  /** The bytes of the shortest JSON for it. */
  readonly least: number;
  /** Of lists, maps and optional values. */
  readonly element?: SizedType;
  readonly fields?: ReadonlyMap<string, SizedType>;
  /** Of types that are no data: `ip`, `quantity`. */
  readonly name?: string;
}

/** No value is larger than the largest body that the server reads. */
export const REQUEST_BYTES = 3 * 1024 * 1024;

/** A type of one value; `least` is how many characters of JSON it takes. */
export const scalar = (kind: SizedKind, least = 1): SizedType => ({ kind, most: 0, least });
/** A text of which no bound is known. */
export const TEXT: SizedType = scalar("string", 2);
/** A value of which nothing is known. */
export const DYN: SizedType = scalar("dyn");

const META: Schema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};

/** Sizes of times and durations as texts, whatever their schema says. */
const FORMATS: Readonly<Record<string, readonly [kind: SizedKind, most: number, least: number]>> = {
  duration: ["duration", 32, 3],
  date: ["timestamp", 12, 12],
  "date-time": ["timestamp", 32, 21],
};

/** The sizes of a schema's values; undefined for content that expressions cannot see. */
export function sizedType(schema: Schema, resourceRoot = false): SizedType | undefined {
  if (schema["x-kubernetes-int-or-string"]) return { kind: "dyn", most: longest(schema), least: 1 };
  switch (schema.type) {
    case "boolean":
      return scalar("bool", 4);
    case "number":
      return scalar("double");
    case "integer":
      return scalar("int");
    case "string":
      return textType(schema);
    case "array": {
      const element = schema.items && sizedType(schema.items, schema.items["x-kubernetes-embedded-resource"]);
      if (!element) return undefined;
      const fitting = Math.floor((REQUEST_BYTES - 2) / (element.least + 1));
      return { kind: "list", most: atLeastZero(schema.maxItems) ?? fitting, least: 2, element };
    }
    case "object":
      return objectType(schema, resourceRoot);
    default:
      return undefined;
  }
}

const atLeastZero = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.max(0, value);

function textType(schema: Schema): SizedType {
  const known = Object.hasOwn(FORMATS, schema.format ?? "") ? FORMATS[schema.format as string] : undefined;
  if (known) return { kind: known[0], most: known[1], least: known[2] };
  if (schema.format === "byte") {
    return { kind: "bytes", most: atLeastZero(schema.maxLength) ?? REQUEST_BYTES - 2, least: 2 };
  }
  return { kind: "string", most: longest(schema), least: 2 };
}

/** A character may take four bytes, and texts are measured in bytes. */
function longest(schema: Schema): number {
  const limit = atLeastZero(schema.maxLength);
  if (limit !== undefined) return limit * 4;
  const choices = schema["x-kubernetes-int-or-string"] ? [] : (schema.enum ?? []);
  if (choices.length === 0) return REQUEST_BYTES - 2;
  return Math.max(
    ...choices.map((choice) => (typeof choice === "string" ? new TextEncoder().encode(choice).length : 0)),
  );
}

function objectType(schema: Schema, resourceRoot: boolean): SizedType | undefined {
  if (typeof schema.additionalProperties === "object") {
    const values = schema.additionalProperties;
    const element = sizedType(values, values["x-kubernetes-embedded-resource"]);
    if (!element) return undefined;
    // A member is at least a key of no letters, its quotes, a colon and a comma.
    const fitting = Math.floor((REQUEST_BYTES - 2) / (element.least + 6));
    return { kind: "map", most: atLeastZero(schema.maxProperties) ?? fitting, least: 2, element };
  }
  const text: Schema = { type: "string" };
  const properties: Readonly<Record<string, Schema>> = resourceRoot
    ? { ...schema.properties, apiVersion: text, kind: text, metadata: META }
    : (schema.properties ?? {});
  const fields = new Map<string, SizedType>();
  let least = 2;
  for (const [name, property] of Object.entries(properties)) {
    const type = sizedType(property, property["x-kubernetes-embedded-resource"]);
    if (!type) continue;
    const key = escapeName(name);
    if (key !== undefined) fields.set(key, type);
    if (schema.required?.includes(name) && property.default === undefined) least += name.length + type.least + 4;
  }
  return { kind: "object", most: 0, least, fields };
}
