/** What the status of a job may say: it must make sense by itself, and may not take back what it said. */

import { deepEqual } from "@lotse/client/meta";
import { duplicateValue, IMMUTABLE, invalidValue, required, Verbatim } from "../../fields.ts";
import type { ApiObject } from "../../object.ts";
import {
  checkNotNegative,
  type Errors,
  type Fields,
  isSet,
  number,
  struct,
  structs,
  text,
  texts,
} from "../pod/index.ts";
import { indexCount, sharedIndex } from "./indexes.ts";

const isTrue = (status: Fields, type: string): boolean =>
  structs(status.conditions).some((condition) => condition.type === type && condition.status === "True");
const isFalse = (status: Fields, type: string): boolean =>
  structs(status.conditions).some((condition) => condition.type === type && condition.status === "False");
const isFinished = (status: Fields): boolean => isTrue(status, "Complete") || isTrue(status, "Failed");

/** A change of a job's status. Most rules apply only to what the change is about. */
export function checkJobStatus(object: ApiObject, old: ApiObject, errors: Errors): void {
  const spec = struct(object.spec) ?? {};
  const now = struct(object.status) ?? {};
  const before = struct(old.status) ?? {};
  for (const field of ["active", "succeeded", "failed", "ready", "terminating"]) {
    checkNotNegative(now[field], `status.${field}`, errors);
  }
  checkUncounted(struct(now.uncountedTerminatedPods), errors);
  checkEnd(spec, now, before, errors);
  checkIndexes(spec, now, before, errors);
  checkCriteria(spec, now, errors);
  checkTakenBack(spec, now, before, errors);
}

function checkUncounted(pods: Fields | undefined, errors: Errors): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"]) {
    for (const [i, uid] of texts(pods?.[list]).entries()) {
      const field = `status.uncountedTerminatedPods.${list}[${i}]`;
      if (uid === "") errors.push(invalidValue(field, uid, "must not be empty"));
      else if (seen.has(uid)) errors.push(duplicateValue(field, uid));
      seen.add(uid);
    }
  }
}

/** Whether one of these fields, or one of these conditions, is another one now. */
function changed(now: Fields, before: Fields, fields: readonly string[], conditions: readonly string[] = []): boolean {
  return (
    fields.some((field) => !deepEqual(now[field] ?? undefined, before[field] ?? undefined)) ||
    conditions.some((type) => isTrue(now, type) !== isTrue(before, type))
  );
}

function conditions(detail: string, errors: Errors): void {
  errors.push(invalidValue("status.conditions", undefined, detail));
}

function checkEnd(spec: Fields, now: Fields, before: Fields, errors: Errors): void {
  const complete = isTrue(now, "Complete");
  const failed = isTrue(now, "Failed");
  const finished = isFinished(now);
  const ends = isFinished(before) !== finished;
  if (complete && failed && changed(now, before, [], ["Complete", "Failed"])) {
    conditions("cannot set Complete=True and Failed=true conditions", errors);
  }
  if (complete && isTrue(now, "FailureTarget") && changed(now, before, [], ["Complete", "FailureTarget"])) {
    conditions("cannot set Complete=True and FailureTarget=true conditions", errors);
  }
  const time = "status.completionTime";
  if (changed(now, before, ["completionTime"], ["Complete"])) {
    if (isSet(now.completionTime) && !complete) {
      const detail = "cannot set completionTime when there is no Complete=True condition";
      errors.push(invalidValue(time, now.completionTime, detail));
    }
    if (!isSet(now.completionTime) && complete) {
      errors.push(required(time, "completionTime is required for Complete jobs"));
    }
  }
  if (changed(now, before, ["startTime", "completionTime"]) && isSet(now.startTime) && isSet(now.completionTime)) {
    if (Date.parse(text(now.completionTime)) < Date.parse(text(now.startTime))) {
      errors.push(invalidValue(time, now.completionTime, "must be equal to or after `startTime`"));
    }
  }
  if (failed && !isTrue(now, "FailureTarget") && changed(now, before, ["failedIndexes"], ["Failed"])) {
    conditions("cannot set Failed=True condition without the FailureTarget=true condition", errors);
  }
  if (complete && !isTrue(now, "SuccessCriteriaMet") && changed(now, before, [], ["Complete", "SuccessCriteriaMet"])) {
    conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition", errors);
  }
  if (!finished) return;
  if ((ends || changed(now, before, ["active"])) && number(now.active) > 0) {
    errors.push(invalidValue("status.active", now.active, "active>0 is invalid for finished job"));
  }
  const nothing = spec.suspend === true && spec.completions === 0;
  if ((ends || changed(now, before, ["startTime"])) && !nothing && !isSet(now.startTime)) {
    errors.push(required("status.startTime", "startTime is required for finished job"));
  }
  const pods = struct(now.uncountedTerminatedPods);
  const left = texts(pods?.succeeded).length + texts(pods?.failed).length;
  if ((ends || changed(now, before, ["uncountedTerminatedPods"])) && left > 0) {
    const own = { Succeeded: pods?.succeeded ?? null, Failed: pods?.failed ?? null };
    const field = "status.uncountedTerminatedPods";
    errors.push(invalidValue(field, new Verbatim(JSON.stringify(own)), "must be empty for finished job"));
  }
}

function checkIndexes(spec: Fields, now: Fields, before: Fields, errors: Errors): void {
  const completed = changed(now, before, ["completedIndexes"]);
  const failed = changed(now, before, ["failedIndexes"]);
  const completions = number(spec.completions);
  const check = (field: string): void => {
    const count = indexCount(text(now[field]), completions);
    if (typeof count === "number") return;
    errors.push(invalidValue(`status.${field}`, text(now[field]), `error parsing ${field}: ${count.error}`));
  };
  if (completed && isSet(spec.completions)) check("completedIndexes");
  if (failed && isSet(spec.completions) && isSet(spec.backoffLimitPerIndex) && isSet(now.failedIndexes)) {
    check("failedIndexes");
  }
  if (completed && text(now.completedIndexes) !== "" && spec.completionMode !== "Indexed") {
    const detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
    errors.push(invalidValue("status.completedIndexes", now.completedIndexes, detail));
  }
  if (failed && !isSet(spec.backoffLimitPerIndex) && isSet(now.failedIndexes)) {
    const detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    errors.push(invalidValue("status.failedIndexes", now.failedIndexes, detail));
  }
  if ((completed || failed) && isSet(spec.completions) && isSet(now.failedIndexes)) {
    const index = sharedIndex(text(now.completedIndexes), text(now.failedIndexes), completions);
    const detail = `failedIndexes and completedIndexes overlap at index: ${index}`;
    if (index !== undefined) errors.push(invalidValue("status.failedIndexes", now.failedIndexes, detail));
  }
  const ends = isFinished(before) !== isFinished(now);
  if ((ends || changed(now, before, ["terminating"])) && number(now.terminating) > 0 && isFinished(now)) {
    errors.push(invalidValue("status.terminating", now.terminating, "terminating>0 is invalid for finished job"));
  }
  if (changed(now, before, ["ready", "active"]) && number(now.ready) > number(now.active)) {
    errors.push(invalidValue("status.ready", now.ready, "cannot set more ready pods than active"));
  }
}

function checkCriteria(spec: Fields, now: Fields, errors: Errors): void {
  const met = isTrue(now, "SuccessCriteriaMet");
  if (met && isTrue(now, "Failed")) conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions", errors);
  if (met && isTrue(now, "FailureTarget")) {
    conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions", errors);
  }
  if (isSet(spec.successPolicy) && !met && isTrue(now, "Complete")) {
    conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True", errors);
  }
}

function checkTakenBack(spec: Fields, now: Fields, before: Fields, errors: Errors): void {
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (isTrue(before, type) && !isTrue(now, type)) {
      conditions(`cannot disable the terminal ${type}=True condition`, errors);
    }
  }
  if (number(now.failed) < number(before.failed)) {
    errors.push(invalidValue("status.failed", number(now.failed), "cannot decrease the failed counter"));
  }
  const mayShrink = spec.completionMode === "Indexed" && spec.completions === spec.parallelism;
  if (!mayShrink && number(now.succeeded) < number(before.succeeded)) {
    errors.push(invalidValue("status.succeeded", number(now.succeeded), "cannot decrease the succeeded counter"));
  }
  const time = (field: string): boolean => changed(now, before, [field]);
  if (isSet(now.completionTime) && isSet(before.completionTime) && time("completionTime")) {
    errors.push(invalidValue("status.completionTime", now.completionTime, IMMUTABLE));
  }
  const resumes = isTrue(before, "Suspended") && isFalse(now, "Suspended");
  if (isSet(before.startTime) && time("startTime") && !resumes && spec.suspend !== true) {
    const detail = "field is immutable for unsuspended job once set";
    errors.push(invalidValue("status.startTime", now.startTime ?? null, detail));
  }
  const met = isTrue(now, "SuccessCriteriaMet");
  const wasMet = isTrue(before, "SuccessCriteriaMet");
  if (wasMet && !met) conditions("cannot disable the SuccessCriteriaMet=True condition", errors);
  if (isTrue(before, "Complete") && !wasMet && met) {
    conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions", errors);
  }
}
