/**
 * How soon `lotse dev` starts an operator again after an error that no code caught: at once, then later and later, because
 * the error most often comes back. A quiet minute, or a save, and it is forgotten. Pure.
 */

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
const QUIET_MS = 60_000;

/** What to do about one more error. */
export interface CrashAdvice {
  /** The same has been told already. */
  readonly known: boolean;
  /** How often the operator has been started again for it and others, this time included. */
  readonly restarts: number;
  readonly delayMs: number;
}

/** See the module comment. */
export class CrashPatience {
  readonly #known = new Set<string>();
  #restarts = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** One more error, told by what makes it the same as another; `waiting`: a restart is on its way already. */
  next(sameness: string, now: number, waiting: boolean): CrashAdvice {
    if (now - this.#lastAt >= QUIET_MS) this.forget();
    this.#lastAt = now;
    const known = this.#known.has(sameness);
    this.#known.add(sameness);
    const delayMs = this.#restarts === 0 ? 0 : Math.min(FIRST_MS * 2 ** (this.#restarts - 1), LONGEST_MS);
    if (!waiting) this.#restarts++;
    return { known, restarts: this.#restarts, delayMs };
  }

  /** Everything is as if nothing had happened. */
  forget(): void {
    this.#known.clear();
    this.#restarts = 0;
  }
}
