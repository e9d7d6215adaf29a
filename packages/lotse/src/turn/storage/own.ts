/** Lotse's own two places: the status of kinds whose schema keeps it, and an annotation for all others. */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import type { RecordReading } from "../../declare/index.ts";
import { RECORD_FIELD } from "../../schema/index.ts";
import type { Essence } from "../essence.ts";
import { withAnnotations, withoutField, withoutStatus } from "../fields.ts";
import { ABSENT, readRecord, recordAnnotation } from "../record.ts";
import type { RecordStorage } from "./storage.ts";

/** Keeps the record in `status.lotse.<operator>`: one PATCH carries status, results and record. */
export function statusStorage(operator: string): RecordStorage {
  return {
    read: (body) => {
      const records = isObject(body.status) ? body.status[RECORD_FIELD] : undefined;
      return readRecord(isObject(records) ? records[operator] : undefined, body.metadata?.uid);
    },
    write(body, record) {
      if (!record) return withoutStatus(body, [RECORD_FIELD, operator]);
      const status = isObject(body.status) ? body.status : {};
      const records = isObject(status[RECORD_FIELD]) ? status[RECORD_FIELD] : {};
      return { ...body, status: { ...status, [RECORD_FIELD]: { ...records, [operator]: record } } };
    },
    clear: clearOwn,
    finalizer: finalizerOf(operator),
    place: "status",
  };
}

/**
 * Keeps the record in the annotation `<operator>.lotse.dev/state`. Annotations are copied: by the Deployment controller
 * to its ReplicaSets, by clients that mirror objects. So where another object's record lies under that key, or an owner may
 * lay its own there, the record is kept under a key that has the object's uid in it, which no other client writes.
 */
export function annotationStorage(operator: string): RecordStorage {
  const shared = recordAnnotation(operator);
  return {
    read(body) {
      const { uid, annotations } = body.metadata ?? {};
      if (!annotations) return ABSENT;
      const own = readRecord(annotations[ownKey(shared, uid)], uid);
      return own.type === "found" ? own : strongest(own, readRecord(annotations[shared], uid));
    },
    write(body, record) {
      const { uid, annotations = {} } = body.metadata ?? {};
      const own = ownKey(shared, uid);
      const text = record && JSON.stringify(record);
      if (text === undefined && !body.metadata?.annotations) return body;
      if (text === undefined) return withAnnotations(body, { [shared]: undefined, [own]: undefined });
      const foreign = readRecord(annotations[shared], uid).type === "foreign";
      if (!foreign && !(own in annotations) && !isControlled(body)) return withAnnotations(body, { [shared]: text });
      return withAnnotations(body, { [own]: text, ...(!foreign && { [shared]: undefined }) });
    },
    clear: clearOwn,
    finalizer: finalizerOf(operator),
    place: "annotation",
  };
}

function ownKey(shared: string, uid: string | undefined): string {
  return `${shared}-${uid ?? ""}`;
}

/** Of two places the one that says more: that a person edited a record is worth more than that there is none. */
function strongest(first: RecordReading, second: RecordReading): RecordReading {
  return first.type === "absent" ? second : first;
}

/** Whether another object keeps this one, and may copy its annotations to it. */
function isControlled({ metadata }: KubeBody): boolean {
  return metadata?.ownerReferences?.some(({ controller }) => controller === true) === true;
}

function finalizerOf(operator: string): string {
  return `${operator}.lotse.dev/finalizer`;
}

/** Annotations are gone already; a status is part of the essence only where a handler names a field of it. */
function clearOwn(essence: Essence): Essence {
  return withoutField(essence, ["status", RECORD_FIELD]);
}
