import type { Clock } from "../meta/index.ts";

/** Calls back after `limitMs()` without a sign of life. One timer for many signs: it looks again when it fires. */
export class SilenceTimer {
  readonly #clock: Clock;
  readonly #limitMs: () => number;
  #heardAt = 0;
  #paused = false;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, limitMs: () => number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** May be called again when the limit has become shorter. */
  start(onSilence: () => void): void {
    this.#cancel();
    this.heard();
    const look = () => {
      const limitMs = this.#limitMs();
      const left = this.#paused ? limitMs : this.#heardAt + limitMs - this.#clock.monotonic();
      if (left <= 0) onSilence();
      else this.#cancel = this.#clock.after(left, look);
    };
    this.#cancel = this.#clock.after(this.#limitMs(), look);
  }

  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  /** While the sink holds reading back, silence says nothing. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.heard();
  }

  stop(): void {
    this.#cancel();
  }
}
