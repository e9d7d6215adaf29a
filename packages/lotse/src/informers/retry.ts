/** Tries again for as long as a cluster does not answer, or does not allow something yet, and says so. */
import { InvalidError, isOutOfReach } from "@lotse/client";
import { type Clock, errorMessage, formatDuration, sleep } from "@lotse/client/meta";
import { backoffMs, DeclarationError, planBackoff } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";

/** How patiently an operator waits for what its administrator has to change: a permission, a definition. */
const USUAL = planBackoff({ initial: "500ms", max: "30s", jitter: 0.5 });
/** An API server that is away comes back by itself: within three seconds the operator shall have noticed. */
const FOR_THE_SERVER = planBackoff({ initial: "500ms", max: "2s", jitter: 0.5 });

/** What a retry goes by, and until when. */
export interface Retrying {
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** How long to wait after so many failures in a row, of which `error` is the last; `random` is in [0, 1). */
export function retryDelayMs(failures: number, error: unknown, random: number): number {
  return backoffMs(isOutOfReach(error) ? FOR_THE_SERVER : USUAL, failures, random);
}

/** Says a trouble once, until it is another one or over. */
export class Trouble {
  #told: string | undefined;

  /** Whether there is one. */
  get isThere(): boolean {
    return this.#told !== undefined;
  }

  /** In words; undefined when there is none. */
  get text(): string | undefined {
    return this.#told;
  }

  /** Whether it is news. */
  begins(error: unknown): boolean {
    const text = errorMessage(error);
    if (this.#told === text) return false;
    this.#told = text;
    return true;
  }

  /** Whether there was one until now. */
  ends(): boolean {
    const was = this.isThere;
    this.#told = undefined;
    return was;
  }
}

/** Tries again, with growing delays, what the cluster does not allow or answer now; what it refuses is final. */
export async function retryForever<T>(problem: string, work: () => Promise<T>, retrying: Retrying): Promise<T> {
  const { clock, random, logger, signal } = retrying;
  const trouble = new Trouble();
  for (let failures = 1; ; failures++) {
    try {
      const result = await work();
      if (trouble.ends()) logger.info("the cluster answers, the operator goes on");
      return result;
    } catch (error) {
      if (signal.aborted || error instanceof DeclarationError || error instanceof InvalidError) throw error;
      const delayMs = retryDelayMs(failures, error, random());
      const { hint } = (error ?? {}) as { hint?: string };
      const fields = { error: errorMessage(error), hint, retryIn: formatDuration(delayMs) };
      if (trouble.begins(error)) logger.warn(`${problem}, will be tried again`, fields);
      else logger.debug(`${problem}, will be tried again`, fields);
      await sleep(clock, delayMs, signal);
    }
  }
}
