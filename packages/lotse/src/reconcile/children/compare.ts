/** Whether what is there shows what is wanted: defaults and additions by others are no difference. Pure. */
import { isObject } from "@lotse/client/meta";

/** Whether two values that differ mean the same in the field `name` of `above`. */
export type Same = (live: unknown, wanted: unknown, above: string, name: string) => boolean;

/**
 * Whether `live` has everything that `wanted` has, with the same values. Lists are compared item by item and must be as
 * long; what the server leaves out because it is empty is not missed.
 */
export function shows(live: unknown, wanted: unknown, same?: Same, above = "", name = ""): boolean {
  if (wanted === undefined || live === wanted) return true;
  if (live === undefined || live === null) return isEmpty(wanted);
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) return false;
    return wanted.every((item, at) => shows(live[at], item, same, above, name));
  }
  if (isObject(wanted)) {
    return isObject(live) && Object.keys(wanted).every((key) => shows(live[key], wanted[key], same, name, key));
  }
  return same?.(live, wanted, above, name) ?? false;
}

/** The part of `live` that `wanted` speaks of, with lists as a whole: what has to stay the same once it was accepted. */
export function partOf(live: unknown, wanted: unknown): unknown {
  if (!isObject(wanted) || !isObject(live)) return live;
  const part: Record<string, unknown> = {};
  for (const key of Object.keys(wanted)) part[key] = partOf(live[key], wanted[key]);
  return part;
}

/** Whether a value says nothing: servers leave such fields out. */
export function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every((one) => one === undefined || isEmpty(one));
}
