/** Jobs and what makes them: how much work there is, when it has failed, and what of it stays as it is. */

import { byteLength, deepEqual } from "@lotse/client/meta";
import {
  type FieldError,
  IMMUTABLE,
  invalidValue,
  notSupported,
  required,
  tooLongValue,
  Verbatim,
} from "../../fields.ts";
import type { ApiObject } from "../../object.ts";
import { goPodSpec, goPodTemplate } from "../go-pod.ts";
import {
  checkChoice,
  checkNotNegative,
  checkOneOf,
  checkPodTemplate,
  checkSelector,
  checkSubdomain,
  type Errors,
  type Fields,
  isSet,
  labelMessages,
  number,
  selectorText,
  selects,
  struct,
  structs,
  text,
} from "../pod/index.ts";
import { checkFailurePolicy, checkSuccessPolicy } from "./job-policies.ts";
import { checkJobStatus } from "./job-status.ts";
import { scheduleError, zoneErrors } from "./schedule.ts";
import { labelsOf, NO_MATCH, templateOf } from "./template.ts";

const specOf = (object: ApiObject): Fields => struct(object.spec) ?? {};

const MOST_PARALLEL = 100_000;
const MANY_COMPLETIONS = 100_000;
const FEWER = 10_000;
const LONGEST_MANAGER = 63;
const COUNTS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
];

/** The spec of a job, alone or in a CronJob. */
function checkWork(spec: Fields, path: string, errors: Errors): void {
  for (const field of COUNTS) checkNotNegative(spec[field], `${path}.${field}`, errors);
  if (isSet(spec.maxFailedIndexes)) {
    checkNotNegative(spec.maxFailedIndexes, `${path}.maxFailedIndexes`, errors);
    if (!isSet(spec.backoffLimitPerIndex)) {
      errors.push(required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
    }
  }
  if (isSet(spec.managedBy)) checkManager(text(spec.managedBy), `${path}.managedBy`, errors);
  const indexed = spec.completionMode === "Indexed";
  if (isSet(spec.completionMode)) {
    checkOneOf(spec.completionMode, ["NonIndexed", "Indexed"], `${path}.completionMode`, errors);
  }
  if (indexed) checkIndexed(spec, path, errors);
  if (!isSet(spec.completionMode) || spec.completionMode === "NonIndexed") {
    for (const field of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
      if (isSet(spec[field]))
        errors.push(invalidValue(`${path}.${field}`, spec[field], "requires indexed completion mode"));
    }
  }
  checkFailurePolicy(spec, `${path}.podFailurePolicy`, errors);
  checkSuccessPolicy(spec, indexed, `${path}.successPolicy`, errors);
  checkReplacement(spec, `${path}.podReplacementPolicy`, errors);
  const template = templateOf(spec);
  checkPodTemplate(template, `${path}.template`, errors);
  const policy = text(struct(template.spec)?.restartPolicy);
  const field = `${path}.template.spec.restartPolicy`;
  if (policy === "Always" || policy === "") errors.push(required(field, 'valid values: "OnFailure", "Never"'));
  else if (policy !== "OnFailure" && policy !== "Never") {
    errors.push(notSupported(field, policy, ["OnFailure", "Never"]));
  } else if (isSet(spec.podFailurePolicy) && policy !== "Never") {
    errors.push(invalidValue(field, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
}

const PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
const PATH_RULE = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

/** Who looks after a job, as `domain/path`. */
function checkManager(name: string, path: string, errors: Errors): void {
  const slash = name.indexOf("/");
  if (name === "") errors.push(required(path));
  else if (slash <= 0 || slash === name.length - 1) {
    errors.push(invalidValue(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  } else {
    checkSubdomain(name.slice(0, slash), path, errors);
    if (!PATH.test(name.slice(slash + 1))) errors.push(invalidValue(path, name.slice(slash + 1), PATH_RULE));
  }
  if (byteLength(name) > LONGEST_MANAGER) errors.push(tooLongValue(path, LONGEST_MANAGER));
}

function checkIndexed(spec: Fields, path: string, errors: Errors): void {
  const completions = number(spec.completions);
  const parallel = number(spec.parallelism);
  const failed = number(spec.maxFailedIndexes);
  const parallelField = `${path}.parallelism`;
  const failedField = `${path}.maxFailedIndexes`;
  if (!isSet(spec.completions)) errors.push(required(`${path}.completions`, "when completion mode is Indexed"));
  if (parallel > MOST_PARALLEL) {
    const detail = `must be less than or equal to ${MOST_PARALLEL} when completion mode is Indexed`;
    errors.push(invalidValue(parallelField, parallel, detail));
  }
  if (isSet(spec.completions) && failed > completions) {
    errors.push(invalidValue(failedField, failed, "must be less than or equal to completions"));
  }
  if (failed > MOST_PARALLEL) {
    errors.push(invalidValue(failedField, failed, `must be less than or equal to ${MOST_PARALLEL}`));
  }
  if (completions <= MANY_COMPLETIONS || !isSet(spec.backoffLimitPerIndex)) return;
  if (!isSet(spec.maxFailedIndexes)) {
    errors.push(required(failedField, `must be specified when completions is above ${MANY_COMPLETIONS}`));
  }
  const rule = `must be less than or equal to ${FEWER} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (parallel > FEWER) errors.push(invalidValue(parallelField, parallel, rule));
  if (failed > FEWER) errors.push(invalidValue(failedField, failed, rule));
}

function checkReplacement(spec: Fields, path: string, errors: Errors): void {
  if (!isSet(spec.podReplacementPolicy)) return;
  const choices = isSet(spec.podFailurePolicy) ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  checkOneOf(spec.podReplacementPolicy, choices, path, errors);
}

/** Spec, selector and labels of a job. */
function checkJobSpec(spec: Fields, errors: Errors): void {
  checkWork(spec, "spec", errors);
  const selector = struct(spec.selector);
  if (selector === undefined) errors.push(required("spec.selector"));
  else checkSelector(selector, "spec.selector", errors);
  const template = templateOf(spec);
  if (selects(selector, labelsOf(template)) === false) {
    errors.push(invalidValue("spec.template.metadata.labels", labelsOf(template), NO_MATCH));
  }
}

/** A selector that the server made fits the labels that it made. */
function checkGenerated(object: ApiObject, errors: Errors): void {
  const spec = specOf(object);
  const selector = struct(spec.selector);
  if (spec.manualSelector === true || selector === undefined) return;
  const { uid, name = "" } = object.metadata;
  const labels = labelsOf(templateOf(spec)) ?? {};
  const expected: Record<string, string> = {};
  for (const [key, value] of [
    ["controller-uid", uid],
    ["job-name", name],
    ["batch.kubernetes.io/controller-uid", uid],
    ["batch.kubernetes.io/job-name", name],
  ] as const) {
    expected[key] = value;
    const field = `spec.template.metadata.labels[${key}]`;
    const detail = `must be '${value}'`;
    if (!Object.hasOwn(labels, key)) errors.push(required(field, detail));
    else if (labels[key] !== value) errors.push(invalidValue(field, labels, detail));
  }
  if (selects(selector, expected) === false) {
    errors.push(invalidValue("spec.selector", selectorText(selector), "`selector` not auto-generated"));
  }
}

/** A new job. */
export function job(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const spec = specOf(object);
  checkGenerated(object, errors);
  checkJobSpec(spec, errors);
  if (spec.completionMode === "Indexed" && number(spec.completions) > 0) {
    const { name } = object.metadata;
    const last = `${name}-${number(spec.completions) - 1}`;
    if (labelMessages(last).length > 0) {
      const detail = `will not able to create pod with invalid DNS label: ${last}`;
      errors.push(invalidValue("metadata.name", name, detail));
    }
  }
  return errors;
}

/** A changed job: it is looked at as if it were new, and then again for what must stay. */
export function jobUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") {
    const errors: FieldError[] = [];
    checkJobStatus(object, old, errors);
    return errors;
  }
  const errors = job(object);
  const now = specOf(object);
  const before = specOf(old);
  checkJobSpec(now, errors);
  checkCompletions(now, before, errors);
  const stays = (field: string, shown: (value: Fields | undefined) => unknown = (value) => value ?? null): void => {
    if (deepEqual(now[field] ?? undefined, before[field] ?? undefined)) return;
    const value = now[field];
    const told = struct(value) === undefined ? (value ?? null) : shown(struct(value));
    errors.push(invalidValue(`spec.${field}`, told, IMMUTABLE));
  };
  stays("selector", selectorText);
  checkTemplateStays(now, before, struct(old.status) ?? {}, errors);
  for (const field of ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]) {
    stays(field);
  }
  return errors;
}

/** An indexed job may grow, with as many pods at once. */
function checkCompletions(now: Fields, before: Fields, errors: Errors): void {
  if (now.completions === before.completions) return;
  if (now.completionMode !== "Indexed") {
    errors.push(invalidValue("spec.completions", now.completions ?? null, IMMUTABLE));
  } else if (isSet(now.completions) && now.completions !== now.parallelism) {
    const detail = "can only be modified in tandem with spec.parallelism";
    errors.push(invalidValue("spec.completions", now.completions, detail));
  }
}

/** Only a job that is suspended, and has no pods, may still change where they run and what they get. */
function checkTemplateStays(now: Fields, before: Fields, status: Fields, errors: Errors): void {
  const template = templateOf(now);
  const old = templateOf(before);
  const asleep = structs(status.conditions).some(({ type, status: is }) => type === "Suspended" && is === "True");
  const suspended = before.suspend === true;
  const open = suspended && (!isSet(status.startTime) || asleep) && number(status.active) === 0;
  if (!open) {
    if (!deepEqual(template, old))
      errors.push(invalidValue("spec.template", printed(goPodTemplate(template)), IMMUTABLE));
    return;
  }
  const spec = struct(template.spec) ?? {};
  const masked: Record<string, unknown> = { ...struct(old.spec) };
  for (const field of ["nodeSelector", "tolerations", "schedulingGates"]) masked[field] = spec[field];
  const { nodeAffinity: _, ...others } = struct(masked.affinity) ?? {};
  const wanted = struct(spec.affinity)?.nodeAffinity;
  const affinity = isSet(wanted) ? { ...others, nodeAffinity: wanted } : others;
  masked.affinity = Object.keys(affinity).length > 0 || isSet(spec.affinity) ? affinity : undefined;
  for (const list of ["containers", "initContainers"]) {
    const containers = structs(spec[list]);
    if (containers.length === 0 || containers.length !== structs(masked[list]).length) continue;
    masked[list] = structs(masked[list]).map((container, i) =>
      container.name === containers[i]?.name ? { ...container, resources: containers[i]?.resources } : container,
    );
  }
  if (!deepEqual(withoutEmpty(spec), withoutEmpty(masked))) {
    errors.push(invalidValue("spec.template.spec", printed(goPodSpec(spec)), IMMUTABLE));
  }
}

const withoutEmpty = (spec: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => isSet(value)));

/** A real server prints its own structs here, which tell a user nothing more. */
const printed = (value: Fields): Verbatim => new Verbatim(JSON.stringify(value));

const LONGEST_CRON_NAME = 52;

function checkCronSpec(spec: Fields, before: Fields | undefined, errors: Errors): void {
  const schedule = text(spec.schedule);
  if (schedule === "") errors.push(required("spec.schedule"));
  else {
    const wrong = scheduleError(schedule);
    if (wrong !== undefined) errors.push(invalidValue("spec.schedule", schedule, wrong));
    const mayHaveZone = text(before?.schedule).includes("TZ");
    if (schedule.includes("TZ") && !mayHaveZone) {
      const detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
      errors.push(invalidValue("spec.schedule", schedule, detail));
    } else if (schedule.includes("TZ") && isSet(spec.timeZone)) {
      const detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
      errors.push(invalidValue("spec.schedule", schedule, detail));
    }
  }
  checkNotNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds", errors);
  if (isSet(spec.timeZone) && (before === undefined || before.timeZone !== spec.timeZone)) {
    for (const message of zoneErrors(text(spec.timeZone))) {
      errors.push(invalidValue("spec.timeZone", spec.timeZone, message));
    }
  }
  checkChoice(spec.concurrencyPolicy, ["Allow", "Forbid", "Replace"], "spec.concurrencyPolicy", errors);
  const path = "spec.jobTemplate.spec";
  const work = struct(struct(spec.jobTemplate)?.spec) ?? {};
  checkWork(work, path, errors);
  const selector = struct(work.selector);
  if (selector !== undefined) {
    errors.push(invalidValue(`${path}.selector`, selectorText(selector), "`selector` will be auto-generated"));
  }
  if (work.manualSelector === true) errors.push(notSupported(`${path}.manualSelector`, true, ["nil", "false"]));
  checkNotNegative(spec.successfulJobsHistoryLimit, "spec.successfulJobsHistoryLimit", errors);
  checkNotNegative(spec.failedJobsHistoryLimit, "spec.failedJobsHistoryLimit", errors);
}

/** A new CronJob, whose name leaves room for the time in those of its jobs. */
export function cronJob(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  checkCronSpec(specOf(object), undefined, errors);
  const { name = "" } = object.metadata;
  if (name.length > LONGEST_CRON_NAME) {
    errors.push(invalidValue("metadata.name", name, `must be no more than ${LONGEST_CRON_NAME} characters`));
  }
  return errors;
}

/** A changed CronJob. */
export function cronJobUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  const errors: FieldError[] = [];
  if (subresource !== "status") checkCronSpec(specOf(object), specOf(old), errors);
  return errors;
}
