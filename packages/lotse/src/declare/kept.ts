/**
 * What is kept of the objects of a kind that is only read: all of it, or the fields that its readers have named. Beside
 * them apiVersion, kind and metadata are always kept. Pure.
 */
import { isObject } from "@lotse/client/meta";
import { declarationError } from "./errors.ts";
import { type FieldPath, fieldKeys, type PathIn } from "./field-path.ts";

/** The fields that are kept, as lists of keys; none: metadata alone. */
export type Kept = "all" | readonly (readonly string[])[];

/** Kept of every object, whatever its readers say. */
export const ALWAYS_KEPT: readonly string[] = ["apiVersion", "kind", "metadata"];

/**
 * Paths that lead to fields of `B`; where one does not, the compiler names those that would.
 *
 * @example
 * ```ts
 * operator.index(Pod, { id: "byNode", keep: ["spec.nodeName"] }, ({ spec, name }) => ({ [spec.nodeName ?? ""]: name }));
 * ```
 */
export type PathsIn<B, K extends readonly FieldPath[]> = {
  readonly [I in keyof K]: [K[I]] extends [PathIn<B, K[I]>] ? K[I] : PathIn<B, K[I]>;
};

/**
 * What is left of a body of which only some fields are kept. A field that is left out is no property of it, so that asking
 * for it does not compile. A kind that is only known by name stays what it is: any field may be one of it.
 *
 * @example
 * ```ts
 * type Left = KeptBody<corev1.Pod, ["spec.nodeName"]>; // { apiVersion, kind, metadata, spec: { nodeName } }
 * ```
 */
export type KeptBody<B, K extends readonly FieldPath[]> = string extends keyof B
  ? B
  : Both<{ readonly spec?: Nothing; readonly status?: Nothing }, Pick<B, keyof B & Always> & Parts<B, K[number]>>;

type Always = "apiVersion" | "kind" | "metadata";

/** An object without properties. */
type Nothing = { readonly [Key in never]: never };

/** What is left, and of `spec` and `status` that they have nothing where nothing of them is left. */
type Both<Empty, Left> = Omit<Empty, keyof Left> & Left;

type Parts<B, F extends FieldPath> = (
  [F] extends [never]
    ? [unknown]
    : F extends FieldPath
      ? [PartAt<B, F>]
      : never
) extends infer Each
  ? (Each extends [infer One] ? (take: One) => void : never) extends (take: infer All) => void
    ? All
    : never
  : never;

type PartAt<B, F extends FieldPath> = F extends string
  ? F extends `${infer Key}.${infer Rest}`
    ? Below<B, Key, Rest>
    : Member<B, F>
  : F extends readonly [infer Key extends string]
    ? Member<B, Key>
    : F extends readonly [infer Key extends string, ...infer Rest extends readonly string[]]
      ? Below<B, Key, Rest>
      : unknown;

type Member<B, Key extends string> = Pick<B, keyof B & Key>;

/** What is not an object, or may have any key, is kept as it is. */
type Below<B, Key extends string, Rest extends FieldPath> = {
  [P in keyof Member<B, Key>]: B[P] extends infer V
    ? V extends readonly unknown[]
      ? V
      : V extends object
        ? string extends keyof V
          ? V
          : PartAt<V, Rest>
        : V
    : never;
};

/** Reads the option `keep`; without it all is kept. Throws where it cannot be meant. */
export function planKeep(keep: unknown): Kept {
  if (keep === undefined) return "all";
  if (!Array.isArray(keep)) {
    throw declarationError(
      '"keep" is a list of fields',
      'write keep: ["spec", "status.phase"], or [] for metadata alone',
    );
  }
  return unionOf([keep.map(pathOf)]);
}

function pathOf(path: unknown): readonly string[] {
  const keys = typeof path === "string" || Array.isArray(path) ? fieldKeys(path as FieldPath) : [];
  if (keys.length > 0 && keys.every((key) => typeof key === "string" && key !== "" && key !== "__proto__")) return keys;
  throw declarationError(
    `${JSON.stringify(path)} in "keep" is not a field`,
    'write "status.phase", or ["data", "a.key"] where a key has dots in it',
  );
}

/** What is kept for all of them: everything as soon as one needs it, else each field that one needs, once. */
export function unionOf(wanted: Iterable<Kept>): Kept {
  const paths: (readonly string[])[] = [];
  for (const one of wanted) {
    if (one === "all") return "all";
    paths.push(...one.filter(([first = ""]) => !ALWAYS_KEPT.includes(first)));
  }
  const distinct = [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
  return distinct.filter((path) => !distinct.some((other) => other !== path && isWithin(path, other)));
}

/** Whether all that is wanted is among what is kept. */
export function covers(kept: Kept, wanted: Kept): boolean {
  if (kept === "all") return true;
  if (wanted === "all") return false;
  return wanted.every((path) => isAlways(path) || kept.some((one) => isWithin(path, one)));
}

function isAlways([first = ""]: readonly string[]): boolean {
  return ALWAYS_KEPT.includes(first);
}

function isWithin(path: readonly string[], outer: readonly string[]): boolean {
  return outer.length <= path.length && outer.every((key, i) => path[i] === key);
}

/** As a program would write it: `keep: ["spec", "status.phase"]`. */
export function keptText(kept: Kept): string {
  if (kept === "all") return "all";
  return `keep: [${kept.map((path) => JSON.stringify(path.some((key) => key.includes(".")) ? path : path.join("."))).join(", ")}]`;
}

/** The options of a reader that names a kind, where there are any. */
export function keepIn(options: unknown, label: string): Kept {
  if (options === undefined) return "all";
  if (!isObject(options)) throw declarationError(`${label} has options that are none`, "write { keep: [] }");
  const unknown = Object.keys(options).find((key) => key !== "keep");
  if (unknown !== undefined) throw declarationError(`${label} has no option "${unknown}"`, "its option is keep");
  return planKeep(options.keep);
}
