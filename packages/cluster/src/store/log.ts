import type { Change } from "./change.ts";
import { sizeOf } from "./size.ts";

/**
 * The recent changes of one resource. Bounded by number here, by bytes and by age by the store: a client that asks for
 * more is told so and lists again, which is what a client must be able to do anyway.
 */
export class RevisionLog {
  #changes: Change[] = [];
  /** Of each change, at the same index. */
  #sizes: number[] = [];
  #bytes = 0;
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

  /** About as many bytes as the changes have. The state before a change is the state after another, and not counted. */
  get bytes(): number {
    return this.#bytes;
  }

  append(change: Change, compacted: number): void {
    const size = sizeOf(change.object);
    this.#changes.push(change);
    this.#sizes.push(size);
    this.#bytes += size;
    this.forgetUntil(compacted);
    while (this.#changes.length - this.#start > this.#retainChanges) this.#forgetFirst();
    this.#cut();
  }

  /** Forgets the oldest changes until at least so many bytes are free; the newest one stays. Returns how many are. */
  shrink(bytes: number): number {
    const before = this.#bytes;
    while (before - this.#bytes < bytes && this.#changes.length - this.#start > 1) this.#forgetFirst();
    this.#cut();
    return before - this.#bytes;
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
    while (this.#start < first) this.#forgetFirst();
    this.#cut();
  }

  /** Takes back the changes after `revision`, as if they had never been. */
  cutAfter(revision: number): void {
    const length = this.#firstAfter(revision);
    for (const size of this.#sizes.slice(length)) this.#bytes -= size;
    this.#changes.length = length;
    this.#sizes.length = length;
  }

  clear(revision: number): void {
    this.#changes = [];
    this.#sizes = [];
    this.#bytes = 0;
    this.#start = 0;
    this.#compacted = revision;
  }

  #forgetFirst(): void {
    this.#compacted = (this.#changes[this.#start] as Change).revision;
    this.#bytes -= this.#sizes[this.#start] as number;
    this.#start++;
  }

  #cut(): void {
    if (this.#start <= 64 || this.#start * 2 <= this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#sizes = this.#sizes.slice(this.#start);
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
