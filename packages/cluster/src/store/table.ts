import type { Entry } from "./change.ts";

/**
 * Rows by key, readable in key order. Keys compare by code unit, as the bytes of a key do in a real server's storage:
 * that decides the order of lists and pages (`a-b/x` comes before `a/x`).
 */
export class SortedTable {
  readonly #rows = new Map<string, Entry>();
  /** Every key of `#rows`, sorted. */
  readonly #keys: string[] = [];

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Entry | undefined {
    return this.#rows.get(key);
  }

  set(entry: Entry): void {
    if (!this.#rows.has(entry.key)) this.#keys.splice(this.#position(entry.key), 0, entry.key);
    this.#rows.set(entry.key, entry);
  }

  delete(key: string): void {
    if (this.#rows.delete(key)) this.#keys.splice(this.#position(key), 1);
  }

  /** The rows whose key starts with `prefix`, in order. */
  range(prefix: string): Entry[] {
    const found: Entry[] = [];
    for (let i = this.#position(prefix); i < this.#keys.length; i++) {
      const key = this.#keys[i] as string;
      if (!key.startsWith(prefix)) break;
      found.push(this.#rows.get(key) as Entry);
    }
    return found;
  }

  /** Index of the first key that is not smaller than `key`. */
  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
