/** How failures of a handler are treated: as it was asked for, and as it was read. */
import { type Duration, durationMs } from "@lotse/client/meta";
import { type Backoff, type BackoffPlan, planBackoff } from "./backoff.ts";

/** What an unknown error (neither temporary nor permanent) counts as. */
export type ErrorMode = "temporary" | "permanent" | "ignored";

/** How a handler's failures are treated. */
export interface RetryOptions {
  /** What an unknown error counts as. Default `"temporary"`. */
  readonly errors?: ErrorMode;
  /** Give up after this time, counted from the first attempt; a running attempt is aborted by `signal`. */
  readonly timeout?: Duration;
  /** Give up after this many attempts. */
  readonly retries?: number;
  /** The wait between attempts. Default: exponential, 1 s to 5 min. */
  readonly backoff?: Backoff;
}

/** {@link RetryOptions} with defaults filled in and durations read. */
export interface RetryPlan {
  readonly errors: ErrorMode;
  readonly timeoutMs: number | undefined;
  readonly retries: number | undefined;
  readonly backoff: BackoffPlan;
  /** The handler said so itself; else the operator's settings count. */
  readonly ownBackoff: boolean;
}

/** Reads {@link RetryOptions}; wrong durations are found here, when the handler is declared. */
export function planRetries(options: RetryOptions): RetryPlan {
  return {
    errors: options.errors ?? "temporary",
    timeoutMs: options.timeout === undefined ? undefined : durationMs(options.timeout),
    retries: options.retries,
    backoff: planBackoff(options.backoff),
    ownBackoff: options.backoff !== undefined,
  };
}

/** `plan`, with the operator's usual wait where the handler did not say. */
export function withUsualBackoff(plan: RetryPlan, usual: BackoffPlan): RetryPlan {
  return plan.ownBackoff ? plan : { ...plan, backoff: usual };
}
