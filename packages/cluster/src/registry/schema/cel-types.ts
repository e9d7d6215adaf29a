import { setKey } from "@lotse/client/meta";
import { goDuration } from "./formats.ts";
import type { Schema } from "./types.ts";

const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The name of a property in an expression; undefined for one that expressions cannot name. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^\d/.test(name) || /[^a-zA-Z0-9_./-]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (text) => ESCAPES[text] ?? text);
}

const ESCAPES: Record<string, string> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** A type of expressions, made from a schema: how it is declared, and how a JSON value becomes a value of it. */
export interface CelType {
  readonly name: string;
  readonly convert: (value: unknown) => unknown;
}

/** What declaring types needs from an engine. */
export interface TypeRegistry {
  /** Declares an object type with these members and gives the class of its values. */
  declareObject(fields: Readonly<Record<string, string>>): { readonly name: string; create(): Record<string, unknown> };
  duration(text: string): unknown;
}

const META: Schema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};

/** The type of a schema's values; undefined for content that expressions cannot see. */
export function celType(schema: Schema, registry: TypeRegistry, resourceRoot = false): CelType | undefined {
  if (schema["x-kubernetes-int-or-string"]) return { name: "dyn", convert: (value) => integerOr(value) };
  switch (schema.type) {
    case "boolean":
      return { name: "bool", convert: same };
    case "number":
      return { name: "double", convert: same };
    case "integer":
      return { name: "int", convert: integerOr };
    case "string":
      return textType(schema.format, registry);
    case "array": {
      const item = schema.items && celType(schema.items, registry, schema.items["x-kubernetes-embedded-resource"]);
      if (!item) return undefined;
      return {
        name: `list<${schema.items?.nullable ? "dyn" : item.name}>`,
        convert: (value) => (Array.isArray(value) ? value.map((member) => orNull(member, item)) : value),
      };
    }
    case "object":
      return objectType(schema, registry, resourceRoot);
    default:
      return undefined;
  }
}

const same = (value: unknown): unknown => value;

function integerOr(value: unknown): unknown {
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
}

function orNull(value: unknown, type: CelType): unknown {
  return value === null ? null : type.convert(value);
}

function textType(format: string | undefined, registry: TypeRegistry): CelType {
  switch (format) {
    case "byte":
      return { name: "bytes", convert: (value) => bytesOf(String(value)) };
    case "duration":
      return {
        name: "google.protobuf.Duration",
        convert: (value) => registry.duration(goDuration(String(value)) ?? String(value)),
      };
    case "date":
    case "date-time":
      return { name: "google.protobuf.Timestamp", convert: (value) => new Date(String(value)) };
    default:
      return { name: "string", convert: same };
  }
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

function objectType(schema: Schema, registry: TypeRegistry, resourceRoot: boolean): CelType | undefined {
  if (typeof schema.additionalProperties === "object") {
    const additional = schema.additionalProperties;
    const member = celType(additional, registry, additional["x-kubernetes-embedded-resource"]);
    if (!member) return undefined;
    return {
      name: `map<string, ${additional.nullable ? "dyn" : member.name}>`,
      convert: (value) => new Map(Object.entries(value as object).map(([key, item]) => [key, orNull(item, member)])),
    };
  }
  const properties: Record<string, Schema> = { ...schema.properties };
  if (resourceRoot || schema["x-kubernetes-embedded-resource"]) {
    properties.apiVersion = { type: "string" };
    properties.kind = { type: "string" };
    properties.metadata = META;
  }
  const members = new Map<string, { readonly key: string; readonly type: CelType }>();
  const fields: Record<string, string> = {};
  for (const [name, property] of Object.entries(properties)) {
    const key = escapeName(name);
    const type = key && celType(property, registry, property["x-kubernetes-embedded-resource"]);
    if (!key || !type) continue;
    // A value that may be null has no type that the checker knows.
    setKey(fields, key, property.nullable ? "dyn" : type.name);
    members.set(name, { key, type });
  }
  const declared = registry.declareObject(fields);
  return {
    name: declared.name,
    convert: (value) => {
      const object = declared.create();
      for (const [name, item] of Object.entries(value as object)) {
        const member = members.get(name);
        if (member && item !== undefined) object[member.key] = orNull(item, member.type);
      }
      return object;
    },
  };
}
