/** Whether what is there shows what is wanted: defaults and additions by others are no difference. Pure. */
import { isObject } from "@lotse/client/meta";

/**
 * Whether `live` has everything that `wanted` has, with the same values. Lists are compared item by item and must be as
 * long; what the server leaves out because it is empty is not missed.
 */
export function shows(live: unknown, wanted: unknown): boolean {
  if (wanted === undefined || live === wanted) return true;
  if (live === undefined || live === null) return isEmpty(wanted);
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, at) => shows(live[at], item));
  }
  if (isObject(wanted)) return isObject(live) && Object.keys(wanted).every((key) => shows(live[key], wanted[key]));
  return false;
}

/** The part of `live` that `wanted` speaks of, with lists as a whole: what has to stay the same once it was accepted. */
export function partOf(live: unknown, wanted: unknown): unknown {
  if (!isObject(wanted) || !isObject(live)) return live;
  const part: Record<string, unknown> = {};
  for (const key of Object.keys(wanted)) part[key] = partOf(live[key], wanted[key]);
  return part;
}

function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every((one) => one === undefined || isEmpty(one));
}
