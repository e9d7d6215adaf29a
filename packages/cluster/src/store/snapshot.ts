import { deepEqual } from "@lotse/client/meta";
import type { StoredObject } from "./change.ts";
import type { StoredRow } from "./journal.ts";
import type { Store } from "./store.ts";

/** Kinds whose objects decide what other objects can be: they come first and go last. */
const FOUNDATIONS = ["customresourcedefinitions.apiextensions.k8s.io", "namespaces"];

const rank = (resource: string): number => {
  const index = FOUNDATIONS.indexOf(resource);
  return index < 0 ? FOUNDATIONS.length : index;
};

/**
 * Makes the store hold exactly these rows again. It does so by ordinary changes with new revisions, so that everybody who
 * watches follows: going back in revisions would leave clients with versions that mean something else now.
 */
export function restoreRows(store: Store, rows: readonly StoredRow[]): void {
  const wanted = new Map<string, Map<string, StoredObject>>();
  for (const { resource, key, object } of rows) {
    const known = wanted.get(resource);
    if (known) known.set(key, object);
    else wanted.set(resource, new Map([[key, object]]));
  }
  const present = store.rows().sort((a, b) => rank(b.resource) - rank(a.resource));
  for (const { resource, key } of present) {
    if (wanted.get(resource)?.has(key)) continue;
    const current = store.get(resource, key);
    if (current) store.delete(resource, key, current.revision);
  }
  const order = [...wanted.keys()].sort((a, b) => rank(a) - rank(b));
  for (const resource of order) {
    for (const [key, object] of wanted.get(resource) ?? []) {
      const current = store.get(resource, key);
      if (!current) store.create(resource, key, object);
      else if (!isSame(current.object, object)) store.update(resource, key, current.revision, object);
    }
  }
}

/** Equal in everything but the version, which says only when it was written. */
function isSame(a: StoredObject, b: StoredObject): boolean {
  if (a === b) return true;
  const plain = (object: StoredObject) => ({ ...object, metadata: { ...object.metadata, resourceVersion: "" } });
  return deepEqual(plain(a), plain(b));
}
