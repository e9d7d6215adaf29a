import { type FieldError, invalidValue } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";
import { notNegative } from "./common.ts";

/** What is wrong with a Lease. */
export function leaseErrors(object: ApiObject): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions } = objectAt(object, "spec");
  const errors: FieldError[] = [];
  if (typeof duration === "number" && duration <= 0) {
    errors.push(invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  return [...errors, ...notNegative(leaseTransitions, "spec.leaseTransitions")];
}
