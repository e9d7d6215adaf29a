import { ConfigError } from "./errors.ts";
import { isObject } from "./json.ts";
import { labelValueErrors, qualifiedNameErrors } from "./labels.ts";
import { lookup } from "./lookup.ts";

/** How a label requirement relates a key to its values. `=` also stands for `==`. */
export type LabelOperator = "=" | "!=" | "in" | "notin" | "exists" | "!exists" | ">" | "<";

/** One requirement of a label selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** A parsed label selector: all requirements must hold; none at all matches everything. */
export type LabelSelector = readonly LabelRequirement[];

/**
 * What people write for a label selector: kubectl's text, labels with one, several or any (`undefined`) values, the
 * `matchLabels`/`matchExpressions` form of manifests, or an already parsed selector.
 */
export type LabelSelectorInput =
  | string
  | LabelSelector
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[];
      }[];
    };

/** A selector that cannot be parsed; the message is the API server's. */
export class SelectorError extends ConfigError {
  override readonly code: string = "LOTSE_SELECTOR";
}

/**
 * Reads a label selector in any of its forms.
 *
 * @example
 * ```ts
 * parseLabelSelector("app=web,tier in (a,b),!canary");
 * parseLabelSelector({ app: "web", tier: ["a", "b"], canary: undefined });
 * parseLabelSelector({ matchLabels: { app: "web" } });
 * ```
 */
export function parseLabelSelector(input: LabelSelectorInput | undefined): LabelSelector {
  if (input === undefined) return [];
  const requirements = isParsed(input) ? [...input] : readRequirements(input);
  return requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** kubectl's text of a label selector. */
export function formatLabelSelector(input: LabelSelectorInput | undefined): string {
  return parseLabelSelector(input)
    .map(({ key, operator, values }) => {
      if (operator === "exists") return key;
      if (operator === "!exists") return `!${key}`;
      if (operator === "in" || operator === "notin") return `${key} ${operator} (${[...values].sort().join(",")})`;
      return `${key}${operator}${values[0] ?? ""}`;
    })
    .join(",");
}

/** Whether labels satisfy a parsed selector. */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  for (const requirement of selector) {
    const has = labels !== undefined && Object.hasOwn(labels, requirement.key);
    if (!holds(requirement, has ? labels[requirement.key] : undefined)) return false;
  }
  return true;
}

function holds({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "=":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!exists":
      return value === undefined;
    case ">":
    case "<": {
      const left = value === undefined ? undefined : integer(value);
      const right = integer(values[0] ?? "");
      if (left === undefined || right === undefined) return false;
      return operator === ">" ? left > right : left < right;
    }
  }
}

const INT64 = 2n ** 63n;

function integer(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return value >= -INT64 && value < INT64 ? value : undefined;
}

const TERMS = "key=value, key!=value, key in (a,b), key notin (a,b), key and !key, joined by commas";

/** The server's words say what is wrong; which selector it is, and how one looks, is added as the hint. */
function readRequirements(input: string | object): LabelRequirement[] {
  try {
    return typeof input === "string" ? parseText(input) : fromObject(input);
  } catch (error) {
    if (!(error instanceof SelectorError) || error.hint !== undefined) throw error;
    const shown = typeof input === "string" ? `"${input}"` : JSON.stringify(input);
    throw new SelectorError(error.message, { hint: `the label selector is ${shown}; its terms are ${TERMS}` });
  }
}

function isParsed(input: string | object): input is LabelSelector {
  return Array.isArray(input);
}

const EXPRESSION_OPERATORS: Record<string, LabelOperator> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!exists",
  Gt: ">",
  Lt: "<",
};

function fromObject(input: object): LabelRequirement[] {
  const { matchLabels, matchExpressions, ...rest } = input as Record<string, unknown>;
  if (isObject(matchLabels) || (Array.isArray(matchExpressions) && matchExpressions.every(isObject))) {
    const others = Object.keys(rest);
    if (others.length > 0) {
      throw new SelectorError(`${others[0]} stands beside matchLabels or matchExpressions in a label selector`, {
        hint: "put plain labels inside matchLabels",
      });
    }
    const list = Object.entries((matchLabels ?? {}) as Record<string, string>).map(([key, value]) =>
      requirement(key, "=", [value]),
    );
    for (const expression of (matchExpressions ?? []) as { key: string; operator: string; values?: string[] }[]) {
      const operator = lookup(EXPRESSION_OPERATORS, String(expression.operator));
      if (!operator) throw new SelectorError(`"${expression.operator}" is not a valid label selector operator`);
      list.push(requirement(expression.key, operator, expression.values ?? []));
    }
    return list;
  }
  return Object.entries(input as Record<string, string | string[] | undefined>).map(([key, value]) => {
    if (value === undefined) return requirement(key, "exists", []);
    return Array.isArray(value) ? requirement(key, "in", value) : requirement(key, "=", [value]);
  });
}

function invalid(field: string, value: string, detail: string): string {
  return `${field}: Invalid value: ${value}: ${detail}`;
}

function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors: string[] = [];
  const list = `[${values.map((value) => JSON.stringify(value)).join(",")}]`;
  const keyErrors = qualifiedNameErrors(key);
  if (keyErrors.length > 0) errors.push(invalid("key", JSON.stringify(key), keyErrors.join("; ")));
  if (operator === "in" || operator === "notin") {
    if (values.length === 0) {
      errors.push(invalid("values", list, "for 'in', 'notin' operators, values set can't be empty"));
    }
  } else if (operator === "exists" || operator === "!exists") {
    if (values.length > 0) {
      errors.push(invalid("values", list, "values set must be empty for exists and does not exist"));
    }
  } else if (operator === ">" || operator === "<") {
    if (values.length !== 1) {
      errors.push(invalid("values", list, "for 'Gt', 'Lt' operators, exactly one value is required"));
    }
    for (const [i, value] of values.entries()) {
      if (integer(value) !== undefined) continue;
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
      errors.push(invalid(`values[${i}]`, JSON.stringify(value), detail));
    }
  }
  for (const [i, value] of values.entries()) {
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length === 0) continue;
    errors.push(invalid(`values[${i}][${key}]`, JSON.stringify(value), valueErrors.join("; ")));
  }
  if (errors.length > 0) {
    throw new SelectorError(errors.length === 1 ? (errors[0] as string) : `[${errors.join(", ")}]`);
  }
  return { key, operator, values };
}

// The text form: a scanner and a recursive descent that accept and refuse exactly what the API server does.

type Token = { readonly kind: "word" | "symbol" | "error" | "end"; readonly text: string };

const SYMBOLS = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);
const SPECIAL = /[=!(),><]/;
const SPACE = /[ \t\r\n]/;

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let i = 0;
  while (i < text.length) {
    const first = text[i] as string;
    if (SPACE.test(first)) {
      i++;
    } else if (SPECIAL.test(first)) {
      let run = "";
      let symbol = "";
      for (; i < text.length && SPECIAL.test(text[i] as string); i++) {
        run += text[i];
        if (SYMBOLS.has(run)) symbol = run;
        else if (symbol !== "") break;
      }
      if (symbol === "") tokens.push({ kind: "error", text: `error expected: keyword found '${run}'` });
      else tokens.push({ kind: "symbol", text: symbol });
    } else {
      const start = i;
      while (i < text.length && !SPECIAL.test(text[i] as string) && !SPACE.test(text[i] as string)) i++;
      tokens.push({ kind: "word", text: text.slice(start, i) });
    }
  }
  tokens.push({ kind: "end", text: "" });
  return tokens;
}

function parseText(text: string): LabelRequirement[] {
  const tokens = scan(text);
  let position = 0;
  const peek = (): Token => tokens[Math.min(position, tokens.length - 1)] as Token;
  const take = (): Token => tokens[Math.min(position++, tokens.length - 1)] as Token;
  const is = (token: Token, symbol: string) => token.kind === "symbol" && token.text === symbol;

  const parseRequirement = (): LabelRequirement => {
    let token = take();
    const negated = is(token, "!");
    if (negated) token = take();
    if (token.kind !== "word") throw new SelectorError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const keyErrors = qualifiedNameErrors(key);
    if (keyErrors.length > 0) throw new SelectorError(invalid("<nil>", JSON.stringify(key), keyErrors.join("; ")));
    if (negated) return requirement(key, "!exists", []);
    if (peek().kind === "end" || is(peek(), ",")) return requirement(key, "exists", []);
    const operator = take().text;
    switch (operator) {
      case "in":
      case "notin":
        return requirement(key, operator, parseSet());
      case "=":
      case "==":
        return requirement(key, "=", [parseValue()]);
      case "!=":
      case ">":
      case "<":
        return requirement(key, operator, [parseValue()]);
      default:
        throw new SelectorError(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  };
  const parseValue = (): string => {
    if (peek().kind === "end" || is(peek(), ",")) return "";
    const token = take();
    if (token.kind !== "word") throw new SelectorError(`found '${token.text}', expected: identifier`);
    return token.text;
  };
  const parseSet = (): string[] => {
    const open = take();
    if (!is(open, "(")) throw new SelectorError(`found '${open.text}' expected: '('`);
    const first = peek();
    if (is(first, ")")) {
      take();
      return [""];
    }
    if (first.kind !== "word" && !is(first, ",")) {
      throw new SelectorError(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    for (;;) {
      const token = take();
      if (token.kind === "word") {
        values.add(token.text);
        if (is(peek(), ",")) continue;
        if (is(peek(), ")")) break;
        throw new SelectorError(`found '${peek().text}', expected: ',' or ')'`);
      }
      if (!is(token, ",")) throw new SelectorError(`found '${token.text}', expected: ',', or identifier`);
      // An empty place between commas or parentheses stands for the empty value.
      if (values.size === 0) values.add("");
      if (is(peek(), ",")) values.add("");
      if (is(peek(), ")")) {
        values.add("");
        break;
      }
    }
    take();
    return [...values].sort();
  };

  const requirements: LabelRequirement[] = [];
  for (;;) {
    const token = peek();
    if (token.kind === "end") return requirements;
    if (token.kind !== "word" && !is(token, "!")) {
      throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
    }
    try {
      requirements.push(parseRequirement());
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      throw new SelectorError(`unable to parse requirement: ${error.message}`);
    }
    const next = take();
    if (next.kind === "end") return requirements;
    if (!is(next, ",")) throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
    if (peek().kind !== "word" && !is(peek(), "!")) {
      throw new SelectorError(`found '${peek().text}', expected: identifier after ','`);
    }
  }
}
