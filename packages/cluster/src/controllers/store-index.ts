import { type ApiObject, fromStore } from "../registry/index.ts";
import type { Store } from "../store/index.ts";

/**
 * Finds objects of one resource by something that they say about themselves: who owns them, which labels they have, what
 * they mount. Kept up to date from the store's changes, so that finding a few never means reading all.
 */
export class StoreIndex {
  readonly #store: Store;
  readonly #table: string;
  readonly #termsOf: (object: ApiObject) => readonly string[];
  /** Sorted keys by term. */
  readonly #keys = new Map<string, string[]>();
  readonly #terms = new Map<string, readonly string[]>();
  readonly #stop: () => void;
  #reads = 0;

  constructor(store: Store, table: string, termsOf: (object: ApiObject) => readonly string[]) {
    this.#store = store;
    this.#table = table;
    this.#termsOf = termsOf;
    this.#stop = store.watch(table, store.revision, ({ type, key, object }) => {
      if (type === "deleted") this.#drop(key);
      else this.#put(key, fromStore(object));
    });
    for (const { key, object } of store.list(table)) this.#put(key, fromStore(object));
  }

  /** How many objects were looked up so far: what this index costs its readers. */
  get reads(): number {
    return this.#reads;
  }

  stop(): void {
    this.#stop();
  }

  count(term: string): number {
    return this.#keys.get(term)?.length ?? 0;
  }

  /** The objects with this term, in order of their keys. */
  at(term: string): ApiObject[] {
    return this.#read(this.#keys.get(term) ?? []);
  }

  /** The objects with one of two terms, in order of their keys. */
  atEither(one: string, other: string): ApiObject[] {
    const more = this.#keys.get(other);
    if (!more) return this.at(one);
    return this.#read([...new Set([...(this.#keys.get(one) ?? []), ...more])].sort());
  }

  #read(keys: readonly string[]): ApiObject[] {
    const found: ApiObject[] = [];
    this.#reads += keys.length;
    for (const key of keys) {
      const entry = this.#store.get(this.#table, key);
      if (entry) found.push(fromStore(entry.object));
    }
    return found;
  }

  #put(key: string, object: ApiObject): void {
    const terms = this.#termsOf(object);
    const known = this.#terms.get(key);
    if (known && known.length === terms.length && known.every((term, at) => term === terms[at])) return;
    if (known) this.#drop(key);
    if (terms.length === 0) return;
    this.#terms.set(key, terms);
    for (const term of terms) {
      const keys = this.#keys.get(term);
      if (!keys) this.#keys.set(term, [key]);
      else {
        const at = position(keys, key);
        if (keys[at] !== key) keys.splice(at, 0, key);
      }
    }
  }

  #drop(key: string): void {
    for (const term of this.#terms.get(key) ?? []) {
      const keys = this.#keys.get(term);
      const at = keys ? position(keys, key) : -1;
      if (keys?.[at] === key) keys.splice(at, 1);
      if (keys?.length === 0) this.#keys.delete(term);
    }
    this.#terms.delete(key);
  }
}

/** Index of the first key that is not smaller than `key`. */
function position(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
