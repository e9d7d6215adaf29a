/**
 * Indexes: what index handlers make of the objects in the cluster, found by key and kept in memory.
 *
 * Each object, known by its uid, owns what its handler returned for it: its contribution. A new contribution replaces
 * the former one, and the end of the object takes it away. Two maps keep this cheap: from key to the values of all
 * objects, and from object to its own keys, so that an update costs what the object's contributions hold, however large
 * the index is. What must stay true: a key without values does not exist, and nothing that came from a removed object is
 * reachable from here; keys that are objects are therefore copied, because they outlive the object that brought them.
 *
 * Writer and reader are different objects: handlers get the {@link Index} and cannot write.
 */
import { ConfigError, deepEqual } from "@lotse/client/meta";
import { deepFreeze } from "../declare/index.ts";

/** What can be a key: plain JSON. */
export type IndexKey = string | number | boolean | null | readonly IndexKeyPart[] | IndexKeyObject;

/** A part of a compound key; an undefined one (the namespace of a cluster-scoped object) counts as null. */
export type IndexKeyPart = IndexKey | undefined;

/** A key made of named parts; their order does not matter, undefined ones count as absent. */
export interface IndexKeyObject {
  readonly [name: string]: IndexKeyPart;
}

/**
 * A read-only index: the values that objects have under a key. Texts and numbers are the same key when they are equal
 * (`1` and `"1"` are two keys), arrays and objects when their JSON is, whatever the order of their members.
 *
 * @example
 * ```ts
 * for (const pod of indexes.podsByNode.get("node-1")) logger.info("found", { pod });
 * ```
 */
export interface Index<K = IndexKey, V = unknown> extends Iterable<[K, readonly V[]]> {
  /** Number of keys. */
  readonly size: number;
  /**
   * The values of a key, at most one of each object, in the order in which the objects came to the key; empty when
   * there are none. The array is a snapshot: it does not change while the index moves on.
   */
  get(key: K | undefined): readonly V[];
  /** Whether any object has a value under this key. */
  has(key: K | undefined): boolean;
  /** All keys. */
  keys(): IterableIterator<K>;
  /** All keys with their values. */
  entries(): IterableIterator<[K, readonly V[]]>;
}

/** What stands for a key in the maps. Texts stand for themselves, compound keys for their JSON behind a mark. */
type KeyId = string | number | boolean | null;

/** The values of one key. */
interface Slot<K, V> {
  readonly key: K;
  readonly values: Map<string, V>;
  /** What the last reader got; undefined after a change. */
  snapshot: readonly V[] | undefined;
}

const NOTHING: readonly never[] = Object.freeze([]);

/** The writing side of one index. */
export class IndexStore<K = IndexKey, V = unknown> {
  readonly #slots = new Map<KeyId, Slot<K, V>>();
  readonly #keysOf = new Map<string, ReadonlySet<KeyId>>();
  readonly #onChange: (key: string) => void;

  /** `onChange` hears of each key whose values are others now, as {@link indexKeyText} writes it. */
  constructor(onChange: (key: string) => void = () => {}) {
    this.#onChange = onChange;
  }

  /** What handlers read. */
  readonly index: Index<K, V> = new SlotReader(this.#slots);

  /** Number of objects that have a value in the index. */
  get objects(): number {
    return this.#keysOf.size;
  }

  /**
   * Replaces what the object contributed before.
   *
   * - A plain object or a Map: each of its values, under its key. Undefined values and keys are left out. The keys of
   *   a plain object are texts; other keys need a Map.
   * - Undefined or null: nothing.
   * - Anything else (a text, a number, an array, an instance of a class): this value, under the key `null`.
   *
   * A value that was there before keeps its place among the values of its key. Throws, and changes nothing, when a key
   * is not plain JSON.
   */
  update(uid: string, contribution: unknown): void {
    const wanted = readContribution(contribution);
    for (const id of this.#keysOf.get(uid) ?? []) {
      if (!wanted.has(id)) this.#drop(uid, id);
    }
    for (const [id, { key, value }] of wanted) {
      const slot = this.#slots.get(id);
      if (slot === undefined) {
        this.#slots.set(id, { key: ownKey(id, key) as K, values: new Map([[uid, value as V]]), snapshot: undefined });
        this.#onChange(textOfId(id));
      } else {
        const same = slot.values.has(uid) && deepEqual(slot.values.get(uid), value);
        slot.values.set(uid, value as V);
        slot.snapshot = undefined;
        if (!same) this.#onChange(textOfId(id));
      }
    }
    if (wanted.size === 0) this.#keysOf.delete(uid);
    else this.#keysOf.set(uid, new Set(wanted.keys()));
  }

  /** Takes away what the object contributed; whether there was anything. */
  remove(uid: string): boolean {
    const ids = this.#keysOf.get(uid);
    if (ids === undefined) return false;
    for (const id of ids) this.#drop(uid, id);
    return this.#keysOf.delete(uid);
  }

  #drop(uid: string, id: KeyId): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    slot.values.delete(uid);
    slot.snapshot = undefined;
    if (slot.values.size === 0) this.#slots.delete(id);
    this.#onChange(textOfId(id));
  }
}

class SlotReader<K, V> implements Index<K, V> {
  readonly #slots: ReadonlyMap<KeyId, Slot<K, V>>;

  constructor(slots: ReadonlyMap<KeyId, Slot<K, V>>) {
    this.#slots = slots;
  }

  get size(): number {
    return this.#slots.size;
  }

  get(key: K | undefined): readonly V[] {
    const slot = key === undefined ? undefined : this.#slots.get(idOf(key));
    return slot === undefined ? NOTHING : valuesOf(slot);
  }

  has(key: K | undefined): boolean {
    return key !== undefined && this.#slots.has(idOf(key));
  }

  *keys(): IterableIterator<K> {
    for (const { key } of this.#slots.values()) yield key;
  }

  *entries(): IterableIterator<[K, readonly V[]]> {
    for (const slot of this.#slots.values()) yield [slot.key, valuesOf(slot)];
  }

  [Symbol.iterator](): IterableIterator<[K, readonly V[]]> {
    return this.entries();
  }
}

/** Made when a handler reads, kept until something changes: reading again and again costs nothing. */
function valuesOf<V>(slot: Slot<unknown, V>): readonly V[] {
  slot.snapshot ??= Object.freeze([...slot.values.values()]);
  return slot.snapshot;
}

interface Offer {
  readonly key: unknown;
  readonly value: unknown;
}

function readContribution(contribution: unknown): Map<KeyId, Offer> {
  const read = new Map<KeyId, Offer>();
  const take = (key: unknown, value: unknown) => {
    if (key !== undefined && value !== undefined) read.set(idOf(key), { key, value });
  };
  if (contribution === undefined || contribution === null) return read;
  if (contribution instanceof Map) for (const [key, value] of contribution) take(key, value);
  else if (isPlainObject(contribution)) for (const key of Object.keys(contribution)) take(key, contribution[key]);
  else take(null, contribution);
  return read;
}

/** No text of a cluster begins with it; one that does all the same is marked itself. */
const MARK = "\u0000";

function idOf(key: unknown): KeyId {
  if (typeof key === "string") return key.startsWith(MARK) ? `${MARK}text ${key}` : key;
  if (typeof key === "number" || typeof key === "boolean" || key === null) return key;
  return MARK + canonicalJson(key);
}

/** A key as a text: equal for equal keys. */
export function indexKeyText(key: unknown): string {
  return textOfId(idOf(key));
}

/** A text key and another one that looks like it are told apart by the quotes of JSON. */
function textOfId(id: KeyId): string {
  return JSON.stringify(id);
}

/** The key as readers get it: it shares nothing with the one that was passed in. */
function ownKey(id: KeyId, key: unknown): unknown {
  const compound = typeof key === "object" && key !== null;
  return compound ? deepFreeze(JSON.parse((id as string).slice(MARK.length))) : key;
}

function canonicalJson(value: unknown): string {
  if (value === undefined) return "null";
  if (typeof value === "string" || typeof value === "boolean" || value === null) return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isPlainObject(value)) {
    throw new ConfigError(`${nameOf(value)} cannot be a key of an index`, {
      hint: "use a text, a number, or an array or plain object of these",
    });
  }
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    if (value[name] !== undefined) members.push(`${JSON.stringify(name)}:${canonicalJson(value[name])}`);
  }
  return `{${members.join(",")}}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // Not compared with Object.prototype: an operator's file may live in a realm of its own.
  return (
    prototype === null || (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty"))
  );
}

function nameOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return `an instance of ${value.constructor?.name ?? "a class"}`;
  return typeof value === "function" ? "a function" : `the ${typeof value} ${String(value)}`;
}
