/** A declared index: handed to `indexes(…)` in a handler, it gives the index with its types. */
export interface IndexHandle<K, V> {
  readonly id: string;
  /** Never there; carries the types. */
  readonly "~types"?: { readonly key: K; readonly value: V };
}

/** What an index of the operator's objects can be asked. Reading is O(1); handlers cannot write to it. */
export interface IndexView<K, V> extends Iterable<[K, readonly V[]]> {
  /** Number of keys. */
  readonly size: number;
  /** The values of a key; empty when there are none. */
  get(key: K | undefined): readonly V[];
  has(key: K | undefined): boolean;
  keys(): IterableIterator<K>;
  entries(): IterableIterator<[K, readonly V[]]>;
}

/** The operator's indexes: by handle, with types, or by name. */
export interface Indexes {
  <K, V>(handle: IndexHandle<K, V>): IndexView<K, V>;
  readonly [id: string]: IndexView<unknown, unknown>;
}

/** What an index function contributes: `{ key: value }`, a Map, or a single value (the body too) under the common key `null`. */
export type IndexTypes<C> =
  C extends ReadonlyMap<infer K, infer V>
    ? { key: K; value: V }
    : C extends string | number | boolean | readonly unknown[]
      ? { key: null; value: C }
      : C extends object
        ? IsBody<C> extends true
          ? { key: null; value: C }
          : { key: string; value: NonNullable<C[keyof C]> }
        : { key: null; value: C };

/** A body has a kind that is a text and metadata that are none; no map of values has both. */
type IsBody<C> = "metadata" | "kind" extends keyof C
  ? [C["metadata" & keyof C], C["kind" & keyof C]] extends [object | undefined, string | undefined]
    ? true
    : false
  : false;
