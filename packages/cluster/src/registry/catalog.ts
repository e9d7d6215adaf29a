import type { Endpoint, Resource } from "./resource.ts";

/** A group with its versions, the preferred one first. */
export interface CatalogGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

/**
 * Which resources the server serves right now. Built-in kinds never change; custom resources come and go with their
 * definitions. Order matters to clients, which resolve ambiguous short names by it: built-in kinds are first.
 */
export class Catalog {
  readonly #resources = new Map<string, Resource>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  /** Grows with every change, so that documents made from the catalog can be kept until it does. */
  get generation(): number {
    return this.#generation;
  }

  /** Adds a resource, or replaces the one with the same group and plural. */
  register(resource: Resource): void {
    this.#resources.set(`${resource.group}/${resource.plural}`, resource);
    this.#changed();
  }

  unregister(group: string, plural: string): void {
    if (this.#resources.delete(`${group}/${plural}`)) this.#changed();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The resource that a URL names. */
  find(group: string, version: string, plural: string): Endpoint | undefined {
    const resource = this.#resources.get(`${group}/${plural}`);
    const found = resource?.versions.get(version);
    return resource && found ? { resource, version: found } : undefined;
  }

  /** A resource in its storage version: how the server itself looks at it. */
  storage(group: string, plural: string): Endpoint | undefined {
    const resource = this.#resources.get(`${group}/${plural}`);
    return resource && storageEndpoint(resource);
  }

  /** The resource whose objects carry this group and kind, in whatever version. */
  byKind(group: string, kind: string): Resource | undefined {
    for (const resource of this.#resources.values()) {
      if (resource.group === group && resource.kind === kind && resource.table !== "") return resource;
    }
    return undefined;
  }

  /** The resource whose objects the store keeps under this name. */
  byTable(table: string): Resource | undefined {
    for (const resource of this.#resources.values()) if (resource.table === table) return resource;
    return undefined;
  }

  all(): Iterable<Resource> {
    return this.#resources.values();
  }

  hasVersion(group: string, version: string): boolean {
    for (const resource of this.#resources.values()) {
      if (resource.group === group && resource.versions.has(version)) return true;
    }
    return false;
  }

  inVersion(group: string, version: string): Endpoint[] {
    const found: Endpoint[] = [];
    for (const resource of this.#resources.values()) {
      const match = resource.group === group ? resource.versions.get(version) : undefined;
      if (match) found.push({ resource, version: match });
    }
    return found;
  }

  /** Every group with at least one served version: the core group first, then in order of registration. */
  groups(): CatalogGroup[] {
    const versions = new Map<string, Set<string>>();
    for (const resource of this.#resources.values()) {
      const known = versions.get(resource.group) ?? new Set();
      versions.set(resource.group, known);
      for (const version of resource.versions.keys()) known.add(version);
    }
    return [...versions]
      .filter(([, known]) => known.size > 0)
      .map(([group, known]) => ({ group, versions: [...known].sort(compareVersions) }));
  }

  #changed(): void {
    this.#generation++;
    for (const listener of this.#listeners) listener();
  }
}

/** The resource in the version that is stored, else in the first that is served; undefined when none is. */
export function storageEndpoint(resource: Resource): Endpoint | undefined {
  const version = resource.versions.get(resource.storageVersion) ?? [...resource.versions.values()][0];
  return version && { resource, version };
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STABILITY: Record<string, number> = { alpha: 1, beta: 2 };

/** Sorts stable versions before beta before alpha, higher numbers first, and names of no known form last, by letter. */
export function compareVersions(a: string, b: string): number {
  const left = VERSION.exec(a);
  const right = VERSION.exec(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const rank = (match: RegExpExecArray) => STABILITY[match[2] ?? ""] ?? 3;
  return rank(right) - rank(left) || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0);
}
