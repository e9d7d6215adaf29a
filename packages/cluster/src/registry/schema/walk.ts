import { setKey } from "@lotse/client/meta";

/** The list with each item changed; the same list when none is. */
export function mapList(list: unknown[], change: (item: unknown, index: number) => unknown): unknown[] {
  let result = list;
  for (let i = 0; i < list.length; i++) {
    const next = change(list[i], i);
    if (next === list[i]) continue;
    if (result === list) result = [...list];
    result[i] = next;
  }
  return result;
}

/** The object with each member changed, or removed where `change` answers undefined; the same object when none is. */
export function mapObject(
  object: Record<string, unknown>,
  change: (member: unknown, key: string) => unknown,
): Record<string, unknown> {
  let result = object;
  for (const key of Object.keys(object)) {
    const next = change(object[key], key);
    if (next === object[key]) continue;
    if (result === object) result = { ...object };
    if (next === undefined) delete result[key];
    else setKey(result, key, next);
  }
  return result;
}
