import type { Change } from "./store.ts";

interface Logged {
  readonly change: Change;
  readonly at: number;
}

/**
 * The recent changes of one resource. Bounded by number and by age: whoever asks for more is told so and lists again,
 * which is what a client must be able to do anyway.
 */
export class RevisionLog {
  #changes: Logged[] = [];
  /** Entries before this index are forgotten; the array is cut only now and then, so that appending stays cheap. */
  #start = 0;
  #compacted = 0;
  readonly #retainChanges: number;
  readonly #retainMs: number;

  constructor(retainChanges: number, retainMs: number) {
    this.#retainChanges = retainChanges;
    this.#retainMs = retainMs;
  }

  /** The revision of the newest forgotten change: reading from it or later is complete. */
  get compacted(): number {
    return this.#compacted;
  }

  append(change: Change, now: number): void {
    this.#changes.push({ change, at: now });
    this.trim(now);
  }

  /** The changes after `revision`, oldest first. */
  after(revision: number): Change[] {
    return this.#changes.slice(this.#firstAfter(revision)).map((logged) => logged.change);
  }

  /** The changes after `revision`, newest first: the order in which they are undone. */
  backwardsTo(revision: number): Change[] {
    return this.after(revision).reverse();
  }

  clear(revision: number): void {
    this.#changes = [];
    this.#start = 0;
    this.#compacted = revision;
  }

  trim(now: number): void {
    while (this.#start < this.#changes.length) {
      const oldest = this.#changes[this.#start] as Logged;
      const tooMany = this.#changes.length - this.#start > this.#retainChanges;
      if (!tooMany && now - oldest.at <= this.#retainMs) break;
      this.#compacted = oldest.change.revision;
      this.#start++;
    }
    if (this.#start > 1_024 && this.#start * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#start);
      this.#start = 0;
    }
  }

  #firstAfter(revision: number): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as Logged).change.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
