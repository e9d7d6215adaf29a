import { duplicateValue, type FieldError, invalidValue, required, tooLongValue } from "../fields.ts";
import { listAt } from "../object.ts";
import { textOf } from "./common.ts";
import { oneOf, qualifiedErrors } from "./values.ts";

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_RULE =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const LONGEST_REASON = 1_024;
const LONGEST_MESSAGE = 32 * 1_024;

/** Conditions in the form that all kinds share. */
export function conditionsErrors(conditions: unknown, field: string): FieldError[] {
  const types = new Set<unknown>();
  return listAt({ conditions }, "conditions").flatMap((condition, i) => {
    const path = `${field}[${i}]`;
    const errors: FieldError[] = [];
    if (types.has(condition.type)) errors.push(duplicateValue(`${path}.type`, condition.type));
    types.add(condition.type);
    return [...errors, ...conditionErrors(condition, path)];
  });
}

function conditionErrors(condition: Record<string, unknown>, path: string): FieldError[] {
  const errors = qualifiedErrors(textOf(condition.type), `${path}.type`);
  errors.push(...oneOf(condition.status, `${path}.status`, ["False", "True", "Unknown"]));
  const seen = condition.observedGeneration;
  if (typeof seen === "number" && seen < 0) {
    errors.push(invalidValue(`${path}.observedGeneration`, seen, "must be greater than or equal to zero"));
  }
  if (!condition.lastTransitionTime) errors.push(required(`${path}.lastTransitionTime`));
  const reason = textOf(condition.reason);
  if (reason === "") errors.push(required(`${path}.reason`));
  else {
    if (!REASON.test(reason)) errors.push(invalidValue(`${path}.reason`, reason, REASON_RULE));
    if (reason.length > LONGEST_REASON) errors.push(tooLongValue(`${path}.reason`, LONGEST_REASON));
  }
  if (textOf(condition.message).length > LONGEST_MESSAGE) errors.push(tooLongValue(`${path}.message`, LONGEST_MESSAGE));
  return errors;
}
