import { lookup } from "@lotse/client/meta";
import type { TypeError as CheckError, Environment, EvaluationError, Optional, ParseError } from "@marcbachmann/cel-js";
import { estimateCost } from "./cel-cost.ts";
import { addKubernetesLibrary } from "./cel-library.ts";
import { sizedType } from "./cel-sizes.ts";
import { type CelType, celType, type TypeRegistry } from "./cel-types.ts";
import type { Schema } from "./types.ts";

/** An expression that can be run, or why it cannot. */
export type CelCompilation =
  | {
      readonly type: string;
      run(variables: Readonly<Record<string, unknown>>): unknown;
      /** The most that it may cost, where the sizes of its variables are known. */
      readonly cost?: () => number;
    }
  | { readonly error: string };

/** Expressions about the values of one schema: they see `self`, and `oldSelf` where they ask for it. */
export interface CelScope {
  compile(expression: string, options?: { readonly optionalOldSelf?: boolean }): CelCompilation;
  /** A JSON value of the schema, as expressions see it. */
  convert(value: unknown): unknown;
}

/** Compiles and runs expressions of the Common Expression Language as Kubernetes does. */
export interface CelEngine {
  /** The scope of a schema node; undefined when expressions cannot see its content. */
  scope(schema: Schema, resourceRoot: boolean): CelScope | undefined;
  /** An expression over named variables; their types are those of the language, `dyn` for any. */
  compile(expression: string, variables: Readonly<Record<string, string>>): CelCompilation;
  /** What `oldSelf` is where it may be absent. */
  optional(value: unknown): unknown;
  /** An environment for expressions about other things than one schema: the caller adds its types and variables. */
  environment(): Environment;
  compileIn(environment: Environment, expression: string): CelCompilation;
  /**
   * Declares the types of a schema in an environment; the name of the outermost, undefined when expressions cannot see
   * it.
   */
  declare(environment: Environment, schema: Schema, name: string): string | undefined;
}

/** Makes the engine. What it stands on is loaded with it. */
export async function createCelEngine(): Promise<CelEngine> {
  const cel = await import("@marcbachmann/cel-js");
  const base = new cel.Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  addKubernetesLibrary(base);
  const parseDuration = base.clone().registerVariable("text", "string").parse("duration(text)");
  const duration = (text: string): unknown => parseDuration({ text });
  const optional = (value: unknown): Optional =>
    value === undefined ? (cel.Optional.none() as Optional) : cel.Optional.of(value);
  return {
    optional,
    compile(expression, variables) {
      const environment = base.clone();
      for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type);
      return compile(environment, expression);
    },
    environment: () => base.clone(),
    compileIn: compile,
    declare: (environment, schema, name) => celType(schema, registryIn(environment, duration, name))?.name,
    scope: (schema, resourceRoot) => createScope(base, duration, schema, resourceRoot),
  };
}

/** Declares the types of a schema; `prefix` tells them from those of another. */
function registryIn(environment: Environment, duration: (text: string) => unknown, prefix: string): TypeRegistry {
  let count = 0;
  return {
    declareObject(fields) {
      // The engine tells object types apart by their class.
      const ctor = class {};
      const name = `${prefix}${++count}`;
      environment.registerType(name, { ctor, fields: { ...fields } });
      environment.registerOperator(`${name} == ${name}`, sameMembers);
      return { name, create: () => new ctor() as Record<string, unknown> };
    },
    duration,
  };
}

function createScope(
  base: Environment,
  duration: (text: string) => unknown,
  schema: Schema,
  resourceRoot: boolean,
): CelScope | undefined {
  const environment = base.clone();
  const type: CelType | undefined = celType(schema, registryIn(environment, duration, "Object"), resourceRoot);
  if (!type) return undefined;
  environment.registerVariable("self", type.name);
  const transition = environment.clone().registerVariable("oldSelf", type.name);
  const optional = environment.clone().registerVariable("oldSelf", `optional<${type.name}>`);
  const sizes = sizedType(schema, resourceRoot);
  return {
    compile(expression, options) {
      const maybe = options?.optionalOldSelf === true;
      const environmentOf = maybe ? optional : transition;
      const compiled = compile(environmentOf, expression);
      if ("error" in compiled || sizes === undefined) return compiled;
      return { ...compiled, cost: () => estimateCost(environmentOf.parse(expression).ast, sizes, maybe) };
    },
    convert: type.convert,
  };
}

function compile(environment: Environment, expression: string): CelCompilation {
  const bound = boundVariables(expression);
  if (bound !== undefined) return { error: bound };
  const checked = environment.check(expression);
  if (!checked.valid) {
    const declared = (name: string | undefined) =>
      environment.getDefinitions().functions.some((known) => known.name === name);
    return { error: describe(expression, checked.error as CheckError | ParseError, declared) };
  }
  const program = environment.parse(expression);
  return { type: checked.type ?? "dyn", run: (variables) => program(variables) };
}

/** The engine knows `cel.bind`, which the server does not: there neither the name nor what it binds is declared. */
function boundVariables(expression: string): string | undefined {
  const match = /(?<![\w.])cel\.bind\(\s*([A-Za-z_]\w*)/.exec(expression);
  if (!match) return undefined;
  const [, name = ""] = match;
  const undeclared = (what: string, offset: number) =>
    complaint(expression, `undeclared reference to '${what}' (in container '')`, offset);
  const uses = [...expression.matchAll(new RegExp(`(?<![\\w.'"])${name}(?![\\w'"(])`, "g"))];
  return [
    undeclared("cel", match.index),
    undeclared("bind", match.index + "cel.bind".length),
    ...uses.map((use) => undeclared(name, use.index)),
  ].join("\n");
}

/** Members of objects are compared deeply; numbers and times by what they say. */
function sameMembers(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && sameMembers(value, b.get(key)));
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const left = Object.keys(a);
  if (left.length === 0 && typeof (a as { valueOf(): unknown }).valueOf() !== "object")
    return a.valueOf() === b.valueOf();
  return (
    left.length === Object.keys(b).length &&
    left.every((key) => sameMembers((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
  );
}

/** Whether there is any function of this name. */
type Declared = (name: string | undefined) => boolean;

/** The compiler's message as the server prints it: place, problem, the line, and a mark under the place. */
function describe(expression: string, error: CheckError | ParseError | EvaluationError, declared: Declared): string {
  const { message, offset } = translate(expression, error, declared);
  return complaint(expression, message, offset);
}

function complaint(expression: string, message: string, offset: number): string {
  const before = expression.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - (before.lastIndexOf("\n") + 1);
  const text = expression.split("\n")[line - 1] ?? "";
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${".".repeat(column)}^`;
}

function translate(
  expression: string,
  error: CheckError | ParseError | EvaluationError,
  declared: Declared,
): { readonly message: string; readonly offset: number } {
  const start = error.node?.pos ?? error.range?.start ?? 0;
  const call = (from: number) => Math.max(expression.indexOf("(", from), from);
  switch (error.code) {
    case "no_such_key":
      return {
        message: `undefined field '${error.summary.replace(/^No such key: /, "")}'`,
        offset: Math.max(start - 1, 0),
      };
    case "unknown_variable": {
      const name = error.summary.replace(/^Unknown variable: /, "");
      return { message: `undeclared reference to '${name}' (in container '')`, offset: start };
    }
    case "no_such_overload": {
      const match = /^no such overload: (.+) (\S+) (.+)$/.exec(error.summary);
      if (!match) break;
      const [, left, operator = "", right] = match;
      const args = error.node?.args as { range?: { end: number } }[] | undefined;
      const at = expression.indexOf(operator, args?.[0]?.range?.end ?? start);
      const message = `found no matching overload for '_${operator}_' applied to '(${left}, ${right})'`;
      return { message, offset: at < 0 ? start : at };
    }
    case "no_matching_overload": {
      const match = /^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(error.summary);
      if (!match) break;
      const [, receiver, name, args = ""] = match;
      const applied = receiver === undefined ? `(${args})` : `${receiver}.(${args})`;
      const from = expression.indexOf(`${name}(`, start);
      const message = declared(name)
        ? `found no matching overload for '${name}' applied to '${applied}'`
        : `undeclared reference to '${name}' (in container '')`;
      return { message, offset: call(from < 0 ? start : from) };
    }
  }
  const missing = /^Expected (RPAREN|RBRACKET|RBRACE), got EOF$/.exec(error.summary)?.[1];
  const closing = lookup({ RPAREN: ")", RBRACKET: "]", RBRACE: "}" }, missing ?? "");
  return { message: `Syntax error: ${closing ? `missing '${closing}' at '<EOF>'` : error.summary}`, offset: start };
}
