import { deepClone, setKey } from "@lotse/client/meta";
import { type Resolver, resolveSchema, type Schema } from "./types.ts";
import { mapList, mapObject } from "./walk.ts";

/**
 * Fills in what the schema has defaults for, in the server's two steps: a `null` that the schema does not allow goes
 * away (where there is a default, the default takes its place), then absent members get their defaults, also inside
 * objects that came from a default themselves. Mutates nothing; what needs no change is shared with `value`.
 */
export function applyDefaults<T>(value: T, schema: Schema, resolve: Resolver): T {
  return fill(dropNulls(value, schema, resolve), schema, resolve) as T;
}

function dropNulls(value: unknown, node: Schema | undefined, resolve: Resolver): unknown {
  if (typeof value !== "object" || value === null || node === undefined) return value;
  const schema = resolveSchema(node, resolve);
  if (Array.isArray(value)) return mapList(value, (item) => dropNulls(item, schema.items, resolve));
  return mapObject(value as Record<string, unknown>, (member, key) => {
    const known = memberOf(schema, key, resolve);
    if (member === null && known && known.nullable !== true && !hasDefault(known)) return undefined;
    return dropNulls(member, known, resolve);
  });
}

function fill(value: unknown, node: Schema | undefined, resolve: Resolver): unknown {
  if (typeof value !== "object" || value === null || node === undefined) return value;
  const schema = resolveSchema(node, resolve);
  if (Array.isArray(value)) {
    return mapList(value, (item) => fill(orDefault(item, schema.items, resolve), schema.items, resolve));
  }
  let object = value as Record<string, unknown>;
  if (schema.properties) {
    for (const key of Object.keys(schema.properties)) {
      if (object[key] !== undefined && Object.hasOwn(object, key)) continue;
      const property = resolveSchema(schema.properties[key] as Schema, resolve);
      if (!hasDefault(property)) continue;
      if (object === value) object = { ...object };
      setKey(object, key, deepClone(property.default));
    }
  }
  return mapObject(object, (member, key) => {
    const known = memberOf(schema, key, resolve);
    return fill(orDefault(member, known, resolve), known, resolve);
  });
}

/** A default of `null` is none: it could not be told from an absent one. */
function hasDefault(schema: Schema): boolean {
  return schema.default !== undefined && schema.default !== null;
}

function orDefault(value: unknown, node: Schema | undefined, resolve: Resolver): unknown {
  if (value !== null || node === undefined) return value;
  const schema = resolveSchema(node, resolve);
  return schema.nullable !== true && hasDefault(schema) ? deepClone(schema.default) : value;
}

function memberOf(schema: Schema, key: string, resolve: Resolver): Schema | undefined {
  const own = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  const known = own ?? schema.additionalProperties;
  return typeof known === "object" ? resolveSchema(known, resolve) : undefined;
}
