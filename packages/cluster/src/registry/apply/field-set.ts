import { goJson } from "../schema/index.ts";

/** The wire form of a set of fields: keys are path elements, `.` says that the container itself belongs to it. */
export type FieldsV1 = { readonly [element: string]: FieldsV1 };

/** One step of a path, as it is written in FieldsV1: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`. */
export type PathElement = string;

/** A place in an object: fields, items by key or value. */
export type Path = readonly PathElement[];

interface Entry {
  /** Whether the path that ends here is in the set; its children may be in it without it. */
  member: boolean;
  readonly below: FieldSet;
}

/** A field, in the spelling of managedFields. */
export const fieldElement = (name: string): PathElement => `f:${name}`;
/** An item of a list by its keys, in the spelling of managedFields. */
export const keyElement = (key: Readonly<Record<string, unknown>>): PathElement => `k:${goJson(key)}`;
/** An item of a set by its value, in the spelling of managedFields. */
export const valueElement = (value: unknown): PathElement => `v:${goJson(value)}`;

const RANK: Record<string, number> = { f: 0, k: 1, v: 2, i: 3 };

function compareElements(a: PathElement, b: PathElement): number {
  const order = (RANK[a[0] as string] ?? 4) - (RANK[b[0] as string] ?? 4);
  return order !== 0 ? order : a < b ? -1 : a > b ? 1 : 0;
}

/**
 * A set of paths into an object: what a manager owns, or what differs. Operations answer with new sets that may share
 * parts with their operands: `insert` is for sets that are being made.
 */
export class FieldSet {
  readonly #entries = new Map<PathElement, Entry>();

  static of(...paths: Path[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** Reads the wire form; throws on an element of no known kind. */
  static decode(fields: unknown): FieldSet {
    const set = new FieldSet();
    if (typeof fields !== "object" || fields === null) return set;
    for (const [element, value] of Object.entries(fields)) {
      if (element === ".") continue;
      if (!/^[fkvi]:/.test(element)) throw new Error(`unknown path element ${JSON.stringify(element)}`);
      const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
      set.#entry(normalize(element), names.length === 0 || names.includes("."), FieldSet.decode(value));
    }
    return set;
  }

  encode(): FieldsV1 {
    const fields: Record<string, FieldsV1> = {};
    for (const [element, entry] of this.#sorted()) {
      const below = entry.below.encode();
      fields[element] = entry.member && !entry.below.empty ? { ".": {}, ...below } : below;
    }
    return fields;
  }

  get empty(): boolean {
    return this.#entries.size === 0;
  }

  insert(path: Path): void {
    let entry: Entry | undefined;
    for (const element of path) {
      const entries = (entry?.below ?? this).#entries;
      entry = entries.get(element);
      if (!entry) {
        entry = { member: false, below: new FieldSet() };
        entries.set(element, entry);
      }
    }
    if (entry) entry.member = true;
  }

  /** Whether the path of this one element is in the set. */
  has(element: PathElement): boolean {
    return this.#entries.get(element)?.member === true;
  }

  /** The paths below an element, without it. */
  below(element: PathElement): FieldSet {
    return this.#entries.get(element)?.below ?? new FieldSet();
  }

  union(other: FieldSet): FieldSet {
    if (other.empty) return this;
    if (this.empty) return other;
    const result = new FieldSet();
    for (const element of new Set([...this.#entries.keys(), ...other.#entries.keys()])) {
      const member = this.has(element) || other.has(element);
      result.#entry(element, member, this.below(element).union(other.below(element)));
    }
    return result;
  }

  intersection(other: FieldSet): FieldSet {
    if (other.#entries.size < this.#entries.size) return other.intersection(this);
    const result = new FieldSet();
    if (this.empty || other.empty) return result;
    for (const [element, entry] of this.#entries) {
      result.#entry(element, entry.member && other.has(element), entry.below.intersection(other.below(element)));
    }
    return result;
  }

  /** Without the very paths of the other set; what lies below them stays. */
  difference(other: FieldSet): FieldSet {
    if (this.empty || other.empty) return this;
    const result = new FieldSet();
    for (const [element, entry] of this.#entries) {
      result.#entry(element, entry.member && !other.has(element), entry.below.difference(other.below(element)));
    }
    return result;
  }

  /** Without the paths of the other set and everything below them. */
  without(other: FieldSet): FieldSet {
    if (this.empty || other.empty) return this;
    const result = new FieldSet();
    for (const [element, entry] of this.#entries) {
      if (!other.has(element)) result.#entry(element, entry.member, entry.below.without(other.below(element)));
    }
    return result;
  }

  /** Each element with its entry changed; used by walks beside a schema. */
  map(
    change: (element: PathElement, member: boolean, below: FieldSet) => { member: boolean; below: FieldSet },
  ): FieldSet {
    const result = new FieldSet();
    for (const [element, entry] of this.#entries) {
      const next = change(element, entry.member, entry.below);
      result.#entry(element, next.member, next.below);
    }
    return result;
  }

  /** All paths, in the order in which the server lists them: what ends here before what goes on. */
  paths(): Path[] {
    const sorted = this.#sorted();
    const ends = sorted.filter(([, entry]) => entry.member).map(([element]) => [element]);
    const further = sorted.flatMap(([element, entry]) => entry.below.paths().map((path) => [element, ...path]));
    return [...ends, ...further];
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).empty && other.difference(this).empty;
  }

  #entry(element: PathElement, member: boolean, below: FieldSet): void {
    if (member || !below.empty) this.#entries.set(element, { member, below });
  }

  #sorted(): [PathElement, Entry][] {
    return [...this.#entries].sort(([a], [b]) => compareElements(a, b));
  }
}

/** Keys and values may be written with other spaces or orders; equal elements must be equal texts. */
function normalize(element: PathElement): PathElement {
  const kind = element.slice(0, 2);
  return kind === "k:" || kind === "v:" ? kind + goJson(JSON.parse(element.slice(2))) : element;
}

/** The path as people read it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function formatPath(path: Path): string {
  return path
    .map((element) => {
      const text = element.slice(2);
      if (element.startsWith("f:")) return `.${text}`;
      if (element.startsWith("v:")) return `[=${text}]`;
      if (!element.startsWith("k:")) return `[${text}]`;
      const members = Object.entries(JSON.parse(text)).map(([name, value]) => `${name}=${goJson(value)}`);
      return `[${members.join(",")}]`;
    })
    .join("");
}
