import { deepEqual, isObject } from "@lotse/client/meta";

/** Whether two items stand for the same thing: by their merge key, or, without one, by their value. */
export function sameKey(a: unknown, b: unknown, key: string): boolean {
  if (key === "") return deepEqual(a, b);
  return isObject(a) && isObject(b) && Object.hasOwn(a, key) && deepEqual(a[key], b[key]);
}

/**
 * Puts a merged list in order: the items of the patch as the patch has them, those that only the server has as they
 * were, and both woven together by their places in the old list.
 */
export function order(
  merged: readonly unknown[],
  patchOrder: readonly unknown[],
  serverOrder: readonly unknown[],
  key: string,
): unknown[] {
  const place = (list: readonly unknown[], item: unknown) => list.findIndex((other) => sameKey(other, item, key));
  const fromPatch = merged.filter((item) => place(patchOrder, item) >= 0);
  const serverOnly = merged.filter((item) => place(patchOrder, item) < 0);
  fromPatch.sort((a, b) => place(patchOrder, a) - place(patchOrder, b));
  serverOnly.sort((a, b) => place(serverOrder, a) - place(serverOrder, b));
  const result: unknown[] = [];
  let next = 0;
  for (const item of fromPatch) {
    const limit = place(serverOrder, item);
    while (next < serverOnly.length && limit >= 0 && place(serverOrder, serverOnly[next]) < limit) {
      result.push(serverOnly[next++]);
    }
    result.push(item);
  }
  result.push(...serverOnly.slice(next));
  return result;
}

/** A value as Go prints it in messages: `map[name:a ports:[1 2]]`. */
export function goValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${key}:${goValue(value[key])}`);
    return `map[${members.join(" ")}]`;
  }
  return value === null || value === undefined ? "<nil>" : String(value);
}
