/**
 * What is kept in memory of a kind. Which objects: all of them, or, where processes share them and nobody here looks at
 * those of others, only what this process works on or is about to; of a kind that is only indexed, those that the indexes
 * look at. And what of each: all of it, or the fields that its readers have named. Both only ever grow by what turns out
 * to be needed, and then everything is listed anew.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { LabelSelector, ShardSelector } from "@lotse/client/meta";
import { Cutter, commonLabels, covers, type Handler, type Kept, unionOf } from "../declare/index.ts";
import type { KindStreams } from "../informers/index.ts";
import type { Ownership } from "../runtime/index.ts";

/** What {@link Keeping} is made of. */
export interface KeepingParts {
  readonly handlers: readonly Handler[];
  readonly ownership: Ownership;
  /** As the cluster serves it now. */
  readonly kind: () => KindDescription;
  /** Reconcilers have said that they follow the kind: then all of its objects are read. */
  readonly isFollowed: boolean;
  /** What its readers need of each object. */
  readonly kept: Kept;
  /** More of each object is kept from now on. */
  readonly onWider: (kept: Kept) => void;
  /** Set when they are first asked for. */
  readonly streams: () => Pick<KindStreams, "purge" | "relist" | "listAnew">;
}

/** See the module comment. */
export class Keeping {
  readonly #parts: KeepingParts;
  /** Whether an object is kept; undefined: all are, for good. */
  readonly keeps: ((body: KubeBody) => boolean) | undefined;
  /** What is kept of an object; undefined: all of it, for good. */
  readonly cut: ((body: KubeBody) => KubeBody) | undefined;
  /** What is kept of those that come in. */
  #kept: Kept;
  /** What is kept of all that are there. */
  #held: Kept;
  #cutter: Cutter | undefined;
  /** The list under way that brings what is not there yet. */
  #widening: Promise<void> | undefined;
  #partial: boolean;
  /** What the labels of all objects have in common that are looked at; empty: nothing. */
  #labels: LabelSelector;
  #relisting: Promise<void> = Promise.resolve();
  /** All objects are known, where that was not so from the start. */
  #whole: Promise<void> = Promise.resolve();

  constructor(parts: KeepingParts) {
    this.#parts = parts;
    this.#partial = mayBePartial(parts);
    const { ownership, kind, handlers, isFollowed } = parts;
    // Which process an object is for may be said by a function of the user's, of any of its fields.
    const kept = this.#partial ? "all" : parts.kept;
    this.#kept = kept;
    this.#held = kept;
    this.#cutter = kept === "all" ? undefined : new Cutter(kind().kind, kept);
    this.cut = this.#cutter && ((body) => this.#cutter?.cut(body) ?? body);
    this.#labels = isFollowed ? [] : commonLabels(handlers);
    if (this.#partial) this.keeps = (body) => !this.#partial || ownership.keeps?.(body, kind()) !== false;
  }

  /** Whether not all objects are known. */
  get isPartial(): boolean {
    return this.#partial || this.#labels.length > 0;
  }

  /** Labels that the server can be asked for. */
  labels(): LabelSelector {
    return this.#labels;
  }

  /** What is kept, as a server can be asked for it; undefined: it cannot. */
  shard(): ShardSelector | undefined {
    const { ownership, kind } = this.#parts;
    return this.#partial ? ownership.shardOf?.(kind()) : undefined;
  }

  /** What is kept of each object. */
  get kept(): Kept {
    return this.#kept;
  }

  /** Whether all objects that are there have all that is wanted of them. */
  covers(wanted: Kept): boolean {
    return covers(this.#held, wanted);
  }

  /** From now on this is kept as well; resolves when all objects that are there have it. */
  widen(wanted: Kept): Promise<void> {
    if (this.covers(wanted)) return Promise.resolve();
    if (this.#widening && covers(this.#kept, wanted)) return this.#widening;
    // Also what a list that failed was to bring.
    const wider = unionOf([this.#kept, wanted]);
    const { streams, kind, onWider } = this.#parts;
    this.#kept = wider;
    this.#cutter = wider === "all" ? undefined : new Cutter(kind().kind, wider);
    onWider(wider);
    const widening = this.#relisting
      .then(() => streams().listAnew())
      .then(() => {
        this.#held = unionOf([this.#held, wider]);
      })
      .finally(() => {
        if (this.#widening === widening) this.#widening = undefined;
      });
    this.#widening = widening;
    // The next list waits for this one; whoever has asked hears what went wrong.
    this.#relisting = widening.catch(() => undefined);
    return widening;
  }

  /** Other objects are worth their memory than before; `gained`: more of them are, and have to be listed. */
  changed(gained: boolean): void {
    if (!this.#partial) return;
    const streams = this.#parts.streams();
    streams.purge();
    // One after another; what goes wrong with streams is told by themselves.
    if (gained) this.#relisting = this.#relisting.then(() => streams.relist()).catch(() => undefined);
  }

  /** From now on all objects are kept; resolves when they are known. */
  whole(): Promise<void> {
    const streams = this.#parts.streams();
    if (this.isPartial) {
      this.#whole = this.#relisting.then(() => streams.listAnew());
      this.#relisting = this.#whole.catch(() => undefined);
    }
    this.#partial = false;
    this.#labels = [];
    return this.#whole;
  }
}

function mayBePartial({ handlers, ownership, isFollowed }: KeepingParts): boolean {
  if (ownership.keeps === undefined || handlers.length === 0 || isFollowed) return false;
  return !handlers.some((handler) => handler.type === "index" && !handler.own);
}
