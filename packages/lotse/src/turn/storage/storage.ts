/**
 * Where the record of an object lies. A storage is pure: it reads a body and says how the body has to look; who sends
 * the difference is not its business. So an own storage is five members and no I/O.
 */
import type { KubeBody } from "@lotse/client";
import { deepEqual } from "@lotse/client/meta";
import type { Essence } from "../essence.ts";
import type { ObjectRecord, RecordPlace, RecordReading } from "../record.ts";

/**
 * Keeps the record of an object somewhere on the object.
 *
 * What must hold: `read(write(body, record))` finds `record`, or, where the storage cannot express all of it, a record
 * with which handlers may run again but no change is lost. `write` changes nothing when the body says it already, so
 * that a quiet operator sends nothing. Keys of others stay as they are.
 *
 * @example
 * ```ts
 * const labelled: RecordStorage = { ...annotationStorage("shop"), finalizer: "shop.example.com/finalizer" };
 * ```
 */
export interface RecordStorage {
  /** Reads what is remembered on `body`. `handlers` are the ids of the kind's handlers, for storages with a key for each. */
  read(body: KubeBody, handlers: readonly string[]): RecordReading;
  /** `body` as it shall be when `record` is remembered on it; undefined: nothing is remembered any more. Never changes its input. */
  write(body: KubeBody, record: ObjectRecord | undefined, handlers: readonly string[]): KubeBody;
  /** The essence without this storage's own keys; what every essence goes without is gone already. */
  clear(essence: Essence): Essence;
  /** Name of the finalizer that goes with it. */
  readonly finalizer: string;
  /** Whether the record travels with the status or with the metadata. */
  readonly place: RecordPlace;
  /** The storage keeps essences for every kind, not only for those whose handlers can ask for `old`. */
  readonly needsEssence?: boolean;
}

/**
 * Reads like `storage.read`, for a process that remembers the object: while what lies on the object is what `known`
 * looks like there, `known` counts. Thus a storage that cannot express all of a record costs nothing until a restart.
 */
export function recall(
  storage: RecordStorage,
  body: KubeBody,
  handlers: readonly string[],
  known: ObjectRecord | undefined,
): RecordReading {
  // Without an open cycle there is nothing that a storage could have left out.
  const richer = known?.open !== undefined && known.uid === body.metadata?.uid;
  if (richer && deepEqual(storage.write(body, known, handlers), body)) return { type: "found", record: known };
  return storage.read(body, handlers);
}
