import { deepEqual, isObject, lookup } from "@lotse/client/meta";
import { goJson } from "./field-errors.ts";
import { listKey } from "./lists.ts";
import { type Resolver, resolveSchema, type Schema } from "./types.ts";

/**
 * A value beside the one that it replaces. Undefined stands for a value without a counterpart: new, or in a place
 * where it cannot be told which old value belongs to it (items of sets and of plain lists).
 */
export interface Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly root: boolean;
}

/** The correlation of a member, whose name both values must have and the schema must know. */
export function correlateMember(parent: Correlation | undefined, node: Schema, key: string): Correlation | undefined {
  // Both objects were converted to one version, so that a change of these two cannot be seen.
  if (!parent || (parent.root && (key === "apiVersion" || key === "kind"))) return undefined;
  if (!isObject(parent.value) || !isObject(parent.old)) return undefined;
  if (!Object.hasOwn(parent.value, key) || !Object.hasOwn(parent.old, key)) return undefined;
  const known = node.properties && Object.hasOwn(node.properties, key);
  if (!known && typeof node.additionalProperties !== "object") return undefined;
  return { value: lookup(parent.value, key), old: lookup(parent.old, key), root: false };
}

/** The correlation of an item: only map-like lists have one, by their keys. */
export function correlateItem(
  parent: Correlation | undefined,
  node: Schema,
  index: number,
  resolve: Resolver,
): Correlation | undefined {
  if (!parent || !Array.isArray(parent.value)) return undefined;
  const old = correlatedItem(parent.value[index], parent.old, resolveSchema(node, resolve));
  return old === undefined || old === null ? undefined : { value: parent.value[index], old, root: false };
}

/** The item of the old list that has the same keys as `item`. */
export function correlatedItem(item: unknown, oldList: unknown, schema: Schema): unknown {
  if (schema["x-kubernetes-list-type"] !== "map" || !Array.isArray(oldList) || !isObject(item)) return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const key = goJson(listKey(item, keys));
  return oldList.find((old) => isObject(old) && goJson(listKey(old, keys)) === key);
}

/** Whether a value is the same as before: then its mistakes are old ones, and forgiven. */
export function isUnchanged(correlation: Correlation | undefined): boolean {
  return correlation !== undefined && deepEqual(correlation.value, correlation.old);
}
