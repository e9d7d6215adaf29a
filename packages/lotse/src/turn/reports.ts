/** What a turn tells people: in the log, as Kubernetes Events, and as conditions. */
import type { KubeBody } from "@lotse/client";
import { errorMessage, formatDuration, isObject } from "@lotse/client/meta";
import { RECORD_FIELD } from "../generate/index.ts";
import type { Logger } from "../report/index.ts";
import { type Cycle, isDeleting, type Situation } from "./decide.ts";
import type { TurnKind } from "./kind.ts";
import { firstTime, type ObjectMemory } from "./memory.ts";
import { errorFields, named, type Runs } from "./runs.ts";
import type { Attempt, Failure, Settlement } from "./settle.ts";

/** All handlers of a cycle are done: what became of them in one line, and on the object if it cannot go. */
export function reportClosed(
  kind: TurnKind,
  cycle: Cycle,
  settlement: Settlement,
  attempts: readonly Attempt[],
  runs: Runs,
  body: KubeBody,
  logger: Logger,
): void {
  const failedNow = new Set(settlement.failures.map(({ handler }) => handler.id));
  const failed = cycle.selected.filter(({ id }) => failedNow.has(id) || cycle.runs[id]?.outcome === "failed");
  const counts = { reason: cycle.reason, succeeded: cycle.selected.length - failed.length, failed: failed.length };
  // One handler that succeeded has said so itself.
  if (cycle.selected.length === 1 && failed.length === 0 && attempts.length === 1)
    logger.debug("all handlers are done", counts);
  else if (cycle.selected.length > 0) logger.info("all handlers are done", counts);
  if (cycle.reason !== "delete" || settlement.release) return;
  const ids = failed.map(({ id }) => id).join(", ");
  const hint = `change the object to try again, or take the finalizer ${kind.target.storage.finalizer} off`;
  logger.error("the object is kept, because its deletion could not be handled", { handlers: ids, hint });
  kind.post(body, "Warning", "DeletionFailed", `${ids} failed for good, the object is kept: ${hint}`);
  runs.condition("DeletionFailed", true, "HandlerFailed", `${ids} failed for good; ${hint}`);
}

/** Deletion wins over whatever was open: said once, so that nobody wonders where a retry has gone. */
export function reportSuperseded(memory: ObjectMemory, { body, record }: Situation, logger: Logger): void {
  if (!isDeleting(body) || !record?.open || record.open.reason === "delete") return;
  if (!firstTime(memory, "superseded")) return;
  const waiting = Object.entries(record.runs ?? {}).filter(([, run]) => run.outcome === undefined);
  logger.info("the deletion supersedes what was not finished", {
    reason: record.open.reason,
    dropped: waiting.map(([id]) => id).join(", ") || undefined,
  });
}

export function messageOf(error: unknown): string {
  return errorMessage(error);
}

export function reportFailure(failure: Failure, cycle: Cycle, now: number, logger: Logger): void {
  const fields = {
    ...named(failure.handler),
    reason: cycle.reason,
    ...errorFields(failure.error, failure.attempts === 1),
    error: failure.message,
    attempt: failure.attempts,
  };
  if (failure.retryAt === undefined) logger.error("handler failed for good", { ...fields, limit: failure.limit });
  else {
    const retryIn = formatDuration(Math.max(0, failure.retryAt - now));
    logger.warn("handler failed, will be tried again", { ...fields, retryIn });
  }
}

export function reportDropped(kind: TurnKind, dropped: Readonly<Record<string, unknown>>, logger: Logger): void {
  if (kind.target.storage.place === "status" && isObject(dropped.status) && RECORD_FIELD in dropped.status)
    kind.recordNotKept();
  logger.warn("the server did not keep some fields of the patch", {
    fields: leaves(dropped).join(", "),
    hint: "they are not in the kind's schema, or they cannot be changed",
  });
}

function leaves(value: unknown, path = ""): string[] {
  if (!isObject(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, child]) => leaves(child, path ? `${path}.${key}` : key));
}
