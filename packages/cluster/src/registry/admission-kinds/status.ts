import { type FieldError, invalidValue, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { conditionsErrors } from "../rules/index.ts";

/** What is wrong with the status of a policy: what type checking found, and its conditions. */
export function policyStatusErrors(object: ApiObject): FieldError[] {
  const warnings = listAt(object, "status", "typeChecking", "expressionWarnings");
  return [
    ...warnings.flatMap((warning, i) => warningErrors(warning, `status.typeChecking.expressionWarnings[${i}]`)),
    ...conditionsErrors(objectAt(object, "status").conditions, "status.conditions"),
  ];
}

function warningErrors({ warning, fieldRef }: Record<string, unknown>, path: string): FieldError[] {
  const errors = warning ? [] : [required(`${path}.warning`)];
  const ref = String(fieldRef ?? "").trim();
  if (ref === "") return [...errors, required(`${path}.fieldRef`)];
  const wrong = pathComplaint(ref);
  return wrong === undefined
    ? errors
    : [...errors, invalidValue(`${path}.fieldRef`, ref, `invalid JSONPath: ${wrong}`)];
}

/** Only what makes no path at all is told: brackets that are never closed. */
function pathComplaint(path: string): string | undefined {
  const open = path.lastIndexOf("[");
  return open >= 0 && !path.includes("]", open) ? "unterminated array" : undefined;
}
