import { isObject, lookup } from "@lotse/client/meta";
import { isReference, type Resolver, resolveSchema, type Schema } from "../schema/index.ts";
import { keyElement, type PathElement, valueElement } from "./field-set.ts";

/** The schema of content that has none: objects are granular, lists belong to one owner as a whole. */
export const DEDUCED: unique symbol = Symbol("deduced");
/** The schema of a value, or that it has none and goes by what is there. */
export type Node = Schema | typeof DEDUCED;

/** How a value takes part in merging. */
export type Shape =
  | { readonly kind: "scalar" }
  | {
      readonly kind: "list";
      readonly atomic: boolean;
      readonly keys: readonly string[] | undefined;
      readonly items: Node;
      readonly defaults: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: "map";
      readonly atomic: boolean;
      /** The schema of a member, and whether it is a named field; undefined for one that the schema does not know. */
      field(name: string): { readonly node: Node; readonly named: boolean } | undefined;
    };

const SCALAR: Shape = { kind: "scalar" };
const FREE_MAP: Shape = { kind: "map", atomic: false, field: () => ({ node: DEDUCED, named: false }) };
const FREE_LIST: Shape = { kind: "list", atomic: true, keys: undefined, items: DEDUCED, defaults: {} };

/** The shape of a node; content without a schema has the shape of its value. */
export function shapeOf(node: Node, value: unknown, resolve: Resolver): Shape {
  const schema = node === DEDUCED ? undefined : resolveSchema(node, resolve);
  if (schema === undefined || isUntyped(schema)) {
    return Array.isArray(value) ? FREE_LIST : isObject(value) ? FREE_MAP : SCALAR;
  }
  if (schema.type === "array") return listShape(schema, resolve);
  if (schema.type === "object" || schema.properties) return mapShape(schema);
  return SCALAR;
}

function isUntyped(schema: Schema): boolean {
  if (schema["x-kubernetes-int-or-string"]) return false;
  return schema.type === undefined && schema.properties === undefined && !schema.oneOf && !schema.anyOf;
}

function listShape(schema: Schema, resolve: Resolver): Shape {
  const type = schema["x-kubernetes-list-type"];
  const keys = type === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : undefined;
  const defaults: Record<string, unknown> = {};
  const items = schema.items && resolveSchema(schema.items, resolve);
  for (const key of keys ?? []) {
    const property = lookup(items?.properties, key);
    const value = property && resolveSchema(property, resolve).default;
    if (value !== undefined && value !== null) defaults[key] = value;
  }
  return {
    kind: "list",
    atomic: type !== "map" && type !== "set",
    keys,
    items: schema.items ?? DEDUCED,
    defaults,
  };
}

function mapShape(schema: Schema): Shape {
  const { properties, additionalProperties: additional } = schema;
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true || (!properties && additional === undefined);
  // Content of which a built-in kind says nothing at all belongs to one owner.
  const opaque = !properties && additional === undefined && schema["x-kubernetes-preserve-unknown-fields"] !== true;
  return {
    kind: "map",
    atomic: schema["x-kubernetes-map-type"] === "atomic" || opaque,
    field(name) {
      if (properties && Object.hasOwn(properties, name)) return { node: properties[name] as Schema, named: true };
      if (typeof additional === "object") return { node: additional, named: false };
      if (schema["x-kubernetes-embedded-resource"] && /^(?:apiVersion|kind|metadata)$/.test(name)) {
        return { node: DEDUCED, named: true };
      }
      return open || additional === true ? { node: DEDUCED, named: false } : undefined;
    },
  };
}

/** The path element of a list's item; a text that says what is wrong with the item otherwise. */
export function itemElement(
  shape: Extract<Shape, { kind: "list" }>,
  item: unknown,
): { readonly element: PathElement } | { readonly error: string } {
  if (!shape.keys) {
    if (item === null || typeof item === "object") {
      return item === null ? { error: "sets may not have a null element" } : { element: valueElement(item) };
    }
    return { element: valueElement(item) };
  }
  if (item === null) return { error: "associative list with keys may not have a null element" };
  if (!isObject(item)) return { error: "associative list with keys may not have non-map elements" };
  const key: Record<string, unknown> = {};
  for (const name of shape.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : shape.defaults[name];
    if (value !== undefined) key[name] = value;
  }
  if (Object.keys(key).length === 0) {
    const keys = shape.keys.map((name) => JSON.stringify(name)).join(" ");
    const detail = `omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
    return { error: `associative list with keys has an element that ${detail}` };
  }
  return { element: keyElement(key) };
}

/**
 * An object of a built-in kind as the server holds it in memory: structs that are part of another one exist even when
 * no client set them, and fields that must be there are null. Only with them does an added field get the same owner marks
 * as on a real server. Custom resources, whose metadata has no default, are left alone.
 */
export function withImplicitStructs(value: unknown, node: Node, resolve: Resolver): unknown {
  if (node === DEDUCED) return value;
  const metadata = node.properties?.metadata;
  const builtIn = isReference(node) || (isReference(metadata) && isObject(metadata?.default));
  return builtIn ? fillStructs(value, node, resolve, true) : value;
}

function fillStructs(value: unknown, node: Node, resolve: Resolver, reference: boolean): unknown {
  if (node === DEDUCED || value === null || typeof value !== "object") return value;
  const schema = resolveSchema(node, resolve);
  if (Array.isArray(value)) {
    const items = schema.items;
    if (!items) return value;
    return value.map((item) => fillStructs(item, items, resolve, isReference(items)));
  }
  const { properties } = schema;
  const result: Record<string, unknown> = { ...value };
  if (!properties) return result;
  if (reference) {
    for (const [name, empty] of impliedBy(properties, schema.required)) {
      if (!Object.hasOwn(result, name)) result[name] = empty;
    }
  }
  for (const name of Object.keys(result)) {
    const member = result[name];
    // Most members are texts and numbers, and objects of thousands of members come here.
    if (member === null || typeof member !== "object" || !Object.hasOwn(properties, name)) continue;
    const property = properties[name] as Schema;
    result[name] = fillStructs(member, property, resolve, isReference(property));
  }
  return result;
}

type Properties = Readonly<Record<string, Schema>>;
type Implied = readonly (readonly [name: string, empty: object | null])[];

/** What is known of structs: each is looked at once, for there are dozens of fields in it and thousands of objects. */
const IMPLIED = new WeakMap<Properties, Implied>();

/** The fields that a struct has when no client has set them. */
function impliedBy(properties: Properties, required: readonly string[] = []): Implied {
  let implied = IMPLIED.get(properties);
  if (implied === undefined) {
    implied = Object.entries(properties).flatMap(([name, property]): Implied => {
      if (isReference(property) && isObject(property.default)) return [[name, {}]];
      return required.includes(name) ? [[name, null]] : [];
    });
    IMPLIED.set(properties, implied);
  }
  return implied;
}
