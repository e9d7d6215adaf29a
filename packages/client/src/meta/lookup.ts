/**
 * What a table or an object of data has under a key that came from elsewhere. `table[key]` would also find what every
 * object inherits: a label called `toString` or a type called `constructor` is none of them.
 *
 * @example
 * ```ts
 * lookup({ TLS: 443 }, "toString"); // undefined
 * ```
 */
export function lookup<T>(table: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
}
