/**
 * What is kept in memory of a kind: all of it, or, where processes share the objects and nobody here looks at those of
 * others, only what this process works on or is about to.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { ShardSelector } from "@lotse/client/meta";
import type { Handler } from "../declare/index.ts";
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
  /** Set when they are first asked for. */
  readonly streams: () => Pick<KindStreams, "purge" | "relist" | "listAnew">;
}

/** See the module comment. */
export class Keeping {
  readonly #parts: KeepingParts;
  /** Whether an object is kept; undefined: all are, for good. */
  readonly keeps: ((body: KubeBody) => boolean) | undefined;
  #partial: boolean;
  #relisting: Promise<void> = Promise.resolve();
  /** All objects are known, where that was not so from the start. */
  #whole: Promise<void> = Promise.resolve();

  constructor(parts: KeepingParts) {
    this.#parts = parts;
    this.#partial = mayBePartial(parts);
    const { ownership, kind } = parts;
    if (this.#partial) this.keeps = (body) => !this.#partial || ownership.keeps?.(body, kind()) !== false;
  }

  /** Whether not all objects are known. */
  get isPartial(): boolean {
    return this.#partial;
  }

  /** What is kept, as a server can be asked for it; undefined: it cannot. */
  shard(): ShardSelector | undefined {
    const { ownership, kind } = this.#parts;
    return this.#partial ? ownership.shardOf?.(kind()) : undefined;
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
    if (this.#partial) this.#whole = this.#relisting.then(() => streams.listAnew());
    this.#partial = false;
    return this.#whole;
  }
}

function mayBePartial({ handlers, ownership, isFollowed }: KeepingParts): boolean {
  if (ownership.keeps === undefined || handlers.length === 0 || isFollowed) return false;
  return !handlers.some((handler) => handler.type === "index" && !handler.own);
}
