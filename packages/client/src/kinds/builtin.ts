import type { KindDescription } from "./description.ts";
import { findBuiltinKind } from "./tables/index.ts";

/** The description of a kind that every server has. */
export function builtinDescription(group: string, version: string, kind: string): KindDescription {
  const row = findBuiltinKind(group, version, kind);
  if (!row) throw new Error(`the tables of built-in kinds have no ${kind} in ${group}/${version}`);
  const { plural, singular, namespaced, shortNames, categories, verbs } = row;
  const subresources = row.subresources.map(({ name }) => name);
  return { group, version, kind, plural, singular, namespaced, shortNames, categories, verbs, subresources };
}
