/** Has a handler of the operator itself executed until it succeeds, fails for good, or the operator stops. */
import { type Clock, durationMs, sleep } from "@lotse/client/meta";
import { Aborted, type OutsideContext, type RetryPlan } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import { type Execution, execute, retryDelayMs, Stop, type Surroundings } from "../turn/index.ts";

/** What the function hears of the effort so far. */
export interface EffortContext {
  /** Of this attempt. */
  readonly runId: string;
  readonly retry: number;
  readonly started: Date;
  /** Milliseconds. */
  readonly runtime: number;
}

/** How to go about it. */
export interface Effort extends Pick<Execution, "handler" | "graceMs"> {
  readonly surroundings: Surroundings;
  readonly call: (stop: Stop, context: EffortContext) => unknown;
  readonly retry: RetryPlan;
  readonly random: () => number;
  readonly logger: Logger;
  /** Ends the effort. */
  readonly signal: AbortSignal;
  /** Told of each attempt that will be followed by another one. */
  readonly onRetry: (error: unknown, retry: number, delayMs: number, runId: string) => void;
}

/** How it ended. */
export type EffortEnd =
  | { readonly type: "done"; readonly result: unknown; readonly runId: string }
  | { readonly type: "failed"; readonly error: unknown; readonly runId: string }
  /** `error`: what the last attempt failed with, if there was no time for another one. */
  | { readonly type: "aborted"; readonly error?: unknown };

/** See the module comment. Never rejects. */
export async function makeEffort(effort: Effort): Promise<EffortEnd> {
  const { surroundings, handler, logger, call, retry: plan, random, signal, graceMs, onRetry } = effort;
  const { clock } = surroundings.runtime;
  const { stop: parent, letGo } = stopOf(signal);
  const startedAt = clock.now();
  try {
    for (let retry = 0; ; retry++) {
      const runtime = clock.now() - startedAt;
      const { result } = await execute(surroundings, {
        ...OPERATORS_OWN,
        handler,
        logger,
        retry,
        parent,
        timeoutMs: plan.timeoutMs === undefined ? undefined : Math.max(0, plan.timeoutMs - runtime),
        graceMs,
        errors: plan.errors,
        call: (stop, runId) => call(stop, { runId, retry, started: new Date(startedAt), runtime }),
      });
      const { outcome, error, runId } = result;
      if (outcome.type === "done") return { type: "done", result: outcome.result, runId };
      if (outcome.type === "aborted") return { type: "aborted" };
      const delayMs = retryDelayMs(plan, outcome, retry + 1, clock.now() - startedAt, random);
      if (delayMs === undefined) return { type: "failed", error, runId };
      onRetry(error, retry, delayMs, runId);
      await sleep(clock, delayMs, signal).catch(() => undefined);
      if (signal.aborted) return { type: "aborted", error };
    }
  } finally {
    letGo();
  }
}

/** After so long it is tried again what was refused because another process may do it: if so, this one is soon told. */
export const REFUSED_PAUSE_MS = 1_000;

/** What is the same for all handlers of the operator itself: they work for no object. */
export const OPERATORS_OWN = { object: undefined, waits: undefined, reason: undefined } as const;

/** A stop that follows a signal, until it is let go. */
export function stopOf(signal: AbortSignal): { readonly stop: Stop; letGo(): void } {
  const stop = new Stop();
  const onAbort = () => stop.stop(signal.reason instanceof Aborted ? signal.reason : SHUTDOWN);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { stop, letGo: () => signal.removeEventListener("abort", onAbort) };
}

const SHUTDOWN = new Aborted("shutdown", "the operator stops");

/** What is the same for all runs of a source or a scheduled function. */
export type TaskContext = Omit<OutsideContext, "runId">;

/** What a source or a scheduled function is given, for as long as one attempt of it lasts. */
export function contextFor(context: TaskContext, { signal }: Stop, clock: Clock, runId: string): OutsideContext {
  return {
    ...context,
    logger: context.logger.with({ runId }),
    runId,
    client: context.client.with({ signal }),
    signal,
    sleep: (duration) => sleep(clock, durationMs(duration), signal),
  };
}
