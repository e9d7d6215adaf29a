/**
 * What the API server makes of a body by itself: fields that the schema does not know go, absent ones get their defaults.
 * Whoever compares what was written with what comes back has to do the same. Pure; nothing is mutated.
 */
import { deepClone, isObject, setKey } from "@lotse/client/meta";
import type { SchemaNode } from "./node.ts";

const PRESERVE = "x-kubernetes-preserve-unknown-fields";
/** Known of every object and every embedded one, without being in the schema. */
const OF_EVERY_OBJECT = new Set(["apiVersion", "kind", "metadata"]);

/** `body` without the fields that `schema`, which is that of a whole object, does not know. */
export function withoutUnknown<T>(body: T, schema: SchemaNode): T {
  return prune(body, schema, true) as T;
}

/** `body` with the defaults of `schema`, and without the nulls that it does not allow. */
export function withDefaults<T>(body: T, schema: SchemaNode): T {
  return fill(dropNulls(body, schema), schema) as T;
}

/** The schema of a member of an object: that of its name, or that of all members. */
export function memberSchema(schema: SchemaNode | undefined, key: string): SchemaNode | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key] as SchemaNode;
  return isObject(additionalProperties) ? additionalProperties : undefined;
}

/** The schema of the items of a list. */
export function itemSchema(schema: SchemaNode | undefined): SchemaNode | undefined {
  return isObject(schema?.items) ? schema.items : undefined;
}

function prune(value: unknown, schema: SchemaNode | undefined, whole = false): unknown {
  if (typeof value !== "object" || value === null) return value;
  const keeps = schema?.[PRESERVE] === true;
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    if (keeps && !items) return value;
    // Below a node that keeps what it does not know, its items do so as well.
    const of = keeps ? { ...items, [PRESERVE]: true } : items;
    return mapped(value, (item) => prune(item, of));
  }
  const resource = whole || schema?.["x-kubernetes-embedded-resource"] === true;
  return members(value as Record<string, unknown>, (member, key) => {
    if (resource && OF_EVERY_OBJECT.has(key)) return member;
    const known = memberSchema(schema, key);
    if (known) return prune(member, known);
    if (schema?.additionalProperties === true) return prune(member, undefined);
    return keeps ? member : undefined;
  });
}

function dropNulls(value: unknown, schema: SchemaNode | undefined): unknown {
  if (typeof value !== "object" || value === null || !schema) return value;
  if (Array.isArray(value)) return mapped(value, (item) => dropNulls(item, itemSchema(schema)));
  return members(value as Record<string, unknown>, (member, key) => {
    const known = memberSchema(schema, key);
    if (member === null && known && known.nullable !== true && !hasDefault(known)) return undefined;
    return dropNulls(member, known);
  });
}

function fill(value: unknown, schema: SchemaNode | undefined): unknown {
  if (typeof value !== "object" || value === null || !schema) return value;
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    return mapped(value, (item) => fill(orDefault(item, items), items));
  }
  let object = value as Record<string, unknown>;
  for (const [key, property] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (!hasDefault(property) || (Object.hasOwn(object, key) && object[key] !== undefined)) continue;
    if (object === value) object = { ...object };
    setKey(object, key, deepClone(property.default));
  }
  return members(object, (member, key) => {
    const known = memberSchema(schema, key);
    return fill(orDefault(member, known), known);
  });
}

/** A default of null is none: it could not be told from an absent one. */
function hasDefault(schema: unknown): schema is SchemaNode {
  return isObject(schema) && schema.default !== undefined && schema.default !== null;
}

function orDefault(value: unknown, schema: SchemaNode | undefined): unknown {
  return value === null && hasDefault(schema) && schema.nullable !== true ? deepClone(schema.default) : value;
}

/** The same list where no item changes. */
function mapped(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const next = list.map(change);
  return next.every((item, i) => item === list[i]) ? list : next;
}

/** The same object where no member changes; undefined takes a member out. */
function members(
  object: Record<string, unknown>,
  change: (member: unknown, key: string) => unknown,
): Record<string, unknown> {
  let next: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const member = change(object[key], key);
    if (member === object[key]) continue;
    next ??= { ...object };
    if (member === undefined) delete next[key];
    else setKey(next, key, member);
  }
  return next ?? object;
}
