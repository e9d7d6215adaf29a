import { isObject } from "@lotse/client/meta";
import type { Resolver } from "../schema/index.ts";
import { type Node, shapeOf } from "./shape.ts";
import { checkApplied, mergeValues } from "./typed.ts";

/**
 * Lays a configuration over an object without keeping book of who owns what. Parts that can only be replaced as a whole
 * are refused: a manager that names one field of them would not expect the others to go.
 */
export function overlayConfiguration(
  live: Record<string, unknown>,
  applied: Record<string, unknown>,
  node: Node,
  resolve: Resolver,
): { readonly object: Record<string, unknown> } | { readonly error: string } {
  const problems = checkApplied(applied, node, resolve);
  if (problems.length > 0) {
    const text = problems.length === 1 ? problems[0] : `\n  ${problems.join("\n  ")}`;
    return { error: `failed to convert patch object to typed object: ${text}` };
  }
  const atomics = findAtomics(applied, node, "", resolve);
  if (atomics.length > 0) {
    return {
      error: `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`,
    };
  }
  return { object: mergeValues(live, applied, node, resolve) as Record<string, unknown> };
}

function findAtomics(value: unknown, node: Node, path: string, resolve: Resolver): string[] {
  const shape = shapeOf(node, value, resolve);
  if (shape.kind === "scalar" || value === null) return [];
  const found = shape.atomic ? [path] : [];
  if (shape.kind === "list") {
    for (const [i, item] of (Array.isArray(value) ? value : []).entries()) {
      found.push(...findAtomics(item, shape.items, `${path}[${i}]`, resolve));
    }
    return found;
  }
  for (const [name, member] of Object.entries(isObject(value) ? value : {})) {
    const field = shape.field(name);
    if (field?.named) found.push(...findAtomics(member, field.node, `${path}.${name}`, resolve));
  }
  return found;
}
