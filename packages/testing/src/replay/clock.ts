import type { Clock } from "@lotse/client/meta";
import type { TapeMoment, TapeTick } from "lotse/tape";

interface Timer {
  readonly id: number;
  readonly ms: number;
  /** When it is due, of the monotonic time. */
  readonly at: number;
  readonly fn: () => void;
}

/**
 * Time as the tape has it: it stands still while something follows from an input, and moves on afterwards where the clock
 * was read when it was recorded.
 */
export class ReplayClock implements Clock {
  readonly #pending = new Map<number, Timer>();
  #moment: TapeMoment;
  #ticks: readonly TapeTick[] = [];
  #reads = 0;
  #isIdle = true;
  #timers = 0;

  constructor(now: number) {
    this.#moment = { now, mono: 0 };
  }

  now(): number {
    this.#read();
    return this.#moment.now;
  }

  monotonic(): number {
    this.#read();
    return this.#moment.mono;
  }

  after(ms: number, fn: () => void): () => void {
    const id = ++this.#timers;
    this.#pending.set(id, { id, ms, at: this.#moment.mono + Math.max(0, ms), fn });
    return () => this.#pending.delete(id);
  }

  /** The moment that it is, without counting as a reading. */
  get moment(): TapeMoment {
    return this.#moment;
  }

  /** An input comes: it is this moment, and `ticks` are how time moves on until the next one. */
  input(moment: TapeMoment, ticks: readonly TapeTick[]): void {
    this.#moment = moment;
    this.#ticks = ticks;
    this.#reads = 0;
    this.#isIdle = false;
  }

  /** Nothing follows any more from the last input. */
  idle(): void {
    this.#isIdle = true;
  }

  /** Calls a timer that was set as it was on the tape; false when there is none. */
  fire(id: number, ms: number): boolean {
    const timer = this.#pending.get(id);
    if (timer?.ms !== ms) return false;
    this.#pending.delete(id);
    timer.fn();
    return true;
  }

  /** The timers that are due, and that the tape does not tell of (`isTold`), the earliest first. */
  due(mono: number, isTold: (id: number, ms: number) => boolean): (() => void)[] {
    return [...this.#pending.values()]
      .filter(({ id, ms, at }) => at <= mono && !isTold(id, ms))
      .sort((a, b) => a.at - b.at || a.id - b.id)
      .map(({ id, fn }) => () => {
        if (this.#pending.delete(id)) fn();
      });
  }

  #read(): void {
    if (!this.#isIdle) return;
    this.#reads++;
    const [next, ...rest] = this.#ticks;
    if (next === undefined || next.n > this.#reads) return;
    this.#moment = { now: next.now, mono: next.mono };
    this.#ticks = rest;
  }
}
