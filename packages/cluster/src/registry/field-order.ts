/**
 * The order in which a real server writes fields: those of its structs as Go declares them, which the table of messages
 * knows, and everything else by its keys. Objects are put in order when they are written, so that reading costs nothing.
 */
import { isRecord } from "./object.ts";
import type { MessageField, MessageTable } from "./tables/index.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const API_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
const SCHEMA_PROPS = `${API_EXTENSIONS}.JSONSchemaProps`;

/** A value in order: the same one where it is already, else a copy. */
type Arrange = (value: unknown) => unknown;

interface Place {
  readonly rank: number;
  /** Absent where there is nothing below. */
  readonly arrange: Arrange | undefined;
}

const same: Arrange = (value) => value;

/** Types whose JSON is not that of their message. */
const SPECIAL: ReadonlyMap<string, Arrange> = new Map([
  [`${META}.Time`, same],
  [`${META}.MicroTime`, same],
  [`${META}.FieldsV1`, same],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", same],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", same],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", same],
  [`${API_EXTENSIONS}.JSON`, byKeys],
]);

/** Puts values of built-in types in order. What it learns about a type it keeps. */
export class FieldOrder {
  readonly #messages: MessageTable;
  readonly #arrangers = new Map<string, Arrange>();

  constructor(messages: MessageTable) {
    this.#messages = messages;
  }

  /** `value` is of the type that `ref` names. Never changes its argument. */
  arrange<T>(value: T, ref: string): T {
    return this.#of(ref)(value) as T;
  }

  #of(ref: string): Arrange {
    let arrange = this.#arrangers.get(ref);
    if (arrange === undefined) {
      arrange = SPECIAL.get(ref) ?? this.#union(ref) ?? this.#struct(ref);
      this.#arrangers.set(ref, arrange);
    }
    return arrange;
  }

  /** A schema, or something simpler in its place. */
  #union(ref: string): Arrange | undefined {
    if (!ref.startsWith(`${SCHEMA_PROPS}Or`)) return undefined;
    const schema: Arrange = (value) => (isRecord(value) ? this.#of(SCHEMA_PROPS)(value) : value);
    const list = listOf(schema);
    return (value) => (Array.isArray(value) ? list(value) : schema(value));
  }

  #struct(ref: string): Arrange {
    const message = this.#messages.get(ref);
    if (message === undefined || message.list) return same;
    let places: ReadonlyMap<string, Place> | undefined;
    return (value) => {
      places ??= this.#places(ref);
      return isRecord(value) ? arrangeStruct(value, places) : value;
    };
  }

  #places(ref: string): ReadonlyMap<string, Place> {
    const places = new Map<string, Place>();
    const add = (name: string) => {
      for (const field of this.#messages.get(name)?.fields.values() ?? []) {
        if (!field.inline) places.set(field.name, { rank: places.size, arrange: this.#below(field) });
        else if ("message" in field.type) add(field.type.message);
      }
    };
    add(ref);
    // What says of which type a struct is stands before all that is in it.
    if (!places.has("kind")) places.set("kind", { rank: -2, arrange: undefined });
    if (!places.has("apiVersion")) places.set("apiVersion", { rank: -1, arrange: undefined });
    return places;
  }

  #below(field: MessageField): Arrange | undefined {
    const { type } = field;
    const item: Arrange | undefined = "message" in type ? (value) => this.#of(type.message)(value) : undefined;
    if (field.map) return mapOf(item ?? same);
    return item && field.repeated ? listOf(item) : item;
  }
}

const LAST: Place = { rank: Number.MAX_SAFE_INTEGER, arrange: undefined };

function arrangeStruct(value: Record<string, unknown>, places: ReadonlyMap<string, Place>): Record<string, unknown> {
  let last = Number.MIN_SAFE_INTEGER;
  let moved = false;
  let changed: Map<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const { rank, arrange } = places.get(key) ?? LAST;
    moved ||= rank < last;
    last = rank;
    if (arrange === undefined) continue;
    const before = value[key];
    const after = arrange(before);
    if (after === before) continue;
    changed ??= new Map();
    changed.set(key, after);
  }
  if (!moved && changed === undefined) return value;
  const keys = Object.keys(value);
  if (moved) keys.sort((a, b) => (places.get(a) ?? LAST).rank - (places.get(b) ?? LAST).rank);
  return rebuild(keys, (key) => (changed?.has(key) ? changed.get(key) : value[key]));
}

/** Fields of any document by their keys, all the way down: so a server writes what it has no struct for. */
export function byKeys<T>(value: T): T {
  return sortDeep(value) as T;
}

const sortDeep: Arrange = (value) => {
  if (Array.isArray(value)) return sortItems(value);
  return isRecord(value) ? sortEntries(value) : value;
};
const sortItems = listOf(sortDeep);
const sortEntries = mapOf(sortDeep);

function listOf(item: Arrange): Arrange {
  return (value) => {
    if (!Array.isArray(value)) return value;
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const after = item(value[i]);
      if (after === value[i]) continue;
      copy ??= [...value];
      copy[i] = after;
    }
    return copy ?? value;
  };
}

function mapOf(item: Arrange): Arrange {
  return (value) => {
    if (!isRecord(value)) return value;
    const keys = Object.keys(value);
    const sorted = keys.every((key, i) => i === 0 || (keys[i - 1] as string) < key);
    const after = keys.map((key) => item(value[key]));
    if (sorted && after.every((one, i) => one === value[keys[i] as string])) return value;
    const found = new Map(keys.map((key, i) => [key, after[i]]));
    return rebuild(sorted ? keys : [...keys].sort(), (key) => found.get(key));
  };
}

function rebuild(keys: readonly string[], read: (key: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, read(key)]));
}
