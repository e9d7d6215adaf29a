import { type ApiObject, fromStore, type OwnerReference } from "../registry/index.ts";
import type { Change } from "../store/index.ts";

/** Where an object is. */
export interface Place {
  readonly table: string;
  readonly key: string;
}

interface Owned {
  readonly place: Place;
  readonly owners: readonly OwnerReference[];
}

/** Who belongs to whom, kept up to date from the store's changes: finding dependents must not mean reading everything. */
export class OwnershipGraph {
  readonly #owned = new Map<string, Owned>();
  readonly #dependents = new Map<string, Set<string>>();

  /** Notes what a change says about an object's owners. */
  apply(table: string, change: Change): void {
    const { metadata } = fromStore(change.object);
    this.#forget(metadata.uid);
    if (change.type === "deleted" || !metadata.ownerReferences?.length) return;
    this.#owned.set(metadata.uid, { place: { table, key: change.key }, owners: metadata.ownerReferences });
    for (const owner of metadata.ownerReferences) {
      const known = this.#dependents.get(owner.uid);
      if (known) known.add(metadata.uid);
      else this.#dependents.set(owner.uid, new Set([metadata.uid]));
    }
  }

  /** The places of the objects that name `uid` as an owner. */
  dependentsOf(uid: string): Place[] {
    const places: Place[] = [];
    for (const dependent of this.#dependents.get(uid) ?? []) {
      const owned = this.#owned.get(dependent);
      if (owned) places.push(owned.place);
    }
    return places;
  }

  /** How many objects name `uid` as an owner. */
  count(uid: string): number {
    return this.#dependents.get(uid)?.size ?? 0;
  }

  /** The places of all objects that have owners. */
  all(): Place[] {
    return [...this.#owned.values()].map((owned) => owned.place);
  }

  #forget(uid: string): void {
    const known = this.#owned.get(uid);
    if (!known) return;
    this.#owned.delete(uid);
    for (const owner of known.owners) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
  }
}

/** Whether an object waits for its dependents to go before it goes itself. */
export function waitsForDependents(object: ApiObject): boolean {
  return (
    object.metadata.deletionTimestamp !== undefined &&
    object.metadata.finalizers?.includes("foregroundDeletion") === true
  );
}
