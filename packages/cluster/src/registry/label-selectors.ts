/** Label selectors inside of objects: what is wrong with one, and what one selects that nobody checked. */
import {
  type LabelSelector,
  type LabelSelectorInput,
  labelValueErrors,
  parseLabelSelector,
  qualifiedNameErrors,
  SelectorError,
} from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue, required } from "./fields.ts";
import { isRecord, listAt, objectAt } from "./object.ts";

/** What is wrong with `matchLabels` and `matchExpressions`. */
export function selectorErrors(selector: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(objectAt(selector, "matchLabels"))) {
    for (const text of qualifiedNameErrors(key)) errors.push(invalidValue(`${path}.matchLabels`, key, text));
    for (const text of labelValueErrors(String(value))) errors.push(invalidValue(`${path}.matchLabels`, value, text));
  }
  for (const [i, expression] of listAt(selector, "matchExpressions").entries()) {
    errors.push(...expressionErrors(expression, `${path}.matchExpressions[${i}]`));
  }
  return errors;
}

function expressionErrors({ key, operator, values }: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const given = Array.isArray(values) ? values.map(String) : [];
  if (operator === "In" || operator === "NotIn") {
    const text = "must be specified when `operator` is 'In' or 'NotIn'";
    if (given.length === 0) errors.push(required(`${path}.values`, text));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (given.length > 0) errors.push(forbiddenField(`${path}.values`, text));
  } else errors.push(invalidValue(`${path}.operator`, operator ?? "", "not a valid selector operator"));
  for (const text of qualifiedNameErrors(String(key ?? ""))) errors.push(invalidValue(`${path}.key`, key ?? "", text));
  for (const [i, value] of given.entries()) {
    for (const text of labelValueErrors(value)) errors.push(invalidValue(`${path}.values[${i}]`, value, text));
  }
  return errors;
}

/** A selector of an object that is there already; undefined when it makes no sense: then it selects nothing. */
export function readSelector(selector: unknown): LabelSelector | undefined {
  if (!isRecord(selector)) return undefined;
  try {
    return parseLabelSelector(selector as LabelSelectorInput);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
