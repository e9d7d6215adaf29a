/**
 * A turn: one look at one object. Decide, run what is due, settle, write once. Decisions are pure and live in
 * `decide` and `settle`; this is the I/O around them.
 */
import { apiVersionOf, type KubeBody } from "@lotse/client";
import { deepEqual, formatDuration, type IdentityKey } from "@lotse/client/meta";
import { Aborted, backoffMs } from "../declare/index.ts";
import type { JournalTurn, Logger, TurnNotes, TurnResult, Wake } from "../report/index.ts";
import { combineConditionChanges, conditionsOf } from "./conditions.ts";
import { deadlinesIn, remainingMs } from "./deadlines.ts";
import { type Decision, decide, isAtOnce, isDeleting } from "./decide.ts";
import { digestOf } from "./essence.ts";
import { lighterPlan, limitRecordSize } from "./fit.ts";
import { handleGone } from "./gone.ts";
import { handledAsWritten } from "./handled-state.ts";
import { HandlerRunner } from "./handler-runner.ts";
import { type BackgroundTurn, filtersLookAnywhere, type KindWork } from "./kind-work.ts";
import { errorFields } from "./log-fields.ts";
import { notesOf, type ObjectMemory, takeEvents } from "./memory.ts";
import type { ObjectRecord } from "./record.ts";
import { messageOf, reportDropped, reportRestored, reportSuperseded } from "./reports.ts";
import { afterRestore } from "./restore.ts";
import type { Settlement } from "./settle.ts";
import { type Finding, noteDecision, situationOf } from "./situation.ts";
import { eventsWait, loopDueAt, noteAnswer, slowDown, slowEvents } from "./slow-down.ts";
import { handlerStandings, standingConditions } from "./standing.ts";
import { Stop } from "./stop.ts";
import { isTooLarge, type WritePlan, type WriteResult, write } from "./write.ts";

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
export async function takeTurn(work: KindWork, key: IdentityKey, memory: ObjectMemory): Promise<TurnEnd> {
  const body = memory.gone ?? work.store.newest(key);
  if (!body || (body.metadata?.uid ?? "") !== memory.uid) return { type: "quiet" };
  const logger = work.reporting.logger.about({
    apiVersion: apiVersionOf(work.kind),
    kind: work.kind.kind,
    namespace: body.metadata?.namespace,
    name: body.metadata?.name ?? "",
    uid: memory.uid,
  });
  memory.lastBody = body;
  const woke = memory.woke ?? DUE;
  memory.woke = undefined;
  memory.notes = undefined;
  const begunAt = work.runtime.clock.now();
  let result: TurnEnd | undefined;
  let problem: string | undefined;
  memory.running = new Stop();
  if (work.runtime.stopping.aborted) memory.running.stop(new Aborted("shutdown", "the operator stops"));
  try {
    const end = memory.gone
      ? await forgotten(work, memory, body, logger)
      : await new ObjectTurn(work, key, memory, body, logger).take();
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
    const pause = backoffMs(work.runtime.plan.errorBackoff, ++memory.errors, work.runtime.random());
    logger.error("could not work on the object, will be tried again", {
      retryIn: formatDuration(pause),
      ...errorFields(error, memory.errors === 1),
      hint: (error as { hint?: string } | undefined)?.hint,
    });
    work.reporting.post(body, "Warning", "WorkFailed", `could not work on the object: ${messageOf(error)}`);
    problem = messageOf(error);
    result = { type: "later", at: work.runtime.clock.monotonic() + pause };
    return result;
  } finally {
    memory.running = undefined;
    const { ran, wrote, read, children }: TurnNotes = memory.notes ?? NOTHING;
    memory.notes = undefined;
    const tookMs = work.runtime.clock.now() - begunAt;
    const next =
      result?.type === "later" ? result.at - work.runtime.clock.monotonic() + work.runtime.clock.now() : undefined;
    const after = afterwards(result, memory);
    work.reporting.measures.turn(problem === undefined ? RESULTS[result?.type ?? "quiet"] : "error", tookMs);
    work.reporting.journal.add(key, {
      at: begunAt,
      tookMs,
      woke,
      version: body.metadata?.resourceVersion,
      ran,
      wrote,
      ...(read && { read }),
      ...(children && { children }),
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

/** The turn of an object that is there. */
class ObjectTurn {
  readonly #work: KindWork;
  readonly #key: IdentityKey;
  readonly #memory: ObjectMemory;
  readonly #logger: Logger;
  readonly #runner: HandlerRunner;
  /** The newest known body. */
  #body: KubeBody;
  /** What our last write has made of the object. */
  #made: KubeBody | undefined;
  /** Somebody else may have changed the object while it was written. */
  #contested = false;

  constructor(work: KindWork, key: IdentityKey, memory: ObjectMemory, body: KubeBody, logger: Logger) {
    this.#work = work;
    this.#key = key;
    this.#memory = memory;
    this.#body = body;
    this.#logger = logger;
    this.#runner = new HandlerRunner(work, memory, body, logger);
  }

  async take(): Promise<TurnEnd> {
    const memory = this.#memory;
    if (memory.pending) await this.#sendPending(memory.pending);
    await this.#events();
    if (memory.released) return QUIET;
    const found = await this.#decide();
    if (!found) return QUIET;
    const { situation, decision } = found;
    const settlement = await this.#runHandlers(situation, decision);
    const [backgroundAt, levelAt] = await this.#runBeside();
    await this.#runner.failures();
    await this.#writeDown(situation, decision, settlement);
    // What others have written in this turn is news to a reconciler that ran before, or did not run at all.
    const newsAt = this.#work.handlers.reconcilers?.next(this.#beside);
    const next = this.#afterwards(situation, decision);
    if (next) return next;
    const loopAt = loopDueAt(memory, this.#work.runtime.clock.monotonic());
    const restoreAt = this.#memory.record && this.#restoreLater(situation);
    return this.#earliest(this.#retryInMs(decision, settlement), backgroundAt, levelAt, newsAt, loopAt, restoreAt);
  }

  /** A write that failed before comes first. One that can never succeed must not keep the object from its deletion. */
  async #sendPending(plan: WritePlan): Promise<void> {
    try {
      await this.#send(plan);
    } catch (error) {
      if (!isTooLarge(error) || !isDeleting(this.#work.store.newest(this.#key) ?? this.#body)) throw error;
      this.#memory.pending = undefined;
    }
    this.#runner.body = this.#body;
  }

  async #events(): Promise<void> {
    const memory = this.#memory;
    if (eventsWait(memory, this.#work.runtime.clock.monotonic())) return;
    const events = takeEvents(memory);
    await this.#runner.events(events);
    slowEvents(this.#work, memory, events, this.#runner, this.#body, this.#logger);
  }

  /** What the object needs; undefined when it is gone by now. The finalizer comes before anything else. */
  async #decide(): Promise<{ readonly situation: Finding; readonly decision: Decision } | undefined> {
    const work = this.#work;
    const memory = this.#memory;
    let situation = situationOf(work, memory, this.#body, this.#logger);
    let decision = decide(situation);
    if (decision.finalizer === "add") {
      const result = await this.#send({ changes: undefined, record: undefined, finalizer: "add" });
      if (result.type === "gone") return undefined;
      this.#runner.body = this.#body;
      situation = situationOf(work, memory, this.#body, this.#logger);
      decision = decide(situation);
    }
    noteDecision(memory, situation, decision, work.runtime.clock.monotonic());
    reportSuperseded(memory, situation, this.#logger);
    return { situation, decision: slowDown(work, memory, decision, this.#runner, this.#body, this.#logger) };
  }

  async #runHandlers(situation: Finding, decision: Decision): Promise<Settlement | undefined> {
    const memory = this.#memory;
    memory.hurried = false;
    memory.woken = false;
    this.#runner.atOnce = isAtOnce(situation);
    try {
      // What finished handlers want to change goes with the word that they are finished.
      const remember = async (record: ObjectRecord) =>
        void (await this.#send({ ...this.#runner.take(), record, finalizer: "keep" }));
      return await this.#runner.runCycle(decision, situation.record, remember);
    } finally {
      memory.retryNow = false;
    }
  }

  get #beside(): BackgroundTurn {
    return { work: this.#work, memory: this.#memory, body: this.#body, runner: this.#runner, logger: this.#logger };
  }

  /** Timers, daemons and reconcilers; resolves with when they are due next. */
  async #runBeside(): Promise<readonly (number | undefined)[]> {
    const work = this.#work;
    const beside = this.#beside;
    const backgroundAt = await work.handlers.background?.runDue(beside);
    const { loop } = this.#memory;
    if (loop.by === "fight" && work.runtime.clock.monotonic() < loop.until) return [backgroundAt, loop.until];
    return [backgroundAt, await work.handlers.reconcilers?.runDue(beside)];
  }

  /** The turn's one write: what everybody wants to change, what the object says of itself, and the record. */
  async #writeDown(situation: Finding, decision: Decision, settlement: Settlement | undefined): Promise<void> {
    const work = this.#work;
    const memory = this.#memory;
    const release = decision.finalizer === "drop" || settlement?.release === true;
    if (settlement?.release) memory.deletionHandled = true;
    const record = this.#withTimers(settlement?.record ?? this.#restored(situation), situation);
    if (!release) this.#sayHowItStands(settlement?.record ?? situation.record);
    const taken = this.#runner.take();
    await this.#send({
      ...taken,
      record: settlement?.closed ? handledAsWritten(work, memory, record, taken.changes, this.#body, decision) : record,
      finalizer: release ? "drop" : "keep",
    });
    if (settlement?.closed) {
      memory.away = undefined;
      if (!memory.record?.later) memory.waitingSince = undefined;
    }
    if (!decision.cycle || settlement?.closed) memory.firstSight = false;
    memory.deadlines = deadlinesIn(memory.record, memory.deadlines, work.runtime.clock);
  }

  /** What timers remember of their last run goes with whatever else is remembered. */
  #withTimers(record: ObjectRecord | undefined, situation: Finding): ObjectRecord | undefined {
    const { ranAt } = this.#runner;
    if (!ranAt) return record;
    const base = record ?? situation.record ?? { uid: this.#memory.uid };
    return { ...base, timers: { ...base.timers, ...ranAt } };
  }

  /** The record, if somebody wiped it and it is time to put it back. */
  #restored({ restoreAt, record, body }: Finding): ObjectRecord | undefined {
    const memory = this.#memory;
    const now = this.#work.runtime.clock.monotonic();
    if (restoreAt === undefined || restoreAt > now || isDeleting(body)) return undefined;
    memory.restored = afterRestore(memory.restored, now);
    reportRestored(this.#work, memory.restored, body, this.#logger);
    return record;
  }

  #restoreLater({ restoreAt, body }: Finding): number | undefined {
    if (restoreAt === undefined || isDeleting(body)) return undefined;
    return restoreAt > this.#work.runtime.clock.monotonic() ? restoreAt : undefined;
  }

  #sayHowItStands(record: ObjectRecord | undefined): void {
    const work = this.#work;
    if (!work.keepsResult("conditions")) return;
    const level = work.handlers.reconcilers?.standings(this.#memory);
    const others = work.ownsConditions
      ? [
          ...handlerStandings(record, work.target.handlers),
          ...(work.handlers.background?.standings(this.#memory) ?? []),
        ]
      : [];
    const standings = [...others, ...(level ?? [])];
    const existing = conditionsOf(this.#body);
    if (standings.length === 0 && !existing) return;
    const { generation } = this.#body.metadata ?? {};
    const keepsReady = level !== undefined && level.length > 0;
    const { conditions: said, worked } = this.#runner;
    const changes = standingConditions(standings, { existing, said, keepsReady, generation, worked });
    if (changes.set.length + changes.remove.length === 0) return;
    this.#runner.conditions = combineConditionChanges(said ?? { set: [], remove: [] }, changes);
  }

  /** What has to happen at once, if anything. */
  #afterwards(situation: Finding, decision: Decision): TurnEnd | undefined {
    const work = this.#work;
    const memory = this.#memory;
    if (memory.released || work.runtime.stopping.aborted) return QUIET;
    const { current } = decision;
    const latest = work.store.newest(this.#key) ?? this.#body;
    const isCurrent = (body: KubeBody) => body === situation.body || deepEqual(work.essenceOf(body), current.essence);
    if (this.#made) {
      const isOwnChange = !isCurrent(this.#made);
      memory.ownDigest = isOwnChange ? digestOf(work.essenceOf(this.#made)) : current.digest;
      if (isOwnChange) {
        // Whoever takes back what we have written before we have looked at it has made a change all the same.
        if (memory.ownDigest !== memory.record?.handled) memory.away = work.essenceOf(this.#made);
        return AGAIN;
      }
    }
    if (!isCurrent(latest)) return AGAIN;
    // A deletion mark that came with the answer to an own write: the stream will show nothing new.
    if (isDeleting(latest) !== isDeleting(situation.body)) return AGAIN;
    // What was written may be what a filter waits for, and the echo of an own write wakes nobody.
    if (this.#made && filtersLookAnywhere(work)) return AGAIN;
    return work.handlers.reconcilers && this.#contested ? AGAIN : undefined;
  }

  /** Milliseconds until a handler of the open cycle is tried again. */
  #retryInMs({ nextDue }: Decision, settlement: Settlement | undefined): number | undefined {
    const { clock } = this.#work.runtime;
    const due = settlement ? settlement.nextDue : nextDue;
    if (due === undefined || settlement?.closed) return due === undefined ? undefined : due - clock.now();
    const { record, deadlines } = this.#memory;
    const waits = Object.values((settlement && record?.runs) ?? {}).flatMap(({ outcome, due: until }) =>
      outcome === undefined && until !== undefined ? remainingMs(until, deadlines, clock) : [],
    );
    return Math.min(due - clock.now(), ...waits);
  }

  #earliest(retryInMs: number | undefined, ...others: (number | undefined)[]): TurnEnd {
    const now = this.#work.runtime.clock.monotonic();
    const retryAt = retryInMs === undefined ? undefined : now + Math.max(0, retryInMs);
    const at = Math.min(...[retryAt, ...others].map((one) => one ?? Number.POSITIVE_INFINITY));
    if (at === Number.POSITIVE_INFINITY) return QUIET;
    return at <= now ? AGAIN : { type: "later", at };
  }

  async #send(wanted: WritePlan): Promise<WriteResult> {
    const work = this.#work;
    const memory = this.#memory;
    const base = work.store.newest(this.#key) ?? this.#body;
    const plan = limitRecordSize(work, memory, base, wanted, this.#logger);
    // Kept until it is done: a result whose write failed is written later, its handler is not called again.
    memory.pending = plan;
    let result: WriteResult;
    try {
      result = await write(work.runtime.client, base, plan, work.target, work.store.wrote);
    } catch (error) {
      const lighter = isTooLarge(error) ? lighterPlan(work, memory, base, plan, this.#logger) : undefined;
      if (!lighter) throw error;
      return this.#send(lighter);
    }
    memory.pending = undefined;
    memory.errors = 0;
    if (plan.record) memory.record = plan.record;
    if (result.type === "written") this.#written(plan, base, result);
    else if (result.type === "gone") memory.released = true;
    // Nothing had to be written: because somebody, perhaps we with an answer that was lost, has done it.
    else {
      if (result.contested) this.#contested = true;
      this.#body = work.store.newest(this.#key) ?? this.#body;
    }
    return result;
  }

  #written(plan: WritePlan, base: KubeBody, result: Extract<WriteResult, { type: "written" }>): void {
    const work = this.#work;
    const memory = this.#memory;
    if (result.contested) this.#contested = true;
    else work.handlers.reconcilers?.wrote(memory, base, result.body, plan.by ?? []);
    const answers = memory.ownVersion !== undefined && memory.ownVersion !== base.metadata?.resourceVersion;
    this.#made = result.made;
    this.#body = result.body;
    memory.ownVersion = result.body.metadata?.resourceVersion;
    work.reporting.measures.wrote();
    notesOf(memory).wrote.push({ what: whatIsWritten(plan), version: result.body.metadata?.resourceVersion });
    if (answers || result.contested) noteAnswer(work, memory, plan, result.body, this.#logger);
    if (result.dropped) reportDropped(work, result.dropped, this.#logger);
    if (plan.finalizer === "drop" && isDeleting(result.body)) memory.released = true;
  }
}

const QUIET: TurnEnd = { type: "quiet" };
const AGAIN: TurnEnd = { type: "again" };

/** The turn of an object that is gone. */
async function forgotten(work: KindWork, memory: ObjectMemory, body: KubeBody, logger: Logger): Promise<TurnEnd> {
  await handleGone(work, memory, body, logger);
  return { type: "forget" };
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
