import { deepEqual, isObject } from "@lotse/client/meta";
import { type Correlation, correlateItem, correlateMember, isUnchanged } from "./correlation.ts";
import {
  childPath,
  type FieldError,
  goJson,
  goNumber,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from "./field-errors.ts";
import { hasFormat, isTextFormat } from "./formats.ts";
import { validateLists } from "./lists.ts";
import { compilePattern } from "./pattern.ts";
import { noReferences, type Resolver, resolveSchema, type Schema } from "./types.ts";

/** What a validation knows beside the value and its schema. */
export interface ValidateOptions {
  /** The field that the value sits in; empty for a whole object. */
  readonly path?: string;
  /** The value that this one replaces: mistakes that were there before, in parts that did not change, are forgiven. */
  readonly old?: unknown;
  readonly resolve?: Resolver;
}

/** Checks a value against a schema; the errors are those of the API server, word by word. */
export function validateValue(value: unknown, schema: Schema, options: ValidateOptions = {}): FieldError[] {
  const { path = "", old, resolve = noReferences } = options;
  const correlation = old === undefined ? undefined : { value, old, root: true };
  const { errors } = new Validator(path, resolve).node(value, schema, "", correlation);
  // Repeated items are forgiven as a whole: where the old value had some, nothing is checked.
  if (old === undefined || validateLists(old, schema, path, resolve).length === 0) {
    errors.push(...validateLists(value, schema, path, resolve));
  }
  return errors;
}

interface Result {
  errors: FieldError[];
  /** How many checks were made: among failed alternatives the one that got furthest is reported. */
  checks: number;
}

class Validator {
  readonly #base: string;
  readonly #resolve: Resolver;

  constructor(base: string, resolve: Resolver) {
    this.#base = base;
    this.#resolve = resolve;
  }

  /** `name` is the path below the validated value: the messages speak of it, the fields are the base and it. */
  node(value: unknown, node: Schema, name: string, correlation: Correlation | undefined): Result {
    const result = this.#check(value, resolveSchema(node, this.#resolve), name, correlation);
    if (result.errors.length > 0 && isUnchanged(correlation)) result.errors = [];
    return result;
  }

  #check(value: unknown, schema: Schema, name: string, correlation: Correlation | undefined): Result {
    const result: Result = { errors: [], checks: 1 };
    const add = (errors: FieldError[]) => {
      result.errors.push(...errors);
      result.checks++;
    };
    const merge = (part: Result) => {
      add(part.errors);
      result.checks += part.checks;
    };
    const types = typesOf(schema);
    if (value === null || value === undefined) {
      if (types.length > 0 && schema.nullable !== true) add([this.#wrongType(name, types.join(","), "null")]);
      if (schema.enum) add(this.#enum(null, schema.enum, name));
      return result;
    }
    const format = effectiveFormat(schema, types);
    if (types.length > 0 || format !== "") add(this.#type(value, types, format, name));
    merge(this.#alternatives(value, schema, name, correlation));
    if (typeof value === "string") {
      add(this.#text(value, schema, name));
      if (format !== "" && isTextFormat(format)) {
        add(hasFormat(value, format) ? [] : [this.#wrongType(name, format, value)]);
      }
    }
    if (typeof value === "number") add(this.#number(value, schema, types, format, name));
    if (Array.isArray(value)) merge(this.#list(value, schema, name, correlation));
    add(this.#enum(value, schema.enum ?? [], name));
    if (isObject(value)) merge(this.#object(value, schema, name, correlation));
    return result;
  }

  #field(name: string): string {
    return childPath(this.#base, name.replace(/^\./, ""));
  }

  #wrongType(name: string, expected: string, found: string): FieldError {
    const detail = `${name} in body must be of type ${expected}: ${JSON.stringify(found)}`;
    return { ...invalid(this.#field(name), found, detail), type: "TypeInvalid" };
  }

  #invalid(name: string, value: unknown, problem: string): FieldError {
    return invalid(this.#field(name), value, `${name} in body ${problem}`);
  }

  /** Errors that concern the alternatives as a whole carry no field of their own. */
  #general(message: string): FieldError {
    return invalid(this.#base, "", message);
  }

  #type(value: unknown, types: readonly string[], format: string, name: string): FieldError[] {
    const found = typeOf(value);
    const fits =
      types.includes(found) ||
      (found === "integer" && types.includes("number")) ||
      (found === "number" && types.includes("integer") && Number.isInteger(value));
    const textual = typeof value === "string" || Array.isArray(value);
    if (!textual && format !== "" && !fits) {
      const valueFormat = found === "integer" ? "int64" : found === "number" ? "float64" : "";
      return [this.#wrongType(name, format, valueFormat)];
    }
    if (textual && format !== "" && !types.includes("number") && !types.includes("integer")) return [];
    return fits || types.length === 0 ? [] : [this.#wrongType(name, types.join(","), found)];
  }

  /** A text that is too long is not looked at further. */
  #text(value: string, schema: Schema, name: string): FieldError[] {
    const length = schema.maxLength === undefined && schema.minLength === undefined ? 0 : countCharacters(value);
    if (schema.maxLength !== undefined && length > schema.maxLength)
      return [tooLong(this.#field(name), schema.maxLength)];
    if (schema.minLength !== undefined && length < schema.minLength) {
      return [this.#invalid(name, value, `should be at least ${schema.minLength} chars long`)];
    }
    if (schema.pattern && !compilePattern(schema.pattern)?.test(value)) {
      return [this.#invalid(name, value, `should match '${schema.pattern}'`)];
    }
    return [];
  }

  #number(value: number, schema: Schema, types: readonly string[], format: string, name: string): FieldError[] {
    const errors: FieldError[] = [];
    const whole = Number.isInteger(value);
    if (types.length === 1 && !fitsFormat(value, types[0] as string, format)) {
      const kind = format === "" ? `${types[0]} (default format)` : `${types[0]} with format ${format}`;
      errors.push(this.#general(`Checked value must be of type ${kind} in ${name}`));
      // A whole number that is too large for any integer is none.
      if (types[0] === "integer" && Math.abs(value) >= 2 ** 63) errors.push(this.#wrongType(name, "integer", "number"));
    }
    // The server compares whole numbers with whole limits: a fraction of the limit is cut off.
    const limit = (bound: number) => (whole ? Math.trunc(bound) : bound);
    const { multipleOf, minimum, maximum } = schema;
    if (multipleOf !== undefined) {
      const factor = limit(multipleOf);
      const ratio = factor < 1 ? (1 / factor) * value : value / factor;
      if (!(factor > 0)) {
        const detail = `factor MultipleOf declared for ${name} must be positive: ${goNumber(factor)}`;
        errors.push(invalid(this.#field(name), factor, detail));
      } else if (Math.abs(ratio - Math.round(ratio)) > 1e-9 * Math.max(1, Math.abs(ratio))) {
        errors.push(this.#invalid(name, value, `should be a multiple of ${goNumber(factor)}`));
      }
    }
    if (minimum !== undefined) {
      const bound = limit(minimum);
      if (schema.exclusiveMinimum ? value <= bound : value < bound) {
        const relation = schema.exclusiveMinimum ? "greater than" : "greater than or equal to";
        errors.push(this.#invalid(name, value, `should be ${relation} ${goNumber(bound)}`));
      }
    }
    if (maximum !== undefined) {
      const bound = limit(maximum);
      if (schema.exclusiveMaximum ? value >= bound : value > bound) {
        const relation = schema.exclusiveMaximum ? "less than" : "less than or equal to";
        errors.push(this.#invalid(name, value, `should be ${relation} ${goNumber(bound)}`));
      }
    }
    return errors;
  }

  #enum(value: unknown, allowed: readonly unknown[], name: string): FieldError[] {
    if (allowed.length === 0 || allowed.some((item) => item !== null && deepEqual(item, value))) return [];
    const texts = allowed.map((item) => (typeof item === "string" ? item : goJson(item)));
    return [notSupported(this.#field(name), value, texts)];
  }

  #list(value: unknown[], schema: Schema, name: string, correlation: Correlation | undefined): Result {
    const result: Result = { errors: [], checks: 1 };
    if (schema.items) {
      for (const [i, item] of value.entries()) {
        const part = this.node(
          item,
          schema.items,
          `${name}[${i}]`,
          correlateItem(correlation, schema, i, this.#resolve),
        );
        result.errors.push(...part.errors);
        result.checks += part.checks;
      }
    }
    if (schema.minItems !== undefined && value.length < schema.minItems) {
      result.errors.push(this.#invalid(name, value.length, `should have at least ${schema.minItems} items`));
    }
    if (schema.maxItems !== undefined && value.length > schema.maxItems) {
      result.errors.push(tooMany(this.#field(name), value.length, schema.maxItems));
    }
    if (schema.uniqueItems && value.some((item, i) => value.slice(0, i).some((other) => deepEqual(item, other)))) {
      result.errors.push(this.#invalid(name, "", "shouldn't contain duplicates"));
    }
    return result;
  }

  #object(value: Record<string, unknown>, schema: Schema, name: string, correlation: Correlation | undefined): Result {
    const result: Result = { errors: [], checks: 0 };
    const keys = Object.keys(value);
    if (schema.minProperties !== undefined && keys.length < schema.minProperties) {
      const problem = `should have at least ${schema.minProperties} properties`;
      result.errors.push(this.#invalid(name, keys.length, problem));
    }
    if (schema.maxProperties !== undefined && keys.length > schema.maxProperties) {
      result.errors.push(tooMany(this.#field(name), keys.length, schema.maxProperties));
    }
    const descend = (key: string, node: Schema, at: string) => {
      const part = this.node(value[key], node, at, correlateMember(correlation, schema, key));
      result.errors.push(...part.errors);
      result.checks += part.checks;
    };
    const properties = schema.properties ?? {};
    for (const key of keys) {
      if (Object.hasOwn(properties, key)) continue;
      if (schema.additionalProperties === false) {
        const detail = `${name}.${key} in body is a forbidden property`;
        result.errors.push(invalid(this.#field(name), key, detail));
      } else if (typeof schema.additionalProperties === "object") {
        descend(key, schema.additionalProperties, `${name}.${key}`);
      }
    }
    for (const key of Object.keys(properties)) {
      if (Object.hasOwn(value, key)) descend(key, properties[key] as Schema, name === "" ? key : `${name}.${key}`);
    }
    for (const key of schema.required ?? []) {
      if (!Object.hasOwn(value, key)) result.errors.push(required(this.#field(`${name}.${key}`)));
    }
    return result;
  }

  /** Members below an alternative are forgiven when unchanged; the alternative itself only with the whole node. */
  #alternatives(value: unknown, schema: Schema, name: string, correlation: Correlation | undefined): Result {
    const result: Result = { errors: [], checks: 1 };
    const run = (node: Schema) => this.#check(value, resolveSchema(node, this.#resolve), name, correlation);
    const merge = (part: Result | undefined) => {
      if (!part) return;
      result.errors.push(...part.errors);
      result.checks += part.checks;
    };
    if (schema.anyOf?.length) {
      const parts = schema.anyOf.map(run);
      const success = parts.find((part) => part.errors.length === 0);
      if (!success) {
        result.errors.push(this.#general(`${JSON.stringify(name)} must validate at least one schema (anyOf)`));
      }
      merge(success ?? furthest(parts));
    }
    if (schema.oneOf?.length) {
      const parts = schema.oneOf.map(run);
      const successes = parts.filter((part) => part.errors.length === 0);
      if (successes.length === 1) merge(successes[0]);
      else {
        const found = successes.length === 0 ? "Found none valid" : `Found ${successes.length} valid alternatives`;
        const text = `${JSON.stringify(name)} must validate one and only one schema (oneOf). ${found}`;
        result.errors.push(this.#general(text));
        if (successes.length === 0) merge(furthest(parts));
      }
    }
    if (schema.allOf?.length) {
      const parts = schema.allOf.map(run);
      for (const part of parts) merge(part);
      const valid = parts.filter((part) => part.errors.length === 0).length;
      if (valid < parts.length) {
        const none = valid === 0 ? ". None validated" : "";
        result.errors.push(this.#general(`${JSON.stringify(name)} must validate all the schemas (allOf)${none}`));
      }
    }
    if (schema.not && run(schema.not).errors.length === 0) {
      result.errors.push(this.#general(`${JSON.stringify(name)} must not validate the schema (not)`));
    }
    return result;
  }
}

function furthest(parts: readonly Result[]): Result | undefined {
  let best: Result | undefined;
  for (const part of parts) if (!best || part.checks > best.checks) best = part;
  return best;
}

function typesOf(schema: Schema): string[] {
  if (schema["x-kubernetes-int-or-string"]) return ["integer", "string"];
  return schema.type ? [schema.type] : [];
}

/** A format counts only where it fits the type; all others are ignored. */
function effectiveFormat(schema: Schema, types: readonly string[]): string {
  const format = schema.format ?? "";
  const type = types.length === 1 ? types[0] : "";
  if (type === "" || type === "string") return isTextFormat(format) ? format : "";
  if (type === "integer") return format === "int32" || format === "int64" ? format : "";
  if (type === "number") return format === "float" || format === "double" ? format : "";
  return "";
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function fitsFormat(value: number, type: string, format: string): boolean {
  if (type === "integer") {
    if (!Number.isInteger(value)) return false;
    const limit = format === "int32" ? 2 ** 31 : 2 ** 63;
    return value >= -limit && value < limit;
  }
  return type !== "number" || format !== "float" || Math.abs(value) <= 3.4028234663852886e38;
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
