import { deepEqual, setKey } from "./equality.ts";
import { isObject } from "./json.ts";

/**
 * Applies a JSON merge patch (RFC 7396): `null` removes, objects merge, everything else replaces. Mutates nothing; what
 * the patch leaves alone is shared with `doc`.
 *
 * @example
 * ```ts
 * applyMergePatch({ a: 1, b: { c: 2 } }, { a: null, b: { d: 3 } }); // { b: { c: 2, d: 3 } }
 * ```
 */
export function applyMergePatch<T = unknown>(doc: unknown, patch: unknown): T {
  if (!isObject(patch)) return patch as T;
  const result: Record<string, unknown> = isObject(doc) ? { ...doc } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined) continue;
    if (value === null) delete result[key];
    else setKey(result, key, applyMergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value));
  }
  return result as T;
}

/**
 * The merge patch that turns `from` into `to`, or undefined when they are equal. Merge patches cannot write `null`
 * into an object: such a member is taken for an absent one.
 */
export function createMergePatch(from: unknown, to: unknown): unknown {
  // Parts that the patch does not touch are shared.
  if (from === to) return undefined;
  if (!isObject(from) || !isObject(to)) return deepEqual(from, to) ? undefined : to;
  const patch: Record<string, unknown> = {};
  let changed = false;
  for (const key of Object.keys(to)) {
    const next = to[key];
    if (next === undefined || next === null) continue;
    const before = Object.hasOwn(from, key) ? from[key] : undefined;
    const part = createMergePatch(before, next);
    if (part === undefined) continue;
    setKey(patch, key, part);
    changed = true;
  }
  for (const key of Object.keys(from)) {
    if (from[key] === undefined || from[key] === null) continue;
    const next = Object.hasOwn(to, key) ? to[key] : undefined;
    if (next !== undefined && next !== null) continue;
    setKey(patch, key, null);
    changed = true;
  }
  return changed ? patch : undefined;
}
