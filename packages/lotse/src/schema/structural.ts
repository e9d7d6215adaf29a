/**
 * From the JSON Schema that a schema library writes to the structural schema that a CRD may carry.
 *
 * The API server demands a type at every node, no `$ref`, and inside `anyOf` / `oneOf` nothing but value checks
 * (no types, no defaults, no descriptions) of fields that also exist outside. Where a schema has no structural
 * counterpart, the field keeps what it is given (`x-kubernetes-preserve-unknown-fields`) instead of losing data, and what
 * is no longer checked is written down as a gap.
 */
import { isObject, KubeError } from "@lotse/client/meta";

/** A node of an OpenAPI v3 schema. */
export type SchemaNode = { [key: string]: unknown };

/**
 * Something that a schema says and an API server with its CRD does not check.
 *
 * @example
 * ```ts
 * for (const { path, what, todo } of Shop.gaps()) console.warn(`${path}: ${what} → ${todo}`);
 * ```
 */
export interface SchemaGap {
  /** `spec.ports[].name` */
  readonly path: string;
  /** What is not checked, and why. */
  readonly what: string;
  readonly todo: string;
}

/** The schema cannot be written as a CRD. */
export class SchemaError extends KubeError {
  override readonly code: string = "LOTSE_SCHEMA";
}

/** Keywords that a CRD may carry as they are. */
const KEPT = new Set([
  "type",
  "format",
  "title",
  "description",
  "default",
  "nullable",
  "enum",
  "example",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
]);

/** Of {@link KEPT}, what may stand inside `anyOf` and `oneOf`. */
const NOT_A_CHECK = new Set(["type", "title", "description", "default", "nullable", "example", "format"]);

/** Formats that the API server checks by itself, which makes the library's long pattern beside them noise. */
const SERVER_FORMATS = new Set(["date-time", "date", "email", "ipv4", "ipv6", "cidr", "byte", "uri", "hostname"]);

/** The other formats that Kubernetes knows. The API server warns of any other one in a CRD, and does not check it. */
const KNOWN_FORMATS = new Set([
  ...SERVER_FORMATS,
  "datetime",
  "mac",
  "uuid",
  "uuid3",
  "uuid4",
  "uuid5",
  "isbn",
  "isbn10",
  "isbn13",
  "bsonobjectid",
  "creditcard",
  "ssn",
  "hexcolor",
  "rgbcolor",
  "password",
  "duration",
  "int32",
  "int64",
  "float",
  "double",
  "k8s-short-name",
  "k8s-long-name",
]);

const PRESERVE = "x-kubernetes-preserve-unknown-fields";

/** Keywords that are read elsewhere in this module. */
const READ = new Set([
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "oneOf",
  "allOf",
  "$ref",
  "const",
]);

/** Keywords that check nothing. */
const REMARKS = new Set([
  "$schema",
  "$id",
  "id",
  "$comment",
  "$defs",
  "definitions",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "discriminator",
  "externalDocs",
  "contentEncoding",
  "contentMediaType",
]);

/** What to do about a check that a CRD cannot carry. */
export const AS_A_RULE =
  "say it as a rule, .meta({ 'x-kubernetes-validations': [{ rule, message }] }), or check it in the handler";

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
  if (node.type === "array") result.items = toStructural(node.items, `${path}[]`, gaps);
  if (node.type === "object") objectParts(node, result, path, gaps);
  if (result.type === undefined && !isIntOrString(result)) result[PRESERVE] = true;
  return result;
}

/** The paths of a structural schema that have rules. */
export function pathsWithRules(node: unknown, path: string): string[] {
  if (!isObject(node)) return [];
  return [
    ...(node["x-kubernetes-validations"] === undefined ? [] : [path]),
    ...Object.entries(isObject(node.properties) ? node.properties : {}).flatMap(([name, child]) =>
      pathsWithRules(child, `${path}.${name}`),
    ),
    ...pathsWithRules(node.items, `${path}[]`),
    ...pathsWithRules(node.additionalProperties, `${path}.*`),
  ];
}

function keep(node: SchemaNode, path: string, gaps: SchemaGap[]): SchemaNode {
  const result: SchemaNode = {};
  for (const [key, value] of Object.entries(node)) {
    if (value === undefined) continue;
    if (key.startsWith("x-kubernetes-") || KEPT.has(key)) result[key] = value;
    else if (!READ.has(key) && !REMARKS.has(key)) gaps.push({ path, what: `a CRD has no "${key}"`, todo: AS_A_RULE });
  }
  if (node.const !== undefined) result.enum = [node.const];
  // Libraries write "safe integer" bounds on every integer; the server needs none of them.
  if (result.minimum === Number.MIN_SAFE_INTEGER) delete result.minimum;
  if (result.maximum === Number.MAX_SAFE_INTEGER) delete result.maximum;
  if (SERVER_FORMATS.has(String(result.format))) delete result.pattern;
  if (typeof result.pattern === "string") result.pattern = asServerPattern(result.pattern, path);
  if (typeof result.format === "string" && !KNOWN_FORMATS.has(result.format)) {
    if (result.pattern === undefined) {
      gaps.push({ path, what: `Kubernetes does not know the format "${result.format}"`, todo: AS_A_RULE });
    }
    delete result.format;
  }
  return result;
}

/** The server matches with RE2, which has neither look-around nor back-references, and writes characters otherwise. */
function asServerPattern(pattern: string, path: string): string {
  if (/\(\?<?[=!]|\\[1-9]/.test(pattern)) {
    throw new SchemaError(`the pattern of ${path} uses look-around or a back-reference, which Kubernetes refuses`, {
      hint: "write it without, or as a CEL rule: .meta({ 'x-kubernetes-validations': [{ rule: … }] })",
    });
  }
  return pattern.replaceAll(/\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|(.))/g, (all, long, short) => {
    const code = long ?? short;
    return code === undefined ? all : `\\x{${code}}`;
  });
}

function objectParts(node: SchemaNode, result: SchemaNode, path: string, gaps: SchemaGap[]): void {
  if (isObject(node.properties) && Object.keys(node.properties).length > 0) {
    result.properties = Object.fromEntries(
      Object.entries(node.properties).map(([name, child]) => [name, toStructural(child, `${path}.${name}`, gaps)]),
    );
    if (Array.isArray(node.required) && node.required.length > 0) result.required = node.required;
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

function fromUnion(node: SchemaNode, options: readonly unknown[], path: string, gaps: SchemaGap[]): SchemaNode {
  const members = options.filter(isObject) as SchemaNode[];
  const outer = keep({ ...node, anyOf: undefined, oneOf: undefined }, path, gaps);
  const nullable = members.some((member) => member.type === "null" || member.nullable === true);
  const branches = members.filter((member) => member.type !== "null");
  if (nullable) outer.nullable = true;
  const [only] = branches;
  if (branches.length === 1 && only) return { ...toStructural(only, path, gaps), ...outer };

  const types = new Set(branches.map((branch) => branch.type));
  if (types.size === 2 && types.has("integer") && types.has("string")) {
    if (branches.some((branch) => Object.keys(checksOf(keep(branch, path, []))).length > 0)) {
      const what = "it is a whole number or a text, and what else is said of each is not checked";
      gaps.push({ path, what, todo: AS_A_RULE });
    }
    return { ...outer, "x-kubernetes-int-or-string": true };
  }
  const [type] = types;
  if (types.size !== 1 || type === undefined) {
    const names = [...types].map((one) => (one === undefined ? "anything" : String(one))).join(" or ");
    gaps.push({ path, what: `it is ${names}, which a CRD cannot say: anything is taken`, todo: ONE_TYPE });
    return { ...outer, [PRESERVE]: true };
  }
  if (type === "object") return unionOfObjects(outer, branches, path, gaps);
  if (type === "array") {
    gaps.push({ path: `${path}[]`, what: "lists of several kinds: what is in them is not checked", todo: ONE_TYPE });
    return { ...outer, type, items: { [PRESERVE]: true } };
  }
  return { ...outer, type, anyOf: branches.map((branch) => checksOf(branch)) };
}

const ONE_TYPE = "choose one type, or a field for each; a whole number or a text can be said";

/** One object with the fields of all branches, and `oneOf` / `anyOf` checks that tell them apart. */
function unionOfObjects(
  outer: SchemaNode,
  branches: readonly SchemaNode[],
  path: string,
  gaps: SchemaGap[],
): SchemaNode {
  const properties: Record<string, SchemaNode> = {};
  for (const branch of branches) {
    for (const [name, child] of Object.entries(isObject(branch.properties) ? branch.properties : {})) {
      const next = toStructural(child, `${path}.${name}`, gaps);
      const known = properties[name];
      properties[name] = known ? mergeField(known, next, `${path}.${name}`, gaps) : next;
    }
  }
  const anyOf = branches.map((branch) => {
    const checks: SchemaNode = {};
    const discriminators = Object.entries(isObject(branch.properties) ? branch.properties : {}).filter(
      ([, child]) => isObject(child) && Array.isArray(child.enum),
    );
    if (discriminators.length > 0) {
      checks.properties = Object.fromEntries(
        discriminators.map(([name, child]) => [name, checksOf(child as SchemaNode)]),
      );
    }
    if (Array.isArray(branch.required) && branch.required.length > 0) checks.required = branch.required;
    return checks;
  });
  return { ...outer, type: "object", properties, anyOf };
}

/** The same field in two branches: their common type, allowing the values of both. */
function mergeField(a: SchemaNode, b: SchemaNode, path: string, gaps: SchemaGap[]): SchemaNode {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  const gap = (what: string) => gaps.push({ path, what, todo: "give it the same schema in each, or another name" });
  if (a.type !== b.type || a.type === "object" || a.type === "array") {
    gap("it is something else in each branch of the union: anything is taken");
    return { [PRESERVE]: true };
  }
  const merged: SchemaNode = { type: a.type };
  if (Array.isArray(a.enum) && Array.isArray(b.enum)) merged.enum = [...new Set([...a.enum, ...b.enum])];
  const left = [a, b].flatMap((one) => Object.keys(checksOf(one))).filter((key) => key !== "enum" || !merged.enum);
  if (left.length > 0)
    gap(`its checks differ between the branches of the union and are left out: ${[...new Set(left)]}`);
  return merged;
}

function checksOf(node: SchemaNode): SchemaNode {
  return Object.fromEntries(Object.entries(node).filter(([key]) => KEPT.has(key) && !NOT_A_CHECK.has(key)));
}

/** All parts as one schema. Of patterns there can be only one; several of them stand beside each other. */
function fromIntersection(node: SchemaNode, path: string, gaps: SchemaGap[]): SchemaNode {
  const parts = [node, ...(node.allOf as unknown[]).filter(isObject)] as SchemaNode[];
  const patterns = new Set(parts.flatMap(({ pattern }) => (typeof pattern === "string" ? [pattern] : [])));
  const { pattern, ...whole } = intersection(node, path);
  if (patterns.size < 2) return toStructural(patterns.size === 0 ? whole : { ...whole, pattern }, path, gaps);
  // What a format says that Kubernetes does not know, one of the patterns says.
  const format = KNOWN_FORMATS.has(String(whole.format)) ? whole.format : undefined;
  const allOf = [...patterns].map((one) => ({ pattern: asServerPattern(one, path) }));
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
