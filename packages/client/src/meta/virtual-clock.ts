import type { Clock } from "./clock.ts";

interface Pending {
  at: number;
  order: number;
  fn: () => void;
}

/**
 * A clock that stands still until it is told to move: hours pass in microseconds, and always in the same order.
 *
 * @example
 * ```ts
 * const clock = new VirtualClock();
 * clock.after(60_000, () => console.log("a minute later"));
 * await clock.advance(60_000);
 * ```
 */
export class VirtualClock implements Clock {
  #elapsed = 0;
  #order = 0;
  readonly #start: number;
  readonly #pending = new Set<Pending>();

  constructor(start = Date.parse("2026-01-01T00:00:00Z")) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, fn: () => void): () => void {
    const entry = { at: this.#elapsed + Math.max(0, ms), order: this.#order++, fn };
    this.#pending.add(entry);
    return () => this.#pending.delete(entry);
  }

  /** How many calls wait; a test that ends with some has leaked them. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Moves time by `ms`, calling what falls due on the way and letting promises settle after each call. */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsed + ms;
    await settle();
    for (let next = this.#earliest(); next && next.at <= target; next = this.#earliest()) {
      this.#elapsed = next.at;
      this.#pending.delete(next);
      next.fn();
      await settle();
    }
    this.#elapsed = target;
  }

  #earliest(): Pending | undefined {
    let first: Pending | undefined;
    for (const entry of this.#pending) {
      if (!first || entry.at < first.at || (entry.at === first.at && entry.order < first.order)) first = entry;
    }
    return first;
  }
}

/** Promise chains of our code are a few links long; one turn of the event loop empties the microtask queue. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
