/** What has changed between two states of an object, field by field, and the same changes made to a third one. Pure. */
import { deepEqual, isObject } from "@lotse/client/meta";
import { below, elementOf, type FieldPath, type Fields, isMeant, isWhole, itemKeysIn, keysIn } from "./fields.ts";

/** One field that has changed; undefined stands for its absence. */
export interface FieldChange {
  readonly path: FieldPath;
  readonly before: unknown;
  readonly now: unknown;
}

/**
 * What has changed. `trees` say how items of lists are told apart, and which values are one whole; without them every
 * list is.
 */
export function changesBetween(before: unknown, now: unknown, trees: readonly Fields[]): FieldChange[] {
  const changes: FieldChange[] = [];
  compare(before, now, trees, [], changes);
  return changes;
}

function compare(before: unknown, now: unknown, trees: readonly Fields[], path: FieldPath, into: FieldChange[]): void {
  if (before === now || deepEqual(before, now)) return;
  const step = (element: string, one: unknown, other: unknown) =>
    compare(one, other, treesBelow(trees, element), [...path, element], into);
  if (!trees.some(isWhole)) {
    if (isMapOrAbsent(before) && isMapOrAbsent(now)) {
      const names = new Set([...Object.keys(before ?? {}), ...Object.keys(now ?? {})]);
      // An empty map is a value: there is nothing in it that could have changed.
      if (names.size > 0) {
        for (const name of names) step(`f:${name}`, member(before, name), member(now, name));
        return;
      }
    }
    const items = itemsOf(before, now, trees);
    if (items) {
      for (const [element, [one, other]] of items) {
        if (one === undefined || other === undefined) into.push({ path: [...path, element], before: one, now: other });
        else step(element, one, other);
      }
      return;
    }
  }
  into.push({ path, before, now });
}

function isMapOrAbsent(value: unknown): value is Record<string, unknown> | undefined {
  return value === undefined || isObject(value);
}

function member(value: Record<string, unknown> | undefined, name: string): unknown {
  return value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
}

function treesBelow(trees: readonly Fields[], element: string): Fields[] {
  return trees.flatMap((tree) => below(tree, element) ?? []);
}

/** The items of two lists side by side; undefined when they cannot be told apart. */
function itemsOf(
  before: unknown,
  now: unknown,
  trees: readonly Fields[],
): ReadonlyMap<string, [unknown, unknown]> | undefined {
  const lists = [before ?? [], now ?? []];
  const keys = itemKeysIn(trees);
  if (!keys || !lists.every(Array.isArray)) return undefined;
  const items = new Map<string, [unknown, unknown]>();
  for (const [side, list] of (lists as unknown[][]).entries()) {
    const seen = new Set<string>();
    for (const item of list) {
      const element = elementOf(item, keys);
      if (seen.has(element)) return undefined;
      seen.add(element);
      const both = items.get(element) ?? [undefined, undefined];
      both[side] = item;
      items.set(element, both);
    }
  }
  return items;
}

/** The value with one field changed; shares the rest with it. */
export function withChange(value: unknown, path: FieldPath, now: unknown): unknown {
  const [element, ...rest] = path;
  if (element === undefined) return now;
  if (element.startsWith("f:")) {
    const name = element.slice(2);
    if (!isObject(value) && now === undefined) return value;
    const { [name]: old, ...others } = isObject(value) ? value : {};
    const changed = withChange(old, rest, now);
    return changed === undefined ? others : { ...others, [name]: changed };
  }
  const list = Array.isArray(value) ? value : [];
  const at = list.findIndex((item) => isMeant(item, element));
  if (at < 0) {
    if (now === undefined) return value;
    return [...list, rest.length === 0 ? now : withChange({ ...keysIn(element) }, rest, now)];
  }
  const changed = withChange(list[at], rest, now);
  return changed === undefined ? list.filter((_, i) => i !== at) : list.map((item, i) => (i === at ? changed : item));
}
