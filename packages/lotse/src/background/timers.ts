/**
 * When does a timer run? Pure. A timer has no task and no timer object of its own: its next time is a number that the
 * object's mailbox is woken at, and its run is part of the object's turn, so it never overlaps anything of its object.
 */
import type { KubeBody } from "@lotse/client";
import { backoffMs, filterContext, type SchedulePlan, type TimerHandler } from "../declare/index.ts";
import type { Standing } from "../turn/index.ts";

/** What is remembered of one timer of one object; times are monotonic milliseconds. */
export interface TimerState {
  /** Not before this. */
  readonly dueAt: number;
  /** By the clock on the wall, for a timer with a schedule; that clock may be set. */
  readonly scheduledFor?: number | undefined;
  /** When the current run's first attempt began; undefined between runs. */
  readonly startedAt: number | undefined;
  /** Failed attempts of the current run. */
  readonly attempts: number;
  /** Without an interval: it has run for the present state, and runs again for the next one if it is for quiet times. */
  readonly ranFor?: number | undefined;
  /** A permanent error: the timer does not run again for the object as it is. */
  readonly ended: boolean;
  /** Digest of the essence that it ended with: another one lifts it. */
  readonly endedFor?: string | undefined;
  /** What the last attempt failed with. */
  readonly problem?: string | undefined;
  /** It did not fail: it waits for something. */
  readonly waits?: boolean | undefined;
}

/** How a run of a timer ended. */
export type TimerOutcome =
  | { readonly type: "done" }
  | {
      readonly type: "temporary";
      readonly delayMs: number | undefined;
      readonly message?: string;
      readonly waits?: boolean;
    }
  | { readonly type: "failed"; readonly message?: string }
  | { readonly type: "aborted" };

/** What time it is: `now` is monotonic, `wall` what people read. */
export interface TimerClock {
  readonly now: number;
  readonly wall: number;
}

/** A timer begins to count when its object first matches. `last`: when it ran before, in an earlier process. */
export function startTimer(
  handler: TimerHandler,
  body: KubeBody,
  { now, wall }: TimerClock,
  last?: number | undefined,
): TimerState {
  const { schedule } = handler;
  const fresh = { startedAt: undefined, attempts: 0, ended: false };
  if (!schedule) return { ...fresh, dueAt: now + handler.initialDelay(filterContext(body)) };
  const since = schedule.missed === "once" ? (last ?? createdAt(body) ?? wall) : wall;
  return { ...fresh, ...scheduled(schedule, Math.min(since, wall), { now, wall }) };
}

function createdAt({ metadata }: KubeBody): number | undefined {
  const time = Date.parse(metadata?.creationTimestamp ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/** The next time after `since`; what has gone by is due now, once. */
function scheduled(
  schedule: SchedulePlan,
  since: number,
  { now, wall }: TimerClock,
): Pick<TimerState, "dueAt" | "scheduledFor"> {
  const next = schedule.next(since) ?? Number.POSITIVE_INFINITY;
  return { dueAt: now + Math.max(0, next - wall), scheduledFor: next };
}

/** The state with its time told anew: the clock on the wall may have been set since. */
export function toldAnew(state: TimerState, { now, wall }: TimerClock): TimerState {
  const { scheduledFor } = state;
  if (scheduledFor === undefined || state.attempts > 0) return state;
  return { ...state, dueAt: now + Math.max(0, scheduledFor - wall) };
}

/** When the timer runs next; undefined when never. `changedAt` is when a client last changed the object's essence. */
export function timerDueAt(handler: TimerHandler, state: TimerState, changedAt: number): number | undefined {
  if (state.ended) return undefined;
  if (state.ranFor !== undefined && (handler.idleMs === undefined || state.ranFor === changedAt)) return undefined;
  return handler.idleMs === undefined ? state.dueAt : Math.max(state.dueAt, changedAt + handler.idleMs);
}

/** The state after a run that took from `begunAt` to `now`, for an object last changed at `changedAt`. `random` is in [0, 1). */
export function afterTimerRun(
  handler: TimerHandler,
  state: TimerState,
  outcome: TimerOutcome,
  begunAt: number,
  now: number,
  random: () => number,
  changedAt: number,
  wall = 0,
): TimerState {
  if (outcome.type === "aborted") return state;
  const { schedule } = handler;
  if (outcome.type === "done" && schedule) {
    // Times that have gone by during the run are made up for by one, or by none.
    const since = schedule.missed === "once" ? wall - (now - begunAt) : wall;
    return { startedAt: undefined, attempts: 0, ended: false, ...scheduled(schedule, since, { now, wall }) };
  }
  if (outcome.type === "done" && handler.intervalMs === undefined) {
    return { dueAt: now, startedAt: undefined, attempts: 0, ended: false, ranFor: changedAt };
  }
  if (outcome.type === "done") {
    const { intervalMs = 0 } = handler;
    const dueAt = handler.sharp ? nextSharp(begunAt, intervalMs, now) : now + intervalMs;
    return { dueAt, startedAt: undefined, attempts: 0, ended: false };
  }
  const startedAt = state.startedAt ?? begunAt;
  const attempts = state.attempts + 1;
  const { retries, timeoutMs, backoff } = handler.retry;
  const problem = outcome.message ?? "";
  const over = { ...state, ended: true, problem };
  if (outcome.type === "failed" || (retries !== undefined && attempts >= retries)) return over;
  const dueAt = now + (outcome.delayMs ?? backoffMs(backoff, attempts, random()));
  if (timeoutMs !== undefined && dueAt - startedAt >= timeoutMs) return over;
  return { dueAt, startedAt, attempts, ended: false, problem, waits: outcome.waits };
}

/** A timer that failed for good, and whose object has changed since, begins anew. */
export function isLifted({ ended, endedFor }: TimerState, digest: string | undefined): boolean {
  return ended && endedFor !== digest;
}

/** The state of a timer that a person wants to be tried again; the same when nothing waits for that. */
export function retriedTimer(state: TimerState): TimerState {
  if (state.problem === undefined) return state;
  const { problem: _problem, endedFor: _endedFor, ...rest } = state;
  return { ...rest, ended: false, attempts: 0, startedAt: undefined, dueAt: 0 };
}

/**
 * The state of a timer whose object was woken from outside: it runs at once. What goes by the clock on the wall goes by
 * it still, unless it waits for another try.
 */
export function wokenTimer(state: TimerState): TimerState {
  return state.scheduledFor !== undefined && state.attempts === 0 ? { ...state } : { ...state, dueAt: 0 };
}

/** How a timer stands; undefined when all is well. */
export function timerStanding(id: string, { problem, ended, waits }: TimerState): Standing | undefined {
  if (problem === undefined) return undefined;
  if (ended) return { id, state: "failed", reason: "HandlerFailed", message: problem };
  if (waits) return { id, state: "works", reason: "Waiting", message: problem };
  return { id, state: "fails", reason: "HandlerRetrying", message: problem };
}

/** The next multiple of the interval after `begunAt` that is not over yet: a long run skips, it does not catch up. */
function nextSharp(begunAt: number, intervalMs: number, now: number): number {
  if (intervalMs === 0) return now;
  return begunAt + Math.max(1, Math.ceil((now - begunAt) / intervalMs)) * intervalMs;
}
