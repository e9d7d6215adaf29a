/** Where a pod may run: tolerations, gates and how pods are spread. */
import { labelValueErrors } from "@lotse/client/meta";
import { duplicateValue, invalidValue, notSupported, required } from "../../fields.ts";
import { checkLabelKeys } from "./affinity.ts";
import {
  checkOneOf,
  checkPositive,
  checkQualifiedName,
  type Errors,
  type Fields,
  isSet,
  struct,
  structs,
  text,
  texts,
} from "./check.ts";
import { checkSelector } from "./selectors.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Taints that a pod bears with. */
export function checkTolerations(list: readonly Fields[], path: string, errors: Errors): void {
  for (const [i, toleration] of list.entries()) {
    const here = `${path}[${i}]`;
    const key = text(toleration.key);
    const operator = text(toleration.operator);
    const value = text(toleration.value);
    const effect = text(toleration.effect);
    if (key !== "") checkQualifiedName(key, `${here}.key`, errors);
    else if (operator !== "Exists") {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${here}.operator`, operator, detail));
    }
    if (isSet(toleration.tolerationSeconds) && effect !== "NoExecute") {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(invalidValue(`${here}.effect`, effect, detail));
    }
    checkTolerated(operator, value, `${here}.operator`, errors);
    if (effect !== "") checkOneOf(effect, EFFECTS, `${here}.effect`, errors);
  }
}

function checkTolerated(operator: string, value: string, path: string, errors: Errors): void {
  if (operator === "Equal" || operator === "") {
    const messages = labelValueErrors(value);
    if (messages.length > 0) errors.push(invalidValue(path, value, messages.join(";")));
  } else if (operator === "Exists") {
    if (value !== "") errors.push(invalidValue(path, value, "value must be empty when `operator` is 'Exists'"));
  } else {
    // Comparisons are known, and nevertheless switched off.
    const compares = operator === "Lt" || operator === "Gt";
    errors.push(notSupported(path, operator, ["Equal", "Exists", ...(compares ? ["Lt", "Gt"] : [])]));
  }
}

/** What must be taken away before a pod is scheduled. */
export function checkSchedulingGates(list: readonly Fields[], path: string, errors: Errors): void {
  const seen = new Set<string>();
  for (const [i, gate] of list.entries()) {
    const name = text(gate.name);
    checkQualifiedName(name, `${path}[${i}]`, errors);
    if (seen.has(name)) errors.push(duplicateValue(`${path}[${i}]`, name));
    seen.add(name);
  }
}

const ACTIONS = ["DoNotSchedule", "ScheduleAnyway"];
const POLICIES = ["Honor", "Ignore"];

/** How evenly pods are spread. */
export function checkSpread(list: readonly Fields[], path: string, errors: Errors): void {
  for (const [i, constraint] of list.entries()) {
    const here = `${path}[${i}]`;
    const key = text(constraint.topologyKey);
    const action = text(constraint.whenUnsatisfiable);
    checkPositive(constraint.maxSkew, `${here}.maxSkew`, errors);
    if (key === "") errors.push(required(`${here}.topologyKey`, "can not be empty"));
    checkOneOf(action, ACTIONS, `${here}.whenUnsatisfiable`, errors);
    const again = list
      .slice(i + 1)
      .some((other) => text(other.topologyKey) === key && text(other.whenUnsatisfiable) === action);
    if (again) errors.push(duplicateValue(`${here}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`));
    if (isSet(constraint.minDomains)) {
      checkPositive(constraint.minDomains, `${here}.minDomains`, errors);
      if (action !== "DoNotSchedule") {
        const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
        errors.push(invalidValue(`${here}.minDomains`, constraint.minDomains, detail));
      }
    }
    for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      if (isSet(constraint[field])) checkOneOf(constraint[field], POLICIES, `${here}.${field}`, errors);
    }
    const selector = struct(constraint.labelSelector);
    checkLabelKeys(texts(constraint.matchLabelKeys), [], selector, here, errors);
    checkSelector(selector, `${here}.labelSelector`, errors);
  }
}

/** Conditions without which a pod is not ready. */
export function checkReadinessGates(list: unknown, path: string, errors: Errors): void {
  for (const [i, gate] of structs(list).entries()) {
    checkQualifiedName(text(gate.conditionType), `${path}[${i}].conditionType`, errors);
  }
}
