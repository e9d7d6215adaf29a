/**
 * The objects of one kind in both worlds, and what the shadow is told of its own: a list, and events in the order of
 * versions that only this world has. What the cluster shows comes in here, and so does what the shadow writes.
 */
import { apiErrorFrom, type KindDescription, type KubeBody } from "@lotse/client";
import { deepEqual, type ObjectKey, objectKey } from "@lotse/client/meta";
import { begin, bound, type Fork, type Outlook, released, shown, vanished } from "./fork.ts";
import type { Lens } from "./normal-form.ts";
import { Unpaired } from "./twins.ts";

/** Something has happened in the shadow's world. */
export interface WorldEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  /** With this version. */
  readonly body: KubeBody;
  /** The object as the shadow knew it. */
  readonly before: KubeBody | undefined;
}

/** What {@link KindWorld} is made of. */
export interface KindWorldParts {
  readonly kind: KindDescription;
  readonly outlook: Outlook;
  readonly lens: Lens;
  /** The next version of the world. */
  readonly nextVersion: () => number;
  /** The version that the world has. */
  readonly version: () => number;
  /** An object may have to be compared anew. */
  readonly onChanged: (world: KindWorld, key: ObjectKey) => void;
  /** An object is gone in the shadow's world: what belongs to it goes too. */
  readonly onGone: (body: KubeBody) => void;
}

/** A watch that begins earlier than this many events ago begins anew with a list. */
const MOST_EVENTS = 5_000;

/** See the module comment. */
export class KindWorld {
  readonly kind: KindDescription;
  readonly #parts: KindWorldParts;
  readonly #forks = new Map<ObjectKey, Fork>();
  /** Names that the shadow has given, and what became of them. */
  readonly #renamed = new Map<ObjectKey, ObjectKey>();
  /** By the uid of their owner in the shadow's world. */
  readonly #owned = new Map<string, Set<ObjectKey>>();
  /** What only the shadow has made, and what only the working version has. */
  readonly #own: Unpaired;
  readonly #hidden: Unpaired;
  readonly #listeners = new Set<(event: WorldEvent) => void>();
  #events: WorldEvent[] = [];
  /** Events up to this version are forgotten. */
  #forgotten: number;

  constructor(parts: KindWorldParts) {
    this.#parts = parts;
    this.kind = parts.kind;
    this.#forgotten = parts.version();
    this.#own = new Unpaired(parts.lens.aliases);
    this.#hidden = new Unpaired(parts.lens.aliases);
  }

  /** The key of an object, whatever the shadow calls it. */
  keyOf(key: ObjectKey): ObjectKey {
    return this.#renamed.get(key) ?? key;
  }

  /** An object in both worlds. */
  fork(key: ObjectKey): Fork | undefined {
    return this.#forks.get(key);
  }

  /** The objects of the shadow's world. */
  *bodies(): IterableIterator<KubeBody> {
    for (const { would } of this.#forks.values()) if (would) yield would;
  }

  /** The objects of the shadow's world that belong to the one with this uid. */
  ownedBy(uid: string): readonly ObjectKey[] {
    return [...(this.#owned.get(uid) ?? [])];
  }

  /** The cluster shows an object. */
  shown(body: KubeBody, initial: boolean): void {
    const { outlook } = this.#parts;
    const key = objectKey(body);
    const before = this.#forks.get(key);
    // The shadow was first, and gave it a uid of its own.
    if (before && !before.is) this.#parts.lens.aliases.add(before.would?.metadata?.uid, body.metadata?.uid);
    const next = before ? shown(before, body, outlook) : begin(body, initial, outlook);
    this.put(key, next);
    if (isHidden(next) && !before?.is) {
      const own = this.#own.twinOf(body, this.#parts.lens);
      if (own !== undefined) this.#bind(own, key);
    }
  }

  /** The cluster has an object no longer. */
  vanished(body: KubeBody): void {
    const key = objectKey(body);
    const before = this.#forks.get(key);
    if (before) this.put(key, vanished(before, this.#parts.outlook));
  }

  /** The shadow is told of a deletion that was held back. */
  release(key: ObjectKey): void {
    const fork = this.#forks.get(key);
    if (fork) this.put(key, released(fork, this.#parts.outlook.worker));
  }

  /** Looks for the counterpart of an object that the shadow has made; returns the key under which it is from now on. */
  bindOwn(key: ObjectKey): ObjectKey {
    const own = this.#forks.get(key);
    if (!own?.would || own.is) return key;
    const real = this.#hidden.twinOf(own.would, this.#parts.lens);
    if (real === undefined) return key;
    this.#bind(key, real);
    return real;
  }

  /** The shadow's object and the working version's are one from now on, under the name that the cluster has. */
  #bind(own: ObjectKey, real: ObjectKey): void {
    const [mine, theirs] = [this.#forks.get(own), this.#forks.get(real)];
    if (!mine?.would || !theirs?.is) return;
    const { outlook, lens } = this.#parts;
    const would = bound(mine.would, mine.own, theirs.is, outlook.worker);
    lens.aliases.add(mine.would.metadata?.name, theirs.is.metadata?.name);
    lens.aliases.add(mine.would.metadata?.uid, theirs.is.metadata?.uid);
    this.#renamed.set(own, real);
    this.put(own, undefined);
    this.put(real, { ...mine, is: theirs.is, made: true, would });
  }

  /** The object is so now. */
  put(key: ObjectKey, next: Fork | undefined): void {
    const before = this.#forks.get(key);
    if (!next || (!next.is && !next.would)) this.#forks.delete(key);
    else this.#forks.set(key, this.#told(key, before, next));
    if (before?.would && !next?.would) this.#gone(before.would);
    const now = this.#forks.get(key);
    this.#file(key, before?.would, now?.would);
    this.#pair(key, now);
    this.#parts.onChanged(this, key);
  }

  #file(key: ObjectKey, before: KubeBody | undefined, now: KubeBody | undefined): void {
    for (const { uid } of before?.metadata?.ownerReferences ?? []) {
      const keys = this.#owned.get(uid);
      keys?.delete(key);
      if (keys?.size === 0) this.#owned.delete(uid);
    }
    for (const { uid } of now?.metadata?.ownerReferences ?? []) {
      this.#owned.set(uid, (this.#owned.get(uid) ?? new Set()).add(key));
    }
  }

  #pair(key: ObjectKey, fork: Fork | undefined): void {
    if (fork?.would && !fork.is && fork.deletion === undefined) this.#own.add(key, fork.would);
    else this.#own.delete(key);
    if (fork?.is && isHidden(fork)) this.#hidden.add(key, fork.is);
    else this.#hidden.delete(key);
  }

  /** The same with the version that the shadow is told. */
  #told(key: ObjectKey, before: Fork | undefined, next: Fork): Fork {
    const [old, would] = [before?.would, next.would];
    if (!would || would === old) return next;
    if (old && isSame(old, would)) return { ...next, would: old };
    if (old && old.metadata?.uid !== would.metadata?.uid) {
      this.#forks.delete(key);
      this.#gone(old);
    }
    const known = old?.metadata?.uid === would.metadata?.uid ? old : undefined;
    const version = this.#parts.nextVersion();
    const body = withVersion(would, version);
    this.#tell({ type: known ? "MODIFIED" : "ADDED", version, body, before: known });
    return { ...next, would: body };
  }

  #gone(last: KubeBody): void {
    const version = this.#parts.nextVersion();
    this.#tell({ type: "DELETED", version, body: withVersion(last, version), before: last });
    this.#parts.onGone(last);
  }

  #tell(event: WorldEvent): void {
    this.#events.push(event);
    if (this.#events.length > MOST_EVENTS) {
      this.#events = this.#events.slice(MOST_EVENTS / 2);
      this.#forgotten = (this.#events[0]?.version ?? 1) - 1;
    }
    for (const listener of [...this.#listeners]) listener(event);
  }

  /** Tells what has happened after `version`, and what will; the returned function ends that. */
  listen(version: number, listener: (event: WorldEvent) => void): () => void {
    if (version < this.#forgotten) {
      const message = `too old resource version: ${version} (${this.#forgotten})`;
      throw apiErrorFrom(410, { reason: "Expired", message }, { method: "GET", path: this.kind.plural });
    }
    for (const event of this.#events) if (event.version > version) listener(event);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Whether the working version has made it, and the shadow has not. */
function isHidden({ is, would, made, deletion }: Fork): boolean {
  return is !== undefined && would === undefined && made && deletion === undefined;
}

function withVersion(body: KubeBody, version: number): KubeBody {
  return { ...body, metadata: { ...body.metadata, resourceVersion: String(version) } };
}

/** Whether nothing has changed that the shadow could see. */
function isSame(old: KubeBody, now: KubeBody): boolean {
  const content = ({ metadata, ...rest }: KubeBody) => {
    const { resourceVersion: _, managedFields: __, ...kept } = metadata ?? {};
    return { ...rest, metadata: kept };
  };
  return deepEqual(content(old), content(now));
}
