/**
 * Whether two JSON values are equal. Keys that hold `undefined` count as absent, as they do on the wire.
 *
 * @example
 * ```ts
 * deepEqual({ a: [1], b: undefined }, { a: [1] }); // true
 * ```
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  let shared = 0;
  for (const key of Object.keys(left)) {
    const value = left[key];
    if (value === undefined) continue;
    if (!Object.hasOwn(right, key) || !deepEqual(value, right[key])) return false;
    shared++;
  }
  for (const key of Object.keys(right)) if (right[key] !== undefined) shared--;
  return shared === 0;
}

/** A copy of a JSON value that shares nothing with it; keys that hold `undefined` are left out. */
export function deepClone<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const copy = new Array(value.length);
    for (let i = 0; i < value.length; i++) copy[i] = deepClone(value[i]);
    return copy as T;
  }
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) setKey(copy, key, deepClone(member));
  }
  return copy as T;
}

/** Sets a member of an object that came from JSON, where `__proto__` is a key like any other. */
export function setKey(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    object[key] = value;
  }
}
