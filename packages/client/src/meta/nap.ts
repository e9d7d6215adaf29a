import type { Clock } from "./clock.ts";

/**
 * A sleep whose end can be moved forward while it lasts, never back.
 *
 * @example
 * ```ts
 * const nap = new Nap(systemClock, signal);
 * nap.endIn(30_000);
 * process.once("SIGHUP", () => nap.end());
 * await nap.over;
 * ```
 */
export class Nap {
  /** Resolves at the end, or when the signal aborts. */
  readonly over: Promise<void>;
  readonly #clock: Clock;
  #wake: () => void = () => undefined;
  #endsAt = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.over = new Promise((resolve) => {
      this.#wake = () => {
        this.#endsAt = Number.NEGATIVE_INFINITY;
        this.#cancel();
        signal.removeEventListener("abort", this.#wake);
        resolve();
      };
    });
    if (signal.aborted) this.#wake();
    else signal.addEventListener("abort", this.#wake, { once: true });
  }

  /** It ends now. */
  end(): void {
    this.#wake();
  }

  /** It ends after `ms`, unless it ends before. */
  endIn(ms: number): void {
    const endsAt = this.#clock.monotonic() + Math.max(0, ms);
    if (endsAt >= this.#endsAt) return;
    this.#endsAt = endsAt;
    this.#cancel();
    this.#cancel = this.#clock.after(ms, this.#wake);
  }
}
