import { deepEqual } from "./equality.ts";
import { ConfigError } from "./errors.ts";
import { isObject } from "./json.ts";

/** A JSONPath that is ready to be evaluated many times. */
export interface JsonPath {
  /** The text that it was compiled from. */
  readonly text: string;
  /** All values that the path finds, in document order; empty when there are none. */
  evaluate(value: unknown): unknown[];
}

/** A text that is no JSONPath. */
export class JsonPathError extends ConfigError {
  override readonly code: string = "LOTSE_JSONPATH";
}

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "wildcard" }
  | { readonly kind: "descend" }
  | { readonly kind: "index"; readonly at: number }
  | { readonly kind: "slice"; readonly from?: number; readonly to?: number; readonly step: number }
  | { readonly kind: "union"; readonly parts: readonly Step[] }
  | { readonly kind: "filter"; readonly left: Operand; readonly operator?: string; readonly right?: Operand };

type Operand =
  | { readonly kind: "path"; readonly fromRoot: boolean; readonly steps: readonly Step[] }
  | { readonly kind: "literal"; readonly value: unknown };

/**
 * Compiles a JSONPath as kubectl and CustomResourceDefinitions write it: `.spec.replicas`, `{.items[*].metadata.name}`,
 * `.metadata.labels['app.kubernetes.io/name']`, `.status.conditions[?(@.type=="Ready")].status`, `..image`.
 * What a path does not find is no error.
 *
 * @example
 * ```ts
 * compileJsonPath(".spec.containers[*].image").evaluate(pod); // ["nginx", "envoy"]
 * ```
 */
export function compileJsonPath(text: string): JsonPath {
  let source = text.trim();
  if (source.startsWith("{") && source.endsWith("}")) source = source.slice(1, -1).trim();
  if (source.startsWith("$") || source.startsWith("@")) source = source.slice(1);
  else if (source !== "" && !source.startsWith(".") && !source.startsWith("[")) source = `.${source}`;
  const parser = new Parser(text, source);
  const steps = parser.steps();
  if (!parser.done) throw parser.error("unexpected text");
  return { text, evaluate: (value) => run(steps, [value], value) };
}

class Parser {
  readonly #text: string;
  readonly #source: string;
  #at = 0;

  constructor(text: string, source: string) {
    this.#text = text;
    this.#source = source;
  }

  get done(): boolean {
    return this.#at >= this.#source.length;
  }

  error(problem: string): JsonPathError {
    const rest = this.#source.slice(this.#at, this.#at + 20);
    return new JsonPathError(
      `JSONPath ${JSON.stringify(this.#text)}: ${problem}${rest === "" ? " at its end" : ` at ${JSON.stringify(rest)}`}`,
      { hint: 'write it as kubectl does: .spec.name, .items[*].metadata.name, .status.conditions[?(@.type=="Ready")]' },
    );
  }

  #next(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (!match) return undefined;
    this.#at += match[0].length;
    return match[0];
  }

  #spaces(): void {
    this.#match(/ +/y);
  }

  steps(): Step[] {
    const steps: Step[] = [];
    for (;;) {
      if (this.#next("..")) {
        if (steps.at(-1)?.kind === "descend") throw this.error("two recursive descents in a row");
        steps.push({ kind: "descend" });
        if (this.#source[this.#at] === "[" || this.done) continue;
        steps.push(this.#name());
      } else if (this.#next(".")) {
        // A single dot is the object itself.
        if (this.done && steps.length === 0) return steps;
        if (this.#source[this.#at] === "[") continue;
        steps.push(this.#name());
      } else if (this.#next("[")) {
        steps.push(this.#bracket());
      } else {
        return steps;
      }
    }
  }

  #name(): Step {
    const raw = this.#match(/(?:\\.|[^\\.,[\]$@{}\s()=!<>])+/y);
    if (raw === undefined) throw this.error("a field name is missing");
    return raw === "*" ? { kind: "wildcard" } : { kind: "field", name: raw.replace(/\\(.)/g, "$1") };
  }

  #bracket(): Step {
    this.#spaces();
    if (this.#next("?(")) return this.#filter();
    const parts: Step[] = [];
    do {
      this.#spaces();
      parts.push(this.#selector());
      this.#spaces();
    } while (this.#next(","));
    if (!this.#next("]")) throw this.error("a ] is missing");
    return parts.length === 1 ? (parts[0] as Step) : { kind: "union", parts };
  }

  #selector(): Step {
    const quoted = this.#quoted();
    if (quoted !== undefined) return { kind: "field", name: quoted };
    if (this.#next("*")) return { kind: "slice", step: 1 };
    const from = this.#match(/-?\d+/y);
    if (!this.#next(":")) {
      if (from === undefined) throw this.error("an index, a quoted name or * is missing");
      return { kind: "index", at: Number(from) };
    }
    const to = this.#match(/-?\d+/y);
    const step = this.#next(":") ? this.#match(/-?\d+/y) : undefined;
    if (step !== undefined && Number(step) <= 0) throw this.error("the step of a slice must be positive");
    return {
      kind: "slice",
      ...(from === undefined ? {} : { from: Number(from) }),
      ...(to === undefined ? {} : { to: Number(to) }),
      step: Number(step ?? 1),
    };
  }

  #quoted(): string | undefined {
    const raw = this.#match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/y);
    return raw?.slice(1, -1).replace(/\\(.)/g, "$1");
  }

  #filter(): Step {
    const left = this.#operand();
    this.#spaces();
    const operator = this.#match(/[=!<>]=|[<>]/y);
    let right: Operand | undefined;
    if (operator !== undefined) {
      right = this.#operand();
      this.#spaces();
    }
    if (!this.#next(")")) throw this.error("a filter must be one comparison, and ends with )");
    this.#spaces();
    if (!this.#next("]")) throw this.error("a ] is missing");
    return { kind: "filter", left, ...(operator !== undefined && right ? { operator, right } : {}) };
  }

  #operand(): Operand {
    this.#spaces();
    const quoted = this.#quoted();
    if (quoted !== undefined) return { kind: "literal", value: quoted };
    const number = this.#match(/[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return { kind: "literal", value: Number(number) };
    const word = this.#match(/(?:true|false|null)(?![\w.])/y);
    if (word !== undefined) return { kind: "literal", value: JSON.parse(word) };
    const fromRoot = this.#next("$");
    if (!fromRoot && !this.#next("@")) throw this.error("a filter compares @.field with a value");
    return { kind: "path", fromRoot, steps: this.steps() };
  }
}

function run(steps: readonly Step[], values: unknown[], root: unknown): unknown[] {
  let current = values;
  for (const step of steps) {
    if (current.length === 0) break;
    const found: unknown[] = [];
    for (const value of current) take(step, value, root, found);
    current = found;
  }
  return current;
}

function take(step: Step, value: unknown, root: unknown, out: unknown[]): void {
  switch (step.kind) {
    case "field":
      if (isObject(value) && Object.hasOwn(value, step.name) && value[step.name] !== undefined) {
        out.push(value[step.name]);
      }
      return;
    case "wildcard":
      if (typeof value === "object" && value !== null) out.push(...Object.values(value));
      return;
    case "descend":
      descend(value, out);
      return;
    case "index":
      if (Array.isArray(value)) {
        const at = step.at < 0 ? step.at + value.length : step.at;
        if (at >= 0 && at < value.length) out.push(value[at]);
      }
      return;
    case "slice":
      if (Array.isArray(value)) {
        const part = value.slice(step.from ?? 0, step.to ?? value.length);
        for (let i = 0; i < part.length; i += step.step) out.push(part[i]);
      }
      return;
    case "union":
      for (const part of step.parts) take(part, value, root, out);
      return;
    case "filter":
      if (Array.isArray(value)) for (const item of value) if (passes(step, item, root)) out.push(item);
      return;
  }
}

/** A container comes before what it holds; scalars are found through their container only. */
function descend(value: unknown, out: unknown[]): void {
  if (typeof value !== "object" || value === null) return;
  out.push(value);
  for (const child of Object.values(value)) descend(child, out);
}

function passes(filter: Extract<Step, { kind: "filter" }>, item: unknown, root: unknown): boolean {
  const resolve = (operand: Operand): unknown[] =>
    operand.kind === "literal" ? [operand.value] : run(operand.steps, [operand.fromRoot ? root : item], root);
  const left = resolve(filter.left);
  if (filter.operator === undefined || filter.right === undefined) return left.length > 0;
  const right = resolve(filter.right);
  if (left.length !== 1 || right.length !== 1) return false;
  return compare(left[0], filter.operator, right[0]);
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === "==") return deepEqual(left, right);
  if (operator === "!=") return !deepEqual(left, right);
  const numbers = typeof left === "number" && typeof right === "number";
  if (!numbers && !(typeof left === "string" && typeof right === "string")) return false;
  switch (operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    default:
      return left >= right;
  }
}
