/** When a job has failed or succeeded before all of its pods have said so. */

import {
  duplicateValue,
  invalidValue,
  notSupported,
  required,
  tooLongValue,
  tooManyValues,
  Verbatim,
} from "../../fields.ts";
import {
  checkNotNegative,
  checkQualifiedName,
  type Errors,
  type Fields,
  isSet,
  number,
  struct,
  structs,
  text,
} from "../pod/index.ts";
import { indexCount } from "./indexes.ts";

const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS = ["In", "NotIn"];
const STATUSES = ["False", "True", "Unknown"];
const MOST = 20;
const MOST_CODES = 255;
const LONGEST_INDEXES = 64 * 1_024;

const listed = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;

function checkListed(value: unknown, supported: readonly string[], path: string, errors: Errors): void {
  if (text(value) === "") errors.push(required(path, `valid values: ${listed(supported)}`));
  else if (!supported.includes(text(value))) errors.push(notSupported(path, value, supported));
}

/** Failures of pods that count in a way of their own. */
export function checkFailurePolicy(spec: Fields, path: string, errors: Errors): void {
  const policy = struct(spec.podFailurePolicy);
  if (policy === undefined) return;
  const rules = structs(policy.rules);
  if (rules.length > MOST) errors.push(tooManyValues(`${path}.rules`, rules.length, MOST));
  const pod = struct(struct(spec.template)?.spec) ?? {};
  const names = new Set([...structs(pod.containers), ...structs(pod.initContainers)].map(({ name }) => text(name)));
  for (const [i, rule] of rules.entries()) {
    const here = `${path}.rules[${i}]`;
    if (rule.action === "FailIndex") {
      if (!isSet(spec.backoffLimitPerIndex)) {
        const detail = "requires the backoffLimitPerIndex to be set";
        errors.push(invalidValue(`${here}.action`, rule.action, detail));
      }
    } else checkListed(rule.action, ACTIONS, `${here}.action`, errors);
    checkRule(rule, names, here, errors);
  }
}

function checkRule(rule: Fields, names: ReadonlySet<string>, path: string, errors: Errors): void {
  const codes = struct(rule.onExitCodes);
  const conditions = structs(rule.onPodConditions);
  if (codes !== undefined) checkExitCodes(codes, names, `${path}.onExitCodes`, errors);
  if (conditions.length > MOST) errors.push(tooManyValues(`${path}.onPodConditions`, conditions.length, MOST));
  for (const [i, condition] of conditions.entries()) {
    const here = `${path}.onPodConditions[${i}]`;
    checkQualifiedName(text(condition.type), `${here}.type`, errors);
    checkListed(condition.status, STATUSES, `${here}.status`, errors);
  }
  if (codes !== undefined && conditions.length > 0) {
    const detail = "specifying both OnExitCodes and OnPodConditions is not supported";
    errors.push(invalidValue(path, undefined, detail));
  }
  if (codes === undefined && conditions.length === 0) {
    errors.push(invalidValue(path, undefined, "specifying one of OnExitCodes and OnPodConditions is required"));
  }
}

function checkExitCodes(codes: Fields, names: ReadonlySet<string>, path: string, errors: Errors): void {
  checkListed(codes.operator, OPERATORS, `${path}.operator`, errors);
  if (isSet(codes.containerName) && !names.has(text(codes.containerName))) {
    const detail = "must be one of the container or initContainer names in the pod template";
    errors.push(invalidValue(`${path}.containerName`, codes.containerName, detail));
  }
  const values = Array.isArray(codes.values) ? (codes.values as number[]) : [];
  const field = `${path}.values`;
  if (values.length === 0) {
    errors.push(invalidValue(field, isSet(codes.values) ? [] : null, "at least one value is required"));
  } else if (values.length > MOST_CODES) errors.push(tooManyValues(field, values.length, MOST_CODES));
  const seen = new Set<number>();
  for (const [i, value] of values.entries()) {
    if (codes.operator === "In" && value === 0) {
      errors.push(invalidValue(`${field}[${i}]`, value, "must not be 0 for the In operator"));
    }
    if (seen.has(value)) errors.push(duplicateValue(`${field}[${i}]`, value));
    seen.add(value);
  }
  if (values.some((value, i) => i > 0 && (values[i - 1] as number) > value)) {
    errors.push(invalidValue(field, values, "must be ordered"));
  }
}

/** When some of the pods are enough. */
export function checkSuccessPolicy(spec: Fields, indexed: boolean, path: string, errors: Errors): void {
  const policy = struct(spec.successPolicy);
  if (policy === undefined) return;
  const rules = structs(policy.rules);
  if (!indexed) {
    const own = rules.map((rule) => ({
      SucceededIndexes: rule.succeededIndexes ?? null,
      SucceededCount: rule.succeededCount ?? null,
    }));
    const shown = JSON.stringify({ Rules: isSet(policy.rules) ? own : null });
    errors.push(invalidValue(path, new Verbatim(shown), "requires indexed completion mode"));
    return;
  }
  if (rules.length === 0) {
    const detail = "at least one rules must be specified when the successPolicy is specified";
    errors.push(required(`${path}.rules`, detail));
  }
  if (rules.length > MOST) errors.push(tooManyValues(`${path}.rules`, rules.length, MOST));
  for (const [i, rule] of rules.entries()) {
    checkSuccessRule(rule, number(spec.completions), `${path}.rules[${i}]`, errors);
  }
}

function checkSuccessRule(rule: Fields, completions: number, path: string, errors: Errors): void {
  const indexes = rule.succeededIndexes;
  if (!isSet(rule.succeededCount) && !isSet(indexes)) {
    errors.push(required(path, "at least one of succeededCount or succeededIndexes must be specified"));
  }
  let total = 0;
  if (isSet(indexes)) {
    const field = `${path}.succeededIndexes`;
    if (text(indexes).length > LONGEST_INDEXES) errors.push(tooLongValue(field, LONGEST_INDEXES));
    const count = indexCount(text(indexes), completions);
    if (typeof count === "number") total = count;
    else errors.push(invalidValue(field, indexes, `error parsing succeededIndexes: ${count.error}`));
  }
  if (!isSet(rule.succeededCount)) return;
  const field = `${path}.succeededCount`;
  const wanted = number(rule.succeededCount);
  checkNotNegative(wanted, field, errors);
  if (wanted > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.push(invalidValue(field, wanted, detail));
  }
  if (isSet(indexes) && wanted > total) {
    const detail = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
    errors.push(invalidValue(field, wanted, detail));
  }
}
