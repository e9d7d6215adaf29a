import { lookup, matchesLabels } from "@lotse/client/meta";
import { type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { readSelector, selectorErrors } from "../label-selectors.ts";
import { type ApiObject, isRecord, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { notNegative, unchanged } from "./common.ts";

/** A strategy of updates as the server prints it: with the names of its own fields. */
function strategyText(strategy: Record<string, unknown>): Verbatim {
  return new Verbatim(JSON.stringify({ Type: strategy.type, RollingUpdate: null }));
}

/** Pods that a workload keeps alive may not end by themselves. */
export function alwaysRestarts(object: ApiObject): FieldError[] {
  const policy = objectAt(object, "spec", "template", "spec").restartPolicy;
  if (policy === undefined || policy === "Always") return [];
  return [notSupported("spec.template.spec.restartPolicy", policy, ["Always"])];
}

export function deployment(object: ApiObject): FieldError[] {
  const errors = alwaysRestarts(object);
  const strategy = objectAt(object, "spec", "strategy");
  if (!["Recreate", "RollingUpdate"].includes(String(strategy.type))) {
    errors.push(notSupported("spec.strategy", strategyText(strategy), ["Recreate", "RollingUpdate"]));
  }
  return [...errors, ...deploymentStatus(objectAt(object, "status"))];
}

function deploymentStatus(status: Record<string, unknown>): FieldError[] {
  const of = (key: string): number => (typeof status[key] === "number" ? (status[key] as number) : 0);
  const errors: FieldError[] = [];
  const keys = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"];
  for (const key of ["observedGeneration", ...keys]) errors.push(...notNegative(of(key), `status.${key}`));
  for (const key of ["updatedReplicas", "readyReplicas", "availableReplicas"]) {
    if (of(key) > of("replicas")) {
      errors.push(invalidValue(`status.${key}`, of(key), "cannot be greater than status.replicas"));
    }
  }
  if (of("availableReplicas") > of("readyReplicas")) {
    const field = "status.availableReplicas";
    errors.push(invalidValue(field, of("availableReplicas"), "cannot be greater than readyReplicas"));
  }
  return errors;
}

export function statefulSet(object: ApiObject): FieldError[] {
  const errors = alwaysRestarts(object);
  const spec = objectAt(object, "spec");
  const policy = String(spec.podManagementPolicy);
  if (policy !== "OrderedReady" && policy !== "Parallel") {
    errors.push(invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  const strategy = objectAt(spec, "updateStrategy");
  if (!["RollingUpdate", "OnDelete"].includes(String(strategy.type))) {
    errors.push(invalidValue("spec.updateStrategy", strategyText(strategy), "must be 'RollingUpdate' or 'OnDelete'"));
  }
  return errors;
}

export function daemonSet(object: ApiObject): FieldError[] {
  const errors = alwaysRestarts(object);
  const strategy = objectAt(object, "spec", "updateStrategy");
  if (!["RollingUpdate", "OnDelete"].includes(String(strategy.type))) {
    errors.push(notSupported("spec.updateStrategy", strategyText(strategy), ["RollingUpdate", "OnDelete"]));
  }
  return errors;
}

export function replicationController(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors = notNegative(spec.replicas, "spec.replicas");
  const labels = objectAt(spec, "template", "metadata").labels;
  const selector = objectAt(spec, "selector") as Record<string, string>;
  if (Object.keys(selector).length === 0) errors.push(required("spec.selector"));
  else if (!isRecord(spec.template)) errors.push(required("spec.template"));
  else if (
    !Object.entries(selector).every(([key, value]) => lookup((labels ?? {}) as typeof selector, key) === value)
  ) {
    const detail = "`selector` does not match template `labels`";
    errors.push(invalidValue("spec.template.metadata.labels", labels ?? null, detail));
  }
  return [...errors, ...alwaysRestarts(object)];
}

export function job(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  for (const key of [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
  ]) {
    errors.push(...notNegative(spec[key], `spec.${key}`));
  }
  if (spec.completionMode === "Indexed" && spec.completions === undefined) {
    const detail = "when completion mode is Indexed";
    errors.push(required("spec.completions", detail));
  }
  if (!isRecord(spec.selector)) errors.push(required("spec.selector"));
  else errors.push(...selectorErrors(spec.selector, "spec.selector"));
  const labels = objectAt(spec, "template", "metadata").labels;
  const selector = readSelector(spec.selector ?? NOTHING);
  if (selector && !matchesLabels(selector, (labels ?? {}) as never)) {
    const detail = "`selector` does not match template `labels`";
    errors.push(invalidValue("spec.template.metadata.labels", labels ?? null, detail));
  }
  return errors;
}

/** A selector that no labels match. */
const NOTHING = { matchExpressions: [{ key: "nothing", operator: "In", values: ["nothing"] }] };

export function jobUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const now = objectAt(object, "spec");
  const before = objectAt(old, "spec");
  // An indexed job may grow, with as many pods at once.
  if (now.completionMode === "Indexed" && now.completions === now.parallelism) return [];
  return unchanged(now.completions, before.completions, "spec.completions");
}

const CRON_FIELDS: readonly (readonly [low: number, high: number, names: readonly string[]])[] = [
  [0, 59, []],
  [0, 23, []],
  [1, 31, []],
  [1, 12, ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]],
  [0, 6, ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]],
];
const CRON_NAMES = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** What is wrong with the times of a CronJob; undefined when nothing is. The number of its fields is checked elsewhere. */
export function scheduleError(schedule: string): string | undefined {
  if (schedule.startsWith("@")) {
    if (CRON_NAMES.includes(schedule) || schedule.startsWith("@every ")) return undefined;
    return `unrecognized descriptor: ${schedule}`;
  }
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== CRON_FIELDS.length) return undefined;
  for (const [i, text] of fields.entries()) {
    for (const range of text.split(",")) {
      const error = rangeError(range, ...(CRON_FIELDS[i] as (typeof CRON_FIELDS)[number]));
      if (error !== undefined) return error;
    }
  }
  return undefined;
}

function rangeError(text: string, low: number, high: number, names: readonly string[]): string | undefined {
  const [range = "", step, ...slashes] = text.split("/");
  const [first = "", last, ...hyphens] = range.split("-");
  if (slashes.length > 0) return `too many slashes: ${text}`;
  if (hyphens.length > 0) return `too many hyphens: ${text}`;
  const numberOf = (part: string): number | string => {
    const named = names.indexOf(part.toLowerCase());
    if (named >= 0) return named + low;
    return /^\d+$/.test(part)
      ? Number(part)
      : `failed to parse int from ${part}: strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`;
  };
  const star = first === "*" || first === "?";
  const start = star ? low : numberOf(first);
  const end = star ? high : last === undefined ? (step === undefined ? start : high) : numberOf(last);
  const by = step === undefined ? 1 : numberOf(step);
  for (const value of [start, end, by]) if (typeof value === "string") return value;
  const [from, to, every] = [start, end, by] as [number, number, number];
  if (from < low) return `beginning of range (${from}) below minimum (${low}): ${text}`;
  if (to > high) return `end of range (${to}) above maximum (${high}): ${text}`;
  if (from > to) return `beginning of range (${from}) beyond end of range (${to}): ${text}`;
  if (every === 0) return `step of range should be a positive number: ${text}`;
  return undefined;
}

export function cronJob(object: ApiObject): FieldError[] {
  const { schedule, timeZone } = objectAt(object, "spec");
  const errors: FieldError[] = [];
  const wrong = typeof schedule === "string" && schedule !== "" ? scheduleError(schedule) : undefined;
  if (wrong !== undefined) errors.push(invalidValue("spec.schedule", schedule, wrong));
  if (typeof timeZone === "string" && !isTimeZone(timeZone)) {
    errors.push(invalidValue("spec.timeZone", timeZone, `unknown time zone ${timeZone}`));
  }
  return errors;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export function controllerRevision(object: ApiObject): FieldError[] {
  return notNegative(object.revision, "revision");
}

export function controllerRevisionUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return unchanged(object.data, old.data, "data");
}
