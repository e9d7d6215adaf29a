import type { Clock } from "@lotse/client/meta";
import type { TapeMoment } from "./format.ts";
import type { InputGate } from "./gate.ts";

/** What the clock tells. */
export interface ClockListener {
  /** It was read for the n-th time since nothing followed from the last input any more, and time had moved on. */
  ticked(n: number, moment: TapeMoment): void;
  /** A timer is about to be called. */
  fired(id: number, ms: number, moment: TapeMoment): void;
}

/**
 * Time, as an operator that is recorded sees it: in whole milliseconds. It stands still while something follows from an
 * input, which takes no longer than the operator's own work; so whatever is read then is the time of the input. What is
 * read later, as by a handler that has waited for something else, is on the tape.
 */
export class TapeClock implements Clock {
  readonly #clock: Clock;
  readonly #gate: InputGate;
  readonly #listener: ClockListener;
  readonly #startedAt: number;
  #moment: TapeMoment;
  #reads = 0;
  #timers = 0;

  constructor(clock: Clock, gate: InputGate, listener: ClockListener) {
    this.#clock = clock;
    this.#gate = gate;
    this.#listener = listener;
    this.#startedAt = clock.monotonic();
    this.#moment = { now: clock.now(), mono: 0 };
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
    let isOver = false;
    const cancel = this.#clock.after(ms, () => {
      this.#gate.push(() => {
        if (isOver) return;
        isOver = true;
        this.#listener.fired(id, ms, this.input());
        fn();
      });
    });
    return () => {
      isOver = true;
      cancel();
    };
  }

  /** The moment of an input that comes now. */
  input(): TapeMoment {
    this.#move();
    this.#reads = 0;
    return this.#moment;
  }

  #read(): void {
    if (!this.#gate.isIdle) return;
    this.#reads++;
    if (this.#move()) this.#listener.ticked(this.#reads, this.#moment);
  }

  #move(): boolean {
    const mono = Math.floor(this.#clock.monotonic() - this.#startedAt);
    if (mono === this.#moment.mono) return false;
    this.#moment = { now: Math.floor(this.#clock.now()), mono };
    return true;
  }
}
