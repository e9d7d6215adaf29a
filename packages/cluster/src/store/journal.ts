import type { StoredObject } from "./change.ts";

/**
 * One step of the store, in the order of revisions, none left out: from all of them the store can be built again.
 * A compaction forgets history by its age, and takes a revision without changing an object.
 */
export type JournalEntry =
  | {
      readonly type: "put" | "delete";
      readonly revision: number;
      readonly resource: string;
      readonly key: string;
      readonly object: StoredObject;
    }
  | { readonly type: "compaction"; readonly revision: number };

/** Where the store tells each of its steps, within the step. */
export interface Journal {
  append(entry: JournalEntry): void;
}

/** When what the store says is safe to be told to others: once it would survive the end of this process. */
export interface Durability {
  /** Nothing waits to be written down. */
  readonly settled: boolean;
  /** Nothing can be written down any more. What the store says is safe all the same: it was taken back to what is. */
  readonly frozen: boolean;
  /** Resolves when everything up to now is safe; rejects when it never will be. */
  durable(): Promise<void>;
}

/** A row as it is kept outside of the store. */
export interface StoredRow {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly object: StoredObject;
}
