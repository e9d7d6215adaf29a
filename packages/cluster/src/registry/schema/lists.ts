import { lookup, setKey } from "@lotse/client/meta";
import { duplicate, type FieldError, goJson, invalid } from "./field-errors.ts";
import { type Resolver, resolveSchema, type Schema } from "./types.ts";

/** Checks that items of sets, and keys of map-like lists, occur once. Only the first repetition is reported. */
export function validateLists(value: unknown, node: Schema, path: string, resolve: Resolver): FieldError[] {
  const errors: FieldError[] = [];
  walk(value, node, path, resolve, errors);
  return errors;
}

function walk(value: unknown, node: Schema, path: string, resolve: Resolver, errors: FieldError[]): void {
  if (typeof value !== "object" || value === null) return;
  const schema = resolveSchema(node, resolve);
  if (Array.isArray(value)) {
    if (schema["x-kubernetes-list-type"] === "set") {
      for (const i of repeated(value)) errors.push(duplicate(`${path}[${i}]`, value[i]));
    } else if (schema["x-kubernetes-list-type"] === "map") {
      errors.push(...repeatedKeys(value, schema["x-kubernetes-list-map-keys"] ?? [], path));
    }
    if (schema.items)
      for (const [i, item] of value.entries()) walk(item, schema.items, `${path}[${i}]`, resolve, errors);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (schema.properties && Object.hasOwn(schema.properties, key)) {
      walk(member, schema.properties[key] as Schema, path === "" ? key : `${path}.${key}`, resolve, errors);
    } else if (typeof schema.additionalProperties === "object") {
      walk(member, schema.additionalProperties, `${path}[${key}]`, resolve, errors);
    }
  }
}

function repeated(items: readonly unknown[]): number[] {
  const seen = new Map<string, number>();
  const indexes: number[] = [];
  for (const [i, item] of items.entries()) {
    const text = goJson(item);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    if (times === 1) indexes.push(i);
  }
  return indexes;
}

function repeatedKeys(items: readonly unknown[], keys: readonly string[], path: string): FieldError[] {
  const wrong = items.findIndex((item) => item !== null && (typeof item !== "object" || Array.isArray(item)));
  if (wrong >= 0)
    return [invalid(`${path}[${wrong}]`, items[wrong], "must be an object for an array of list-type map")];
  const found = items.map((item) => listKey(item, keys));
  return repeated(found).map((i) => duplicate(`${path}[${i}]`, found[i]));
}

/** The members of an item that make up its key in a map-like list. */
export function listKey(item: unknown, keys: readonly string[]): Record<string, unknown> {
  const key: Record<string, unknown> = {};
  if (typeof item !== "object" || item === null) return key;
  for (const name of keys) {
    const value = lookup(item as Record<string, unknown>, name);
    if (value !== undefined) setKey(key, name, value);
  }
  return key;
}
