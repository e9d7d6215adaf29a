import { type Duration, durationMs } from "@lotse/client/meta";

/** How long to wait between attempts: a fixed time, or a time that grows. */
export type Backoff =
  | Duration
  | {
      /** The first wait. Default 1 s. */
      readonly initial?: Duration;
      /** By how much each wait is longer than the one before. Default 2. */
      readonly factor?: number;
      /** No wait is longer than this. Default 5 min. */
      readonly max?: Duration;
      /** How much of a wait is random, from 0 to 1, so that many objects do not come back at once. Default 0.1. */
      readonly jitter?: number;
    };

/** A {@link Backoff} with its defaults filled in and its durations read. */
export interface BackoffPlan {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly jitter: number;
}

/** Reads a {@link Backoff}; wrong durations are found here, when the handler is declared. */
export function planBackoff(backoff: Backoff = {}): BackoffPlan {
  if (typeof backoff !== "object") {
    const fixed = durationMs(backoff);
    return { initialMs: fixed, factor: 1, maxMs: fixed, jitter: 0 };
  }
  return {
    initialMs: durationMs(backoff.initial ?? "1s"),
    factor: backoff.factor ?? 2,
    maxMs: durationMs(backoff.max ?? "5m"),
    jitter: backoff.jitter ?? 0.1,
  };
}

/** Milliseconds to wait after `attempts` failed ones (at least 1); `random` is in [0, 1). */
export function backoffMs(plan: BackoffPlan, attempts: number, random: number): number {
  const grown = Math.min(plan.maxMs, plan.initialMs * plan.factor ** Math.max(0, attempts - 1));
  return Math.round(grown * (1 - plan.jitter / 2 + plan.jitter * random));
}
