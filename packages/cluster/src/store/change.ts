/** What is stored, and how it changes: the words that every file of the store shares. */

/** What the store asks of an object; the rest of the body is the registry's business. */
export interface StoredObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string };
  readonly [key: string]: unknown;
}

/** One row: an object as of its last change. */
export interface Entry {
  readonly key: string;
  readonly revision: number;
  readonly object: StoredObject;
}

/** What was done to an object. */
export type ChangeType = "created" | "updated" | "deleted";

/** One committed change; `object` is the state after it, or for a deletion the last state with the deletion's revision. */
export interface Change {
  readonly type: ChangeType;
  readonly revision: number;
  readonly key: string;
  readonly object: StoredObject;
  readonly previous: Entry | undefined;
}

/** Told of each change, in the order of revisions. */
export type ChangeListener = (change: Change) => void;
