/** `T`, readonly all the way down. */
export type DeepReadonly<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

/** A merge patch of `T`: every field may be left out, and `null` removes it. Lists are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [Key in keyof T]?: MergePatch<T[Key]> | null | undefined }
    : T;

/**
 * Freezes `value` all the way down and returns it. Stops at what is frozen already, so handing the same body to many
 * handlers costs once; the store hands out only bodies that nobody may change, hence no copy.
 */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value as DeepReadonly<T>;
}
