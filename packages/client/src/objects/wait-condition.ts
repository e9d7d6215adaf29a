import type { WithBody } from "../kinds/index.ts";
import { ConfigError, compileJsonPath } from "../meta/index.ts";
import type { ObjectBase } from "./object-base.ts";

/**
 * What to wait for: `"condition=Ready"`, `"condition=Ready=False"`, `"jsonpath={.status.phase}=Running"`,
 * `"jsonpath={.status.podIP}"` (any value), `"create"`, `"delete"`, a predicate over the object, or several of these by
 * way of {@link allOf}, {@link anyOf} and {@link noneOf}.
 */
export type WaitCondition<T extends WithBody = ObjectBase> = string | ((object: T) => boolean) | CombinedCondition<T>;

/** Conditions as one: made by {@link allOf}, {@link anyOf} and {@link noneOf}. */
export interface CombinedCondition<T extends WithBody = ObjectBase> {
  readonly combine: "all" | "any" | "none";
  readonly of: readonly WaitCondition<T>[];
}

/** Holds when every one of the conditions does. */
export function allOf<T extends WithBody = ObjectBase>(
  ...conditions: readonly WaitCondition<T>[]
): CombinedCondition<T> {
  return { combine: "all", of: conditions };
}

/**
 * Holds when one of the conditions does.
 *
 * @example
 * ```ts
 * await job.wait(anyOf("condition=Complete", "condition=Failed"));
 * ```
 */
export function anyOf<T extends WithBody = ObjectBase>(
  ...conditions: readonly WaitCondition<T>[]
): CombinedCondition<T> {
  return { combine: "any", of: conditions };
}

/**
 * Holds when none of the conditions does, for an object that exists.
 *
 * @example
 * ```ts
 * await pod.wait(noneOf("condition=Ready"), { timeout: "10s" });
 * ```
 */
export function noneOf<T extends WithBody = ObjectBase>(
  ...conditions: readonly WaitCondition<T>[]
): CombinedCondition<T> {
  return { combine: "none", of: conditions };
}

/** A condition in a form that can be asked: `object` is `undefined` while there is none. */
export interface Check<T> {
  readonly text: string;
  /** Whether waiting makes sense while the object does not exist. */
  readonly toleratesAbsence: boolean;
  holds(object: T | undefined): boolean;
}

/** Reads a condition as kubectl does, with and without quotes around the path and the value. */
export function parseCondition<T extends WithBody = ObjectBase>(condition: WaitCondition<T>): Check<T> {
  if (typeof condition === "function") {
    return {
      text: condition.name === "" ? "the predicate" : condition.name,
      toleratesAbsence: false,
      holds: (object) => object !== undefined && condition(object),
    };
  }
  if (typeof condition === "object") return combinedCheck(condition);
  const text = condition.trim();
  if (text === "delete") return { text, toleratesAbsence: true, holds: (object) => object === undefined };
  if (text === "create") return { text, toleratesAbsence: true, holds: (object) => object !== undefined };
  const equals = text.indexOf("=");
  const word = equals < 0 ? text : text.slice(0, equals);
  const rest = equals < 0 ? "" : text.slice(equals + 1);
  if (word === "condition" && rest !== "") return conditionCheck(text, rest);
  if (word === "jsonpath" && rest !== "") return jsonPathCheck(text, rest);
  throw new ConfigError(`"${condition}" is not a condition to wait for`, {
    hint: 'write "condition=Ready", "jsonpath={.status.phase}=Running", "create", "delete", or pass a function',
  });
}

function combinedCheck<T extends WithBody>({ combine, of }: CombinedCondition<T>): Check<T> {
  const checks = of.map((condition) => parseCondition<T>(condition));
  const toleratesAbsence = checks.some((check) => check.toleratesAbsence);
  const texts = checks.map(({ text }) => text).join(", ");
  if (combine !== "none") {
    const holds = (object: T | undefined) =>
      checks[combine === "all" ? "every" : "some"]((check) => check.holds(object));
    return { text: `${combine}Of(${texts})`, toleratesAbsence, holds };
  }
  return {
    text: `noneOf(${texts})`,
    toleratesAbsence,
    // Of an object that is not there nothing is known, unless its being there is the question.
    holds: (object) => (object !== undefined || toleratesAbsence) && !checks.some((check) => check.holds(object)),
  };
}

function conditionCheck<T extends WithBody>(text: string, rest: string): Check<T> {
  const [type = "", wanted = "true"] = rest.split("=", 2).map(unquote);
  return {
    text,
    toleratesAbsence: false,
    holds: (object) => {
      const status = object?.body.status as { conditions?: unknown; observedGeneration?: unknown } | undefined;
      if (!Array.isArray(status?.conditions)) return false;
      const found = status.conditions.find((c) => same(String(c?.type), type));
      if (!found || !same(String(found.status), wanted)) return false;
      // A condition that is about an older spec says nothing yet; kubectl ignores it too.
      const generation = object?.body.metadata?.generation;
      const observed = found.observedGeneration ?? status.observedGeneration;
      return typeof observed !== "number" || generation === undefined || observed >= generation;
    },
  };
}

function jsonPathCheck<T extends WithBody>(text: string, rest: string): Check<T> {
  const { path, value } = splitPath(rest);
  const compiled = compileJsonPath(path);
  return {
    text,
    toleratesAbsence: false,
    holds: (object) => {
      if (object === undefined) return false;
      const results = compiled.evaluate(object.body).filter((found) => found !== undefined && found !== null);
      if (value === undefined) return results.length > 0;
      return results.length === 1 && printed(results[0]) === value;
    },
  };
}

/** `'{.a.b}'=x`, `{.a}=x`, `.a=x`: the equals sign that counts is the first one outside the braces. */
function splitPath(rest: string): { path: string; value: string | undefined } {
  let depth = 0;
  let quote = "";
  for (let i = 0; i < rest.length; i++) {
    const char = rest[i] as string;
    if (depth > 0 && quote !== "") {
      if (char === quote) quote = "";
    } else if (depth > 0 && (char === '"' || char === "'")) quote = char;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    else if (char === "=" && depth === 0) {
      return { path: braced(unquote(rest.slice(0, i))), value: unquote(rest.slice(i + 1)) };
    }
  }
  return { path: braced(unquote(rest)), value: undefined };
}

const braced = (path: string): string => (path.startsWith("{") ? path : `{${path.startsWith(".") ? "" : "."}${path}}`);

const unquote = (text: string): string => text.replace(/^(['"])(.*)\1$/s, "$2");

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const printed = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));
