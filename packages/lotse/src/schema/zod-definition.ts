/** How schemas of zod are looked at: by shape, because Lotse imports no schema library. */
import { isObject } from "@lotse/client/meta";

/** What a schema or a check of zod says of itself. */
export type Definition = Readonly<Record<string, unknown>>;

/** The definition of a schema or a check; undefined when it is none of zod's. */
export function definitionOf(schema: unknown): Definition | undefined {
  const inner = isObject(schema) ? schema._zod : undefined;
  return isObject(inner) && isObject(inner.def) ? inner.def : undefined;
}

/** The flags of patterns that mean something else without them, by pattern. */
export function flagsOf(def: Definition): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const check of listOf(def.checks)) {
    const { pattern } = definitionOf(check) ?? {};
    const flags = pattern instanceof RegExp ? pattern.flags.replaceAll(/[^ims]/g, "") : "";
    if (pattern instanceof RegExp && flags !== "") found.set(pattern.source, flags);
  }
  return found;
}

/** A list, or none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
