/**
 * From the JSON Schema that a schema library writes to the structural schema that a CRD may carry.
 *
 * The API server demands a type at every node, no `$ref`, and inside `anyOf` / `oneOf` nothing but value checks
 * (no types, no defaults, no descriptions) of fields that also exist outside. Where a schema has no structural
 * counterpart, the field keeps what it is given (`x-kubernetes-preserve-unknown-fields`) instead of losing data, and what
 * is no longer checked is written down as a gap.
 */
import { isObject } from "@lotse/client/meta";
import { celField } from "./cel-text.ts";
import { KNOWN_FORMATS, keep, rulesOf } from "./keywords.ts";
import { IMMUTABLE, PRESERVE, RULES, SchemaError, type SchemaGap, type SchemaNode } from "./node.ts";
import { fromBranches } from "./unions.ts";

/**
 * The structural form of `schema`; `path` names the place in error messages. What it does not carry over is added to
 * `gaps`.
 */
export function toStructural(schema: unknown, path = "spec", gaps: SchemaGap[] = []): SchemaNode {
  if (!isObject(schema)) return { [PRESERVE]: true };
  const node = schema as SchemaNode;
  if (node.$ref !== undefined) {
    const what = "it refers to a schema around it, and a CRD cannot recurse: anything is taken";
    gaps.push({ path, what, todo: "write as many levels out as are needed, or check it in the handler" });
    return { type: "object", [PRESERVE]: true };
  }
  if (Array.isArray(node.allOf)) return fromIntersection(node, path, gaps);
  const union = node.anyOf ?? node.oneOf;
  if (Array.isArray(union)) return fromUnion(node, union, path, gaps);

  const result = keep(node, path, gaps);
  if (result.type === "array") result.items = toStructural(node.items, `${path}[]`, gaps);
  if (result.type === "object") objectParts(node, result, path, gaps);
  if (result.type === undefined && !isIntOrString(result)) result[PRESERVE] = true;
  return result;
}

/** The paths of a structural schema that have rules. */
export function pathsWithRules(node: unknown, path: string): string[] {
  if (!isObject(node)) return [];
  return [
    ...(node[RULES] === undefined ? [] : [path]),
    ...Object.entries(isObject(node.properties) ? node.properties : {}).flatMap(([name, child]) =>
      pathsWithRules(child, `${path}.${name}`),
    ),
    ...pathsWithRules(node.items, `${path}[]`),
    ...pathsWithRules(node.additionalProperties, `${path}.*`),
  ];
}

function objectParts(node: SchemaNode, result: SchemaNode, path: string, gaps: SchemaGap[]): void {
  if (isObject(node.properties) && Object.keys(node.properties).length > 0) {
    result.properties = Object.fromEntries(
      Object.entries(node.properties).map(([name, child]) => [name, toStructural(child, `${path}.${name}`, gaps)]),
    );
    if (Array.isArray(node.required) && node.required.length > 0) result.required = node.required;
    keepsFromTheBeginning(node, result, path, gaps);
    // "Anything beside these" exists in CRDs only as keeping unknown fields; "nothing beside these" is pruning, the default.
    const { additionalProperties: others } = node;
    if (others !== undefined && others !== false) result[PRESERVE] = true;
    if (isObject(others) && !isEmpty(others)) {
      const what = "fields beside those that are named are not checked: a CRD has either the one or the other";
      gaps.push({ path, what, todo: "move them into a field of their own" });
    }
    return;
  }
  if (node.additionalProperties === undefined || node.additionalProperties === false) return;
  if (node.additionalProperties === true || isEmpty(node.additionalProperties)) result[PRESERVE] = true;
  else result.additionalProperties = toStructural(node.additionalProperties, `${path}.*`, gaps);
}

/**
 * A field that must not change must neither go nor come: its own rule is not asked then, for there is nothing to compare.
 * The object around it is asked. A field that is required, or has a default, is always there.
 */
function keepsFromTheBeginning(node: SchemaNode, result: SchemaNode, path: string, gaps: SchemaGap[]): void {
  const required = Array.isArray(node.required) ? node.required : [];
  for (const [name, child] of Object.entries(node.properties as object)) {
    const mark: unknown = isObject(child) ? child[IMMUTABLE] : undefined;
    if (!isObject(mark) || required.includes(name) || child.default !== undefined) continue;
    const field = celField(name);
    if (field === undefined) {
      const what = "it can be added and removed: rules have no word for its name";
      gaps.push({ path: `${path}.${name}`, what, todo: "require it, or give it a name of letters and digits" });
      continue;
    }
    const rule = `has(self.${field}) == has(oldSelf.${field})`;
    result[RULES] = [...rulesOf(result), { rule, ...mark, fieldPath: `.${name}` }];
  }
}

function fromUnion(node: SchemaNode, options: readonly unknown[], path: string, gaps: SchemaGap[]): SchemaNode {
  const members = options.filter(isObject) as SchemaNode[];
  const outer = keep({ ...node, anyOf: undefined, oneOf: undefined }, path, gaps);
  const nullable = members.some((member) => member.type === "null" || member.nullable === true);
  const some = members.filter((member) => member.type !== "null");
  if (nullable) outer.nullable = true;
  const [only] = some;
  if (some.length === 1 && only) return { ...toStructural(only, path, gaps), ...outer };
  // Checks beside a type are no union: the branches only say more of the same value.
  if (node.type !== undefined && some.every(({ type }) => type === undefined)) {
    const { anyOf, oneOf, ...rest } = node;
    return {
      ...toStructural(rest, path, gaps),
      ...(anyOf !== undefined && { anyOf }),
      ...(oneOf !== undefined && { oneOf }),
    };
  }
  const branches = some.map((member) => toStructural(member, path, gaps));
  const closed = new Set(branches.filter((_branch, i) => some[i]?.additionalProperties === false));
  return fromBranches({ outer, branches, exclusive: node.oneOf !== undefined, closed, path }, gaps);
}

/** All parts as one schema. Of patterns there can be only one; several of them stand beside each other. */
function fromIntersection(node: SchemaNode, path: string, gaps: SchemaGap[]): SchemaNode {
  const parts = [node, ...(node.allOf as unknown[]).filter(isObject)] as SchemaNode[];
  const patterns = new Set(parts.flatMap(({ pattern }) => (typeof pattern === "string" ? [pattern] : [])));
  const { pattern, ...whole } = intersection(node, path);
  if (patterns.size < 2) return toStructural(patterns.size === 0 ? whole : { ...whole, pattern }, path, gaps);
  // What a format says that Kubernetes does not know, one of the patterns says.
  const format = KNOWN_FORMATS.has(String(whole.format)) ? whole.format : undefined;
  const allOf = [...patterns].map((pattern) => keep({ pattern }, path, gaps));
  return { ...toStructural({ ...whole, format }, path, gaps), allOf };
}

function intersection(node: SchemaNode, path: string): SchemaNode {
  const { allOf, ...outer } = node;
  const merged: SchemaNode = { ...outer };
  for (const part of (allOf as unknown[]).filter(isObject)) {
    if (part.$ref !== undefined) {
      Object.assign(merged, { type: "object", [PRESERVE]: true });
      continue;
    }
    if (merged.type !== undefined && part.type !== undefined && merged.type !== part.type) {
      throw new SchemaError(`${path} is an intersection of ${String(merged.type)} and ${String(part.type)}`, {
        hint: "no value can be both; check the schema",
      });
    }
    const properties = { ...(merged.properties as object), ...(part.properties as object) };
    const required = new Set([...((merged.required as string[]) ?? []), ...((part.required as string[]) ?? [])]);
    Object.assign(merged, part);
    if (Object.keys(properties).length > 0) merged.properties = properties;
    if (required.size > 0) merged.required = [...required];
  }
  return merged;
}

function isIntOrString(node: SchemaNode): boolean {
  return node["x-kubernetes-int-or-string"] === true;
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
