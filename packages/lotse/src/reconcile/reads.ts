/**
 * Who has read what, and whom a change therefore concerns. One entry for each distinct read of a kind: an object, its
 * existence, or a query. What must stay true: an entry without readers does not exist, and a change is compared with the
 * entries at the object's old and new places only.
 */
import type { KubeBody } from "@lotse/client";
import { type IdentityKey, type ObjectKey, objectKey } from "@lotse/client/meta";
import { type Dimension, placeOf, type Query, restText, testFrom, valuesIn } from "./query.ts";

/** A change of an object: created without `before`, gone without `now`. */
export interface Change {
  readonly before: KubeBody | undefined;
  readonly now: KubeBody | undefined;
  readonly by: Author;
}

/**
 * A new state of an object, by its own turn or by another client. The stream may be faster than the answer to the turn's
 * write, so which of the two it was is known only with that answer, which has the same version.
 */
export class NewState {
  readonly key: IdentityKey;
  readonly version: string | undefined;

  constructor(key: IdentityKey, version: string | undefined) {
    this.key = key;
    this.version = version;
  }
}

/** Whose work a change was: a reader's own, that of the object's turn or of another client, or certainly another client's. */
export type Author = Reader | NewState | undefined;

/** A reconciler of one object, as far as it reads. */
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
  /** What was read, or the place of the query. */
  readonly key: string;
  /** What a query asks for beyond its place. */
  readonly rest: string | undefined;
  /** A set only for several. */
  readers: Reader | Set<Reader> | undefined;

  constructor(reads: KindReads, key: string, rest: string | undefined) {
    this.reads = reads;
    this.key = key;
    this.rest = rest;
    this.readers = undefined;
  }

  /** In words, for people. */
  get text(): string {
    // The journal keeps it.
    return flat(wordsFor(this));
  }
}

function wordsFor({ reads: { kind }, key, rest }: ReadPoint): string {
  if (key.startsWith("o ")) return `${kind} ${key.slice(2).replace(/^\//, "")}`;
  if (key.startsWith("e ")) return `whether there is a ${kind} ${key.slice(2).replace(/^\//, "")}`;
  if (key.startsWith("i ")) return `index ${kind}[${key.slice(2)}]`;
  const at = key.lastIndexOf("@");
  const namespace = key.slice(at + 1);
  const place = equalityText(key.slice(0, at));
  const what = rest === undefined ? place : key.startsWith("u=") ? `${restText(rest)} ${place}` : restText(rest);
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
  /** Points that ask for more than their place says, by place; a list only for several. */
  readonly #tested = new Map<string, ReadPoint | ReadPoint[]>();
  #testedSize = 0;
  /** How many points are filed under each dimension. */
  readonly #dimensions = new Map<Dimension, number>();

  constructor(kind: string) {
    this.kind = kind;
  }

  /** Number of distinct reads. */
  get size(): number {
    return this.#points.size + this.#testedSize;
  }

  /** `reader` has read one object. */
  object(key: ObjectKey, reader: Reader): ReadPoint {
    return this.#subscribe(`o ${key}`, reader);
  }

  /** `reader` has asked whether an object exists. */
  existence(key: ObjectKey, reader: Reader): ReadPoint {
    return this.#subscribe(`e ${key}`, reader);
  }

  /** `reader` has read a key of an index. */
  indexKey(key: string, reader: Reader): ReadPoint {
    return this.#subscribe(`i ${key}`, reader);
  }

  /** `reader` has listed objects. */
  list(query: Query, reader: Reader): ReadPoint {
    const { dimension, value, namespace, rest } = query;
    const place = placeOf(dimension, value, namespace);
    return rest === undefined ? this.#subscribe(place, reader, dimension) : this.#test(place, rest, reader, dimension);
  }

  /** `reader` no longer depends on `point`. */
  forget(point: ReadPoint, reader: Reader): void {
    if (point.readers instanceof Set) {
      point.readers.delete(reader);
      if (point.readers.size > 0) return;
    } else if (point.readers !== reader) return;
    point.readers = undefined;
    if (point.rest === undefined ? this.#points.delete(point.key) : this.#untest(point)) this.#unfile(point);
  }

  /** Tells everybody whom a change concerns. */
  changed(change: Change): void {
    if (this.size === 0) return;
    const { before, now } = change;
    const body = now ?? before;
    if (!body) return;
    const key = objectKey(body);
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

  /** Whatever was read here may be read differently now. */
  allChanged(): void {
    const change: Change = { before: undefined, now: undefined, by: undefined };
    const tested = [...this.#tested.values()].flat();
    for (const point of [...this.#points.values(), ...tested]) tell(point, change);
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
    for (const point of this.#testedAt(place)) {
      if (states.some(testFrom(point.rest as string))) tell(point, change);
    }
  }

  #subscribe(key: string, reader: Reader, dimension?: Dimension): ReadPoint {
    let point = this.#points.get(key);
    if (!point) {
      point = new ReadPoint(this, flat(key), undefined);
      this.#points.set(point.key, point);
      if (dimension) this.#file(dimension);
    }
    return joined(point, reader);
  }

  #test(place: string, rest: string, reader: Reader, dimension: Dimension): ReadPoint {
    const others = this.#testedAt(place);
    let point = others.find((one) => one.rest === rest);
    if (!point) {
      point = new ReadPoint(this, others[0]?.key ?? flat(place), flat(rest));
      this.#tested.set(point.key, others.length === 0 ? point : [...others, point]);
      this.#testedSize++;
      this.#file(dimension);
    }
    return joined(point, reader);
  }

  #untest(point: ReadPoint): boolean {
    const before = this.#testedAt(point.key);
    const [first, ...left] = before.filter((one) => one !== point);
    if (left.length + (first ? 1 : 0) === before.length) return false;
    this.#testedSize--;
    if (first) this.#tested.set(first.key, left.length === 0 ? first : [first, ...left]);
    else this.#tested.delete(point.key);
    return true;
  }

  #testedAt(place: string): readonly ReadPoint[] {
    const tested = this.#tested.get(place);
    return tested === undefined ? NOTHING : Array.isArray(tested) ? tested : [tested];
  }

  #file(dimension: Dimension): void {
    this.#dimensions.set(dimension, (this.#dimensions.get(dimension) ?? 0) + 1);
  }

  #unfile({ key }: ReadPoint): void {
    if (/^[oei] /.test(key)) return;
    const dimension = key.slice(0, key.indexOf("=")) as Dimension;
    const left = (this.#dimensions.get(dimension) ?? 1) - 1;
    if (left > 0) this.#dimensions.set(dimension, left);
    else this.#dimensions.delete(dimension);
  }
}

const NOTHING: readonly ReadPoint[] = [];

function joined(point: ReadPoint, reader: Reader): ReadPoint {
  if (point.readers === undefined) point.readers = reader;
  else if (point.readers instanceof Set) point.readers.add(reader);
  else if (point.readers !== reader) point.readers = new Set([point.readers, reader]);
  return point;
}

/** A text that was put together is kept by V8 as its pieces, which take three times the memory of the text itself. */
function flat(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join("");
}

function tell(point: ReadPoint | undefined, change: Change): void {
  const readers = point?.readers;
  if (!point || readers === undefined) return;
  // Copied: a reader that is told may stop to read.
  if (readers instanceof Set) for (const reader of [...readers]) reader.onChange(point, change);
  else readers.onChange(point, change);
}
