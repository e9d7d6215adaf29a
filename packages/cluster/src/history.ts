import { ConfigError } from "@lotse/client/meta";
import { type ApiObject, type Catalog, fromStore, type Resource, storageEndpoint, storeKey } from "./registry/index.ts";
import type { Change } from "./store/index.ts";

/** One state that an object was in. */
export interface ObjectVersion {
  readonly type: "created" | "updated" | "deleted";
  readonly resourceVersion: string;
  /**
   * The object then; of a deletion its last state. Where a webhook converts between versions, it is in the one in which
   * it was written down.
   */
  readonly object: ApiObject;
}

/** A change of any object. The object belongs to the cluster: look, but do not change it. */
export interface ObjectChange extends ObjectVersion {
  /** Its plural with its group: `configmaps`, `widgets.example.com`. */
  readonly resource: string;
}

/** Reads the changes of an object's row. */
export type ReadChanges = (table: string, key: string) => readonly Change[];

/** Every known version of one object, oldest first. */
export function objectHistory(
  catalog: Catalog,
  read: ReadChanges,
  name: string,
  place: readonly string[],
): ObjectVersion[] {
  const resource = findResource(catalog, name);
  const [namespace, object] = resource.namespaced ? [place[0], place[1]] : [undefined, place.at(-1)];
  if (object === undefined) {
    throw new ConfigError(`${resource.plural} are in namespaces: say in which one`, {
      hint: `history("${name}", "default", "${place[0] ?? "name"}")`,
    });
  }
  return read(resource.table, storeKey(namespace, object)).map((change) => ({
    type: change.type,
    resourceVersion: String(change.revision),
    object: shown(resource, fromStore(change.object)),
  }));
}

/** The caller gets its answer at once, so no webhook can be asked. */
function shown(resource: Resource, stored: ApiObject): ApiObject {
  const codec = storageEndpoint(resource)?.version.codec;
  if (!codec?.converter) return codec ? codec.fromStorage(stored) : stored;
  const written = resource.versions.get(stored.apiVersion.slice(stored.apiVersion.indexOf("/") + 1));
  return written ? written.codec.fromStorage(stored) : stored;
}

function findResource(catalog: Catalog, name: string): Resource {
  const stored = [...catalog.all()].filter((resource) => resource.table !== "");
  const found =
    stored.find((resource) => resource.table === name || resource.kind === name) ??
    stored.find((resource) => resource.plural === name || resource.singular === name) ??
    stored.find((resource) => resource.shortNames.includes(name));
  if (found) return found;
  throw new ConfigError(`no resource is called ${JSON.stringify(name)}`, {
    hint: 'write "configmaps", "ConfigMap" or "widgets.example.com"',
  });
}
