/** Selectors of labels as they stand in specs. */
import { labelValueErrors, matchesLabels, parseLabelSelector } from "@lotse/client/meta";
import { forbiddenField, invalidValue, required, Verbatim } from "../../fields.ts";
import { checkLabels, checkQualifiedName, type Errors, type Fields, structs, text, texts } from "./check.ts";

/** A selector; nothing to say about one that is absent. */
export function checkSelector(selector: Fields | undefined, path: string, errors: Errors): void {
  if (selector === undefined) return;
  checkLabels(selector.matchLabels, `${path}.matchLabels`, errors);
  for (const [i, expression] of structs(selector.matchExpressions).entries()) {
    checkRequirement(expression, `${path}.matchExpressions[${i}]`, errors);
  }
}

function checkRequirement(requirement: Fields, path: string, errors: Errors): void {
  const operator = text(requirement.operator);
  const values = texts(requirement.values);
  checkOperands(operator, values.length, path, errors);
  checkQualifiedName(text(requirement.key), `${path}.key`, errors);
  for (const [i, value] of values.entries()) {
    for (const message of labelValueErrors(value)) errors.push(invalidValue(`${path}.values[${i}]`, value, message));
  }
}

/** Whether an operator has as many values as it needs; `compared` for those that compare numbers. */
export function checkOperands(operator: string, values: number, path: string, errors: Errors, compared = false): void {
  if (operator === "In" || operator === "NotIn") {
    if (values === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values > 0) errors.push(forbiddenField(`${path}.values`, detail));
  } else if (compared && (operator === "Gt" || operator === "Lt")) {
    const detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
    if (values !== 1) errors.push(required(`${path}.values`, detail));
  } else errors.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
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
