/**
 * Plain JSON, as it travels to and from the API server.
 *
 * @example
 * ```ts
 * const value: Json = { replicas: 3, labels: ["a", "b"] };
 * ```
 */
export type Json = string | number | boolean | null | Json[] | JsonObject;

/** A JSON object: what a Kubernetes body is before its kind is known. */
export type JsonObject = { [key: string]: Json | undefined };

/** `T`, readonly all the way down. */
export type DeepReadonly<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

/** Whether `value` is a JSON object (not null, not an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
