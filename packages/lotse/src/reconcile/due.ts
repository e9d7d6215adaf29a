/** When does a reconciler run for an object? Pure; times are monotonic milliseconds. */
import { type BackoffPlan, backoffMs } from "../declare/index.ts";
import { rowPauseMs } from "../turn/index.ts";

/** What is remembered of one reconciler of one object. */
export interface Timing {
  /** Something has happened that it has not looked at. */
  readonly due: boolean;
  /** A retry, a requeue or a resync: not before this. Undefined: when something happens. */
  readonly dueAt: number | undefined;
  /** Failed runs in a row. */
  readonly failures: number;
  /** When the first of them began. */
  readonly failingSince: number | undefined;
  /** Runs in a row that nothing but its own writes, or those of its object's other reconcilers, has woken. */
  readonly selfWoken: number;
  /** The next run, or the one under way, is one of these. */
  readonly self: boolean;
  /** When its last runs began, as far as the rate limit has to know. */
  readonly recent: readonly number[];
}

/** Nothing has been done for the object yet. */
export const NEW: Timing = {
  due: true,
  dueAt: undefined,
  failures: 0,
  failingSince: undefined,
  selfWoken: 0,
  self: false,
  recent: [],
};

/** At most `runs` in `perMs`. */
export interface RatePlan {
  readonly runs: number;
  readonly perMs: number;
}

/** How a run ended. */
export type RunEnd =
  | {
      readonly type: "done";
      /** It asked to be called again. */
      readonly requeueMs: number | undefined;
      /** It has written something that it had read before, and has not read again. */
      readonly stale: boolean;
    }
  | { readonly type: "failed"; readonly delayMs: number | undefined }
  /** There is no use in trying again before something changes, or the next resync. */
  | { readonly type: "stuck" }
  /** It was stopped: by a deletion, or with the operator. */
  | { readonly type: "aborted" };

/** What decides about the time of the next run. */
export interface Rhythm {
  readonly backoff: BackoffPlan;
  readonly resyncMs: number | undefined;
  readonly rateLimit: RatePlan | undefined;
}

/** When the next run is due: at `now` or before, later, or undefined for whenever something happens. */
export function nextRunAt(
  { due, dueAt, recent }: Timing,
  now: number,
  limit: RatePlan | undefined,
): number | undefined {
  const wanted = due ? now : dueAt;
  if (wanted === undefined) return undefined;
  const oldest = limit && recent.length >= limit.runs ? recent[recent.length - limit.runs] : undefined;
  return oldest === undefined ? wanted : Math.max(wanted, oldest + (limit?.perMs ?? 0));
}

/** The timing while a run is under way. */
export function beginRun(timing: Timing, now: number, limit: RatePlan | undefined): Timing {
  const recent = limit ? [...timing.recent, now].slice(-limit.runs) : timing.recent;
  // A reconciler that is woken by others alone begins a new row.
  return { ...timing, due: false, selfWoken: timing.self ? timing.selfWoken : 0, recent };
}

/**
 * The timing after a write of the operator that it has to look at. `loops`: nothing but reconcilers of the object has
 * had a part in it, so that it may be the next link of a chain without an end.
 */
export function wokenByWrite(timing: Timing, loops: boolean, now: number): Timing {
  if (!loops) return { ...timing, due: true };
  const selfWoken = timing.selfWoken + 1;
  return { ...timing, self: true, selfWoken, dueAt: Math.min(timing.dueAt ?? Infinity, now + rowPauseMs(selfWoken)) };
}

/** The timing after a run from `begunAt` to `now`; `timing.due` says what has happened meanwhile. `random` is in [0, 1). */
export function endRun(
  timing: Timing,
  end: RunEnd,
  begunAt: number,
  now: number,
  { backoff, resyncMs }: Rhythm,
  random: () => number,
): Timing {
  if (end.type === "aborted") return { ...timing, due: true };
  // The row is over when the next run is woken by others: until then this one may still have woken itself.
  const calm = { failures: 0, failingSince: undefined, self: false };
  // Jitter: what was reconciled together at the start shall not come back together for ever.
  const resyncIn = resyncMs === undefined ? undefined : resyncMs * (0.9 + 0.2 * random());
  if (end.type === "stuck") {
    // What lies outside of the cluster may have changed, which no stream tells.
    const dueAt = resyncIn === undefined ? undefined : now + resyncIn;
    return { ...timing, ...calm, failures: timing.failures + 1, dueAt };
  }
  if (end.type === "failed") {
    const failures = timing.failures + 1;
    const delayMs = end.delayMs ?? backoffMs(backoff, failures, random());
    const failingSince = timing.failingSince ?? begunAt;
    return { ...timing, self: false, failures, failingSince, dueAt: now + delayMs };
  }
  if (end.stale && !timing.due) {
    const selfWoken = timing.selfWoken + 1;
    return { ...timing, ...calm, self: true, selfWoken, dueAt: now + rowPauseMs(selfWoken) };
  }
  const wakes = [end.requeueMs, resyncIn].filter((ms) => ms !== undefined);
  return { ...timing, ...calm, dueAt: wakes.length === 0 ? undefined : now + Math.min(...wakes) };
}
