/**
 * Members that start together wait for each other a moment before they read any objects: else each of them would read all.
 */
import type { Clock } from "@lotse/client/meta";

/** How long is waited. */
export interface GatheringTimes {
  /** So long nobody has come. */
  readonly quietMs: number;
  /** However many come, and where the server does not answer. */
  readonly longestMs: number;
}

/**
 * See the module comment. `over` resolves, and never rejects.
 *
 * @example
 * const gathering = new Gathering(clock, { quietMs: 500, longestMs: 5_000 });
 * gathering.see("0,1"); // and whenever who is there has changed
 * await gathering.over;
 */
export class Gathering {
  readonly over: Promise<void>;
  readonly #clock: Clock;
  readonly #quietMs: number;
  #present: string | undefined;
  #resolve: () => void = () => {};
  #cancelQuiet: () => void = () => {};
  readonly #cancelLongest: () => void;

  constructor(clock: Clock, { quietMs, longestMs }: GatheringTimes) {
    this.#clock = clock;
    this.#quietMs = quietMs;
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#cancelLongest = clock.after(longestMs, () => this.end());
  }

  /** Who is there; undefined: this process is not seen by others yet. */
  see(present: string | undefined): void {
    if (present === undefined || present === this.#present) return;
    this.#present = present;
    this.#cancelQuiet();
    this.#cancelQuiet = this.#clock.after(this.#quietMs, () => this.end());
  }

  end(): void {
    this.#cancelQuiet();
    this.#cancelLongest();
    this.#resolve();
  }
}
