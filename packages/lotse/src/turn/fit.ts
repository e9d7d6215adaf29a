/**
 * Does a record fit onto its object? All annotations together have a limit, and so has the whole object: it is stored in
 * one request to etcd. A base, which may be as large as the object itself, is the first to go.
 */
import type { KubeBody } from "@lotse/client";
import { byteLength } from "@lotse/client/meta";
import type { ObjectRecord, OpenCycle, RecordStorage } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import { combineConditionChanges } from "./conditions.ts";
import { isDeleting } from "./decide.ts";
import type { KindWork } from "./kind-work.ts";
import { firstTime, type ObjectMemory } from "./memory.ts";
import type { WritePlan } from "./write.ts";

/** What the API server allows for all annotations of an object together, keys and values. */
const ANNOTATION_BYTES = 256 * 1024;
/**
 * What an object may have with its base. etcd takes 1.5 MiB; what we do not see, such as managedFields, needs room too,
 * and so do people whose next change shall not fail because of us.
 */
const OBJECT_BYTES = 1024 * 1024;
/** Records smaller than this are not worth a look: people put their own megabytes elsewhere. */
const WORTH_A_LOOK = 16 * 1024;

/**
 * The record, or, where it would not fit, the same without the essences in it: then `old` is unknown for this object,
 * but what was handled is still known. A storage that cannot do without essences gets what it needs.
 */
export function fittingRecord(
  body: KubeBody,
  record: ObjectRecord,
  storage: RecordStorage,
  handlers: readonly string[],
): ObjectRecord {
  if (storage.needsEssence || essencesLength(record) < WORTH_A_LOOK) return record;
  const written = storage.write(body, record, handlers);
  if (storage.place === "annotation" && annotationBytes(written) > ANNOTATION_BYTES) return withoutEssences(record);
  return byteLength(JSON.stringify(written)) > OBJECT_BYTES ? withoutEssences(record) : record;
}

function annotationBytes({ metadata }: KubeBody): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata?.annotations ?? {})) bytes += byteLength(key) + byteLength(value);
  return bytes;
}

function essencesLength(record: ObjectRecord): number {
  if (!record.open && !record.later) return record.base?.length ?? 0;
  return essencesIn(record).reduce((length, essence) => length + essence.length, 0);
}

function essencesIn({ base, open, later }: ObjectRecord): readonly string[] {
  const all = [base, open?.essence, ...Object.values(later ?? {}).map((one) => one.base)];
  return all.filter((essence) => essence !== undefined);
}

function withoutEssences({ base: _base, open, later, ...rest }: ObjectRecord): ObjectRecord {
  const { essence: _essence, ...light } = open ?? {};
  return {
    ...rest,
    ...(open && { open: light as OpenCycle }),
    ...(later && { later: Object.fromEntries(Object.keys(later).map((id) => [id, {}])) }),
  };
}

/** A base that does not fit onto the object is left out, which is said once. */
export function limitRecordSize(
  work: KindWork,
  memory: ObjectMemory,
  body: KubeBody,
  plan: WritePlan,
  logger: Logger,
): WritePlan {
  if (!plan.record) return plan;
  const { storage, handlers } = work.target;
  const record = fittingRecord(body, plan.record, storage, handlers);
  return record === plan.record ? plan : lightened(work, memory, body, plan, record, logger);
}

/** The same plan with less in it, after the server found the object too large; undefined when nothing can be left out. */
export function lighterPlan(
  work: KindWork,
  memory: ObjectMemory,
  body: KubeBody,
  plan: WritePlan,
  logger: Logger,
): WritePlan | undefined {
  const { record } = plan;
  if (record && essencesIn(record).length > 0 && !work.target.storage.needsEssence) {
    return lightened(work, memory, body, plan, withoutEssences(record), logger);
  }
  // An object that shall go is let go, whatever else would have been said of it.
  const more = record || plan.changes || plan.conditions || plan.transforms?.length;
  if (plan.finalizer !== "drop" || !isDeleting(body) || !more) return undefined;
  return { changes: undefined, record: undefined, finalizer: "drop" };
}

function lightened(
  work: KindWork,
  memory: ObjectMemory,
  body: KubeBody,
  plan: WritePlan,
  record: ObjectRecord,
  logger: Logger,
): WritePlan {
  const light = { ...plan, record };
  if (!firstTime(memory, "base")) return light;
  const message = "the object is too large to remember what it was before: old is undefined and diff is empty for it";
  logger.warn("the object is too large to remember what it was before", {
    hint: "old is undefined and diff is empty for it; settings.persistence.ignore leaves fields out",
  });
  work.reporting.post(body, "Warning", "BaseTooLarge", message);
  if (!work.keepsResult("conditions")) return light;
  const set = [{ type: "BaseTooLarge", status: true, reason: "SizeLimit", message }];
  const changes = combineConditionChanges(plan.conditions?.changes ?? { set: [], remove: [] }, { set, remove: [] });
  return { ...light, conditions: { changes, now: new Date(work.runtime.clock.now()) } };
}
