import { type FieldError, invalidValue, notSupported } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { notNegative, numberOrPercent, textOf } from "./common.ts";
import { conditionsErrors } from "./conditions.ts";
import { given, notMoreThanAll, selectorErrors } from "./values.ts";

const EVICTION_POLICIES = ["AlwaysAllow", "IfHealthyBudget"];

/** What is wrong with a new PodDisruptionBudget. */
export const budgetCreate = (object: ApiObject): FieldError[] => budgetErrors(object, false);

/** What is wrong with a changed one, or with its status. */
export function budgetUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") return statusErrors(object);
  return budgetErrors(object, selectorErrors(objectAt(old, "spec").selector, "").length > 0);
}

function budgetErrors(object: ApiObject, lenient: boolean): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = objectAt(object, "spec");
  const errors: FieldError[] = [];
  if (given(minAvailable) && given(maxUnavailable)) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    };
    const text = "minAvailable and maxUnavailable cannot be both set";
    errors.push(invalidValue("spec", new Verbatim(JSON.stringify(shown)), text));
  }
  for (const [key, value] of Object.entries({ minAvailable, maxUnavailable })) {
    errors.push(...numberOrPercent(value, `spec.${key}`), ...notMoreThanAll(value, `spec.${key}`));
  }
  errors.push(...selectorErrors(selector, "spec.selector", lenient));
  if (given(unhealthyPodEvictionPolicy) && !EVICTION_POLICIES.includes(textOf(unhealthyPodEvictionPolicy))) {
    const field = "spec.unhealthyPodEvictionPolicy";
    errors.push(notSupported(field, unhealthyPodEvictionPolicy, EVICTION_POLICIES));
  }
  return errors;
}

function statusErrors(object: ApiObject): FieldError[] {
  const status = objectAt(object, "status");
  const counts = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
  return [
    ...conditionsErrors(status.conditions, "status.conditions"),
    ...counts.flatMap((key) => notNegative(status[key], `status.${key}`)),
  ];
}
