/** What is remembered of single children between two runs of their parent. May be lost at any time without harm. */
import type { LoopState } from "../turn/index.ts";

/** See the module comment. */
export interface ChildNotes {
  /** Digest of what the server made of what was applied, where that looks different. */
  accepted?: string | undefined;
  /** Digest of the drift that is kept, once people have been told. */
  kept?: string | undefined;
  /** How often it had to be repaired lately. */
  repairs?: LoopState | undefined;
}

/** By the key of the child. Most children need no notes, and most parents therefore nothing at all. */
export class NotesOfChildren {
  #notes: Map<string, ChildNotes> | undefined;

  get(key: string): Readonly<ChildNotes> | undefined {
    return this.#notes?.get(key);
  }

  set(key: string, notes: ChildNotes): void {
    this.#notes ??= new Map();
    this.#notes.set(key, { ...this.#notes.get(key), ...notes });
  }

  /** Forgets all but these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#notes?.keys() ?? []) if (!keys.has(key)) this.#notes?.delete(key);
  }
}
