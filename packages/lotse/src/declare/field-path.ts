/**
 * Paths to fields, and what the compiler knows of them. A path is followed key by key and never made up of all that there
 * could be: so it costs what its length is, however large or recursive the kind's type may be.
 */

/** A path to a field: `"spec.size"`, or a list of keys where a key has dots in it. */
export type FieldPath = string | readonly string[];

/** The keys of a path. */
export function fieldKeys(field: FieldPath): readonly string[] {
  return typeof field === "string" ? field.split(".") : field;
}

/**
 * `F` where it leads to a field of `B`. Where it does not, the paths that would: they are what the compiler then names.
 * Kinds that are only known by name, records, and parts that may be anything take any key; nothing is below a list or a
 * single value, because there is nothing that a path could find there.
 *
 * @example
 * ```ts
 * operator.on.field(Machine, { field: "spec.size" }, function resize({ old, new: now }) {});
 * operator.on.field(Machine, { field: ["metadata", "labels", "example.com/tier"] }, function move({ new: tier }) {});
 * ```
 */
export type PathIn<B, F extends FieldPath> = F extends string
  ? TextIn<B, F>
  : F extends readonly string[]
    ? KeysIn<B, F>
    : never;

/** What is at a path of a body, as far as the types know: `"spec.size"` of a Machine is a number. */
export type FieldValue<B, F extends FieldPath> = F extends string
  ? TextValue<B, F>
  : F extends readonly [infer Key extends string, ...infer Rest extends readonly string[]]
    ? Rest extends readonly []
      ? Member<B, Key>
      : FieldValue<Member<B, Key>, Rest>
    : unknown;

type TextIn<B, F extends string, Before extends string = ""> = string extends F
  ? Joined<Before, F>
  : TakesAnything<B> extends true
    ? Joined<Before, F>
    : F extends `${infer Key}.${infer Rest}`
      ? string extends Key
        ? Joined<Before, F>
        : Key extends KeyIn<B>
          ? TextIn<Member<B, Key>, Rest, Joined<Before, Key>>
          : OneOf<Before, KeyIn<B>>
      : F extends KeyIn<B>
        ? Joined<Before, F>
        : OneOf<Before, KeyIn<B>>;

type KeysIn<B, F extends readonly string[], Before extends readonly string[] = readonly []> = F extends readonly [
  infer Key extends string,
  ...infer Rest extends readonly string[],
]
  ? TakesAnything<B> extends true
    ? readonly [...Before, ...F]
    : string extends Key
      ? readonly [...Before, ...F]
      : Key extends KeyIn<B>
        ? KeysIn<Member<B, Key>, Rest, readonly [...Before, Key]>
        : [KeyIn<B>] extends [never]
          ? Before
          : readonly [...Before, KeyIn<B>, ...Rest]
  : F extends readonly []
    ? Before
    : F;

type TextValue<B, F extends string> = string extends F
  ? unknown
  : F extends `${infer Key}.${infer Rest}`
    ? TextValue<Member<B, Key>, Rest>
    : Member<B, F>;

type Joined<Before extends string, Key extends string> = Before extends "" ? Key : `${Before}.${Key}`;

/** Where nothing is below, the last path that was right. */
type OneOf<Before extends string, Key extends string> = [Key] extends [never] ? Before : Joined<Before, Key>;

/** The keys of an object; of a union, those of each. */
type KeyIn<B> = B extends readonly unknown[] ? never : B extends object ? keyof B & string : never;

/** What is under a key; of a union, in each that has it. */
type Member<B, Key extends string> =
  TakesAnything<B> extends true
    ? unknown
    : Key extends KeyIn<B>
      ? B extends readonly unknown[]
        ? never
        : B extends object
          ? Key extends keyof B
            ? B[Key]
            : never
          : never
      : unknown;

/** Whether nothing is known of the fields: `unknown`, `any`, `object`. */
type TakesAnything<B> = unknown extends B
  ? true
  : [B] extends [object]
    ? B extends readonly unknown[]
      ? false
      : [keyof B] extends [never]
        ? true
        : false
    : false;
