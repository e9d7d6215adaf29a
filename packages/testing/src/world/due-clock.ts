import type { Clock } from "@lotse/client/meta";

/** A clock that knows when its next call is due, so that time can be moved exactly there and no further. */
export class DueClock implements Clock {
  readonly #clock: Clock;
  readonly #due = new Set<{ readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The monotonic time of the next call, if one waits. */
  get nextDue(): number | undefined {
    let first: number | undefined;
    for (const { at } of this.#due) if (first === undefined || at < first) first = at;
    return first;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, fn: () => void): () => void {
    const entry = { at: this.monotonic() + Math.max(0, ms) };
    this.#due.add(entry);
    const cancel = this.#clock.after(ms, () => {
      this.#due.delete(entry);
      fn();
    });
    return () => {
      this.#due.delete(entry);
      cancel();
    };
  }
}
