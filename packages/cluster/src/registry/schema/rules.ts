import { isObject } from "@lotse/client/meta";
import type { CelCompilation, CelEngine, CelScope } from "./cel-engine.ts";
import { failureText } from "./cel-failure.ts";
import { REQUEST_BYTES, sizedType } from "./cel-sizes.ts";
import { type Correlation, correlatedItem, correlateItem, correlateMember, isUnchanged } from "./correlation.ts";
import {
  childPath,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
  Verbatim,
  webSafe,
} from "./field-errors.ts";
import { schemaFieldPath } from "./field-path.ts";
import { SCHEMA_PATH } from "./structural.ts";
import { noReferences, type Schema, type ValidationRule } from "./types.ts";

interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: CelCompilation;
  readonly message: CelCompilation | undefined;
  readonly usesOldSelf: boolean;
  /** Where the error is reported, below the value. */
  readonly fieldPath: string;
}

/** The rules of a schema, compiled once for all objects; undefined where a schema has none. */
export interface CompiledRules {
  readonly schema: Schema;
  readonly engine: CelEngine;
  readonly scope: CelScope | undefined;
  readonly rules: readonly CompiledRule[];
  readonly items: CompiledRules | undefined;
  readonly properties: ReadonlyMap<string, CompiledRules>;
  readonly additional: CompiledRules | undefined;
}

/** Compiles the `x-kubernetes-validations` of a schema and of all nodes below it. */
export function compileRules(schema: Schema, engine: CelEngine, resourceRoot = true): CompiledRules | undefined {
  if (!hasRules(schema)) return undefined;
  const below = (node: Schema) => compileRules(node, engine, node["x-kubernetes-embedded-resource"] === true);
  const own = schema["x-kubernetes-validations"] ?? [];
  const scope = own.length > 0 ? engine.scope(schema, resourceRoot) : undefined;
  const properties = new Map<string, CompiledRules>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const compiled = below(property);
    if (compiled) properties.set(name, compiled);
  }
  return {
    schema,
    engine,
    scope,
    rules: own.map((rule) => compileRule(rule, schema, scope)),
    items: schema.items && below(schema.items),
    properties,
    additional: typeof schema.additionalProperties === "object" ? below(schema.additionalProperties) : undefined,
  };
}

/** Whether a schema or any node below it has rules. */
export function hasRules(schema: Schema): boolean {
  if ((schema["x-kubernetes-validations"]?.length ?? 0) > 0) return true;
  if (schema.items && hasRules(schema.items)) return true;
  if (typeof schema.additionalProperties === "object" && hasRules(schema.additionalProperties)) return true;
  return Object.values(schema.properties ?? {}).some(hasRules);
}

function compileRule(rule: ValidationRule, schema: Schema, scope: CelScope | undefined): CompiledRule {
  const options = { optionalOldSelf: rule.optionalOldSelf === true };
  const unseen: CelCompilation = { error: "failed to convert to declType for CEL validation rules" };
  const location = rule.fieldPath ? schemaFieldPath(rule.fieldPath, schema) : undefined;
  return {
    rule,
    program: scope?.compile(rule.rule, options) ?? unseen,
    message: rule.messageExpression ? scope?.compile(rule.messageExpression, options) : undefined,
    usesOldSelf: mentionsOldSelf(rule.rule),
    fieldPath: location && "path" in location ? location.path : "",
  };
}

/** Literals may say anything, and a field may have that name. */
function mentionsOldSelf(expression: string): boolean {
  const bare = expression.replace(/[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/g, '""');
  return /(?<![\w.])oldSelf\b/.test(bare);
}

/** The mistakes that keep rules from being checked at all. */
const BLOCKING = new Set<FieldError["type"]>(["NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"]);

/**
 * The error that stands for all rules when the schema's own errors are such that the rules cannot be trusted;
 * undefined when they can be checked.
 */
export function rulesBlocked(errors: readonly FieldError[]): FieldError | undefined {
  if (!errors.some((error) => BLOCKING.has(error.type))) return undefined;
  const detail =
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
  return invalid("", null, detail);
}

/**
 * Checks a value against compiled rules. `old` is the value that it replaces, undefined on creation; rules that do not
 * look at the old value are forgiven where nothing changed, and `forgive` is told.
 */
export function evaluateRules(
  value: unknown,
  old: unknown,
  compiled: CompiledRules | undefined,
  path = "",
  forgive: (error: FieldError) => void = () => {},
): FieldError[] {
  const errors: FieldError[] = [];
  const current = old === undefined ? undefined : { value, old, root: true };
  if (compiled) walk(value, old, compiled, path, { current, parent: undefined, forgive }, errors);
  return errors;
}

interface Ratchet {
  /** The value beside its old one; undefined where there is no telling which that is. */
  readonly current: Correlation | undefined;
  /** The nearest value above that has an old one. */
  readonly parent: Correlation | undefined;
  /** Told what would be a mistake, had it not been there before. */
  readonly forgive: (error: FieldError) => void;
}

function below(ratchet: Ratchet, current: Correlation | undefined): Ratchet {
  return { current, parent: ratchet.current ?? ratchet.parent, forgive: ratchet.forgive };
}

function walk(
  value: unknown,
  old: unknown,
  node: CompiledRules,
  path: string,
  ratchet: Ratchet,
  errors: FieldError[],
): void {
  if (value === null || value === undefined) return;
  if (node.rules.length > 0) errors.push(...run(value, old ?? undefined, node, path, ratchet));
  if (Array.isArray(value)) {
    if (!node.items) return;
    for (const [i, item] of value.entries()) {
      const next = below(ratchet, correlateItem(ratchet.current, node.schema, i, noReferences));
      walk(item, correlatedItem(item, old, node.schema), node.items, `${path}[${i}]`, next, errors);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const known = node.properties.get(key);
    const rules = known ?? (Object.hasOwn(node.schema.properties ?? {}, key) ? undefined : node.additional);
    if (!rules) continue;
    const at = known ? childPath(path, key) : `${path}[${key}]`;
    const before = isObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
    walk(member, before, rules, at, below(ratchet, correlateMember(ratchet.current, node.schema, key)), errors);
  }
}

function run(value: unknown, old: unknown, node: CompiledRules, path: string, ratchet: Ratchet): FieldError[] {
  const errors: FieldError[] = [];
  const type = node.schema.type ?? "";
  const self = node.scope?.convert(value);
  const oldSelf = old === undefined ? undefined : node.scope?.convert(old);
  const forgiven = ratchet.current ? isUnchanged(ratchet.current) : isUnchanged(ratchet.parent);
  for (const compiled of node.rules) {
    const { rule, program, usesOldSelf } = compiled;
    if ("error" in program) {
      errors.push(invalid(path, type, `rule compile error: ${program.error}`));
      continue;
    }
    if (usesOldSelf && old === undefined && !rule.optionalOldSelf) continue;
    const variables = { self, oldSelf: rule.optionalOldSelf ? node.engine.optional(oldSelf) : oldSelf };
    let passed: unknown;
    try {
      passed = program.run(variables);
    } catch (error) {
      errors.push(invalid(path, type, describeFailure(error, rule)));
      continue;
    }
    if (passed === true) continue;
    const detail = messageOf(compiled, variables);
    const shown = type === "object" || type === "array" ? undefined : value;
    const error = failure(childPath(path, compiled.fieldPath), shown, detail, rule.reason);
    if (forgiven && !usesOldSelf) ratchet.forgive(error);
    else errors.push(error);
  }
  return errors;
}

function failure(field: string, value: unknown, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case "FieldValueForbidden":
      return forbidden(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, value);
    default:
      return invalid(field, value, detail);
  }
}

function describeFailure(error: unknown, rule: ValidationRule): string {
  const text = failureText(error);
  const name = (rule.message ?? "").trim() || rule.rule.trim();
  if (/no (?:such|matching) overload/.test(text)) {
    return `'no such overload': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
  }
  return `${text} evaluating rule: ${name}`;
}

const LONGEST_MESSAGE = 5 * 1024;

function messageOf({ rule, message }: CompiledRule, variables: Readonly<Record<string, unknown>>): string {
  if (message && "run" in message) {
    try {
      const text = String(message.run(variables)).trim();
      if (text !== "" && !text.includes("\n") && text.length <= LONGEST_MESSAGE) return text;
    } catch {
      // A message that cannot be made must not hide the failure it speaks of: the fixed one takes its place.
    }
  }
  return rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`;
}

/** The most that one rule may cost, and all rules of a definition together, in the units of the estimator. */
const RULE_COST = 10_000_000;
const TOTAL_COST = 100_000_000;
/** As many of the dearest rules are named when the total is too high. */
const NAMED_RULES = 4;

/** What has been found while the rules of a schema are checked. */
interface RuleCheck {
  readonly errors: FieldError[];
  total: number;
  dearest: readonly { readonly field: string; readonly cost: number }[];
}

/** The mistakes in the rules themselves, as the server reports them when a definition is written. */
export function checkRules(schema: Schema, engine: CelEngine, path: string = SCHEMA_PATH): FieldError[] {
  const check: RuleCheck = { errors: [], total: 0, dearest: [] };
  checkNode(compileRules(schema, engine), path, { lost: undefined, repeated: 1 }, check);
  if (check.total > TOTAL_COST) {
    const detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    for (const { field } of check.dearest) check.errors.push(forbidden(field, detail));
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    check.errors.push(forbidden(path, tooDear(what, check.total, TOTAL_COST)));
  }
  return check.errors;
}

interface Place {
  /** The first node above whose items cannot be matched with old ones. */
  readonly lost: string | undefined;
  /** How often the node may occur in one object; undefined where nothing limits it but the size of a request. */
  readonly repeated: number | undefined;
}

function checkNode(node: CompiledRules | undefined, path: string, place: Place, check: RuleCheck): void {
  if (!node) return;
  const repeated = place.repeated === undefined ? undefined : repetitions(node.schema, place.repeated);
  const below = { lost: place.lost, repeated };
  for (const [key, property] of node.properties) checkNode(property, `${path}.properties[${key}]`, below, check);
  checkNode(node.additional, `${path}.additionalProperties`, below, check);
  const correlatable = node.schema["x-kubernetes-list-type"] === "map";
  const lost = correlatable ? place.lost : (place.lost ?? path);
  checkNode(node.items, `${path}.items`, { lost, repeated }, check);
  for (const [i, compiled] of node.rules.entries()) {
    const field = `${path}.x-kubernetes-validations[${i}]`;
    checkCost(compiled, node, field, place.repeated, check);
    check.errors.push(...checkCompiled(compiled, field, place.lost));
  }
}

/** How often what lies below a node may occur. */
function repetitions(schema: Schema, repeated: number): number | undefined {
  if (schema.type === "array")
    return schema.maxItems === undefined ? undefined : repeated * Math.max(0, schema.maxItems);
  if (schema.type !== "object" || schema.additionalProperties === undefined) return repeated;
  return schema.maxProperties === undefined ? undefined : repeated * Math.max(0, schema.maxProperties);
}

function checkCost(
  { program, message }: CompiledRule,
  node: CompiledRules,
  field: string,
  repeated: number | undefined,
  check: RuleCheck,
): void {
  const observe = (part: string, what: string, cost: number) => {
    if (cost > RULE_COST) check.errors.push(forbidden(`${field}.${part}`, tooDear(what, cost, RULE_COST)));
    check.total += cost;
    if (cost < TOTAL_COST / 100) return;
    check.dearest = [...check.dearest, { field: `${field}.${part}`, cost }]
      .sort((a, b) => b.cost - a.cost)
      .slice(0, NAMED_RULES);
  };
  if ("error" in program || program.type !== "bool" || program.cost === undefined) return;
  // Where no limit is set, as many as fit into a request, each with a comma.
  const fitting = Math.floor(REQUEST_BYTES / ((sizedType(node.schema)?.least ?? 2) + 1));
  observe("rule", "estimated rule cost", program.cost() * (repeated ?? fitting));
  if (message && "cost" in message && message.type === "string" && message.cost !== undefined) {
    observe("messageExpression", "estimated messageExpression cost", message.cost());
  }
}

function tooDear(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

function checkCompiled(
  { rule, program, message, usesOldSelf }: CompiledRule,
  path: string,
  lost: string | undefined,
): FieldError[] {
  if (rule.rule.trim() === "") return [];
  const errors: FieldError[] = [];
  if ("error" in program) return [invalid(`${path}.rule`, shown(rule), `compilation failed: ${program.error}`)];
  if (program.type !== "bool") {
    return [invalid(`${path}.rule`, shown(rule), "cel expression must evaluate to a bool")];
  }
  if (message) {
    const field = `${path}.messageExpression`;
    if ("error" in message) {
      errors.push(invalid(field, shown(rule), `messageExpression compilation failed: ${message.error}`));
    } else if (message.type !== "string") {
      errors.push(invalid(field, shown(rule), "messageExpression must evaluate to a string"));
    }
  }
  if (usesOldSelf && lost !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${lost}`;
    errors.push(invalid(`${path}.rule`, rule.rule, detail));
  } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const detail = "may not be set if oldSelf is not used in rule";
    errors.push(invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail));
  }
  return errors;
}

/** The server prints the whole rule, with the names of its own fields. */
function shown(rule: ValidationRule): Verbatim {
  const fields = {
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
  return new Verbatim(webSafe(JSON.stringify(fields)));
}
