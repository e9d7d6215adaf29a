/** What the end of an attempt means: for whether there is another one, for what follows from it, and in the words of the journal and of traces. Pure. */
import { errorMessage } from "@lotse/client/meta";
import {
  type Aborted,
  backoffMs,
  type ErrorMode,
  PermanentError,
  type RetryPlan,
  TemporaryError,
} from "../declare/index.ts";
import type { JournalRun, TracedEnd } from "../report/index.ts";
import type { Outcome } from "./settle.ts";
import { StepPending } from "./steps.ts";

/** An {@link Outcome} and the error behind it. */
export interface Conclusion {
  readonly outcome: Outcome;
  readonly error: unknown;
  /** The handler ignored its signal: it may still be running, and whatever it says will not be heard. */
  readonly abandoned: boolean;
  /** It returned after its timeout: neither its result nor its patch counts. */
  readonly late?: boolean;
  /** Another process may work on its object, for this reason: it is not held against the handler. */
  readonly refused?: Aborted;
}

/** How an attempt ended. */
export interface AttemptResult extends Conclusion {
  /** By which the run is found again. */
  readonly runId: string;
}

/** How a call ended, before anything is made of it. */
export type Ended =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "error"; readonly error: unknown }
  /** It did not end when it was told to. */
  | { readonly type: "abandoned" };

/** What the end of an attempt means; `stopped`: why it was told to end, `mode`: how unknown errors count. */
export function conclude(ended: Ended, stopped: Aborted | undefined, mode: ErrorMode): Conclusion {
  // What comes after the timeout comes too late, whatever it is; only a deletion or a stop lets a handler still finish.
  if (ended.type === "value" && stopped?.why !== "timeout") {
    return { outcome: { type: "done", result: ended.value }, error: undefined, abandoned: false };
  }
  const abandoned = ended.type === "abandoned";
  const error = ended.type === "error" ? ended.error : stopped;
  if (stopped) {
    const outcome: Outcome = stopped.why === "timeout" ? { type: "failed", message: "timed out" } : { type: "aborted" };
    return {
      outcome,
      error,
      abandoned,
      ...(ended.type === "value" && { late: true }),
      ...(stopped.why === "ownership" && { refused: stopped }),
    };
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

/** What became of an attempt, in the words of the journal. */
const OUTCOMES: Readonly<Record<Outcome["type"], JournalRun["outcome"]>> = {
  done: "succeeded",
  temporary: "failed",
  failed: "failed for good",
  aborted: "stopped",
};

/** How an attempt ended, in the words of the journal and of traces. */
export function tracedEnd({ outcome, error }: Conclusion): TracedEnd {
  if (outcome.type === "temporary" && outcome.waitsForStep) return { outcome: "waits for a step", error };
  return { outcome: outcome.type === "temporary" && outcome.waits ? "waits" : OUTCOMES[outcome.type], error };
}

/**
 * Milliseconds until the next attempt of an effort that has taken `spentMs` and `attempts` so far; undefined when there is
 * none: because it has ended, or because its retries or its time are used up.
 */
export function retryDelayMs(
  { retries, timeoutMs, backoff }: Pick<RetryPlan, "retries" | "timeoutMs" | "backoff">,
  outcome: Outcome,
  attempts: number,
  spentMs: number,
  random: () => number,
): number | undefined {
  if (outcome.type !== "temporary") return undefined;
  if (retries !== undefined && attempts >= retries) return undefined;
  const delayMs = outcome.delayMs ?? backoffMs(backoff, attempts, random());
  return timeoutMs !== undefined && spentMs + delayMs >= timeoutMs ? undefined : delayMs;
}
