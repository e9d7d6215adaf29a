import { SelectorError } from "./selectors.ts";

/** One term of a field selector. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** A parsed field selector: all terms must hold; none at all matches everything. */
export type FieldSelector = readonly FieldRequirement[];

/** What people write for a field selector: kubectl's text, fields with their values, or an already parsed selector. */
export type FieldSelectorInput = string | FieldSelector | Readonly<Record<string, string>>;

/**
 * Reads a field selector.
 *
 * @example
 * ```ts
 * parseFieldSelector("metadata.name=web,status.phase!=Running");
 * ```
 */
export function parseFieldSelector(input: FieldSelectorInput | undefined): FieldSelector {
  if (input === undefined) return [];
  if (typeof input !== "string") {
    if (Array.isArray(input)) return input as FieldSelector;
    return Object.entries(input).map(([field, value]) => ({ field, operator: "=" as const, value }));
  }
  return splitTerms(input)
    .filter((term) => term !== "")
    .sort()
    .map((term) => {
      // Fields know no escapes, so the first operator is the one that counts.
      const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
      if (!match) {
        throw new SelectorError(`invalid selector: '${input}'; can't understand '${term}'`, {
          hint: "the terms of a field selector are field=value and field!=value, joined by commas",
        });
      }
      const [, field = "", operator, value = ""] = match;
      return { field, operator: operator === "!=" ? ("!=" as const) : ("=" as const), value: unescapeValue(value) };
    });
}

/** kubectl's text of a field selector. */
export function formatFieldSelector(input: FieldSelectorInput | undefined): string {
  return parseFieldSelector(input)
    .map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, "\\$&")}`)
    .join(",");
}

/** Whether an object satisfies a parsed selector; a field that `getField` does not know counts as empty. */
export function matchesFields(selector: FieldSelector, getField: (field: string) => string | undefined): boolean {
  for (const { field, operator, value } of selector) {
    if (((getField(field) ?? "") === value) !== (operator === "=")) return false;
  }
  return true;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === ",") {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeValue(text: string): string {
  let value = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === "\\") {
      const next = text[++i] ?? "";
      if (next === "" || !"\\,=".includes(next)) {
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${next}`);
      }
      value += next;
    } else if (char === "," || char === "=") {
      throw new SelectorError(`invalid field selector: unescaped character in value: ${char.codePointAt(0)}`);
    } else value += char;
  }
  return value;
}
