import { type Clock, Nap } from "@lotse/client/meta";

/** A bell that is not missed: a ring while the scanner is busy is heard when it listens next. */
export class Bell {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #rung = false;
  #nap: Nap | undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  ring(): void {
    this.#rung = true;
    this.#nap?.end();
  }

  /** Resolves when it rings or has rung since the last `answer`, after `ms` at the latest, or when the signal aborts. */
  async heard(ms: number): Promise<boolean> {
    if (!this.#rung) {
      this.#nap = new Nap(this.#clock, this.#signal);
      this.#nap.endIn(ms);
      await this.#nap.over;
      this.#nap = undefined;
    }
    return this.#rung;
  }

  /** What has rung so far is taken care of from now on; what rings next is news. */
  answer(): void {
    this.#rung = false;
  }
}
