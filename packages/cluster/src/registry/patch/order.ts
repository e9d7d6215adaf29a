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
  sortByPlace(fromPatch, (item) => place(patchOrder, item));
  sortByPlace(serverOnly, (item) => place(serverOrder, item));
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

/** The longest list that the server sorts by insertion alone. */
const SORTED_BY_INSERTION = 20;

/**
 * Sorts items by their places. To the server an item without a place comes before all others, also before another of
 * its sort, so that where such items end up follows from how it sorts: by insertion, as long as the list is short.
 */
function sortByPlace(items: unknown[], placeOf: (item: unknown) => number): void {
  const places = items.map((item) => ({ item, place: placeOf(item) }));
  if (places.length > SORTED_BY_INSERTION || places.every(({ place }) => place >= 0)) {
    places.sort((a, b) => a.place - b.place);
  } else insert(places);
  for (const [i, { item }] of places.entries()) items[i] = item;
}

function insert(places: { item: unknown; place: number }[]): void {
  for (const [i, moved] of [...places].entries()) {
    let at = i;
    for (; at > 0; at--) {
      const before = places[at - 1] as { item: unknown; place: number };
      const stays = moved.place >= 0 && before.place >= 0 && moved.place >= before.place;
      if (stays) break;
      places[at] = before;
    }
    places[at] = moved;
  }
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
