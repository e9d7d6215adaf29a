/**
 * Whether a value fits a structural schema: types, required fields, enums, bounds, lengths, patterns, formats, lists and
 * alternatives, as an API server checks them. Rules in CEL are not evaluated: that takes the engine of the embedded
 * cluster. Pure.
 */
import { deepEqual, isObject } from "@lotse/client/meta";
import { hasTextFormat } from "./formats.ts";
import type { SchemaNode } from "./node.ts";
import { itemSchema } from "./server-form.ts";

/** One thing that does not fit. */
export interface ValueProblem {
  /** `spec.ports[2].name`; empty for the value itself. */
  readonly path: string;
  /** `must be one of "a", "b"` */
  readonly what: string;
}

/** How {@link validateValue} looks. */
export interface ValidateOptions {
  /** The path of the value itself. Default: empty. */
  readonly path?: string;
  /** Only whether values have the right types: what bounds and patterns say may have been said later than the value. */
  readonly onlyTypes?: boolean;
}

/** Everything about `value` that `schema` does not allow; nothing when it fits. */
export function validateValue(value: unknown, schema: SchemaNode, options: ValidateOptions = {}): ValueProblem[] {
  const problems: ValueProblem[] = [];
  check(value, schema, options.path ?? "", options.onlyTypes === true, problems);
  return problems;
}

/** What a server with this pattern and JavaScript both understand; undefined for a pattern that JavaScript cannot read. */
export function compiledPattern(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern.replaceAll("(?P<", "(?<"), flags);
    } catch {}
  }
  return undefined;
}

function check(value: unknown, schema: SchemaNode, path: string, onlyTypes: boolean, found: ValueProblem[]): void {
  const add = (what: string) => void found.push({ path, what });
  if (value === null || value === undefined) {
    const typed = schema.type !== undefined || schema["x-kubernetes-int-or-string"] === true;
    if (typed && schema.nullable !== true) add("must not be null");
    return;
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (typeof value !== "string" && !Number.isInteger(value)) {
      add("must be a whole number or a text");
      return;
    }
  } else if (schema.type !== undefined && !hasType(value, String(schema.type))) {
    add(`must be of the type ${String(schema.type)}, is ${typeName(value)}`);
    return;
  }
  if (!onlyTypes) {
    checkEnum(value, schema, add);
    if (typeof value === "string") checkText(value, schema, add);
    if (typeof value === "number") checkNumber(value, schema, add);
    checkAlternatives(value, schema, path, add, found);
  }
  if (Array.isArray(value)) checkList(value, schema, path, onlyTypes, found);
  else if (isObject(value)) checkObject(value, schema, path, onlyTypes, found);
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkEnum(value: unknown, { enum: allowed }: SchemaNode, add: (what: string) => void): void {
  if (!Array.isArray(allowed) || allowed.some((one) => deepEqual(one, value))) return;
  add(`must be one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}`);
}

function checkText(value: string, schema: SchemaNode, add: (what: string) => void): void {
  const { minLength, maxLength, pattern, format } = schema;
  // Servers count characters, not the halves that JavaScript has of some.
  const length = [...value].length;
  if (typeof minLength === "number" && length < minLength) add(`must have at least ${minLength} characters`);
  if (typeof maxLength === "number" && length > maxLength) add(`must have at most ${maxLength} characters`);
  if (typeof pattern === "string" && compiledPattern(pattern)?.test(value) === false) add(`must match ${pattern}`);
  if (typeof format === "string" && !hasTextFormat(value, format)) add(`must have the format ${format}`);
}

function checkNumber(value: number, schema: SchemaNode, add: (what: string) => void): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = schema;
  if (typeof minimum === "number" && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    add(`must be ${exclusiveMinimum === true ? "above" : "at least"} ${minimum}`);
  }
  if (typeof maximum === "number" && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    add(`must be ${exclusiveMaximum === true ? "below" : "at most"} ${maximum}`);
  }
  if (typeof multipleOf === "number" && multipleOf > 0) {
    const ratio = value / multipleOf;
    if (Math.abs(ratio - Math.round(ratio)) > 1e-9 * Math.max(1, Math.abs(ratio)))
      add(`must be a multiple of ${multipleOf}`);
  }
  if (format === "int32" && Math.abs(value + 0.5) > 2 ** 31) add("must have 32 bits");
}

function checkList(
  value: readonly unknown[],
  schema: SchemaNode,
  path: string,
  onlyTypes: boolean,
  found: ValueProblem[],
): void {
  const items = itemSchema(schema);
  if (items) for (const [i, item] of value.entries()) check(item, items, `${path}[${i}]`, onlyTypes, found);
  if (onlyTypes) return;
  const add = (what: string) => void found.push({ path, what });
  const { minItems, maxItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) add(`must have at least ${minItems} items`);
  if (typeof maxItems === "number" && value.length > maxItems) add(`must have at most ${maxItems} items`);
  const keys = listKeys(schema);
  if (!keys) return;
  const seen = new Set<string>();
  for (const item of value) {
    const key = keys.length === 0 ? canonicalText(item) : canonicalText(keys.map((one) => isObject(item) && item[one]));
    if (seen.has(key)) add(`must not have ${keys.length === 0 ? "the same item" : `two items with the same ${keys}`}`);
    seen.add(key);
  }
}

/** Of a list whose items must differ: in these fields, or in everything. Undefined for any other. */
export function listKeys(schema: SchemaNode): readonly string[] | undefined {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-list-type"] === "map" && Array.isArray(keys)) return keys as string[];
  return schema["x-kubernetes-list-type"] === "set" || schema.uniqueItems === true ? [] : undefined;
}

function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

function checkObject(
  value: Record<string, unknown>,
  schema: SchemaNode,
  path: string,
  onlyTypes: boolean,
  found: ValueProblem[],
): void {
  const add = (what: string) => void found.push({ path, what });
  const at = (key: string) => (path === "" ? key : `${path}.${key}`);
  const { required, properties, additionalProperties, minProperties, maxProperties } = schema;
  if (!onlyTypes) {
    const count = Object.keys(value).length;
    if (typeof minProperties === "number" && count < minProperties) add(`must have at least ${minProperties} fields`);
    if (typeof maxProperties === "number" && count > maxProperties) add(`must have at most ${maxProperties} fields`);
    const embedded = schema["x-kubernetes-embedded-resource"] === true ? ["apiVersion", "kind"] : [];
    for (const key of new Set([...embedded, ...(Array.isArray(required) ? (required as string[]) : [])])) {
      if (!Object.hasOwn(value, key) || value[key] === undefined) found.push({ path: at(key), what: "is required" });
    }
  }
  for (const [key, member] of Object.entries(value)) {
    const known = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (isObject(known) && member !== undefined) check(member, known, at(key), onlyTypes, found);
  }
}

/** `allOf`, `anyOf`, `oneOf` and `not`, which in a structural schema have checks of values and nothing else. */
function checkAlternatives(
  value: unknown,
  { allOf, anyOf, oneOf, not }: SchemaNode,
  path: string,
  add: (what: string) => void,
  found: ValueProblem[],
): void {
  const fits = (node: unknown) => !isObject(node) || validateValue(value, node).length === 0;
  if (Array.isArray(allOf)) for (const node of allOf) if (isObject(node)) check(value, node, path, false, found);
  if (Array.isArray(anyOf) && anyOf.length > 0 && !anyOf.some(fits)) add("must be one of the alternatives");
  if (Array.isArray(oneOf) && oneOf.length > 0 && oneOf.filter(fits).length !== 1) {
    add("must be exactly one of the alternatives");
  }
  if (isObject(not) && fits(not)) add("must not be what is excluded");
}
