/** Waits for a cluster that does not answer, or does not allow something yet, and says so. */
import { InvalidError } from "@lotse/client";
import { type Clock, errorMessage, formatDuration, sleep } from "@lotse/client/meta";
import { backoffMs, DeclarationError, planBackoff } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";

/** How patiently an operator waits at its start. */
const START_BACKOFF = planBackoff({ initial: "500ms", max: "30s" });

/** Who waits, and until when. */
export interface Waiting {
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Tries again, with growing delays, what the cluster does not allow or answer now; what it refuses is final. */
export async function untilItWorks<T>(problem: string, work: () => Promise<T>, waiting: Waiting): Promise<T> {
  const { clock, random, logger, signal } = waiting;
  for (let attempts = 1; ; attempts++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || error instanceof DeclarationError || error instanceof InvalidError) throw error;
      const delayMs = backoffMs(START_BACKOFF, attempts, random());
      const { hint } = (error ?? {}) as { hint?: string };
      logger.warn(`${problem}, will be tried again`, {
        error: errorMessage(error),
        hint,
        retryIn: formatDuration(delayMs),
      });
      await sleep(clock, delayMs, signal);
    }
  }
}
