/** What reconcilers see of one kind: its objects, who has read which of them, and whom its changes concern. */
import type { KindClass, KindDescription, KubeBody } from "@lotse/client";
import type { Kept } from "../declare/index.ts";
import { Lookup, type Objects } from "./lookup.ts";
import { type Author, type Change, KindReads } from "./reads.ts";

/** Told of every change of a kind. */
export type ChangeListener = (change: Change) => void;

/** See the module comment. */
export class KindView {
  readonly kind: KindDescription;
  readonly kindClass: KindClass | undefined;
  readonly lookup: Lookup;
  readonly reads: KindReads;
  readonly #listeners = new Set<ChangeListener>();
  #closed = false;

  /** Whether its objects have all that is wanted of them; of most kinds all is kept. */
  readonly covers: (wanted: Kept) => boolean;

  constructor(
    kind: KindDescription,
    kindClass: KindClass | undefined,
    objects: Objects,
    has: (wanted: Kept) => boolean = () => true,
  ) {
    this.covers = has;
    this.kind = kind;
    this.kindClass = kindClass;
    this.lookup = new Lookup(objects);
    this.reads = new KindReads(kind.kind);
  }

  /** Calls back for each change; the returned function ends that. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether the kind is followed no longer. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** The kind is followed no longer: reconcilers that have read it read anew, and find out. */
  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    this.reads.allChanged();
  }

  /** An object was created (no `before`), has changed, or is gone (no `now`). */
  changed(before: KubeBody | undefined, now: KubeBody | undefined, by: Author): void {
    this.lookup.changed(before, now);
    const change: Change = { before, now, by };
    this.reads.changed(change);
    for (const listener of this.#listeners) listener(change);
  }
}
