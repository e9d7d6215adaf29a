import { compareTimes, formatTimestamp, type Timestamp } from "./timestamps.ts";

/**
 * How far a log has been read. A server that is asked for lines since a time goes back to the full second, and two lines
 * may have the same time: so what was told already is recognised by its time, and by how many lines of that time were told.
 */
export class LogPosition {
  #last: Timestamp | undefined;
  /** How many lines with the time `#last` have been told. */
  #told = 0;
  /** How many of those the present stream has sent again. */
  #seenAgain = 0;

  /** For the query of the next stream; `undefined` before the first line. */
  get sinceTime(): string | undefined {
    return this.#last && formatTimestamp(this.#last);
  }

  /** A new stream begins, somewhere at or before the last line. */
  restart(): void {
    this.#seenAgain = 0;
  }

  /** Whether a line of this time is new; it counts as told then. */
  admit(time: Timestamp): boolean {
    const order = this.#last === undefined ? 1 : compareTimes(time, this.#last);
    if (order < 0) return false;
    if (order > 0) {
      this.#last = time;
      this.#told = 0;
      this.#seenAgain = 0;
    } else if (this.#seenAgain < this.#told) {
      this.#seenAgain++;
      return false;
    }
    this.#told++;
    this.#seenAgain++;
    return true;
  }
}
