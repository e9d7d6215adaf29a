/**
 * The value of a YAML tree, with the bounds of a real server's parser: what aliases repeat is counted, so that a few
 * hundred bytes cannot become gigabytes, and everything else is done once for each node. Each alias gets a copy of its
 * own: who changes one does not change the others.
 */
import type { AliasNode, MappingNode, SequenceNode, YamlNode } from "./yaml-nodes.ts";
import { resolveScalar } from "./yaml-scalars.ts";

/** A tree whose value is none, or too large. */
export class YamlValueError extends Error {}

/** A YAML text as the value that its JSON would be, and what is wrong with it. */
export interface DecodedYaml {
  readonly value: unknown;
  /** Keys that were there already, with the offset of the value that came second. */
  readonly duplicates: readonly { readonly key: string; readonly at: number }[];
  /** How many nodes were read, those that aliases repeat included. */
  readonly decodes: number;
}

/** Documents of up to so many nodes may be nearly all aliases, those of ten times as many only to a tenth. */
const SMALL = 400_000;
const LARGE = 4_000_000;

function allowedRatio(decodes: number): number {
  if (decodes <= SMALL) return 0.99;
  if (decodes >= LARGE) return 0.1;
  return 0.99 - (0.89 * (decodes - SMALL)) / (LARGE - SMALL);
}

/** The value of a tree, as Go's decoder makes it; `deepest` bounds the nesting. */
export function decodeYaml(root: YamlNode, deepest: number): DecodedYaml {
  const decoder = new Decoder(deepest);
  const value = decoder.decode(root);
  return { value, duplicates: decoder.duplicates, decodes: decoder.decodes };
}

type Key = string | number | boolean;

class Decoder {
  readonly duplicates: { key: string; at: number }[] = [];
  /** The document itself is one. */
  decodes = 1;
  readonly #deepest: number;
  #aliased = 0;
  #depth = 0;
  /** Aliases that are being followed. */
  readonly #following = new Set<AliasNode>();

  constructor(deepest: number) {
    this.#deepest = deepest;
  }

  decode(node: YamlNode): unknown {
    this.#count();
    switch (node.type) {
      case "scalar":
        return jsonValue(resolveScalar(node.text, node.plain, node.tag));
      case "sequence":
        return this.#nested(() => node.items.map((item) => this.decode(item)));
      case "mapping":
        return this.#nested(() => this.#mapping(node));
      default:
        return this.#follow(node, () => this.decode(node.target));
    }
  }

  #count(): void {
    this.decodes++;
    if (this.#following.size > 0) this.#aliased++;
    if (this.#aliased <= 100 || this.decodes <= 1_000) return;
    if (this.#aliased / this.decodes > allowedRatio(this.decodes)) {
      throw new YamlValueError("document contains excessive aliasing");
    }
  }

  #follow<T>(node: AliasNode, read: () => T): T {
    if (this.#following.has(node)) throw new YamlValueError(`anchor '${node.name}' value contains itself`);
    this.#following.add(node);
    const value = read();
    this.#following.delete(node);
    return value;
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > this.#deepest) throw new YamlValueError("exceeded max depth of 10000");
    const value = read();
    this.#depth--;
    return value;
  }

  #mapping(node: MappingNode): Record<string, unknown> {
    const entries = new Map<Key, unknown>();
    this.#fill(entries, node);
    const record: Record<string, unknown> = {};
    // A real server reads YAML as JSON with sorted keys, so that of several mistakes the first of these is told.
    const named = [...entries].map(([key, value]) => [String(key), value] as const);
    for (const [key, value] of named.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) put(record, key, value);
    return record;
  }

  #fill(entries: Map<Key, unknown>, { items }: MappingNode): void {
    for (let i = 0; i + 1 < items.length; i += 2) {
      const [keyNode, valueNode] = [items[i] as YamlNode, items[i + 1] as YamlNode];
      if (isMerge(keyNode)) {
        this.#merge(entries, valueNode);
        continue;
      }
      const key = asKey(this.decode(keyNode));
      const value = this.decode(valueNode);
      if (entries.has(key)) {
        this.duplicates.push({ key: typeof key === "string" ? JSON.stringify(key) : String(key), at: valueNode.at });
      }
      entries.set(key, value);
    }
  }

  /** `<<: *base`: the keys of other mappings; of several the first one counts. */
  #merge(entries: Map<Key, unknown>, node: YamlNode): void {
    const sources = node.type === "sequence" ? [...(node as SequenceNode).items].reverse() : [node];
    for (const source of sources) {
      const target = source.type === "alias" ? source.target : source;
      if (target.type !== "mapping") {
        throw new YamlValueError("map merge requires map or sequence of maps as the value");
      }
      this.#count();
      if (source.type !== "alias") this.#nested(() => this.#fill(entries, target));
      else {
        this.#follow(source, () => {
          this.#count();
          this.#nested(() => this.#fill(entries, target));
        });
      }
    }
  }
}

function isMerge(node: YamlNode): boolean {
  if (node.type !== "scalar" || node.text !== "<<") return false;
  return (node.plain && node.tag === "") || node.tag === "!!merge";
}

function asKey(value: unknown): Key {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (value === null) throw new YamlValueError("unsupported map key of type: %!s(<nil>), key: <nil>");
  throw new YamlValueError("invalid map key: it is no text");
}

/** Numbers that JSON cannot say. */
function jsonValue(value: unknown): unknown {
  if (typeof value !== "number") return value;
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  const name = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  throw new YamlValueError(`json: unsupported value: ${name}`);
}

/** As JSON.parse does: `__proto__` is a key like any other. */
function put(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") record[key] = value;
  else Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
}
