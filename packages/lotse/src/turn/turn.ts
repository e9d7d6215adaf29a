/**
 * A turn: one look at one object. Decide, run what is due, settle, write once. Decisions are pure and live in
 * `decide` and `settle`; this is the I/O around them.
 */
import { apiVersionOf, type KubeBody } from "@lotse/client";
import { applyMergePatch, deepEqual, formatDuration, type JsonObject } from "@lotse/client/meta";
import { Aborted, backoffMs, matchesFilters } from "../declare/index.ts";
import type { JournalTurn, Logger, TurnNotes, TurnResult, Wake } from "../report/index.ts";
import { type Cycle, type Decision, decide, isDeleting, keepsBase } from "./decide.ts";
import { digestOf } from "./essence.ts";
import { fittingPlan } from "./fit.ts";
import type { TurnKind } from "./kind.ts";
import { notesOf, type ObjectMemory, type RawEvent } from "./memory.ts";
import { type ObjectRecord, packEssence } from "./record.ts";
import { messageOf, reportClosed, reportDropped, reportFailure, reportSuperseded } from "./reports.ts";
import { errorFields, Runs } from "./runs.ts";
import { recordInProgress, type Settlement, settle } from "./settle.ts";
import { slowDown } from "./slow-down.ts";
import { Stop } from "./stop.ts";
import { recall } from "./storage/index.ts";
import { type WritePlan, write } from "./write.ts";

/** What follows from a turn. */
export type TurnEnd =
  /** Nothing to do until something happens. */
  | { readonly type: "quiet" }
  /** Something is due already. */
  | { readonly type: "again" }
  /** Something is due at this time (monotonic milliseconds). */
  | { readonly type: "later"; readonly at: number }
  /** The object is gone and nothing names it any more. */
  | { readonly type: "forget" };

/** Takes the turn of the object `key`. Never rejects: what goes wrong is logged and tried again later. */
export async function takeTurn(kind: TurnKind, key: string, memory: ObjectMemory): Promise<TurnEnd> {
  const body = memory.gone ?? kind.newest(key);
  if (!body || (body.metadata?.uid ?? "") !== memory.uid) return { type: "quiet" };
  const logger = kind.logger.about({
    apiVersion: apiVersionOf(kind.kind),
    kind: kind.kind.kind,
    namespace: body.metadata?.namespace,
    name: body.metadata?.name ?? "",
    uid: memory.uid,
  });
  memory.lastBody = body;
  const woke = memory.woke ?? DUE;
  memory.woke = undefined;
  memory.notes = undefined;
  const begunAt = kind.clock.now();
  let result: TurnEnd | undefined;
  let problem: string | undefined;
  memory.running = new Stop();
  if (kind.stopping.aborted) memory.running.stop(new Aborted("shutdown", "the operator stops"));
  try {
    const end = memory.gone
      ? await afterTheFact(kind, memory, body, logger)
      : await look(kind, key, memory, body, logger);
    memory.errors = 0;
    result = end;
    return end;
  } catch (error) {
    // Whoever has cut the requests of an operator that stops says what is lost.
    if (error instanceof Aborted && error.why === "shutdown") {
      result = { type: "quiet" };
      return result;
    }
    // Framework errors (a filter that throws, a patch that is refused) pause the object alone, for longer each time.
    const pause = backoffMs(kind.plan.errorBackoff, ++memory.errors, kind.random());
    logger.error("could not work on the object, will be tried again", {
      retryIn: formatDuration(pause),
      ...errorFields(error, memory.errors === 1),
      hint: (error as { hint?: string } | undefined)?.hint,
    });
    kind.post(body, "Warning", "WorkFailed", `could not work on the object: ${messageOf(error)}`);
    problem = messageOf(error);
    result = { type: "later", at: kind.clock.monotonic() + pause };
    return result;
  } finally {
    memory.running = undefined;
    const { ran, wrote, read }: TurnNotes = memory.notes ?? NOTHING;
    memory.notes = undefined;
    const tookMs = kind.clock.now() - begunAt;
    const next = result?.type === "later" ? result.at - kind.clock.monotonic() + kind.clock.now() : undefined;
    const after = afterwards(result, memory);
    kind.measures.turn(problem === undefined ? RESULTS[result?.type ?? "quiet"] : "error", tookMs);
    kind.journal.add(key, {
      at: begunAt,
      tookMs,
      woke,
      version: body.metadata?.resourceVersion,
      ran,
      wrote,
      ...(read && { read }),
      problem,
      after,
      nextAt: after === "waits" ? next : undefined,
    });
  }
}

/** Whoever was woken while its turn was under way has the next one at once, whatever this one wanted to wait for. */
function afterwards(end: TurnEnd | undefined, { woke }: ObjectMemory): JournalTurn["after"] {
  if (end?.type === "forget") return "ends";
  return end?.type === "again" || woke !== undefined ? "goes on" : "waits";
}

/** Shared by all turns in which nothing happened: with many quiet objects that is most of them. */
const NOTHING: TurnNotes = { ran: [], wrote: [] };

/** An object that nobody woke is one whose time has come. */
const DUE: readonly Wake[] = [{ by: "due" }];

const RESULTS: Readonly<Record<TurnEnd["type"], TurnResult>> = {
  quiet: "success",
  forget: "success",
  again: "requeue",
  later: "requeue_after",
};

async function look(
  kind: TurnKind,
  key: string,
  memory: ObjectMemory,
  first: KubeBody,
  logger: Logger,
): Promise<TurnEnd> {
  let body = first;
  let wrote = false;
  let contested = false;
  const send = async (wanted: WritePlan) => {
    const plan = fittingPlan(kind, memory, kind.newest(key) ?? body, wanted, logger);
    // Kept until it is done: a result whose write failed is written later, its handler is not called again.
    memory.pending = plan;
    const base = kind.newest(key) ?? body;
    const result = await write(kind.client, base, plan, kind.target, kind.wrote);
    memory.pending = undefined;
    if (result.type !== "gone" && result.contested) contested = true;
    else if (result.type === "written") kind.level?.wrote(memory, base.metadata?.resourceVersion, result.body);
    memory.errors = 0;
    if (plan.record) memory.record = plan.record;
    if (result.type === "written") {
      wrote = true;
      kind.measures.wrote();
      notesOf(memory).wrote.push({ what: whatIsWritten(plan), version: result.body.metadata?.resourceVersion });
      body = result.body;
      if (result.dropped) reportDropped(kind, result.dropped, logger);
      if (plan.finalizer === "drop" && isDeleting(body)) memory.released = true;
    } else if (result.type === "gone") memory.released = true;
    // Nothing had to be written: because somebody, perhaps we with an answer that was lost, has done it.
    else body = kind.newest(key) ?? body;
    return result;
  };

  if (memory.pending) await send(memory.pending);
  const runs = new Runs(kind, memory, body, logger);
  await runs.events(takeEvents(memory));
  if (memory.released) return { type: "quiet" };

  let situation = situationOf(kind, memory, body, logger);
  let decision = decide(situation);
  if (decision.finalizer === "add") {
    const result = await send({ changes: undefined, record: undefined, finalizer: "add" });
    if (result.type === "gone") return { type: "quiet" };
    situation = situationOf(kind, memory, body, logger);
    decision = decide(situation);
  }
  noteEssence(memory, decision.current.digest, kind.clock.monotonic());
  noteAway(memory, situation, decision);
  reportSuperseded(memory, situation, logger);

  const working = new Runs(kind, memory, body, logger);
  working.changes = runs.changes;
  working.transforms.push(...runs.transforms);
  working.conditions = runs.conditions;
  const remember = async (record: ObjectRecord) => {
    // What finished handlers want to change goes with the word that they are finished.
    await send({ ...working.take(), record, finalizer: "keep" });
  };
  decision = slowDown(kind, memory, decision, working, body, logger);
  memory.hurried = false;
  const settlement = await runCycle(kind, memory, decision, situation.record, working, remember, body, logger);
  const beside = { kind, memory, body, runs: working, logger };
  const backgroundAt = await kind.background?.tend(beside);
  const levelAt = await kind.level?.tend(beside);
  const release = decision.finalizer === "drop" || settlement?.release === true;
  if (settlement?.release) memory.deletionHandled = true;
  const record = settlement?.record ?? (situation.restore && !isDeleting(body) ? situation.record : undefined);
  const taken = working.take();
  await send({
    ...taken,
    record: settlement?.closed ? handledAsWritten(kind, memory, record, taken.changes, body, decision) : record,
    finalizer: release ? "drop" : "keep",
  });
  if (settlement?.closed) memory.away = undefined;

  if (!decision.cycle || settlement?.closed) memory.firstSight = false;
  if (memory.released || kind.stopping.aborted) return { type: "quiet" };
  const latest = kind.newest(key) ?? body;
  const same = latest === situation.body || deepEqual(kind.essenceOf(latest), decision.current.essence);
  if (!same) {
    if (wrote) memory.ownDigest = digestOf(kind.essenceOf(latest));
    return { type: "again" };
  }
  if (wrote) memory.ownDigest = decision.current.digest;
  // A deletion mark that came with the answer to an own write: the stream will show nothing new.
  if (isDeleting(latest) !== isDeleting(situation.body)) return { type: "again" };
  // What was written may be what a filter waits for, and the echo of an own write wakes nobody.
  if (wrote && filtersLookAnywhere(kind)) return { type: "again" };
  if (kind.level && contested) return { type: "again" };
  return earliest(kind, settlement ? settlement.nextDue : decision.nextDue, backgroundAt, levelAt);
}

/** A write in words. */
function whatIsWritten({ changes, transforms, conditions, record, finalizer }: WritePlan): string {
  const parts: string[] = [];
  if (changes) parts.push(...Object.keys(changes));
  if (transforms?.length) parts.push("transformations");
  if (conditions) parts.push("conditions");
  if (record) parts.push("record");
  if (finalizer !== "keep") parts.push(finalizer === "add" ? "finalizer on" : "finalizer off");
  return parts.join(", ");
}

/** Labels and annotations are part of the essence; a `when` filter may look at the status as well. */
function filtersLookAnywhere({ changes, background, level }: TurnKind): boolean {
  return (
    background?.looksAnywhere === true ||
    level?.looksAnywhere === true ||
    changes.some(({ filters }) => filters.when !== undefined)
  );
}

async function runCycle(
  kind: TurnKind,
  memory: ObjectMemory,
  decision: Decision,
  record: ObjectRecord | undefined,
  runs: Runs,
  remember: (record: ObjectRecord) => Promise<void>,
  body: KubeBody,
  logger: Logger,
): Promise<Settlement | undefined> {
  const { cycle } = decision;
  if (!cycle) return undefined;
  const finished = cycle.selected.every((handler) => cycle.runs[handler.id]?.outcome !== undefined);
  if (decision.due.length === 0 && !finished) return undefined;
  const decided = decision as Decision & { readonly cycle: Cycle };
  const keeps = keepsBase(kind.changes) || kind.target.storage.needsEssence === true;
  const attempts = await runs.changing(decided, (done, underWay) =>
    remember(recordInProgress(memory.uid, decided, done, underWay, keeps, record, kind.random)),
  );
  if (attempts.length === 0 && !finished) return undefined;
  const settlement = settle(memory.uid, decided, attempts, keeps, record, kind.random);
  for (const failure of settlement.failures) {
    reportFailure(failure, cycle, kind.clock.now(), logger);
    const { handler, message, retryAt } = failure;
    const what = retryAt === undefined ? "failed for good" : "failed, will be tried again";
    kind.post(
      body,
      "Warning",
      retryAt === undefined ? "HandlerFailed" : "HandlerRetrying",
      `${handler.id} ${what}: ${message}`,
    );
  }
  for (const { handler, outcome } of kind.settings.posting.events === "all" ? attempts : []) {
    if (outcome.type === "done") kind.post(body, "Normal", "HandlerSucceeded", `${handler.id} succeeded`);
  }
  if (settlement.closed) reportClosed(kind, cycle, settlement, attempts, runs, body, logger);
  return settlement;
}

/** The situation of an object, and whether its record has to be put back because somebody wiped it. */
function situationOf(kind: TurnKind, memory: ObjectMemory, body: KubeBody, logger: Logger) {
  const { storage, handlers } = kind.target;
  const essence = kind.essenceOf(body);
  const reading = recall(storage, body, handlers, memory.record, essence);
  if (reading.type === "found") memory.record = reading.record;
  if (reading.type === "unreadable" && !memory.record) {
    logger.warn("the record on the object cannot be read, it counts as handled before", {
      hint: "somebody edited it; it is written anew",
    });
    kind.post(
      body,
      "Warning",
      "RecordUnreadable",
      "what was done for the object is unknown: somebody edited the record",
    );
  }
  return {
    body,
    record: memory.record,
    restore: reading.type !== "found" && memory.record !== undefined,
    unreadable: reading.type === "unreadable" && memory.record === undefined,
    firstSight: memory.firstSight,
    away: memory.away,
    hurried: memory.hurried,
    essence,
    handlers: kind.changes,
    memo: memory.memo ?? {},
    finalizer: storage.finalizer,
    formerFinalizers: storage.formerFinalizers ?? [],
    now: kind.clock.now(),
  };
}

function takeEvents(memory: ObjectMemory): readonly RawEvent[] {
  const events = memory.events ?? [];
  memory.events = undefined;
  return events;
}

/** An object that carries a record may leave the sight of all handlers: nothing is written then, but it is remembered. */
function noteAway(memory: ObjectMemory, { record }: { readonly record: ObjectRecord | undefined }, decision: Decision) {
  const { matching, current } = decision;
  if (!record || record.open || matching.length > 0 || current.digest === record.handled) return;
  memory.away = current.essence;
}

/**
 * A handler may change its object so that no handler matches it any more: a switch that is flipped back. Then that state
 * is the handled one, in the same write. Otherwise the next flip would lead to what was handled before, and be no change.
 */
function handledAsWritten(
  kind: TurnKind,
  memory: ObjectMemory,
  record: ObjectRecord | undefined,
  changes: JsonObject | undefined,
  body: KubeBody,
  { current }: Decision,
): ObjectRecord | undefined {
  if (!record || record.open || !changes || Object.keys(changes).every((key) => key === "status")) return record;
  const next = applyMergePatch(body, changes) as KubeBody;
  const essence = kind.essenceOf(next);
  const matches = kind.changes.some(({ filters, param }) => {
    const cause = { reason: "update", old: current.essence, new: essence, memo: memory.memo ?? {}, param } as const;
    return matchesFilters(filters, next, [essence, current.essence], filters.when && cause);
  });
  if (matches) return record;
  return { ...record, handled: digestOf(essence), ...(record.base !== undefined && { base: packEssence(essence) }) };
}

function noteEssence(memory: ObjectMemory, digest: string, now: number): void {
  if (memory.digest === digest) return;
  memory.digest = digest;
  memory.changedAt = now;
}

function earliest(kind: TurnKind, retryAtWall: number | undefined, ...others: (number | undefined)[]): TurnEnd {
  const now = kind.clock.monotonic();
  const retryAt = retryAtWall === undefined ? undefined : now + Math.max(0, retryAtWall - kind.clock.now());
  const at = Math.min(...[retryAt, ...others].map((one) => one ?? Number.POSITIVE_INFINITY));
  if (at === Number.POSITIVE_INFINITY) return { type: "quiet" };
  return at <= now ? { type: "again" } : { type: "later", at };
}

/** The object is gone: raw events, and optional delete handlers with the last known body, once, best effort. */
async function afterTheFact(kind: TurnKind, memory: ObjectMemory, body: KubeBody, logger: Logger): Promise<TurnEnd> {
  memory.running = new Stop();
  const runs = new Runs(kind, memory, body, logger);
  await runs.events(takeEvents(memory));
  // Not waited for: a daemon that ignores its signal shall not keep others from their turn.
  void kind.background?.stop(memory, "deletion", "the object is gone");
  const handlers = kind.changes.filter(
    (handler) =>
      handler.reasons.has("delete") &&
      handler.optional &&
      handler.change === undefined &&
      matchesFilters(handler.filters, body),
  );
  if (handlers.length > 0 && !memory.deletionHandled) {
    memory.deletionHandled = true;
    const essence = kind.essenceOf(body);
    const current = { essence, digest: digestOf(essence) };
    const cycle: Cycle = { reason: "delete", opened: current, old: essence, selected: handlers, runs: {} };
    const attempts = await runs.changing(
      {
        finalizer: "keep",
        cycle,
        due: handlers,
        nextDue: undefined,
        matching: handlers,
        current,
      },
      async () => {},
    );
    for (const { handler, outcome } of attempts) {
      if (outcome.type === "done") continue;
      logger.error("delete handler failed after the object was gone, it is not tried again", {
        handler: handler.id,
        error: "message" in outcome ? outcome.message : outcome.type,
        hint: "without { optional: true } the object waits for the handler",
      });
    }
  }
  return { type: "forget" };
}
