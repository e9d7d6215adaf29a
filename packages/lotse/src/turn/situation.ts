/** What a turn looks at: the object, and what is remembered of it, on the object and in the process. */
import type { KubeBody } from "@lotse/client";
import type { Logger } from "../report/index.ts";
import { remainingMs } from "./deadlines.ts";
import type { Decision, Situation } from "./decide.ts";
import type { KindWork } from "./kind-work.ts";
import { isFirstSight } from "./life.ts";
import type { ObjectMemory } from "./memory.ts";
import { restoreAt } from "./restore.ts";
import { recall } from "./storage/index.ts";

/** A {@link Situation}, and what has to be done about the record itself. */
export interface Finding extends Situation {
  /** Another client wiped the record: it has to be put back, not before this time (monotonic). */
  readonly restoreAt: number | undefined;
}

/** See the module comment. Notes in the memory what it has read. */
export function situationOf(work: KindWork, memory: ObjectMemory, body: KubeBody, logger: Logger): Finding {
  const { storage, handlers } = work.target;
  const essence = work.essenceOf(body);
  const reading = recall(storage, body, handlers, memory.record, essence);
  if (reading.type === "found") memory.record = reading.record;
  const unreadable = reading.type === "unreadable" && memory.record === undefined;
  if (unreadable) reportUnreadable(work, body, logger);
  const monotonic = work.runtime.clock.monotonic();
  const wiped = reading.type !== "found" && memory.record !== undefined;
  return {
    body,
    record: memory.record,
    restoreAt: wiped ? restoreAt(memory.waiting.restored) : undefined,
    unreadable,
    firstSight: isFirstSight(memory.life),
    unmatchedEssence: memory.sight.unmatchedEssence,
    retryCleanupNow: memory.asked.retryCleanupNow,
    retryNow: memory.asked.retryNow,
    woken: memory.asked.woken,
    essence,
    handlers: work.handlers.changes,
    memo: memory.memo ?? {},
    finalizer: storage.finalizer,
    formerFinalizers: storage.formerFinalizers ?? [],
    now: work.runtime.clock.now(),
    remainingMs: (due) => remainingMs(due, memory.waiting.deadlines, work.runtime.clock),
    quietFor: (digest) => (memory.sight.digest === digest ? monotonic - memory.sight.changedAt : 0),
    waitingForMs: memory.waiting.changeSince === undefined ? 0 : monotonic - memory.waiting.changeSince,
  };
}

function reportUnreadable(work: KindWork, body: KubeBody, logger: Logger): void {
  logger.warn("the record on the object cannot be read, it counts as handled before", {
    hint: "another client edited it; it is written anew",
  });
  work.reporting.post(
    body,
    "Warning",
    "RecordUnreadable",
    "what was done for the object is unknown: another client edited the record",
  );
}

/** Notes what the next turns have to know of this one's decision. */
export function noteDecision(memory: ObjectMemory, { record }: Situation, decision: Decision, now: number): void {
  const { matching, current } = decision;
  if (memory.sight.digest !== current.digest) {
    memory.sight.digest = current.digest;
    memory.sight.changedAt = now;
  }
  if (decision.cycle?.reason === "update") memory.waiting.changeSince ??= now;
  // An object that carries a record may leave the sight of all handlers: nothing is written then, but it is remembered.
  const seen = matching.some(({ reconciler }) => reconciler === undefined);
  if (!record || record.open || seen || current.digest === record.handled) return;
  memory.sight.unmatchedEssence = current.essence;
}
