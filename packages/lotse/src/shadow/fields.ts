/**
 * Trees of fields, in the form in which the API server keeps them in `metadata.managedFields`: `f:name` is a field, `k:{…}`
 * an item of a list by its keys, `v:…` an item by its value, `.` the thing itself. A tree without elements is a leaf: the
 * whole value. Pure.
 */
import type { KubeBody, ManagedFieldsEntry } from "@lotse/client";
import { deepEqual, isObject } from "@lotse/client/meta";

/** See the module comment. */
export interface Fields {
  readonly [element: string]: Fields;
}

/** The elements that lead to a field. */
export type FieldPath = readonly string[];

/** The thing itself, among the fields below it. */
export const SELF = ".";

/** The whole value. */
export const WHOLE: Fields = Object.freeze({});

/** Whether a tree means the whole value. */
export function isWhole(fields: Fields): boolean {
  for (const _ in fields) return false;
  return true;
}

/** The tree below an element. */
export function below(fields: Fields | undefined, element: string): Fields | undefined {
  return fields !== undefined && Object.hasOwn(fields, element) ? fields[element] : undefined;
}

/** The fields of both. */
export function union(a: Fields | undefined, b: Fields | undefined): Fields | undefined {
  if (!a || !b) return a ?? b;
  const all: Record<string, Fields> = { ...a };
  for (const [element, fields] of Object.entries(b)) all[element] = union(below(a, element), fields) ?? fields;
  return all;
}

/** Whether a field is in a tree: itself, something above it as a whole, or something below it. */
export function has(fields: Fields | undefined, path: FieldPath): boolean {
  let here = fields;
  for (const element of path) {
    if (!here) return false;
    if (isWhole(here)) return true;
    here = below(here, element);
  }
  return here !== undefined;
}

/** A tree without a field and what is below it; undefined when nothing is left, which an empty tree does not say. */
export function without(fields: Fields, path: FieldPath): Fields | undefined {
  const [element = SELF, ...rest] = path;
  const inner = below(fields, element);
  if (!inner) return fields;
  const { [element]: _, ...others } = fields;
  const left = rest.length > 0 && !isWhole(inner) ? without(inner, rest) : undefined;
  const kept = left ? { ...others, [element]: left } : others;
  return isWhole(kept) ? undefined : kept;
}

/** The fields that a merge patch speaks of; lists are replaced as a whole. */
export function fieldsOfPatch(patch: unknown): Fields {
  if (!isObject(patch)) return WHOLE;
  const entries = Object.entries(patch).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [`f:${key}`, fieldsOfPatch(value)]));
}

/** The fields that the entries say somebody has set. */
export function fieldsOfEntries(
  body: KubeBody | undefined,
  isMeant: (entry: ManagedFieldsEntry) => boolean,
): Fields | undefined {
  let all: Fields | undefined;
  for (const entry of body?.metadata?.managedFields ?? []) {
    if (isMeant(entry) && entry.fieldsV1) all = union(all, asStored(entry.fieldsV1 as Fields));
  }
  return all;
}

/** The texts of a Secret are stored among its data, and the record of who set them is not told. */
function asStored(fields: Fields): Fields {
  const { "f:stringData": texts, ...rest } = fields;
  if (!texts) return fields;
  return { ...rest, "f:data": union(rest["f:data"], texts) ?? texts };
}

/** How the items of a list are told apart; undefined when the list is one value. */
export type ItemKeys = readonly string[] | "value";

/** How the items of the list at this place are told apart, as far as the trees know. */
export function itemKeysIn(trees: readonly Fields[]): ItemKeys | undefined {
  for (const tree of trees) {
    for (const element of Object.keys(tree)) {
      if (element.startsWith("k:")) return Object.keys(keysIn(element)).sort();
      if (element.startsWith("v:")) return "value";
    }
  }
  return undefined;
}

/** The element that means an item. */
export function elementOf(item: unknown, keys: ItemKeys): string {
  if (keys === "value" || !isObject(item)) return `v:${JSON.stringify(item)}`;
  return `k:${JSON.stringify(Object.fromEntries(keys.map((name) => [name, item[name]])))}`;
}

/** The keys in an element that means an item of a list. */
export function keysIn(element: string): Readonly<Record<string, unknown>> {
  const keys: unknown = JSON.parse(element.slice(2));
  return isObject(keys) ? keys : {};
}

/** Whether an element means this item. */
export function isMeant(item: unknown, element: string): boolean {
  if (!element.startsWith("k:")) return element === `v:${JSON.stringify(item)}`;
  return isObject(item) && Object.entries(keysIn(element)).every(([name, value]) => deepEqual(item[name], value));
}

/** A path for people: `spec.containers[name=web].image`. */
export function pathText(path: FieldPath): string {
  let text = "";
  for (const element of path) {
    if (element.startsWith("f:")) text += `${text === "" ? "" : "."}${element.slice(2)}`;
    else text += `[${itemText(element)}]`;
  }
  return text;
}

function itemText(element: string): string {
  if (!element.startsWith("k:")) return element.slice(2);
  return Object.entries(keysIn(element))
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(",");
}
