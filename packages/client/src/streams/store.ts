/**
 * What is in the cluster, as far as a stream has shown it, with one's own writes laid over it until the stream shows that
 * version or a newer one. A reader never sees here a state older than the last write told to it.
 */
import type { ObjectBody } from "../kinds/index.ts";
import { isComparableVersion, isOlderVersion, type ObjectKey, objectKey } from "../meta/index.ts";

/** What a body of the stream meant for the store. */
export type StoreChange<B> =
  | { readonly type: "changed"; readonly body: B; readonly replaced: B | undefined }
  /** The version was known already: a duplicate, or the echo of an own write. */
  | { readonly type: "known"; readonly echo: boolean };

const NOTHING: readonly never[] = Object.freeze([]);

/** See the module comment. */
export class ObjectStore<B extends ObjectBody = ObjectBody> {
  readonly #streamed = new Map<ObjectKey, B>();
  readonly #overlay = new Map<ObjectKey, B>();
  /** Own writes that nobody changes any more. */
  readonly #lasting = new WeakSet<B>();
  /** Uids of objects that are known to be gone before the stream has shown it. */
  readonly #deleted = new Map<ObjectKey, string>();
  /** The newest version that the stream has shown, over all objects; undefined where versions are not integers. */
  #streamVersion: string | undefined;

  /** Number of objects that the stream has shown. */
  get size(): number {
    return this.#streamed.size;
  }

  get(key: ObjectKey): B | undefined {
    const body = this.#newest(key);
    return body && this.#isDeleted(key, body) ? undefined : body;
  }

  /** All objects, own writes included. */
  *values(): IterableIterator<B> {
    for (const key of this.#streamed.keys()) {
      const body = this.get(key);
      if (body) yield body;
    }
    for (const [key, body] of this.#overlay) if (!this.#streamed.has(key) && !this.#isDeleted(key, body)) yield body;
  }

  #newest(key: ObjectKey): B | undefined {
    const own = this.#overlay.size === 0 ? undefined : this.#overlay.get(key);
    return own ?? this.#streamed.get(key);
  }

  #isDeleted(key: ObjectKey, { metadata }: B): boolean {
    return this.#deleted.size > 0 && this.#deleted.get(key) === metadata?.uid;
  }

  /** The stream shows `body`. */
  streamed(body: B): StoreChange<B> {
    const key = objectKey(body);
    const shown = this.#streamed.get(key);
    const own = this.#overlay.size === 0 ? undefined : this.#overlay.get(key);
    const isOwn = own !== undefined && sameVersion(own, body);
    // The same version twice is one too many: the answer stays, which whoever wrote it may hold, unless it may change it.
    this.#streamed.set(key, isOwn && this.#lasting.has(own) ? own : body);
    if (own && !isOlder(body, own)) this.#overlay.delete(key);
    this.reached(body.metadata?.resourceVersion);
    if (this.#isDeleted(key, body)) return { type: "known", echo: true };
    if (this.#deleted.size > 0) this.#deleted.delete(key);
    if (shown && sameVersion(shown, body)) return { type: "known", echo: false };
    // The echo of an own write, or an event that is older than it: it tells nothing new.
    if (isOwn || (own && isOlder(body, own))) return { type: "known", echo: true };
    return { type: "changed", body, replaced: own ?? shown };
  }

  /** The stream shows that the object of `body` is no more. Returns the last known body, if it was known. */
  removed(body: B): B | undefined {
    const key = objectKey(body);
    const last = this.#newest(key);
    this.#deleted.delete(key);
    this.#streamed.delete(key);
    this.#overlay.delete(key);
    this.reached(body.metadata?.resourceVersion);
    return last;
  }

  /** The object is not kept any more, though it is there. */
  forget(key: ObjectKey): void {
    this.#deleted.delete(key);
    this.#streamed.delete(key);
    this.#overlay.delete(key);
  }

  /**
   * The server answered an own write with `body`. Returns whether it is news. `lasting`: nobody changes the body any more,
   * so that it can stay when the stream shows its version.
   */
  wrote(body: B, lasting = false): boolean {
    const key = objectKey(body);
    const version = body.metadata?.resourceVersion;
    const streamed = this.#streamVersion;
    // The stream is past this version: what it showed, or did not show, is newer. This also keeps a late answer from
    // bringing a deleted object back.
    if (isComparableVersion(version) && streamed !== undefined && !isOlderVersion(streamed, version)) return false;
    const known = this.get(key);
    if (known && known.metadata?.uid === body.metadata?.uid && !isOlder(known, body)) return false;
    this.#overlay.set(key, body);
    if (lasting) this.#lasting.add(body);
    return true;
  }

  /**
   * The server answered that the object with this uid is gone; the stream will show it. Returns the last known body, if
   * that is news.
   */
  deleted(key: ObjectKey, uid: string): B | undefined {
    const known = this.get(key);
    if (!known || known.metadata?.uid !== uid) return undefined;
    this.#deleted.set(key, uid);
    return known;
  }

  /**
   * The stream is at `version`: own writes up to there have been shown, or undone by another client. Returns objects of own
   * writes that the stream has passed without showing them: they came and went unseen.
   */
  reached(version: string | undefined): readonly B[] {
    if (!isComparableVersion(version)) return NOTHING;
    if (this.#streamVersion !== undefined && !isOlderVersion(this.#streamVersion, version)) return NOTHING;
    this.#streamVersion = version;
    let unseen: B[] | undefined;
    for (const [key, body] of this.#overlay) {
      const own = body.metadata?.resourceVersion;
      if (!isComparableVersion(own) || isOlderVersion(version, own)) continue;
      this.#overlay.delete(key);
      if (this.#streamed.has(key)) continue;
      this.#deleted.delete(key);
      unseen ??= [];
      unseen.push(body);
    }
    return unseen ?? NOTHING;
  }

  /** Bodies that the stream has shown, by key. */
  get shown(): ReadonlyMap<ObjectKey, B> {
    return this.#streamed;
  }
}

function sameVersion(a: ObjectBody, b: ObjectBody): boolean {
  return a.metadata?.resourceVersion === b.metadata?.resourceVersion && a.metadata?.uid === b.metadata?.uid;
}

/** Whether `a` is older than `b`. Where versions are not integers nothing is older: the newest to arrive wins. */
function isOlder(a: ObjectBody, b: ObjectBody): boolean {
  return isOlderVersion(a.metadata?.resourceVersion, b.metadata?.resourceVersion);
}
