import type { KubeBody } from "@lotse/client";
import { deepEqual } from "@lotse/client/meta";
import type { Essence, ObjectRecord, RecordReading, RecordStorage } from "../../declare/index.ts";

export type { RecordStorage } from "../../declare/index.ts";

/**
 * Reads like `storage.read`, for a process that remembers the object: while what lies on the object is what `known`
 * looks like there, `known` counts. Thus a storage that cannot express all of a record costs nothing until a restart.
 */
export function recall(
  storage: RecordStorage,
  body: KubeBody,
  handlers: readonly string[],
  known: ObjectRecord | undefined,
  essence?: Essence,
): RecordReading {
  // Without an open cycle there is nothing that a storage could have left out.
  const richer = known?.open !== undefined && known.uid === body.metadata?.uid;
  if (richer && deepEqual(storage.write(body, known, handlers), body)) return { type: "found", record: known };
  return storage.read(body, handlers, essence);
}
