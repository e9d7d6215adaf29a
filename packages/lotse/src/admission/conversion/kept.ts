/**
 * What a version of a kind cannot hold: the differences between an object and what comes back of it after a round
 * trip, small enough to travel along with the object, and put back on the way home. A difference remembers a digest of
 * what it stood beside, so that a client that has changed the same field meanwhile wins. Pure.
 */
import { deepEqual, isObject, setKey } from "@lotse/client/meta";
import type { Essence } from "../../declare/index.ts";
import { itemSchema, memberSchema, type SchemaNode } from "../../schema/index.ts";
import { digestOf } from "../../turn/index.ts";

/** A field that comes back as something else, or not at all: the digest of what comes back, and what it was. */
type KeptValue = readonly ["=", string | null, unknown];
/** A field that comes back and was not there. */
type KeptAbsence = readonly ["-", string | null];
/** A list of as many items: digests of all that come back, and by their place what differs inside of them. */
type KeptItems = readonly ["[", readonly string[], Readonly<Record<string, KeptFields>>];
/** A list whose items have a key: by the key, and where it was if it does not come back, what differs. */
type KeptEntries = readonly ["#", readonly string[], readonly KeptEntry[]];
type KeptEntry = readonly [key: readonly unknown[], place: number, kept: KeptFields];

/** Differences of one value; of an object by its fields. */
export type KeptFields = KeptValue | KeptAbsence | KeptItems | KeptEntries | { readonly [field: string]: KeptFields };

/** What has to be kept so that `whole` can be had again of `back`; undefined where nothing differs. */
export function differences(back: unknown, whole: unknown, schema: SchemaNode | undefined): KeptFields | undefined {
  if (back === whole || deepEqual(back, whole)) return undefined;
  if (isObject(back) && isObject(whole)) return ofObjects(back, whole, schema);
  if (Array.isArray(back) && Array.isArray(whole)) {
    const kept = ofEntries(back, whole, schema) ?? ofItems(back, whole, schema);
    if (kept) return kept;
  }
  return whole === undefined ? ["-", digest(back)] : ["=", digest(back), whole];
}

/**
 * `value` with what was kept of it. `shown` is the same value with the defaults of its schema, which is how differences
 * are found as well: a field that the API server fills in by itself is neither lost nor changed.
 */
export function restore(kept: KeptFields, value: unknown, shown: unknown, schema: SchemaNode | undefined): unknown {
  if (!isTagged(kept)) {
    // A client has taken the whole object out, or has put something else in its place.
    if (!isObject(shown) || (value !== undefined && !isObject(value))) return value;
    return restoreMembers(kept, value ?? {}, shown, schema, value === undefined);
  }
  switch (kept[0]) {
    case "=":
      return kept[1] === digest(shown) ? kept[2] : value;
    case "-":
      return kept[1] === digest(shown) ? undefined : value;
    case "[":
      return Array.isArray(value) && Array.isArray(shown) ? restoreItems(kept, value, shown, schema) : value;
    case "#":
      return Array.isArray(value) && Array.isArray(shown) ? restoreEntries(kept, value, shown, schema) : value;
  }
}

/** Each difference by itself, in the form of the whole. */
export function singly(kept: KeptFields): KeptFields[] {
  if (!isTagged(kept)) {
    return Object.keys(kept).flatMap((key) =>
      singly(kept[key] as KeptFields).map((one) => {
        const alone: Record<string, KeptFields> = {};
        setKey(alone, key, one);
        return alone;
      }),
    );
  }
  if (kept[0] === "[") {
    const [tag, digests, items] = kept;
    return Object.entries(items).flatMap(([place, item]) =>
      singly(item).map((one): KeptFields => [tag, digests, { [place]: one }]),
    );
  }
  if (kept[0] === "#") {
    const [tag, keys, entries] = kept;
    return entries.flatMap(([key, place, item]) =>
      singly(item).map((one): KeptFields => [tag, keys, [[key, place, one]]]),
    );
  }
  return [kept];
}

/** The paths of what is kept, as people write them: `spec.ports[].name`. */
export function keptPaths(kept: KeptFields, path = ""): string[] {
  if (!isTagged(kept)) {
    return Object.keys(kept).flatMap((key) => keptPaths(kept[key] as KeptFields, path === "" ? key : `${path}.${key}`));
  }
  if (kept[0] === "[") return Object.values(kept[2]).flatMap((item) => keptPaths(item, `${path}[]`));
  if (kept[0] === "#") return kept[2].flatMap(([, , item]) => keptPaths(item, `${path}[]`));
  return [path];
}

/** What was read from an object, if it is what {@link differences} makes; a client may have edited it. */
export function readKept(value: unknown): KeptFields | undefined {
  return isKept(value) ? value : undefined;
}

function isKept(value: unknown): value is KeptFields {
  if (isObject(value)) return Object.values(value).every(isKept);
  if (!Array.isArray(value)) return false;
  const [tag, first, second] = value as readonly unknown[];
  switch (tag) {
    case "=":
      return (first === null || typeof first === "string") && value.length === 3;
    case "-":
      return first === null || typeof first === "string";
    case "[":
      return Array.isArray(first) && isObject(second) && Object.values(second).every(isKept);
    case "#":
      return Array.isArray(first) && Array.isArray(second) && second.every(isEntry);
    default:
      return false;
  }
}

function isEntry(value: unknown): value is KeptEntry {
  return Array.isArray(value) && Array.isArray(value[0]) && Number.isInteger(value[1]) && isKept(value[2]);
}

function isTagged(kept: KeptFields): kept is KeptValue | KeptAbsence | KeptItems | KeptEntries {
  return Array.isArray(kept);
}

/** Null for a field that is not there. Short: it only tells one value of one field from the next. */
function digest(value: unknown): string | null {
  return value === undefined ? null : digestOf({ value } as Essence).slice(0, 8);
}

function ofObjects(
  back: Record<string, unknown>,
  whole: Record<string, unknown>,
  schema: SchemaNode | undefined,
): KeptFields | undefined {
  const kept: Record<string, KeptFields> = {};
  // A map that is replaced as a whole is compared as a whole.
  if (schema?.["x-kubernetes-map-type"] === "atomic") return ["=", digest(back), whole];
  for (const key of new Set([...Object.keys(whole), ...Object.keys(back)])) {
    const part = differences(own(back, key), own(whole, key), memberSchema(schema, key));
    if (part) setKey(kept, key, part);
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function ofItems(
  back: readonly unknown[],
  whole: readonly unknown[],
  schema: SchemaNode | undefined,
): KeptFields | undefined {
  if (back.length !== whole.length || !back.every(isObject) || !whole.every(isObject)) return undefined;
  const kept: Record<string, KeptFields> = {};
  for (const [i, item] of whole.entries()) {
    const part = differences(back[i], item, itemSchema(schema));
    if (part) kept[i] = part;
  }
  return ["[", back.map((item) => digest(item) as string), kept];
}

function ofEntries(
  back: readonly unknown[],
  whole: readonly unknown[],
  schema: SchemaNode | undefined,
): KeptFields | undefined {
  const keys = keysOf(schema);
  const [before, after] = [keys && byKey(back, keys), keys && byKey(whole, keys)];
  if (!keys || !before || !after) return undefined;
  const common = (one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>) =>
    [...one.keys()].filter((key) => other.has(key)).join();
  // Another order is told by the whole list only.
  if (common(before, after) !== common(after, before)) return undefined;
  const kept: KeptEntry[] = [];
  const places = [...after.keys()];
  const invented = [...before.keys()].filter((key) => !after.has(key));
  // What goes comes first, so that what comes finds its place.
  for (const key of [...invented, ...places]) {
    const part = differences(before.get(key), after.get(key), itemSchema(schema));
    if (part) kept.push([JSON.parse(key) as unknown[], places.indexOf(key), part]);
  }
  return ["#", keys, kept];
}

/** The keys of a list of the type `map`. */
function keysOf(schema: SchemaNode | undefined): readonly string[] | undefined {
  const keys = schema?.["x-kubernetes-list-map-keys"];
  return schema?.["x-kubernetes-list-type"] === "map" && Array.isArray(keys) ? (keys as string[]) : undefined;
}

/** The items by what is in their keys; undefined when two have the same, or one is no object. */
function byKey(list: readonly unknown[], keys: readonly string[]): Map<string, unknown> | undefined {
  const found = new Map<string, unknown>();
  for (const item of list) {
    if (!isObject(item)) return undefined;
    found.set(keyOf(item, keys), item);
  }
  return found.size === list.length ? found : undefined;
}

function keyOf(item: Record<string, unknown>, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => own(item, key) ?? null));
}

function restoreMembers(
  kept: { readonly [field: string]: KeptFields },
  value: Record<string, unknown>,
  shown: Record<string, unknown>,
  schema: SchemaNode | undefined,
  absent: boolean,
): unknown {
  const result = { ...value };
  for (const key of Object.keys(kept)) {
    const known = memberSchema(schema, key);
    const next = restore(kept[key] as KeptFields, own(value, key), own(shown, key), known);
    if (next === undefined) delete result[key];
    else setKey(result, key, next);
  }
  // Only a default has put it there, and nothing of it was kept: it stays absent.
  return absent && Object.keys(result).length === 0 ? undefined : result;
}

function restoreItems(
  [, digests, kept]: KeptItems,
  value: readonly unknown[],
  shown: readonly unknown[],
  schema: SchemaNode | undefined,
): readonly unknown[] {
  const now = shown.map((item) => digest(item) as string);
  const result = [...value];
  for (const [from, to] of aligned(digests, now)) {
    const part = Object.hasOwn(kept, String(from)) ? kept[String(from)] : undefined;
    if (part) result[to] = restore(part, value[to], shown[to], itemSchema(schema));
  }
  return result;
}

function restoreEntries(
  [, keys, kept]: KeptEntries,
  value: readonly unknown[],
  shown: readonly unknown[],
  schema: SchemaNode | undefined,
): readonly unknown[] {
  const result = value.map((item) => ({ item }));
  const places = new Map(
    shown.map((item, i) => [isObject(item) ? keyOf(item, keys) : `${i}`, { at: result[i], i }] as const),
  );
  for (const [key, place, part] of kept) {
    const found = places.get(JSON.stringify(key));
    const next = restore(part, found?.at?.item, found && shown[found.i], itemSchema(schema));
    const at = found?.at && result.indexOf(found.at);
    if (at === undefined) {
      if (next !== undefined) result.splice(Math.max(0, Math.min(place, result.length)), 0, { item: next });
    } else if (next === undefined) result.splice(at, 1);
    else result[at] = { item: next };
  }
  return result.map(({ item }) => item);
}

/** Above this many comparisons only the ends of two lists are matched. */
const MOST_COMPARISONS = 250_000;

/**
 * Which item has become which: those that are the same, in order, and between them, where as many are there as before,
 * those that a client has edited in their place.
 */
export function aligned(before: readonly string[], after: readonly string[]): (readonly [number, number])[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const [left, right] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const same = [
    ...Array.from({ length: start }, (_, i) => [i, i] as const),
    ...(left.length * right.length > MOST_COMPARISONS ? [] : longestCommon(left, right)).map(
      ([i, j]) => [i + start, j + start] as const,
    ),
    ...Array.from({ length: end }, (_, i) => [before.length - end + i, after.length - end + i] as const),
    [before.length, after.length] as const,
  ];
  const pairs: (readonly [number, number])[] = [];
  let [i, j] = [0, 0];
  for (const [nextI, nextJ] of same) {
    if (nextI - i === nextJ - j) for (; i < nextI; i++, j++) pairs.push([i, j]);
    if (nextI < before.length) pairs.push([nextI, nextJ]);
    [i, j] = [nextI + 1, nextJ + 1];
  }
  return pairs;
}

function longestCommon(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const here = i * width + j;
      lengths[here] =
        a[i] === b[j]
          ? (lengths[here + width + 1] as number) + 1
          : Math.max(lengths[here + width] as number, lengths[here + 1] as number);
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const here = i * width + j;
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if ((lengths[here + width] as number) >= (lengths[here + 1] as number)) i++;
    else j++;
  }
  return pairs;
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
