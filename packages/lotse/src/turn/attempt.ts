/** Runs one attempt of one handler: its time-out, its signal, and what its end means. */
import { type Clock, errorMessage } from "@lotse/client/meta";
import { Aborted, type ErrorMode, PermanentError, TemporaryError } from "../declare/index.ts";
import type { Outcome } from "./settle.ts";
import { StepPending } from "./steps.ts";
import { Stop } from "./stop.ts";

/** How an attempt is bounded. */
export interface AttemptLimits {
  readonly clock: Clock;
  /** Ends the attempt from outside: deletion, shutdown. */
  readonly parent: Stop;
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
  /** It returned after its timeout: neither its result nor its patch counts. */
  readonly late?: boolean;
}

/** One for all: an attempt ends a thousand times a second, and where it ended is of no interest. */
const OVER = Object.freeze(new Aborted("superseded", "the attempt is over"));

/** Calls `fn` with a stop of its own and classifies how it ended. Never rejects. */
export async function attempt(fn: (stop: Stop) => unknown, limits: AttemptLimits): Promise<AttemptResult> {
  const { clock, parent, timeoutMs, blockedMs = Number.POSITIVE_INFINITY, onBlocked } = limits;
  const own = new Stop();
  const unlink = parent.onStop((reason) => own.stop(reason));
  const stopTimer =
    timeoutMs === undefined
      ? undefined
      : clock.after(timeoutMs, () => own.stop(new Aborted("timeout", "the handler's timeout is over")));
  try {
    // Real time, whatever the clock: it is the real event loop that a handler blocks.
    const begunAt = performance.now();
    const work = call(fn, own);
    const keptMs = performance.now() - begunAt;
    if (keptMs >= blockedMs) onBlocked?.(keptMs);
    const ended = work instanceof Promise ? await inTime(work, own, limits) : work;
    return conclude(ended, own.reason, limits.errors);
  } finally {
    stopTimer?.();
    unlink();
    // Whoever was handed the signal and outlives the attempt must not act any more.
    own.stop(OVER);
  }
}

type Ended = { type: "value"; value: unknown } | { type: "error"; error: unknown } | { type: "abandoned" };

const succeeded = (value: unknown): Ended => ({ type: "value", value });
const failed = (error: unknown): Ended => ({ type: "error", error });

/** A handler that is not asynchronous has ended when it returns. */
function call(fn: (stop: Stop) => unknown, own: Stop): Ended | Promise<Ended> {
  try {
    const result = fn(own);
    return isThenable(result) ? Promise.resolve(result).then(succeeded, failed) : succeeded(result);
  } catch (error) {
    return failed(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** How the work ends; abandoned when it does not, a while after it was told to. */
function inTime(work: Promise<Ended>, own: Stop, { clock, graceMs }: AttemptLimits): Promise<Ended> {
  return new Promise((resolve) => {
    let cancel: (() => void) | undefined;
    const forget = own.onStop(() => {
      cancel = clock.after(graceMs, () => resolve({ type: "abandoned" }));
    });
    void work.then((ended) => {
      cancel?.();
      forget();
      resolve(ended);
    });
  });
}

function conclude(ended: Ended, stopped: Aborted | undefined, mode: ErrorMode): AttemptResult {
  // What comes after the timeout comes too late, whatever it is; only a deletion or a stop lets a handler still finish.
  if (ended.type === "value" && stopped?.why !== "timeout") {
    return { outcome: { type: "done", result: ended.value }, error: undefined, abandoned: false };
  }
  const abandoned = ended.type === "abandoned";
  const error = ended.type === "error" ? ended.error : stopped;
  if (stopped) {
    const outcome: Outcome = stopped.why === "timeout" ? { type: "failed", message: "timed out" } : { type: "aborted" };
    return { outcome, error, abandoned, ...(ended.type === "value" && { late: true }) };
  }
  return { outcome: outcomeOf(error, mode), error, abandoned };
}

function outcomeOf(error: unknown, mode: ErrorMode): Outcome {
  const message = errorMessage(error);
  if (error instanceof StepPending) {
    const { delayMs, waits } = error;
    return { type: "temporary", message, delayMs, ...(waits && { waits }), waitsForStep: true };
  }
  if (error instanceof TemporaryError) return { type: "temporary", message, delayMs: error.delayMs, waits: true };
  if (error instanceof PermanentError) return { type: "failed", message };
  if (mode === "ignored") return { type: "done", result: undefined };
  return mode === "permanent" ? { type: "failed", message } : { type: "temporary", message, delayMs: undefined };
}
