/** Selectors of labels as they stand in specs. */
import { matchesLabels, parseLabelSelector } from "@lotse/client/meta";
import { Verbatim } from "../../fields.ts";
import { selectorErrors } from "../values.ts";
import { type Errors, type Fields, structs, texts } from "./check.ts";

/** A selector; nothing to say about one that is absent. */
export function checkSelector(selector: Fields | undefined, path: string, errors: Errors): void {
  errors.push(...selectorErrors(selector, path));
}

/** Whether a selector asks for nothing, and so would match everything. */
export function isEmptySelector(selector: Fields): boolean {
  return Object.keys((selector.matchLabels ?? {}) as object).length + structs(selector.matchExpressions).length === 0;
}

/** Whether a selector matches; undefined when it cannot be read. One that is absent matches nothing. */
export function selects(selector: Fields | undefined, labels: unknown): boolean | undefined {
  if (selector === undefined) return false;
  const mistakes: Errors = [];
  checkSelector(selector, "", mistakes);
  if (mistakes.length > 0) return undefined;
  return matchesLabels(parseLabelSelector(selector as never), (labels ?? {}) as Record<string, string>);
}

/** A selector as errors print it: its fields in the order of their type. */
export function selectorText(selector: Fields | undefined): unknown {
  if (selector === undefined) return null;
  const { matchLabels, matchExpressions } = selector;
  const labels = matchLabels as Record<string, string> | undefined;
  const parts: string[] = [];
  if (labels && Object.keys(labels).length > 0) {
    const sorted = Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    parts.push(`"matchLabels":${JSON.stringify(sorted)}`);
  }
  const expressions = structs(matchExpressions);
  if (expressions.length > 0) {
    const list = expressions.map(({ key, operator, values }) =>
      JSON.stringify({ key, operator, ...(texts(values).length > 0 && { values }) }),
    );
    parts.push(`"matchExpressions":[${list.join(",")}]`);
  }
  return new Verbatim(`{${parts.join(",")}}`);
}
