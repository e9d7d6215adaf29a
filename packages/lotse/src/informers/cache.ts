/**
 * What is in the cluster, as far as the operator knows: what the stream showed, with the operator's own writes laid
 * over it until the stream shows that version or a newer one. Whoever reads here never sees a state older than the
 * operator's last write.
 */
import type { KubeBody } from "@lotse/client";

/** `namespace/name`, or `/name` without a namespace. */
export type CacheKey = string;

/** The key of a body. */
export function cacheKey(body: KubeBody): CacheKey {
  return `${body.metadata?.namespace ?? ""}/${body.metadata?.name ?? ""}`;
}

/** What a body of the stream meant for the cache. */
export type CacheChange =
  | { readonly type: "changed"; readonly body: KubeBody; readonly replaced: KubeBody | undefined }
  /** The version was known already: a duplicate, or the echo of an own write. */
  | { readonly type: "known"; readonly echo: boolean };

/** See the module comment. */
export class Cache {
  readonly #streamed = new Map<CacheKey, KubeBody>();
  readonly #overlay = new Map<CacheKey, KubeBody>();
  /** The newest version that the stream has shown, over all objects; undefined where versions are not integers. */
  #streamVersion: bigint | undefined;

  /** Number of objects. */
  get size(): number {
    return this.#streamed.size;
  }

  get(key: CacheKey): KubeBody | undefined {
    return this.#overlay.get(key) ?? this.#streamed.get(key);
  }

  /** All objects, own writes included. */
  *values(): IterableIterator<KubeBody> {
    for (const key of this.#streamed.keys()) yield this.get(key) as KubeBody;
    for (const [key, body] of this.#overlay) if (!this.#streamed.has(key)) yield body;
  }

  /** The stream shows `body`. */
  streamed(body: KubeBody): CacheChange {
    const key = cacheKey(body);
    const shown = this.#streamed.get(key);
    const own = this.#overlay.get(key);
    this.#streamed.set(key, body);
    if (own && !isOlder(body, own)) this.#overlay.delete(key);
    this.reached(body.metadata?.resourceVersion);
    if (shown && sameVersion(shown, body)) return { type: "known", echo: false };
    // The echo of an own write, or an event that is older than it: it tells nothing new.
    if (own && (sameVersion(own, body) || isOlder(body, own))) return { type: "known", echo: true };
    return { type: "changed", body, replaced: own ?? shown };
  }

  /** The stream shows that the object of `body` is no more. Returns the last known body, if it was known. */
  removed(body: KubeBody): KubeBody | undefined {
    const key = cacheKey(body);
    const last = this.get(key);
    this.#streamed.delete(key);
    this.#overlay.delete(key);
    this.reached(body.metadata?.resourceVersion);
    return last;
  }

  /** The server answered an own write with `body`. Returns whether it is news. */
  wrote(body: KubeBody): boolean {
    const key = cacheKey(body);
    const version = versionOf(body);
    // The stream is past this version: what it showed, or did not show, is newer. This also keeps a late answer from
    // bringing a deleted object back.
    if (version !== undefined && this.#streamVersion !== undefined && version <= this.#streamVersion) return false;
    const known = this.get(key);
    if (known && known.metadata?.uid === body.metadata?.uid && !isOlder(known, body)) return false;
    this.#overlay.set(key, body);
    return true;
  }

  /** The stream is at `version`: own writes up to there have been shown, or undone by somebody. */
  reached(version: string | undefined): void {
    const reached = parseVersion(version);
    if (reached === undefined || (this.#streamVersion !== undefined && reached <= this.#streamVersion)) return;
    this.#streamVersion = reached;
    for (const [key, body] of this.#overlay) {
      const own = versionOf(body);
      if (own !== undefined && own <= reached) this.#overlay.delete(key);
    }
  }

  /** Bodies that the stream has shown, by key. */
  get shown(): ReadonlyMap<CacheKey, KubeBody> {
    return this.#streamed;
  }
}

function sameVersion(a: KubeBody, b: KubeBody): boolean {
  return a.metadata?.resourceVersion === b.metadata?.resourceVersion && a.metadata?.uid === b.metadata?.uid;
}

/** Whether `a` is older than `b`. Where versions are not integers nothing is older: the newest to arrive wins. */
function isOlder(a: KubeBody, b: KubeBody): boolean {
  const first = versionOf(a);
  const second = versionOf(b);
  return first !== undefined && second !== undefined && first < second;
}

function versionOf(body: KubeBody): bigint | undefined {
  return parseVersion(body.metadata?.resourceVersion);
}

function parseVersion(version: string | undefined): bigint | undefined {
  return version !== undefined && /^\d+$/.test(version) ? BigInt(version) : undefined;
}
