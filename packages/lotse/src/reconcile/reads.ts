/**
 * Who has read what, and whom a change therefore concerns. One entry for each distinct read of a kind: an object, its
 * existence, or a query. What must stay true: an entry without readers does not exist, and a change is compared with the
 * entries at the object's old and new places only.
 */
import { type KubeBody, storeKey } from "@lotse/client";
import { type Dimension, placeOf, type Query, valuesIn } from "./query.ts";

/** A change of an object: created without `before`, gone without `now`. */
export interface Change {
  readonly before: KubeBody | undefined;
  readonly now: KubeBody | undefined;
  /** The reader whose own work this was, if it was one's. */
  readonly by: Reader | undefined;
}

/** Somebody who reads. */
export interface Reader {
  /** Something that it has read would be read differently now. */
  onChange(point: ReadPoint, change: Change): void;
  /** The server answers a write of this reader, and the stream has shown it before: it was no news after all. */
  claim(body: KubeBody, gone: boolean): void;
}

/** Names one change of one object: the stream and the answer to a write name it alike. */
export function changeName(body: KubeBody | undefined, gone: boolean): string {
  const { uid, resourceVersion } = body?.metadata ?? {};
  return gone ? `${uid} gone` : `${uid} @${resourceVersion}`;
}

/** One distinct read. Kept small: there may be several for each object of the cluster. */
export class ReadPoint {
  readonly reads: KindReads;
  readonly key: string;
  /** A set only for several. */
  readers: Reader | Set<Reader> | undefined;
  /** For queries that ask for more than their place says. */
  readonly query: Query | undefined;

  constructor(reads: KindReads, key: string, query: Query | undefined) {
    this.reads = reads;
    this.key = key;
    this.readers = undefined;
    this.query = query;
  }

  /** In words, for people. */
  get text(): string {
    // The journal keeps it.
    return flat(wordsFor(this));
  }
}

function wordsFor({ reads: { kind }, key, query }: ReadPoint): string {
  if (key.startsWith("o ")) return `${kind} ${key.slice(2).replace(/^\//, "")}`;
  if (key.startsWith("e ")) return `whether there is a ${kind} ${key.slice(2).replace(/^\//, "")}`;
  if (key.startsWith("i ")) return `index ${kind}[${key.slice(2)}]`;
  const at = key.lastIndexOf("@");
  const namespace = key.slice(at + 1).split(" ")[0];
  const what = query?.text ?? equalityText(key.slice(0, at));
  return `list of ${kind}${namespace === "*" ? "" : ` in ${namespace}`}${what ? ` with ${what}` : ""}`;
}

function equalityText(place: string): string {
  if (place.startsWith("n=")) return "";
  if (place.startsWith("u=")) return `owner ${place.slice(2)}`;
  return place.slice(2);
}

/** The reads of one kind, or of one index. */
export class KindReads {
  /** The kind in words. */
  readonly kind: string;
  readonly #points = new Map<string, ReadPoint>();
  /** Points that ask for more than their place says, by place. */
  readonly #tested = new Map<string, Set<ReadPoint>>();
  /** How many points are filed under each dimension. */
  readonly #dimensions = new Map<Dimension, number>();

  constructor(kind: string) {
    this.kind = kind;
  }

  /** Number of distinct reads. */
  get size(): number {
    return this.#points.size;
  }

  /** `reader` has read one object. */
  object(key: string, reader: Reader): ReadPoint {
    return this.#subscribe(`o ${key}`, undefined, reader);
  }

  /** `reader` has asked whether an object exists. */
  existence(key: string, reader: Reader): ReadPoint {
    return this.#subscribe(`e ${key}`, undefined, reader);
  }

  /** `reader` has read a key of an index. */
  indexKey(key: string, reader: Reader): ReadPoint {
    return this.#subscribe(`i ${key}`, undefined, reader);
  }

  /** `reader` has listed objects. */
  list(query: Query, reader: Reader): ReadPoint {
    const place = placeOf(query.dimension, query.value, query.namespace);
    return this.#subscribe(query.test ? `${place} ${query.text}` : place, query, reader);
  }

  /** `reader` no longer depends on `point`. */
  forget(point: ReadPoint, reader: Reader): void {
    if (point.readers instanceof Set) {
      point.readers.delete(reader);
      if (point.readers.size > 0) return;
    } else if (point.readers !== reader) return;
    point.readers = undefined;
    if (this.#points.get(point.key) !== point) return;
    this.#points.delete(point.key);
    this.#unfile(point);
  }

  /** Tells everybody whom a change concerns. */
  changed(change: Change): void {
    if (this.#points.size === 0) return;
    const { before, now } = change;
    const body = now ?? before;
    if (!body) return;
    const key = storeKey(body);
    tell(this.#points.get(`o ${key}`), change);
    if (before?.metadata?.uid !== now?.metadata?.uid) tell(this.#points.get(`e ${key}`), change);
    for (const dimension of this.#dimensions.keys()) {
      const was = before ? valuesIn(dimension, before) : [];
      const is = now ? valuesIn(dimension, now) : [];
      for (const value of new Set([...was, ...is])) {
        const states = [...(was.includes(value) ? [before] : []), ...(is.includes(value) ? [now] : [])];
        this.#at(dimension, value, body, change, states as KubeBody[]);
      }
    }
  }

  /** A key of an index has other values now. */
  indexChanged(key: string, change: Change): void {
    tell(this.#points.get(`i ${key}`), change);
  }

  /** `states`: those of the two that have the value. */
  #at(dimension: Dimension, value: string, { metadata }: KubeBody, change: Change, states: readonly KubeBody[]): void {
    this.#atPlace(placeOf(dimension, value, undefined), change, states);
    if (metadata?.namespace === undefined) return;
    this.#atPlace(placeOf(dimension, value, metadata.namespace), change, states);
  }

  #atPlace(place: string, change: Change, states: readonly KubeBody[]): void {
    tell(this.#points.get(place), change);
    const tested = this.#tested.get(place);
    if (!tested) return;
    for (const point of [...tested]) {
      const test = point.query?.test;
      if (test && states.some(test)) tell(point, change);
    }
  }

  #subscribe(key: string, query: Query | undefined, reader: Reader): ReadPoint {
    let point = this.#points.get(key);
    if (!point) {
      point = new ReadPoint(this, flat(key), query?.test ? query : undefined);
      this.#points.set(point.key, point);
      if (query) this.#file(point, query);
    }
    if (point.readers === undefined) point.readers = reader;
    else if (point.readers instanceof Set) point.readers.add(reader);
    else if (point.readers !== reader) point.readers = new Set([point.readers, reader]);
    return point;
  }

  #file(point: ReadPoint, { dimension, value, namespace, test }: Query): void {
    this.#dimensions.set(dimension, (this.#dimensions.get(dimension) ?? 0) + 1);
    if (!test) return;
    const place = placeOf(dimension, value, namespace);
    this.#tested.set(place, (this.#tested.get(place) ?? new Set()).add(point));
  }

  #unfile(point: ReadPoint): void {
    if (/^[oei] /.test(point.key)) return;
    const dimension = point.key.slice(0, point.key.indexOf("=")) as Dimension;
    const left = (this.#dimensions.get(dimension) ?? 1) - 1;
    if (left > 0) this.#dimensions.set(dimension, left);
    else this.#dimensions.delete(dimension);
    if (!point.query) return;
    const place = placeOf(dimension, point.query.value, point.query.namespace);
    const tested = this.#tested.get(place);
    if (tested?.delete(point) && tested.size === 0) this.#tested.delete(place);
  }
}

/** A text that was put together is kept by V8 as its pieces, which take three times the memory of the text itself. */
function flat(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join("");
}

function tell(point: ReadPoint | undefined, change: Change): void {
  const readers = point?.readers;
  if (!point || readers === undefined) return;
  // Copied: whoever is told may stop to read.
  if (readers instanceof Set) for (const reader of [...readers]) reader.onChange(point, change);
  else readers.onChange(point, change);
}
