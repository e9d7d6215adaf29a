import type { TypeError as CheckError, Environment, Optional, ParseError } from "@marcbachmann/cel-js";
import { estimateCost } from "./cel-cost.ts";
import { addKubernetesLibrary } from "./cel-library.ts";
import { boundVariables, type CelSource, plainSource, tellMistakes, translate } from "./cel-messages.ts";
import { sizedType } from "./cel-sizes.ts";
import { syntaxMistakes } from "./cel-syntax.ts";
import type { CelMistake } from "./cel-tokens.ts";
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
  /** `source` is what was written, where the expression was made of something else. */
  compileIn(environment: Environment, expression: string, source?: CelSource): CelCompilation;
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

const LAST_COMMA = /,\s*\)/;
/** So many mistakes of one expression are told. */
const MOST_MISTAKES = 20;

function compile(environment: Environment, expression: string, source?: CelSource): CelCompilation {
  const tell = (mistakes: readonly CelMistake[]) => ({
    error: tellMistakes(source ?? plainSource(expression), mistakes),
  });
  const bound = boundVariables(expression);
  if (bound !== undefined) return tell(bound);
  const checked = environment.check(expression);
  const written = source?.text ?? expression;
  // The engine lets a comma stand after the last argument, the server's does not.
  if (checked.valid && LAST_COMMA.test(written)) {
    const mistakes = syntaxMistakes(written);
    if (mistakes.length > 0) return { error: tellMistakes(plainSource(written), mistakes) };
  }
  if (checked.valid) {
    const program = environment.parse(expression);
    return { type: checked.type ?? "dyn", run: (variables) => program(variables) };
  }
  const first = checked.error as CheckError | ParseError;
  const names = new Set(environment.getDefinitions().functions.map(({ name }) => name));
  const declared = (name: string | undefined) => name !== undefined && names.has(name);
  if (first.name === "ParseError") {
    const mistakes = syntaxMistakes(written);
    if (mistakes.length > 0) return { error: tellMistakes(plainSource(written), mistakes) };
  }
  const found = [translate(expression, first, declared)];
  // The engine stops at the first mistake, the server's does not. What is wrong is replaced by something of the same length
  // that may be anything, and the rest is looked at again.
  let text = expression;
  let last = first;
  let world = environment;
  for (let more = 1; more < MOST_MISTAKES; more++) {
    const range = last.node?.range;
    if (range === undefined || range.end <= range.start) break;
    const name = "_".repeat(range.end - range.start);
    text = text.slice(0, range.start) + name + text.slice(range.end);
    if (!world.hasVariable(name)) world = world.clone().registerVariable(name, "dyn");
    const next = world.check(text);
    if (next.valid || next.error?.name === "ParseError") break;
    last = next.error as CheckError;
    found.push(translate(text, last, declared));
  }
  return tell(found.sort((a, b) => a.offset - b.offset));
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
