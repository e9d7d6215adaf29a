/**
 * Finds the objects of a kind by label, field, owner or namespace without looking at all of them. An index is made when a
 * dimension is first asked for, and follows every change from then on. What must stay true: it never lacks an object that
 * is there; one that it has too many is found out when the object itself is looked at.
 */
import type { KubeBody } from "@lotse/client";
import { type ObjectKey, objectKey } from "@lotse/client/meta";
import { type Dimension, type Query, valuesIn } from "./query.ts";

/** Where the objects are: the newest that is known of each, own writes included. */
export interface Objects {
  get(key: ObjectKey): KubeBody | undefined;
  values(): Iterable<KubeBody>;
}

type Entries = Map<string, Set<ObjectKey>>;

/** See the module comment. */
export class Lookup {
  readonly #objects: Objects;
  readonly #indexes = new Map<Dimension | "ns", Entries>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  get(key: ObjectKey): KubeBody | undefined {
    return this.#objects.get(key);
  }

  /** In the order of their names, so that the same objects always come in the same order. */
  list(query: Query): KubeBody[] {
    const found: KubeBody[] = [];
    for (const key of this.#candidates(query)) {
      const body = this.#objects.get(key);
      if (body && this.#fits(query, body)) found.push(body);
    }
    return found.sort(byKey);
  }

  /** An object was created, has changed, or is gone. */
  changed(before: KubeBody | undefined, now: KubeBody | undefined): void {
    for (const [dimension, entries] of this.#indexes) {
      const was = before ? valuesOf(dimension, before) : [];
      const is = now ? valuesOf(dimension, now) : [];
      if (before) for (const value of was) if (!is.includes(value)) remove(entries, value, objectKey(before));
      if (now) for (const value of is) add(entries, value, objectKey(now));
    }
  }

  #fits({ namespace, dimension, value, test }: Query, body: KubeBody): boolean {
    if (namespace !== undefined && body.metadata?.namespace !== namespace) return false;
    return valuesIn(dimension, body).includes(value) && (test?.(body) ?? true);
  }

  #candidates({ dimension, value, namespace }: Query): Iterable<ObjectKey> {
    if (dimension !== "n") return this.#index(dimension).get(value) ?? [];
    if (namespace !== undefined) return this.#index("ns").get(namespace) ?? [];
    return Array.from(this.#objects.values(), objectKey);
  }

  #index(dimension: Dimension | "ns"): Entries {
    let entries = this.#indexes.get(dimension);
    if (!entries) {
      entries = new Map();
      for (const body of this.#objects.values()) {
        for (const value of valuesOf(dimension, body)) add(entries, value, objectKey(body));
      }
      this.#indexes.set(dimension, entries);
    }
    return entries;
  }
}

function valuesOf(dimension: Dimension | "ns", body: KubeBody): readonly string[] {
  return dimension === "ns" ? [body.metadata?.namespace ?? ""] : valuesIn(dimension, body);
}

function add(entries: Entries, value: string, key: ObjectKey): void {
  const members = entries.get(value);
  if (members) members.add(key);
  else entries.set(value, new Set([key]));
}

function remove(entries: Entries, value: string, key: ObjectKey): void {
  const members = entries.get(value);
  if (members?.delete(key) && members.size === 0) entries.delete(value);
}

function byKey(a: KubeBody, b: KubeBody): number {
  const [first, second] = [objectKey(a), objectKey(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}
