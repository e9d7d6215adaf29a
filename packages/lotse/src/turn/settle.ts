/**
 * What follows from the attempts of a turn: the new record, and when to look again. Pure.
 *
 * A cycle that closes takes the essence it *opened* with as handled, not the newest one: if the object moved on
 * meanwhile, the rest of the way opens at once as an update, for the handlers that have not seen it already. The same
 * for a handler that saw a state which another client has taken back since. So no change is lost, and no handler runs twice
 * for what it has seen. A handler that failed for good is remembered beyond its cycle, with what it failed for.
 */
import { backoffMs, type ChangeHandler, type RetryPlan } from "../declare/index.ts";
import { type Cycle, type Decision, isForChange, keptBy, reasonFor } from "./decide.ts";
import {
  type FailedRun,
  type ObjectRecord,
  type OpenCycle,
  packEssence,
  packText,
  type RunRecord,
  type StepRecord,
} from "./record.ts";
import type { StepFailure } from "./steps.ts";

/** How one attempt ended. */
export type Outcome =
  | { readonly type: "done"; readonly result: unknown }
  | {
      readonly type: "temporary";
      readonly message: string;
      readonly delayMs: number | undefined;
      /** It waits for something, by a `TemporaryError`, and has not failed. */
      readonly waits?: true;
      /** A step waits, which is not a failed attempt of the handler. */
      readonly waitsForStep?: true;
    }
  | { readonly type: "failed"; readonly message: string }
  /** Ended by us before it could say anything: the attempt does not count. */
  | { readonly type: "aborted" };

/** One attempt that was made. */
export interface Attempt {
  readonly handler: ChangeHandler;
  /** By which the run is found again. */
  readonly runId?: string | undefined;
  readonly outcome: Outcome;
  /** The error behind it, for the log. */
  readonly error?: unknown;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** What is remembered of its steps. */
  readonly steps?: Readonly<Record<string, StepRecord>> | undefined;
  /** Steps that did not succeed, without the handler failing for it. */
  readonly stepFailures?: readonly StepFailure[] | undefined;
}

/** A run whose first attempt has just been made: when it began is put into words when it is written down, if it is. */
type Run = Omit<RunRecord, "started"> & { readonly started: string | number };
type Runs = Record<string, Run>;

/** What {@link settle} found. */
export interface Settlement {
  /** The record to keep; undefined leaves the one that is there. */
  readonly record: ObjectRecord | undefined;
  /** The cycle is over, as it was opened. */
  readonly closed: boolean;
  /** Deletion is handled: the finalizer can go. */
  readonly release: boolean;
  /** Look again at this time (wall-clock milliseconds); now, when it is in the past. */
  readonly nextDue: number | undefined;
  /** Handlers whose attempt failed for good or will be tried again, for the log. */
  readonly failures: readonly Failure[];
}

/** A failed attempt and what follows from it. */
export interface Failure {
  readonly handler: ChangeHandler;
  /** The run that has failed. */
  readonly runId?: string | undefined;
  readonly attempts: number;
  readonly message: string;
  /** The error behind it, for the log. */
  readonly error?: unknown;
  /** When its first attempt began (wall-clock milliseconds). */
  readonly startedAt: number;
  /** When it is tried again; undefined when it is given up. */
  readonly retryAt: number | undefined;
  /** Why it is given up, when a limit did that. */
  readonly limit?: "retries" | "timeout";
}

/**
 * See the module comment. `keepsBase`: a handler can ask for what was there before; `random` is in [0, 1).
 */
export function settle(
  uid: string,
  decision: Decision & { readonly cycle: Cycle },
  attempts: readonly Attempt[],
  keepsBase: boolean,
  previous: ObjectRecord | undefined,
  random: () => number,
): Settlement {
  const { cycle, current } = decision;
  const runs: Runs = { ...cycle.runs };
  const failures: Failure[] = [];
  for (const attempt of attempts) {
    const next = afterAttempt(runs[attempt.handler.id], attempt, current.digest, random);
    if (next) runs[attempt.handler.id] = next.run;
    if (next?.failure) failures.push(next.failure);
  }

  if (attempts.length > 0 && attempts.every(({ outcome, steps }) => outcome.type === "aborted" && !steps)) {
    return { record: undefined, closed: false, release: false, nextDue: undefined, failures };
  }
  // Who waits for the object to be left alone keeps no other handler from hearing of the next change.
  const postponed = postponedIn(decision, runs);
  const ids = cycle.selected.map((handler) => handler.id);
  const selected = postponed.length === 0 ? ids : ids.filter((id) => !postponed.includes(id));
  const closed = selected.every((id) => runs[id]?.outcome !== undefined);
  if (!closed) {
    const record = openRecord(uid, cycle, runs, keepsBase, previous);
    return { record, closed, release: false, nextDue: earliestDue(runs, selected), failures };
  }
  if (cycle.reason === "delete") {
    const held = keptBy(cycle.selected, runs).length > 0;
    const record = held ? openRecord(uid, cycle, runs, keepsBase, previous) : undefined;
    return { record, closed, release: !held, nextDue: undefined, failures };
  }
  return { ...close(uid, decision, runs, postponed, keepsBase, previous), closed, release: false, failures };
}

const NOBODY: readonly string[] = [];

function postponedIn({ cycle, due }: Decision & { readonly cycle: Cycle }, runs: Readonly<Runs>): readonly string[] {
  if (!cycle.selected.some(({ debounce }) => debounce)) return NOBODY;
  return cycle.selected.flatMap(({ id, debounce }) =>
    debounce && !runs[id] && !due.some((one) => one.id === id) ? [id] : [],
  );
}

/** The record while the handlers of a cycle are not all finished. */
function openRecord(
  uid: string,
  cycle: Cycle,
  runs: Readonly<Runs>,
  keepsBase: boolean,
  previous: ObjectRecord | undefined,
): ObjectRecord {
  const essence = packed(keepsBase, cycle.opened);
  const { reason, only, owed, opened } = cycle;
  const open: OpenCycle = {
    reason,
    digest: opened.digest,
    ...(essence && { essence }),
    ...(only && { only }),
    ...(owed && { owed }),
  };
  const ids = cycle.selected.map((handler) => handler.id);
  return { ...keptOf(uid, previous), open, runs: pick(runs, ids) };
}

/** The record in the middle of a turn: `attempts` are over, and `handler` has got as far as `steps` say. */
export function recordInProgress(
  uid: string,
  decision: Decision & { readonly cycle: Cycle },
  attempts: readonly Attempt[],
  underWay: {
    readonly handler: ChangeHandler;
    readonly startedAt: number;
    readonly steps: Readonly<Record<string, StepRecord>>;
  },
  keepsBase: boolean,
  previous: ObjectRecord | undefined,
  random: () => number,
): ObjectRecord {
  const { cycle, current } = decision;
  const runs: Runs = { ...cycle.runs };
  for (const attempt of attempts) {
    const next = afterAttempt(runs[attempt.handler.id], attempt, current.digest, random);
    if (next) runs[attempt.handler.id] = next.run;
  }
  const { handler, startedAt, steps } = underWay;
  const before = runs[handler.id];
  const started = before?.started ?? startedAt;
  runs[handler.id] = { attempts: before?.attempts ?? 0, started, steps };
  return openRecord(uid, cycle, runs, keepsBase, previous);
}

function close(
  uid: string,
  { cycle, current, matching, nextDue }: Decision & { readonly cycle: Cycle },
  runs: Readonly<Runs>,
  postponed: readonly string[],
  keepsBase: boolean,
  previous: ObjectRecord | undefined,
): Pick<Settlement, "record" | "nextDue"> {
  const failed = failedRuns(cycle, runs, previous);
  const later = laterRuns(cycle, postponed, previous);
  const handled = (known: Cycle["opened"]): ObjectRecord => {
    const keeps = keepsBase && known.essence !== undefined;
    // The same essence packed by another version would be another string, and a write for nothing.
    const base =
      keeps && previous?.handled === known.digest ? (previous.base ?? packed(keeps, known)) : packed(keeps, known);
    const record: Mutable<ObjectRecord> = { uid, handled: known.digest };
    if (base) record.base = base;
    if (failed) record.failed = failed;
    if (later) record.later = later;
    if (previous?.timers) record.timers = previous.timers;
    return record;
  };
  const moved = current.digest !== cycle.opened.digest;
  const unseen = matching
    .filter((handler) => {
      const saw = runs[handler.id]?.saw;
      if (!handler.reasons.has("update") || saw === current.digest || postponed.includes(handler.id)) return false;
      // What it saw last is unknown but for its digest; having seen something else is reason enough to look again.
      return saw !== undefined || (moved && isForChange(handler, cycle.opened.essence, current.essence));
    })
    .map(({ id }) => id);
  if (unseen.length === 0) {
    // A handler that failed with a state that is no more is owed a try with this one.
    const owed = cycle.selected.some(({ id }) => failed?.[id] && failed[id].saw !== current.digest);
    return { record: handled(current), nextDue: owed ? 0 : later && (nextDue ?? 0) };
  }
  const essence = packed(keepsBase, current);
  const open: OpenCycle = { reason: "update", digest: current.digest, ...(essence && { essence }), only: unseen };
  return { record: { ...handled(cycle.opened), open }, nextDue: 0 };
}

/** Who waits for the object to be left alone, with what it was like before the first change that they have not heard of. */
function laterRuns(
  { selected }: Cycle,
  postponed: readonly string[],
  previous: ObjectRecord | undefined,
): ObjectRecord["later"] {
  if (postponed.length === 0 && !previous?.later) return undefined;
  const before = previous?.base === undefined ? {} : { base: previous.base };
  const waiting = Object.entries(previous?.later ?? {}).filter(([id]) => !selected.some((one) => one.id === id));
  for (const id of postponed) waiting.push([id, previous?.later?.[id] ?? before]);
  return waiting.length > 0 ? Object.fromEntries(waiting) : undefined;
}

/** Who failed for good, in this cycle or in an earlier one and has not been called since. */
function failedRuns(
  cycle: Cycle,
  runs: Readonly<Runs>,
  previous: ObjectRecord | undefined,
): Readonly<Record<string, FailedRun>> | undefined {
  if (!previous?.failed && !cycle.selected.some(({ id }) => runs[id]?.outcome === "failed")) return undefined;
  const called = new Set(cycle.selected.map(({ id }) => id));
  const failed = Object.entries(previous?.failed ?? {}).filter(([id]) => !called.has(id));
  for (const id of called) {
    const { outcome, saw = "", message = "" } = runs[id] ?? {};
    if (outcome === "failed") failed.push([id, { reason: reasonFor(cycle, id), saw, message }]);
  }
  return failed.length > 0 ? Object.fromEntries(failed) : undefined;
}

/** The new run record after an attempt; undefined when the attempt does not count. */
function afterAttempt(
  before: Run | undefined,
  { handler, runId, outcome, error, startedAt, endedAt, steps }: Attempt,
  saw: string,
  random: () => number,
): { run: Run; failure?: Failure } | undefined {
  const started = before?.started ?? startedAt;
  const kept = steps ?? before?.steps;
  if (outcome.type === "aborted") {
    // The attempt does not count, but what its steps have done is done.
    return steps && { run: { ...before, attempts: before?.attempts ?? 0, started, steps } };
  }
  if (outcome.type === "temporary" && outcome.waitsForStep) {
    const due = new Date(endedAt + (outcome.delayMs ?? 0)).toISOString();
    return {
      run: {
        attempts: before?.attempts ?? 0,
        started,
        due,
        message: outcome.message,
        ...(outcome.waits && { waits: true }),
        saw,
        ...(kept && { steps: kept }),
      },
    };
  }
  const attempts = (before?.attempts ?? 0) + 1;
  if (outcome.type === "done") return { run: { attempts, started, outcome: "done", saw } };

  const { message } = outcome;
  const began = typeof started === "number" ? started : Date.parse(started);
  const failed = { handler, runId, attempts, message, error, startedAt: began };
  const retryAt =
    outcome.type === "temporary" ? endedAt + delayOf(handler.retry, outcome.delayMs, attempts, random) : undefined;
  const limit = retryAt === undefined ? undefined : limitReached(handler.retry, attempts, began, retryAt);
  if (retryAt === undefined || limit) {
    const failure: Failure = { ...failed, retryAt: undefined, ...(limit && { limit }) };
    return { run: { attempts, started, outcome: "failed", message, saw }, failure };
  }
  const due = new Date(retryAt).toISOString();
  const waits = outcome.type === "temporary" && outcome.waits ? { waits: true as const } : {};
  const run = { attempts, started, due, message, ...waits, saw, ...(kept && { steps: kept }) };
  return { run, failure: { ...failed, retryAt } };
}

function delayOf(plan: RetryPlan, exact: number | undefined, attempts: number, random: () => number): number {
  return exact ?? backoffMs(plan.backoff, attempts, random());
}

/** Looks ahead: an attempt that could not be made any more is not waited for. */
function limitReached(plan: RetryPlan, attempts: number, startedAt: number, retryAt: number): Failure["limit"] {
  if (plan.retries !== undefined && attempts >= plan.retries) return "retries";
  if (plan.timeoutMs !== undefined && retryAt - startedAt >= plan.timeoutMs) return "timeout";
  return undefined;
}

/** `essence` as the record keeps it, where it does. */
function packed(keepsBase: boolean, { essence, text }: Cycle["opened"]): string | undefined {
  if (!keepsBase || essence === undefined) return undefined;
  return text === undefined ? packEssence(essence) : packText(text);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function keptOf(uid: string, previous: ObjectRecord | undefined): ObjectRecord {
  const { handled, base, failed, later } = previous ?? {};
  return {
    uid,
    ...(handled !== undefined && { handled }),
    ...(base !== undefined && { base }),
    ...(failed && { failed }),
    ...(later && { later }),
    ...timersOf(previous),
  };
}

/** What timers remember is none of the business of cycles. */
function timersOf(record: ObjectRecord | undefined): Pick<ObjectRecord, "timers"> {
  return record?.timers ? { timers: record.timers } : {};
}

/** The runs of these handlers, as they are written down. */
function pick(runs: Readonly<Runs>, ids: readonly string[]): Record<string, RunRecord> {
  return Object.fromEntries(ids.flatMap((id) => (runs[id] ? [[id, writtenDown(runs[id])]] : [])));
}

function writtenDown(run: Run): RunRecord {
  const { started } = run;
  return { ...run, started: typeof started === "number" ? new Date(started).toISOString() : started };
}

/** Handlers without a run record are due at once. */
function earliestDue(runs: Readonly<Runs>, ids: readonly string[]): number | undefined {
  const waiting = ids.filter((id) => runs[id]?.outcome === undefined);
  return waiting.length === 0 ? undefined : Math.min(...waiting.map((id) => Date.parse(runs[id]?.due ?? "") || 0));
}
