/** Lotse's own two places: the status of kinds whose schema keeps it, and an annotation for all others. */
import { isObject } from "@lotse/client/meta";
import { RECORD_FIELD } from "../../generate/index.ts";
import type { Essence } from "../essence.ts";
import { withAnnotations, withoutField, withoutStatus } from "../fields.ts";
import { readRecord, recordAnnotation } from "../record.ts";
import type { RecordStorage } from "./storage.ts";

/** Keeps the record in `status.lotse.<operator>`: one PATCH carries status, results and record. */
export function statusStorage(operator: string): RecordStorage {
  return {
    read: (body) => readRecord(body, "status", operator),
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

/** Keeps the record in the annotation `<operator>.lotse.dev/state`. */
export function annotationStorage(operator: string): RecordStorage {
  const key = recordAnnotation(operator);
  return {
    read: (body) => readRecord(body, "annotation", operator),
    write: (body, record) => withAnnotations(body, { [key]: record && JSON.stringify(record) }),
    clear: clearOwn,
    finalizer: finalizerOf(operator),
    place: "annotation",
  };
}

function finalizerOf(operator: string): string {
  return `${operator}.lotse.dev/finalizer`;
}

/** Annotations are gone already; a status is part of the essence only where a handler names a field of it. */
function clearOwn(essence: Essence): Essence {
  return withoutField(essence, ["status", RECORD_FIELD]);
}
