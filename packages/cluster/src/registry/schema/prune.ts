import { isReference, type Resolver, resolveSchema, type Schema } from "./types.ts";
import { mapList, mapObject } from "./walk.ts";

/** How {@link prune} treats what belongs to every object. */
export interface PruneOptions {
  /** The value is a whole custom resource: its apiVersion, kind and metadata are known without being in the schema. */
  readonly resourceRoot?: boolean;
  /** The schema of ObjectMeta, to prune metadata of resource roots and embedded resources; without it they stay. */
  readonly objectMeta?: Schema;
}

/** What is left of a value, and what was taken away. */
export interface Pruned<T> {
  readonly value: T;
  /** The paths of the removed fields, sorted: `spec.list[0].bogus`. */
  readonly unknown: string[];
}

const META_FIELDS = new Set(["apiVersion", "kind", "metadata"]);
const META_TYPES: Schema = { type: "string" };

/**
 * Removes the fields that the schema does not know. Mutates nothing: the parts that stay as they are are shared with
 * `value`. `x-kubernetes-preserve-unknown-fields` keeps unknown fields of its node; the known ones below it are still
 * pruned.
 */
export function prune<T>(value: T, schema: Schema, resolve: Resolver, options: PruneOptions = {}): Pruned<T> {
  const walk: Walk = { resolve, objectMeta: options.objectMeta, unknown: [] };
  const pruned = pruneNode(value, schema, "", walk, options.resourceRoot === true) as T;
  return { value: pruned, unknown: walk.unknown.sort() };
}

interface Walk {
  readonly resolve: Resolver;
  readonly objectMeta: Schema | undefined;
  readonly unknown: string[];
}

function pruneNode(value: unknown, node: Schema | undefined, path: string, walk: Walk, root = false): unknown {
  if (typeof value !== "object" || value === null) return value;
  const schema = node && resolveSchema(node, walk.resolve);
  const keep =
    schema !== undefined && (schema["x-kubernetes-preserve-unknown-fields"] === true || isFreeForm(node, schema));
  if (Array.isArray(value)) {
    // Below a preserving node a list without a schema of its items is kept as it is.
    if (keep && !schema.items) return value;
    return mapList(value, (item, i) => pruneNode(item, keepItems(schema, keep), `${path}[${i}]`, walk));
  }
  const resource = root || schema?.["x-kubernetes-embedded-resource"] === true;
  return mapObject(value as Record<string, unknown>, (member, key) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (resource && META_FIELDS.has(key)) return pruneMeta(member, key, at, walk);
    const known = memberSchema(schema, key);
    if (known !== undefined) return pruneNode(member, known === true ? undefined : known, at, walk);
    if (keep) return member;
    walk.unknown.push(at);
    return undefined;
  });
}

/** `additionalProperties: true` is known, without a schema: everything below it goes. */
function memberSchema(schema: Schema | undefined, key: string): Schema | true | undefined {
  if (schema?.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const additional = schema?.additionalProperties;
  return additional === false ? undefined : additional;
}

function keepItems(schema: Schema | undefined, keep: boolean): Schema | undefined {
  const items = schema?.items;
  return keep && items ? { ...items, "x-kubernetes-preserve-unknown-fields": true } : items;
}

function pruneMeta(value: unknown, key: string, path: string, walk: Walk): unknown {
  if (!walk.objectMeta) return value;
  return pruneNode(value, key === "metadata" ? walk.objectMeta : META_TYPES, path, walk);
}

/** Types of built-in kinds that hold any JSON (raw extensions, field sets) have a definition without properties. */
function isFreeForm(node: Schema | undefined, schema: Schema): boolean {
  return (
    isReference(node) &&
    (schema.type === undefined || schema.type === "object") &&
    schema.properties === undefined &&
    schema.additionalProperties === undefined
  );
}
