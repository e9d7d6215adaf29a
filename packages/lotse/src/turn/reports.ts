/** What a turn tells people: in the log, as Kubernetes Events, and as conditions. */
import type { KubeBody } from "@lotse/client";
import { errorMessage, formatDuration, isObject } from "@lotse/client/meta";
import { type ChangeHandler, TemporaryError } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import { RECORD_FIELD } from "../schema/index.ts";
import { type Cycle, isDeleting, reasonFor, type Situation } from "./decide.ts";
import { leafPaths } from "./fields.ts";
import type { KindWork, TurnRunner } from "./kind-work.ts";
import { errorFields, named } from "./log-fields.ts";
import { type FinalFailure, firstTime, keepFailure, type ObjectMemory } from "./memory.ts";
import { isWar, type RestoreState } from "./restore.ts";
import type { Attempt, Failure, Settlement } from "./settle.ts";
import type { StepFailure } from "./steps.ts";

/** All handlers of a cycle are done: what became of them in one line, and on the object if it cannot go. */
export function reportClosed(
  work: KindWork,
  cycle: Cycle,
  settlement: Settlement,
  attempts: readonly Attempt[],
  runner: TurnRunner,
  logger: Logger,
): void {
  const { selected } = cycle;
  // One handler that succeeded has said so itself.
  if (selected.length === 1 && attempts.length === 1 && settlement.failures.length === 0) {
    const isDone = cycle.runs[(selected[0] as ChangeHandler).id]?.outcome !== "failed";
    if (isDone && cycle.reason !== "delete" && !logger.wants("debug")) return;
  }
  const failedNow = new Set(settlement.failures.map(({ handler }) => handler.id));
  const failed = cycle.selected.filter(({ id }) => failedNow.has(id) || cycle.runs[id]?.outcome === "failed");
  const counts = { reason: cycle.reason, succeeded: cycle.selected.length - failed.length, failed: failed.length };
  if (cycle.selected.length === 1 && failed.length === 0 && attempts.length === 1)
    logger.debug("all handlers are done", counts);
  else if (cycle.selected.length > 0) logger.info("all handlers are done", counts);
  if (cycle.reason !== "delete" || settlement.release) return;
  const ids = failed.map(({ id }) => id).join(", ");
  const texts = failed.map(({ id }) => {
    const failure = settlement.failures.find(({ handler }) => handler.id === id);
    return `${id} failed for good: ${failure?.message ?? cycle.runs[id]?.message}`;
  });
  const hint = `change the object to try again, or take the finalizer ${work.target.storage.finalizer} off`;
  logger.error("the object is kept, because its deletion could not be handled", { handlers: ids, hint });
  work.reporting.post(runner.body, "Warning", "DeletionFailed", `${texts.join("; ")}; the object is kept: ${hint}`);
  runner.condition("DeletionFailed", true, "HandlerFailed", `${texts.join("; ")}; ${hint}`);
}

/** Deletion wins over whatever was open: said once, so that no reader of the log wonders where a retry has gone. */
export function reportSuperseded(memory: ObjectMemory, { body, record }: Situation, logger: Logger): void {
  if (!isDeleting(body) || !record?.open || record.open.reason === "delete") return;
  if (!firstTime(memory, "superseded")) return;
  const waiting = Object.entries(record.runs ?? {}).filter(([, run]) => run.outcome === undefined);
  logger.info("the deletion supersedes what was not finished", {
    reason: record.open.reason,
    dropped: waiting.map(([id]) => id).join(", ") || undefined,
  });
}

/** The record was put back; another client that takes it away again and again has to be told of. */
export function reportRestored(work: KindWork, restored: RestoreState, body: KubeBody, logger: Logger): void {
  work.reporting.metrics.count("lotse_records_restored_total", "Records that another client had taken off an object.", {
    operator: work.runtime.operator,
    kind: work.kind.kind,
  });
  if (!isWar(restored)) {
    logger.debug("the record was taken off the object, it is put back", { times: restored.times });
    return;
  }
  const message = "another client takes the operator's record off the object again and again";
  logger.warn("the record is taken off the object again and again, it is put back more rarely from now on", {
    times: restored.times,
    hint: "without it handlers run again after a restart; kubectl get --show-managed-fields tells who writes the object",
  });
  work.reporting.post(body, "Warning", "RecordWiped", message);
}

/** What is told of an error to users of the object: one line. */
export function messageOf(error: unknown): string {
  return errorMessage(error);
}

/** Something that went wrong for an object, or that has to wait, and what follows from it. */
export interface Trouble {
  readonly what: keyof typeof SENTENCES;
  /** Why it was called. */
  readonly reason: FinalFailure["reason"];
  readonly handler: { readonly id: string; readonly sourceLocation: string | undefined };
  /** The run in which it went wrong. */
  readonly runId?: string | undefined;
  readonly error: unknown;
  /** In words, where the error does not say it itself. */
  readonly message?: string;
  /** Attempts so far. */
  readonly attempts: number;
  /** Milliseconds until it is tried again; undefined when it is given up. */
  readonly retryInMs: number | undefined;
  /** More for the log. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Who failed, for people; default: the handler. */
  readonly who?: string;
  /** For how long it has been tried, in milliseconds. */
  readonly sinceMs?: number;
  /** A client waits for the object to go. */
  readonly deleting?: boolean;
}

/** A handler that waits for longer than this may wait for something that never comes. */
const LONG_WAIT_MS = 15 * 60_000;

/** The line and the Event of a failure that is followed by another attempt, and of one for good. */
const SENTENCES = {
  handler: [
    ["handler failed, will be tried again", "HandlerRetrying"],
    ["handler failed for good", "HandlerFailed"],
  ],
  step: [
    ["step failed, will be tried again", "HandlerRetrying"],
    ["step failed for good", "HandlerFailed"],
  ],
  timer: [
    ["timer failed, will be tried again", "HandlerRetrying"],
    ["timer failed for good", "HandlerFailed"],
  ],
  daemon: [
    ["daemon failed, will be tried again", "HandlerRetrying"],
    ["daemon failed for good", "HandlerFailed"],
  ],
  reconciler: [
    ["reconciling failed, will be tried again", "ReconcileRetrying"],
    ["reconciling failed for good, until something changes", "ReconcileFailed"],
  ],
} as const;

/**
 * Tells people, in the log and as an Event. Who waits by a `TemporaryError` has not failed: that is one line at info, and
 * an Event only where all of them are wanted, unless it keeps an object from its end, or goes on for long.
 */
export function reportTrouble(
  work: KindWork,
  memory: ObjectMemory,
  body: KubeBody,
  trouble: Trouble,
  logger: Logger,
): void {
  const { what, handler, error, attempts, retryInMs, fields = {}, who = handler.id } = trouble;
  const { message = messageOf(error) } = trouble;
  const about = { ...named(handler, trouble.runId), ...fields };
  const retryIn = retryInMs === undefined ? undefined : formatDuration(Math.max(0, retryInMs));
  if (error instanceof TemporaryError && retryIn !== undefined) {
    const { sinceMs = 0, deleting = false } = trouble;
    const long = sinceMs >= LONG_WAIT_MS;
    const fields = { why: message, retryIn, ...about };
    if (long) logger.warn("still waits", { ...fields, for: formatDuration(sinceMs) });
    else logger.info("waits", fields);
    work.reporting.post(
      body,
      long || deleting ? "Warning" : "Normal",
      "Waiting",
      `${who} waits: ${message}, again in ${retryIn}`,
    );
    return;
  }
  const [retried, final] = SENTENCES[what];
  const [sentence, eventReason] = retryIn === undefined ? final : retried;
  const told = { ...about, ...errorFields(error, attempts === 1), error: message, attempt: attempts };
  if (retryIn === undefined) {
    if (work.handlers.failures.length > 0) {
      keepFailure(memory, { handler: handler.id, reason: trouble.reason, error, attempts });
    }
    logger.error(sentence, told);
    work.reporting.post(body, "Warning", eventReason, `${who} failed for good: ${message}`);
  } else {
    logger.warn(sentence, { ...told, retryIn });
    work.reporting.post(body, "Warning", eventReason, `${who} failed, will be tried again: ${message}`);
  }
}

/** What was done for an object is not written: no failure of a handler, for another process works on the object. */
export function reportRefused(error: Error, logger: Logger): void {
  logger.info("what was done for the object is not written here", { why: error.message });
}

/** What became of the attempts of a cycle, as far as it is worth an Event or a line of its own. */
export function reportAttempts(
  work: KindWork,
  memory: ObjectMemory,
  cycle: Cycle,
  attempts: readonly Attempt[],
  failures: readonly Failure[],
  body: KubeBody,
  logger: Logger,
): void {
  for (const attempt of attempts) {
    if (!attempt.stepFailures) continue;
    for (const failure of attempt.stepFailures) reportStep(work, memory, cycle, attempt, failure, body, logger);
  }
  const now = work.runtime.clock.now();
  for (const { handler, runId, error, attempts: made, message, retryAt, limit, startedAt } of failures) {
    const reason = reasonFor(cycle, handler.id);
    reportTrouble(
      work,
      memory,
      body,
      {
        what: "handler",
        reason,
        handler,
        runId,
        error,
        message,
        attempts: made,
        retryInMs: retryAt === undefined ? undefined : retryAt - now,
        sinceMs: now - startedAt,
        deleting: cycle.reason === "delete",
        fields: { reason, ...(limit && { limit }) },
      },
      logger,
    );
  }
  if (work.runtime.settings.posting.events !== "all") return;
  for (const { handler, outcome } of attempts) {
    if (outcome.type === "done") work.reporting.post(body, "Normal", "HandlerSucceeded", `${handler.id} succeeded`);
  }
}

function reportStep(
  work: KindWork,
  memory: ObjectMemory,
  cycle: Cycle,
  { handler, runId }: Attempt,
  { step, sourceLocation, error, attempts, retryInMs }: StepFailure,
  body: KubeBody,
  logger: Logger,
): void {
  const fields = { step, at: sourceLocation ?? handler.sourceLocation };
  const who = `${handler.id}, step "${step}",`;
  if (retryInMs === undefined) {
    logger.warn("step failed, which is ignored", { ...named(handler, runId), ...fields, ...errorFields(error, true) });
  } else {
    const reason = reasonFor(cycle, handler.id);
    const trouble = { what: "step", reason, handler, runId, error, attempts, retryInMs, fields, who } as const;
    reportTrouble(work, memory, body, trouble, logger);
  }
}

/** Tells that the API server did not keep fields of a write; a record that is among them goes elsewhere from then on. */
export function reportDropped(work: KindWork, dropped: Readonly<Record<string, unknown>>, logger: Logger): void {
  if (work.target.storage.place === "status" && isObject(dropped.status) && RECORD_FIELD in dropped.status)
    work.recordNotKept();
  logger.warn("the server did not keep some fields of the patch", {
    fields: leafPaths(dropped).join(", "),
    hint: "they are not in the kind's schema, or they cannot be changed",
  });
}
