/** Numbers in the status of workloads. */

import { invalidValue } from "../../fields.ts";
import type { ApiObject } from "../../object.ts";
import { checkNotNegative, type Errors, isSet, number, struct } from "../pod/index.ts";

/** That no number is below zero, that those in `limited` are no more than all, and no more available than ready. */
export function checkCounts(
  object: ApiObject,
  limited: readonly string[],
  fields: readonly string[],
  errors: Errors,
  ready = "readyReplicas",
): void {
  const status = struct(object.status) ?? {};
  for (const field of fields) checkNotNegative(status[field], `status.${field}`, errors);
  for (const field of limited) {
    if (number(status[field]) <= number(status.replicas)) continue;
    errors.push(invalidValue(`status.${field}`, number(status[field]), "cannot be greater than status.replicas"));
  }
  if (limited.length > 0 && number(status.availableReplicas) > number(status.readyReplicas)) {
    const detail = `cannot be greater than ${ready}`;
    errors.push(invalidValue("status.availableReplicas", number(status.availableReplicas), detail));
  }
}

/** How often a name was taken is only counted up. */
export function checkDecremented(object: ApiObject, old: ApiObject, errors: Errors): void {
  const now = struct(object.status)?.collisionCount;
  const before = struct(old.status)?.collisionCount;
  if (!isSet(before) || (isSet(now) && number(now) >= number(before))) return;
  errors.push(invalidValue("status.collisionCount", number(now), "cannot be decremented"));
}
