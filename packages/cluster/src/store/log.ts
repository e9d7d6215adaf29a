import type { Change } from "./store.ts";

/**
 * The recent changes of one resource. Bounded by number here and by age by the store: whoever asks for more is told so
 * and lists again, which is what a client must be able to do anyway.
 */
export class RevisionLog {
  #changes: Change[] = [];
  /** Entries before this index are forgotten; the array is cut only now and then, so that appending stays cheap. */
  #start = 0;
  #compacted = 0;
  readonly #retainChanges: number;

  constructor(retainChanges: number) {
    this.#retainChanges = retainChanges;
  }

  /** The revision of the newest forgotten change: reading from it or later is complete. */
  get compacted(): number {
    return this.#compacted;
  }

  append(change: Change, compacted: number): void {
    this.#changes.push(change);
    this.forgetUntil(compacted);
    while (this.#changes.length - this.#start > this.#retainChanges) {
      this.#compacted = (this.#changes[this.#start] as Change).revision;
      this.#start++;
    }
    this.#cut();
  }

  /** The changes after `revision`, oldest first. */
  after(revision: number): Change[] {
    return this.#changes.slice(this.#firstAfter(revision));
  }

  /** The changes after `revision`, newest first: the order in which they are undone. */
  backwardsTo(revision: number): Change[] {
    return this.after(revision).reverse();
  }

  /** Forgets the changes up to and including `revision`. */
  forgetUntil(revision: number): void {
    const first = this.#firstAfter(revision);
    if (first === this.#start) return;
    this.#compacted = (this.#changes[first - 1] as Change).revision;
    this.#start = first;
    this.#cut();
  }

  /** Takes back the changes after `revision`, as if they had never been. */
  cutAfter(revision: number): void {
    this.#changes.length = this.#firstAfter(revision);
  }

  clear(revision: number): void {
    this.#changes = [];
    this.#start = 0;
    this.#compacted = revision;
  }

  #cut(): void {
    if (this.#start <= 1_024 || this.#start * 2 <= this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }

  #firstAfter(revision: number): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as Change).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
