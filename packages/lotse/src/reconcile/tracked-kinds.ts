/** The kinds whose reads are tracked; kinds that no handler was declared for join when a reconciler reads them. */
import type { KindClass, KindDescription } from "@lotse/client";
import { type KindKey, kindKey } from "@lotse/client/meta";
import { type Kept, keptText } from "../declare/index.ts";
import type { KindView } from "./kind-view.ts";
import { KindReads } from "./reads.ts";

/** Begins to follow a kind, and resolves when all its objects are known. */
export type FollowKind = (kind: KindDescription, kindClass: KindClass | undefined, wanted: Kept) => Promise<KindView>;

/** See the module comment. */
export class TrackedKinds {
  readonly #follow: FollowKind;
  readonly #views = new Map<KindKey, KindView>();
  /** By kind and by what is wanted of it. */
  readonly #coming = new Map<string, Promise<KindView>>();
  readonly #indexes = new Map<string, KindReads>();
  readonly #listeners = new Set<(view: KindView) => void>();

  constructor(follow: FollowKind) {
    this.#follow = follow;
  }

  /** A kind is followed from now on. */
  add(view: KindView): void {
    this.#views.set(kindKey(view.kind), view);
    for (const listener of this.#listeners) listener(view);
  }

  /** A kind is followed no longer: reconcilers that read it ask for it anew. */
  remove(view: KindView): void {
    const key = kindKey(view.kind);
    if (this.#views.get(key) === view) this.#views.delete(key);
    view.close();
  }

  /** Calls back for each kind that is followed, now and later; the returned function ends that. */
  onKind(listener: (view: KindView) => void): () => void {
    this.#listeners.add(listener);
    for (const view of this.#views.values()) listener(view);
    return () => this.#listeners.delete(listener);
  }

  /** The kind, if all its objects are known. */
  known(kind: KindDescription): KindView | undefined {
    return this.#views.get(kindKey(kind));
  }

  /** The kind, as soon as all its objects are known, with all that is wanted of them. */
  async view(kind: KindDescription, kindClass: KindClass | undefined, wanted: Kept = "all"): Promise<KindView> {
    const known = this.known(kind);
    if (known?.covers(wanted)) return known;
    const key = `${kindKey(kind)} ${keptText(wanted)}`;
    let coming = this.#coming.get(key);
    if (!coming) {
      coming = this.#follow(kind, kindClass, wanted).finally(() => this.#coming.delete(key));
      this.#coming.set(key, coming);
    }
    return coming;
  }

  /** Who has read which keys of an index. */
  indexReads(id: string): KindReads {
    let reads = this.#indexes.get(id);
    if (!reads) {
      reads = new KindReads(id);
      this.#indexes.set(id, reads);
    }
    return reads;
  }
}
