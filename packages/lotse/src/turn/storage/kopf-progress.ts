/** What Kopf remembers of one handler, how it writes it down, and what that is in our words. */
import { isObject } from "@lotse/client/meta";
import type { Reason } from "../../declare/index.ts";
import type { RunRecord, StepRecord } from "../record.ts";

/** One progress record. Times are in Kopf's form: UTC, microseconds, `+00:00`. */
export interface Progress {
  readonly started: string | undefined;
  readonly stopped: string | undefined;
  readonly delayed: string | undefined;
  /** Reason of the cycle; absent in records of old versions, and then it fits any. */
  readonly purpose: string | undefined;
  readonly retries: number;
  readonly success: boolean;
  readonly failure: boolean;
  readonly message: string | undefined;
  /** Ids of the handler's sub-handlers of any depth: their records go when this one goes. */
  readonly subrefs: readonly string[] | undefined;
}

/** Reads a stored record; undefined when it is none. Members of the wrong type count as absent. */
export function parseProgress(value: unknown): Progress | undefined {
  if (!isObject(value)) return undefined;
  const subrefs = Array.isArray(value.subrefs) ? value.subrefs.filter((id) => typeof id === "string") : [];
  return {
    started: kopfTime(value.started),
    stopped: kopfTime(value.stopped),
    delayed: kopfTime(value.delayed),
    purpose: text(value.purpose) || undefined,
    retries: typeof value.retries === "number" ? value.retries : 0,
    success: value.success === true,
    failure: value.failure === true,
    message: text(value.message),
    subrefs: subrefs.length > 0 ? subrefs : undefined,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The record as members in Kopf's order, without those that it would not store. */
export function progressMembers(progress: Progress): Record<string, unknown> {
  return Object.fromEntries(allMembers(progress).filter(([, value]) => value !== null));
}

/** The record as the text of an annotation. */
export function encodeProgress(progress: Progress, verbose: boolean): string {
  return pythonJson(verbose ? Object.fromEntries(allMembers(progress)) : progressMembers(progress));
}

function allMembers(progress: Progress): [string, unknown][] {
  const { started, stopped, delayed, purpose, retries, success, failure, message, subrefs } = progress;
  const members = { started, stopped, delayed, purpose, retries, success, failure, message, subrefs };
  return Object.entries(members).map(([key, value]) => [key, value ?? null]);
}

/** What is remembered of a handler, in our words; undefined when it is too little to go on with. */
export function runOf(progress: Progress): RunRecord | undefined {
  const outcome = progress.success ? "done" : progress.failure ? "failed" : undefined;
  // An effort without a beginning would never time out or at once, so it begins anew; a finished one is finished.
  const began = progress.started ?? (outcome && (progress.stopped ?? "1970-01-01T00:00:00.000000+00:00"));
  if (began === undefined) return undefined;
  const due = outcome ? undefined : progress.delayed;
  return {
    attempts: progress.retries,
    started: lotseTime(began),
    ...(due !== undefined && { due: lotseTime(due) }),
    ...(outcome && { outcome }),
    ...(progress.message !== undefined && { message: progress.message }),
  };
}

/** A run in Kopf's words. `replaced` is its record in the same cycle: what Kopf alone knows is taken from there. */
export function progressOf(
  run: RunRecord,
  purpose: Reason,
  replaced: Progress | undefined,
  subrefs: readonly string[] | undefined,
): Progress {
  const success = run.outcome === "done";
  const failure = run.outcome === "failed";
  const wasFinal = success ? replaced?.success : failure && replaced?.failure;
  return {
    started: kopfTime(run.started),
    stopped: wasFinal ? replaced?.stopped : undefined,
    delayed: kopfTime(run.due),
    purpose,
    retries: run.attempts,
    success,
    failure,
    message: run.message,
    subrefs: subrefs && subrefs.length > 0 ? subrefs : undefined,
  };
}

/** What is remembered of a sub-handler, as that of a step. `result` is what it returned. */
export function stepOf(progress: Progress, result: unknown): StepRecord {
  const { retries, success, failure, started, delayed, message } = progress;
  if (success) return { attempts: retries, outcome: "done", ...(result !== undefined && { result }) };
  return {
    attempts: retries,
    ...(failure && { outcome: "failed" as const }),
    ...(!failure && started !== undefined && { started: lotseTime(started) }),
    ...(!failure && delayed !== undefined && { due: lotseTime(delayed) }),
    ...(message !== undefined && { message }),
  };
}

/** A step in Kopf's words, which are those for sub-handlers. */
export function stepProgressOf(step: StepRecord, purpose: Reason, stored: Progress | undefined): Progress {
  const success = step.outcome === "done";
  const failure = step.outcome === "failed";
  // A finished step has forgotten when it began; Kopf's record has not.
  const ended = stored?.success === success && stored.failure === failure && stored.retries === step.attempts;
  // Of a step that is done the errors before are not remembered; of one that failed the last error is all there is.
  const same = ended && (success || stored.message === step.message);
  if (step.outcome && stored && same && (stored.purpose ?? purpose) === purpose) return stored;
  return {
    started: kopfTime(step.started),
    stopped: undefined,
    delayed: kopfTime(step.due),
    purpose,
    retries: step.attempts,
    success,
    failure,
    message: step.message,
    subrefs: undefined,
  };
}

const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?(?:Z|([+-]\d{2}):?(\d{2}))?$/;

/** A time in Kopf's form; undefined when it is none. Old versions of Kopf wrote no zone and meant UTC. */
export function kopfTime(time: unknown): string | undefined {
  const match = typeof time === "string" ? TIME.exec(time) : null;
  if (!match) return undefined;
  const [, date, clock, fraction = "", hours = "+00", minutes = "00"] = match;
  const seconds = Date.parse(`${date}T${clock}${hours}:${minutes}`);
  if (Number.isNaN(seconds)) return undefined;
  return `${new Date(seconds).toISOString().slice(0, 19)}.${fraction.padEnd(6, "0").slice(0, 6)}+00:00`;
}

/** Kopf's form in ours. Microseconds are kept, so that nothing is rewritten for the sake of its form. */
function lotseTime(time: string): string {
  return time.replace(/000\+00:00$/, "Z");
}

/** JSON as Python writes it when it is asked for no spaces: everything beyond ASCII escaped, small numbers its way. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => pythonJson(item ?? null)).join(",")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${pythonJson(key)}:${pythonJson(member)}`).join(",")}}`;
  }
  if (typeof value === "number") return pythonNumber(value);
  return (JSON.stringify(value) ?? "null").replace(/[\u007f-\uffff]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function pythonNumber(value: number): string {
  // Python turns to exponents earlier than JavaScript does, and writes them with two digits.
  if (value === 0 || Math.abs(value) >= 1e-4 || !Number.isFinite(value)) return JSON.stringify(value);
  return value.toExponential().replace(/-(\d)$/, "-0$1");
}
