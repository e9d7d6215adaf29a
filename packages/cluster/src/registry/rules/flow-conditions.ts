import { duplicateValue, type FieldError, required } from "../fields.ts";
import { type ApiObject, listAt } from "../object.ts";
import { textOf } from "./common.ts";

/** Conditions of the kinds of flow control: each has a type, and each type is there once. */
export function flowConditionErrors(object: ApiObject): FieldError[] {
  const seen = new Set<string>();
  return listAt(object, "status", "conditions").flatMap((condition, i) => {
    const type = textOf(condition.type);
    const field = `status.conditions[${i}].type`;
    const errors = seen.has(type) ? [duplicateValue(field, type)] : [];
    seen.add(type);
    return type === "" ? [...errors, required(field)] : errors;
  });
}
