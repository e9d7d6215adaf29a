/**
 * What schemas of zod check and their JSON Schema does not say, where a CRD has words for it: the keys of records, which
 * item of a tuple stands where, the flags of patterns. The JSON Schema is walked beside the schema and gets these words;
 * what cannot be said is noted in it.
 */
import { deepEqual, isObject } from "@lotse/client/meta";
import { celLiteral, celText } from "./cel-text.ts";
import { AS_A_RULE, RULES, type SchemaGap, type SchemaNode, UNSAID } from "./node.ts";
import { type Definition, definitionOf, flagsOf, listOf } from "./zod-definition.ts";

/** Asks a schema for its JSON Schema; undefined when it has none. */
export type ReadJson = (schema: unknown) => SchemaNode | undefined;

/** The same JSON Schema with what `schema` says beside it. Schemas of other libraries say nothing here. */
export function withZodRules(json: unknown, schema: unknown, read: ReadJson): unknown {
  return visit(schema, json, { read, around: new Set(), times: 1 });
}

interface Walk {
  readonly read: ReadJson;
  /** The schemas around the present one: a schema may contain itself. */
  readonly around: Set<unknown>;
  /** How often the present node may occur in one object; undefined when nothing says so. */
  readonly times: number | undefined;
}

function visit(schema: unknown, node: unknown, walk: Walk): unknown {
  const def = definitionOf(schema);
  if (!def || !isObject(node) || node.$ref !== undefined || walk.around.has(schema)) return node;
  walk.around.add(schema);
  const next = within(def, node as SchemaNode, walk);
  walk.around.delete(schema);
  return next;
}

function within(def: Definition, node: SchemaNode, walk: Walk): SchemaNode {
  const each = (schemas: readonly unknown[], nodes: unknown) =>
    Array.isArray(nodes) && nodes.length === schemas.length
      ? nodes.map((one, i) => visit(schemas[i], one, walk))
      : nodes;
  switch (def.type) {
    case "object":
      return withFields(def, node, walk);
    case "array":
      return { ...node, items: visit(def.element, node.items, repeated(walk, node.maxItems)) };
    case "record": {
      const values = visit(def.valueType, node.additionalProperties, repeated(walk, node.maxProperties));
      return withKeys(def, { ...node, additionalProperties: values }, walk);
    }
    case "tuple":
      return withPositions(def, node, walk);
    case "union": {
      const key = Array.isArray(node.anyOf) ? "anyOf" : "oneOf";
      return node[key] === undefined ? node : { ...node, [key]: each(listOf(def.options), node[key]) };
    }
    case "intersection":
      // Objects come as one, with the fields of both.
      return Array.isArray(node.allOf)
        ? { ...node, allOf: each([def.left, def.right], node.allOf) }
        : (visit(def.right, visit(def.left, node, walk), walk) as SchemaNode);
    case "string":
      return withFlags(def, node);
    case "lazy":
      return typeof def.getter === "function" ? (visit(def.getter(), node, walk) as SchemaNode) : node;
    case "pipe":
      return visit(def.in, node, walk) as SchemaNode;
    default:
      return def.innerType === undefined ? node : (visit(def.innerType, node, walk) as SchemaNode);
  }
}

function withFields(def: Definition, node: SchemaNode, walk: Walk): SchemaNode {
  if (!isObject(node.properties) || !isObject(def.shape)) return node;
  const shape = def.shape;
  const fields = Object.entries(node.properties).map(([key, child]) => [key, visit(shape[key], child, walk)]);
  return { ...node, properties: Object.fromEntries(fields) };
}

/** RE2 has the flags in the pattern. */
function withFlags(def: Definition, node: SchemaNode): SchemaNode {
  const flags = flagsOf(def);
  if (flags.size === 0) return node;
  const flagged = (pattern: unknown) => {
    const own = typeof pattern === "string" ? flags.get(pattern) : undefined;
    return own === undefined ? pattern : `(?${own})${pattern as string}`;
  };
  return {
    ...node,
    ...(node.pattern !== undefined && { pattern: flagged(node.pattern) }),
    ...(Array.isArray(node.allOf) && {
      allOf: node.allOf.map((part) =>
        isObject(part) && part.pattern !== undefined ? { ...part, pattern: flagged(part.pattern) } : part,
      ),
    }),
  };
}

/** Inside of a list or a map of at most so many. */
function repeated(walk: Walk, most: unknown): Walk {
  return { ...walk, times: walk.times === undefined || typeof most !== "number" ? undefined : walk.times * most };
}

/** The keys that a record may have, where they are all named. */
function namedKeys(def: Definition): readonly string[] | undefined {
  const key = definitionOf(def.keyType);
  if (key?.type !== "enum" && key?.type !== "literal") return undefined;
  const values = isObject(key.entries) ? Object.values(key.entries) : listOf(key.values);
  return values.every((value) => typeof value === "string") ? (values as string[]) : undefined;
}

/** Whether a schema of keys allows less than any text. */
function restricts(key: Definition | undefined): boolean {
  return key !== undefined && (key.type !== "string" || key.check !== undefined || listOf(key.checks).length > 0);
}

function withKeys(def: Definition, node: SchemaNode, { read, times }: Walk): SchemaNode {
  if (!restricts(definitionOf(def.keyType))) return node;
  const names = namedKeys(def);
  if (names) {
    // A record with named keys is an object: other keys are dropped, as unknown fields are everywhere.
    const { additionalProperties: value, ...rest } = node;
    return { ...rest, properties: Object.fromEntries(names.map((name) => [name, structuredClone(value)])) };
  }
  const json = read(def.keyType);
  const checks = json?.type === "string" ? celChecks(json, "key") : undefined;
  const what = "z.record(…): its keys are not checked";
  if (checks === undefined || checks.length === 0) return unsaid(node, { what, todo: AS_A_RULE });
  const rule = `self.all(key, ${checks.join(" && ")})`;
  if (!isCheap(rule, times, node.maxProperties))
    return unsaid(node, { what: `${what}, because it may be of any size`, todo: SIZED });
  return withRule(node, rule, "has a key that is not allowed");
}

const SIZED = "say how many there may be, here and around it: .meta({ maxProperties: 32 }), .max(32)";

/** The API server weighs rules by the largest object that could be sent, and refuses those that could take long. */
function isCheap(rule: string, times: number | undefined, most: unknown): boolean {
  if (times === undefined) return false;
  return typeof most === "number" ? times * most <= MOST_KEYS : times === 1 && rule.length <= LONGEST_RULE;
}

const MOST_KEYS = 1_000;
const LONGEST_RULE = 120;

function withPositions(def: Definition, node: SchemaNode, { read, times }: Walk): SchemaNode {
  const nodes = listOf(def.items).map(read);
  const [first] = nodes;
  const rest = isObject(def.rest) ? read(def.rest) : first;
  if ([...nodes, rest].every((one) => deepEqual(one, first))) return node;
  const gap = {
    what: "z.tuple(…): which item stands where is not checked",
    todo: "use an object with a field for each",
  };
  const checks = isObject(def.rest) || times === undefined || times > MOST_KEYS ? undefined : positionChecks(nodes);
  if (checks === undefined) return unsaid(node, gap);
  if (checks.length === 0) return node;
  return withRule(
    node,
    `self.size() != ${nodes.length} || (${checks.join(" && ")})`,
    "has an item that may not stand at its place",
  );
}

function positionChecks(nodes: readonly (SchemaNode | undefined)[]): string[] | undefined {
  const types = new Set(nodes.map((node) => node?.type));
  if (types.size > 1 && !(types.size === 2 && types.has("string") && types.has("integer"))) return undefined;
  const positions = nodes.map((node, i) => {
    const checks = node && celChecks(node, `self[${i}]`);
    const type = types.size > 1 ? [`type(self[${i}]) == ${node?.type === "integer" ? "int" : "string"}`] : [];
    return checks && [...type, ...checks];
  });
  return positions.includes(undefined) ? undefined : positions.flatMap((checks) => checks ?? []);
}

function unsaid(node: SchemaNode, gap: Omit<SchemaGap, "path">): SchemaNode {
  return { ...node, [UNSAID]: [...listOf(node[UNSAID]), gap] };
}

function withRule(node: SchemaNode, rule: string, message: string): SchemaNode {
  return { ...node, [RULES]: [...listOf(node[RULES]), { rule, message }] };
}

/** What is said of a single value, in CEL; undefined where CEL has no words for a part of it. */
function celChecks(node: SchemaNode, value: string): string[] | undefined {
  if (!["string", "integer", "number", "boolean"].includes(String(node.type)) || node.nullable === true)
    return undefined;
  const checks: string[] = [];
  for (const [key, limit] of Object.entries(node)) {
    if (WORDLESS.has(key)) continue;
    const check = celCheck(key, limit, value, node);
    if (check === undefined) return undefined;
    checks.push(...check);
  }
  return checks;
}

/** Words of a node that check nothing, or are read with others. */
const WORDLESS = new Set([
  "type",
  "title",
  "description",
  "examples",
  "example",
  "exclusiveMinimum",
  "exclusiveMaximum",
]);

function celCheck(key: string, limit: unknown, value: string, node: SchemaNode): string[] | undefined {
  const number = () => celNumber(limit, node);
  switch (key) {
    case "enum":
      return [
        `${value} in [${listOf(limit)
          .map((one) => (typeof one === "number" ? celNumber(one, node) : celLiteral(one)))
          .join(", ")}]`,
      ];
    case "minLength":
      return [`${value}.size() >= ${Number(limit)}`];
    case "maxLength":
      return [`${value}.size() <= ${Number(limit)}`];
    case "pattern":
      return isForeign(String(limit)) ? undefined : [`${value}.matches(${celText(String(limit))})`];
    case "allOf": {
      const parts = listOf(limit).map((part) =>
        isObject(part) && part.pattern !== undefined ? celCheck("pattern", part.pattern, value, node) : undefined,
      );
      return parts.includes(undefined) ? undefined : parts.flatMap((one) => one ?? []);
    }
    case "format":
      // The library writes a pattern beside every format that it can say as one.
      return node.pattern === undefined ? undefined : [];
    case "minimum":
      return limit === Number.MIN_SAFE_INTEGER
        ? []
        : [`${value} ${node.exclusiveMinimum === true ? ">" : ">="} ${number()}`];
    case "maximum":
      return limit === Number.MAX_SAFE_INTEGER
        ? []
        : [`${value} ${node.exclusiveMaximum === true ? "<" : "<="} ${number()}`];
    case "multipleOf":
      return node.type === "integer" && Number.isInteger(limit) ? [`${value} % ${Number(limit)} == 0`] : undefined;
    default:
      return undefined;
  }
}

/** CEL compares whole numbers with whole numbers. */
function celNumber(value: unknown, { type }: SchemaNode): string {
  const text = String(value);
  return type === "number" && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Whether RE2 cannot match it. */
const isForeign = (pattern: string) => /\(\?<?[=!]|\\[1-9ux]|\\p\{/.test(pattern);
