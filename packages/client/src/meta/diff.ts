import { deepEqual } from "./equality.ts";
import { isObject } from "./json.ts";

/** One difference between two values: what happened at `path`. */
export interface DiffItem {
  readonly op: "add" | "change" | "remove";
  readonly path: readonly string[];
  readonly old: unknown;
  readonly new: unknown;
}

/** All differences between two values, the deepest ones that can be named. */
export type Diff = readonly DiffItem[];

/**
 * What changed from one JSON value to another. Objects are compared key by key; lists and scalars as a whole; `null`
 * counts as absent. An object that appears or disappears is one difference, not one for each of its keys.
 *
 * @example
 * ```ts
 * diff({ size: 1, gone: true }, { size: 2 });
 * // [{ op: "change", path: ["size"], old: 1, new: 2 }, { op: "remove", path: ["gone"], old: true, new: undefined }]
 * ```
 */
export function diff(from: unknown, to: unknown, path: readonly string[] = []): DiffItem[] {
  const items: DiffItem[] = [];
  collect(from, to, path, items);
  return items;
}

function collect(from: unknown, to: unknown, path: readonly string[], out: DiffItem[]): void {
  const before = from ?? undefined;
  const after = to ?? undefined;
  if (isObject(before) && isObject(after)) {
    for (const key of Object.keys(after)) {
      collect(Object.hasOwn(before, key) ? before[key] : undefined, after[key], [...path, key], out);
    }
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key)) collect(before[key], undefined, [...path, key], out);
    }
  } else if (before === undefined) {
    if (after !== undefined) out.push({ op: "add", path, old: undefined, new: after });
  } else if (after === undefined) {
    out.push({ op: "remove", path, old: before, new: undefined });
  } else if (!deepEqual(before, after)) {
    out.push({ op: "change", path, old: before, new: after });
  }
}
