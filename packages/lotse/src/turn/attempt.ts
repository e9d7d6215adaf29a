/** Runs one attempt of one handler: its time-out, its signal, and what its end means. */
import type { Clock } from "@lotse/client/meta";
import { Aborted, type ErrorMode, PermanentError, TemporaryError } from "../declare/index.ts";
import type { Outcome } from "./settle.ts";
import { StepPending } from "./steps.ts";

/** How an attempt is bounded. */
export interface AttemptLimits {
  readonly clock: Clock;
  /** Ends the attempt from outside: deletion, shutdown. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left of the handler's `timeout`. */
  readonly timeoutMs: number | undefined;
  /** How long an aborted handler may take to end before it is abandoned. */
  readonly graceMs: number;
  readonly errors: ErrorMode;
  /** Keeping the event loop to itself for longer than this is worth a word. */
  readonly blockedMs?: number;
  /** Told when the handler did, and for how many milliseconds. */
  readonly onBlocked?: (ms: number) => void;
}

/** An {@link Outcome} and the error behind it. */
export interface AttemptResult {
  readonly outcome: Outcome;
  readonly error: unknown;
  /** The handler ignored its signal: it may still be running, and whatever it says will not be heard. */
  readonly abandoned: boolean;
}

/** One for all: an attempt ends a thousand times a second, and where it ended is of no interest. */
const OVER = Object.freeze(new Aborted("superseded", "the attempt is over"));

/** Calls `fn` with a signal of its own and classifies how it ended. Never rejects. */
export async function attempt(
  fn: (signal: AbortSignal) => unknown,
  { clock, signal, timeoutMs, graceMs, errors, blockedMs = Number.POSITIVE_INFINITY, onBlocked }: AttemptLimits,
): Promise<AttemptResult> {
  const controller = new AbortController();
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  signal.addEventListener("abort", forward, { once: true });
  const stopTimer =
    timeoutMs === undefined
      ? undefined
      : clock.after(timeoutMs, () => controller.abort(new Aborted("timeout", "the handler's timeout is over")));

  const abandonment = abandonedAfter(controller.signal, clock, graceMs);
  try {
    // Real time, whatever the clock: it is the real event loop that a handler blocks.
    const begunAt = performance.now();
    const work = (async () => fn(controller.signal))();
    const keptMs = performance.now() - begunAt;
    if (keptMs >= blockedMs) onBlocked?.(keptMs);
    const ended = await Promise.race([work.then(succeeded, failed), abandonment.promise]);
    return conclude(ended, controller.signal, errors);
  } finally {
    abandonment.cancel();
    stopTimer?.();
    signal.removeEventListener("abort", forward);
    // Whoever was handed this signal and outlives the attempt must not act any more.
    if (!controller.signal.aborted) controller.abort(OVER);
  }
}

type Ended = { type: "value"; value: unknown } | { type: "error"; error: unknown } | { type: "abandoned" };

const succeeded = (value: unknown): Ended => ({ type: "value", value });
const failed = (error: unknown): Ended => ({ type: "error", error });

function conclude(ended: Ended, signal: AbortSignal, mode: ErrorMode): AttemptResult {
  if (ended.type === "value") {
    return { outcome: { type: "done", result: ended.value }, error: undefined, abandoned: false };
  }
  const abandoned = ended.type === "abandoned";
  const error = abandoned ? signal.reason : ended.error;
  if (signal.aborted) {
    const timedOut = signal.reason instanceof Aborted && signal.reason.why === "timeout";
    const message = timedOut ? "timed out" : "";
    return { outcome: timedOut ? { type: "failed", message } : { type: "aborted" }, error, abandoned };
  }
  return { outcome: outcomeOf(error, mode), error, abandoned };
}

function outcomeOf(error: unknown, mode: ErrorMode): Outcome {
  const message = error instanceof Error ? error.message || error.name : String(error);
  if (error instanceof StepPending) return { type: "temporary", message, delayMs: error.delayMs, waitsForStep: true };
  if (error instanceof TemporaryError) return { type: "temporary", message, delayMs: error.delayMs };
  if (error instanceof PermanentError) return { type: "failed", message };
  if (mode === "ignored") return { type: "done", result: undefined };
  return mode === "permanent" ? { type: "failed", message } : { type: "temporary", message, delayMs: undefined };
}

function abandonedAfter(signal: AbortSignal, clock: Clock, graceMs: number) {
  let stop: (() => void) | undefined;
  let onAbort: () => void = () => {};
  const promise = new Promise<Ended>((resolve) => {
    onAbort = () => {
      stop = clock.after(graceMs, () => resolve({ type: "abandoned" }));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  return {
    promise,
    cancel: () => {
      stop?.();
      signal.removeEventListener("abort", onAbort);
    },
  };
}
