/** Calls a function of the operator until it succeeds, fails for good, or the operator stops. */
import { type Clock, sleep } from "@lotse/client/meta";
import { Aborted, backoffMs, type RetryPlan } from "../declare/index.ts";
import { attempt, Stop } from "../turn/index.ts";

/** What the function hears of the effort so far. */
export interface EffortContext {
  readonly retry: number;
  readonly started: Date;
  /** Milliseconds. */
  readonly runtime: number;
}

/** How to go about it. */
export interface Effort {
  readonly call: (stop: Stop, context: EffortContext) => unknown;
  readonly retry: RetryPlan;
  readonly clock: Clock;
  readonly random: () => number;
  /** Ends the effort. */
  readonly signal: AbortSignal;
  /** How long a call may take to end after its signal. */
  readonly graceMs: number;
  /** Told of each attempt that will be followed by another one. */
  readonly onRetry: (error: unknown, retry: number, delayMs: number) => void;
}

/** How it ended. */
export type EffortEnd =
  | { readonly type: "done"; readonly result: unknown }
  | { readonly type: "failed"; readonly error: unknown }
  /** `error`: what the last attempt failed with, if there was no time for another one. */
  | { readonly type: "aborted"; readonly error?: unknown };

/** See the module comment. Never rejects. */
export async function makeEffort(effort: Effort): Promise<EffortEnd> {
  const { call, retry: plan, clock, random, signal, graceMs, onRetry } = effort;
  const parent = new Stop();
  const unlink = forward(signal, parent);
  const startedAt = clock.now();
  try {
    for (let retry = 0; ; retry++) {
      const runtime = clock.now() - startedAt;
      const timeoutMs = plan.timeoutMs === undefined ? undefined : Math.max(0, plan.timeoutMs - runtime);
      const { outcome, error } = await attempt((stop) => call(stop, { retry, started: new Date(startedAt), runtime }), {
        clock,
        parent,
        timeoutMs,
        graceMs,
        errors: plan.errors,
      });
      if (outcome.type === "done") return { type: "done", result: outcome.result };
      if (outcome.type === "aborted") return { type: "aborted" };
      if (outcome.type === "failed") return { type: "failed", error };
      const delayMs = outcome.delayMs ?? backoffMs(plan.backoff, retry + 1, random());
      const late = plan.timeoutMs !== undefined && clock.now() - startedAt + delayMs >= plan.timeoutMs;
      if (late || (plan.retries !== undefined && retry + 1 >= plan.retries)) return { type: "failed", error };
      onRetry(error, retry, delayMs);
      await sleep(clock, delayMs, signal).catch(() => undefined);
      if (signal.aborted) return { type: "aborted", error };
    }
  } finally {
    unlink();
  }
}

function forward(signal: AbortSignal, stop: Stop): () => void {
  const onAbort = () => stop.stop(signal.reason instanceof Aborted ? signal.reason : SHUTDOWN);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

const SHUTDOWN = new Aborted("shutdown", "the operator stops");
