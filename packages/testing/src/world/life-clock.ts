import { AsyncResource } from "node:async_hooks";
import type { Clock } from "@lotse/client/meta";

/**
 * The clock of one life of an operator: what was to be called after its end never is. Calls run in the surroundings that
 * asked for them, also when it is a test that moves the time.
 */
export class LifeClock implements Clock {
  readonly #clock: Clock;
  readonly #pending = new Set<() => void>();
  #over = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, fn: () => void): () => void {
    if (this.#over) return () => {};
    const bound = AsyncResource.bind(fn);
    const cancel = this.#clock.after(ms, () => {
      this.#pending.delete(cancel);
      bound();
    });
    this.#pending.add(cancel);
    return () => {
      this.#pending.delete(cancel);
      cancel();
    };
  }

  /** Nothing is called any more. */
  end(): void {
    this.#over = true;
    for (const cancel of this.#pending) cancel();
    this.#pending.clear();
  }
}
