/**
 * A turn: one look at one object. Decide, run what is due, settle, write once. Decisions are pure and live in
 * `decide` and `settle`; this is the I/O around them.
 */
import type { KubeBody } from "@lotse/client";
import { deepEqual } from "@lotse/client/meta";
import { Aborted } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import { combineConditionChanges, conditionsOf } from "./conditions.ts";
import { deadlinesIn } from "./deadlines.ts";
import { type Decision, decide, isAtOnce, isDeleting } from "./decide.ts";
import { digestOf } from "./essence.ts";
import { askAgain, endAfter } from "./failed-turn.ts";
import { refusal, turnFence } from "./fence.ts";
import { lighterPlan, limitRecordSize } from "./fit.ts";
import { handleGone } from "./gone.ts";
import { handledAsWritten } from "./handled-state.ts";
import { HandlerRunner } from "./handler-runner.ts";
import {
  type BackgroundTurn,
  type BackgroundWork,
  filtersLookAnywhere,
  type KindWork,
  type ReconcileWork,
  referenceTo,
} from "./kind-work.ts";
import { isOver, type LifeEvent, lastOf, nextLife } from "./life.ts";
import { notesOf, type ObjectMemory, seeDeletion, takeEvents } from "./memory.ts";
import type { ObjectRecord } from "./record.ts";
import { reportDropped, reportRestored, reportSuperseded } from "./reports.ts";
import { afterRestore } from "./restore.ts";
import type { Settlement } from "./settle.ts";
import { type Finding, noteDecision, situationOf } from "./situation.ts";
import { eventsWait, loopDueAt, noteAnswer, slowDown, slowEvents } from "./slow-down.ts";
import type { Soon } from "./soon.ts";
import { handlerStandings, standingConditions } from "./standing.ts";
import { Stop } from "./stop.ts";
import { Superseded } from "./superseded.ts";
import type { Takeover } from "./takeover.ts";
import { AGAIN, dueAt, type EndedTurn, noteTurn, QUIET, retryAt, type TurnEnd } from "./turn-end.ts";
import {
  isTooLarge,
  readObject,
  UNCHANGED,
  type WritePlan,
  type WriteResult,
  wantsAnything,
  whatIsWritten,
  write,
} from "./write.ts";

/** Takes the turn of an object. Never rejects: what goes wrong is logged and tried again later. */
export async function takeTurn(work: KindWork, memory: ObjectMemory): Promise<TurnEnd> {
  const { clock, stopping, ownership } = work.runtime;
  const gone = lastOf(memory.life);
  const body = gone ?? work.store.newest(memory);
  if (!body || (body.metadata?.uid ?? "") !== memory.uid) return QUIET;
  // What could not be written must not be done either: another process may do it now.
  if (!ownership.alone && refusal(work, memory, body)) return askAgain(clock);
  const logger = work.reporting.logger.about(referenceTo(work, body));
  const { woke } = memory.journal;
  memory.sight.body = body;
  memory.journal.woke = undefined;
  memory.journal.notes = undefined;
  const begunAt = clock.now();
  const running = new Stop();
  let ended: Pick<EndedTurn, "end" | "problem" | "refused"> = { end: QUIET, problem: undefined };
  memory.running = running;
  if (stopping.aborted) running.stop(new Aborted("shutdown", "the operator stops"));
  try {
    if (gone) {
      await handleGone(work, memory, body, logger);
      ended = { end: { type: "forget" }, problem: undefined };
    } else {
      const end = await new ObjectTurn(work, memory, body, logger).process();
      const refused = running.reason?.why === "ownership" ? running.reason.message : undefined;
      ended = { end: refused === undefined ? end : askAgain(clock), problem: undefined, refused };
    }
    memory.waiting.errors = 0;
  } catch (error) {
    ended = endAfter(error, work, memory, body, logger);
  } finally {
    memory.running = undefined;
    noteTurn(work, memory, { begunAt, body, woke, ...ended });
  }
  return ended.end;
}

/** What was found, and what is to be done about it. */
interface Decided {
  readonly situation: Finding;
  readonly decision: Decision;
}

const NOT_DUE: readonly undefined[] = [];
const SETTLED: LifeEvent = { type: "settled" };

/** The turn of an object that is there. */
class ObjectTurn {
  readonly #work: KindWork;
  readonly #memory: ObjectMemory;
  readonly #logger: Logger;
  readonly #runner: HandlerRunner;
  readonly #taken: Takeover | undefined;
  /** The newest known body. */
  #body: KubeBody;
  /** What the turn looks at, where another process may handle the object meanwhile. */
  #sees: Finding | undefined;
  /** What our last write has made of the object. */
  #made: KubeBody | undefined;
  /** Another client may have changed the object while it was written. */
  #contested = false;

  constructor(work: KindWork, memory: ObjectMemory, body: KubeBody, logger: Logger) {
    this.#work = work;
    this.#memory = memory;
    this.#body = body;
    this.#logger = logger;
    this.#taken = memory.taken;
    this.#runner = new HandlerRunner(work, memory, body, logger);
  }

  /** One look at the object: decides, runs what is due, settles, writes once. */
  async process(): Promise<TurnEnd> {
    const memory = this.#memory;
    if (memory.ownWrites.pending) await this.#sendPending(memory.ownWrites.pending);
    // Waits at least for a moment: what came with the change that has woken the object is known before handlers run.
    await this.#events();
    if (isOver(memory.life)) return QUIET;
    const decided = this.#decide();
    const found = decided instanceof Promise ? await decided : decided;
    if (!found) return QUIET;
    const { situation, decision } = found;
    const handled = this.#runHandlers(situation, decision);
    const settlement = handled instanceof Promise ? await handled : handled;
    const beside = this.#runBeside();
    const [backgroundAt, reconcileAt] = beside instanceof Promise ? await beside : beside;
    if (memory.inbox.failures) await this.#runner.failures();
    await this.#writeDown(situation, decision, settlement);
    this.#wroteDown(decision, settlement);
    // What others have written in this turn is news to a reconciler that ran before, or did not run at all.
    const newsAt = this.#work.handlers.reconcilers?.next(this.#beside);
    const next = this.#afterwards(situation, decision);
    if (next) return next;
    const { clock } = this.#work.runtime;
    const now = clock.monotonic();
    const restoreAt = memory.record && this.#restoreLater(situation);
    const retriedAt = retryAt(memory, decision, settlement, clock);
    return dueAt(now, retriedAt, backgroundAt, reconcileAt, newsAt, loopDueAt(memory, now), restoreAt);
  }

  /** A write that failed before comes first. One that can never succeed must not keep the object from its deletion. */
  async #sendPending(plan: WritePlan): Promise<void> {
    try {
      await this.#send(plan);
    } catch (error) {
      if (!isTooLarge(error) || !isDeleting(this.#work.store.newest(this.#memory) ?? this.#body)) throw error;
      this.#memory.ownWrites.pending = undefined;
    }
    this.#runner.body = this.#body;
  }

  #events(): Soon<void> {
    const memory = this.#memory;
    if (!memory.inbox.events || eventsWait(memory, this.#work.runtime.clock.monotonic())) return undefined;
    const events = takeEvents(memory);
    return this.#runner
      .events(events)
      .then(() => slowEvents(this.#work, memory, events, this.#runner, this.#body, this.#logger));
  }

  /** What the object needs; undefined when it is gone by now. The finalizer comes before anything else. */
  #decide(): Soon<Decided | undefined> {
    const decided = this.#look();
    const isCertain = decided.decision.finalizer !== "add" && !this.#mayBeOutdated(decided.decision);
    return isCertain ? this.#decided(decided) : this.#makeCertain(decided);
  }

  async #makeCertain(first: Decided): Promise<Decided | undefined> {
    let decided = first;
    if (decided.decision.finalizer === "add") {
      const result = await this.#send({ changes: undefined, record: undefined, finalizer: "add" });
      if (result.type === "gone") return undefined;
      decided = this.#look();
    }
    if (this.#mayBeOutdated(decided.decision)) {
      if (!(await this.#confirm())) return undefined;
      decided = this.#look();
    }
    return this.#decided(decided);
  }

  /** Whether a former owner of the object may have handled what handlers would be called for. */
  #mayBeOutdated(decision: Decision): boolean {
    const { taken } = this.#memory;
    return taken !== undefined && wantsCertainty(decision) && !taken.isPast(this.#body.metadata?.resourceVersion);
  }

  #decided({ situation, decision }: Decided): Decided {
    const work = this.#work;
    const memory = this.#memory;
    if (isDeleting(situation.body)) this.#seeDeletion();
    noteDecision(memory, situation, decision, work.runtime.clock.monotonic());
    reportSuperseded(memory, situation, this.#logger);
    return { situation, decision: slowDown(work, memory, decision, this.#runner, this.#body, this.#logger) };
  }

  #look(): Decided {
    this.#runner.body = this.#body;
    const situation = situationOf(this.#work, this.#memory, this.#body, this.#logger);
    if (!this.#work.runtime.ownership.alone) this.#sees = situation;
    return { situation, decision: decide(situation) };
  }

  /** Asks the API server what a former owner of the object has made of it; false when it is no more. */
  async #confirm(): Promise<boolean> {
    const work = this.#work;
    const memory = this.#memory;
    const fresh = await readObject(work.runtime.client, work.kind, this.#body);
    if (fresh?.metadata?.uid !== memory.uid) {
      this.#live({ type: "missing" });
      return false;
    }
    memory.taken = undefined;
    work.store.wrote(fresh);
    this.#body = work.store.newest(memory) ?? fresh;
    return true;
  }

  #runHandlers(situation: Finding, decision: Decision): Soon<Settlement | undefined> {
    const memory = this.#memory;
    memory.asked.retryCleanupNow = false;
    memory.asked.woken = false;
    this.#runner.atOnce = isAtOnce(situation);
    let settlement: Soon<Settlement | undefined>;
    try {
      // What finished handlers want to change goes with the word that they are finished.
      const remember = async (record: ObjectRecord) =>
        void (await this.#send({ ...this.#runner.take(), record, finalizer: "keep" }));
      settlement = this.#runner.runCycle(decision, situation.record, remember);
    } catch (error) {
      memory.asked.retryNow = false;
      throw error;
    }
    const asked = () => {
      memory.asked.retryNow = false;
    };
    if (settlement instanceof Promise) return settlement.finally(asked);
    asked();
    return settlement;
  }

  get #beside(): BackgroundTurn {
    return { work: this.#work, memory: this.#memory, body: this.#body, runner: this.#runner, logger: this.#logger };
  }

  /** Timers, daemons and reconcilers; gives when they are due next. */
  #runBeside(): Soon<readonly (number | undefined)[]> {
    const { background, reconcilers } = this.#work.handlers;
    return this.#memory.left || (!background && !reconcilers) ? NOT_DUE : this.#runDue(background, reconcilers);
  }

  async #runDue(
    background: BackgroundWork | undefined,
    reconcilers: ReconcileWork | undefined,
  ): Promise<readonly (number | undefined)[]> {
    const beside = this.#beside;
    const backgroundAt = await background?.runDue(beside);
    const { state: loop } = this.#memory.hotLoop;
    if (loop.by === "fight" && this.#work.runtime.clock.monotonic() < loop.until) return [backgroundAt, loop.until];
    return [backgroundAt, await reconcilers?.runDue(beside)];
  }

  /** The turn's one write: what all handlers want to change, what the object says of itself, and the record. */
  #writeDown(situation: Finding, decision: Decision, settlement: Settlement | undefined): Promise<WriteResult> {
    const release = decision.finalizer === "drop" || settlement?.release === true;
    if (settlement?.release) this.#live({ type: "deletion handled" });
    const record = this.#withTimers(settlement?.record ?? this.#restored(situation), situation);
    if (!release) this.#sayHowItStands(settlement?.record ?? situation.record, decision);
    const { changes, transforms, conditions, by } = this.#runner.take();
    return this.#send({
      changes,
      transforms,
      conditions,
      by,
      record: settlement?.closed
        ? handledAsWritten(this.#work, this.#memory, record, changes, this.#body, decision)
        : record,
      finalizer: release ? "drop" : "keep",
    });
  }

  /** What is remembered now that the turn has written. */
  #wroteDown(decision: Decision, settlement: Settlement | undefined): void {
    const memory = this.#memory;
    if (settlement?.closed) {
      memory.sight.unmatchedEssence = undefined;
      if (!memory.record?.later) memory.waiting.changeSince = undefined;
    }
    if (!decision.cycle || settlement?.closed) this.#live(SETTLED);
    memory.waiting.deadlines = deadlinesIn(memory.record, memory.waiting.deadlines, this.#work.runtime.clock);
  }

  /** What timers remember of their last run goes with whatever else is remembered. */
  #withTimers(record: ObjectRecord | undefined, situation: Finding): ObjectRecord | undefined {
    const { ranAt } = this.#runner;
    if (!ranAt) return record;
    const base = record ?? situation.record ?? { uid: this.#memory.uid };
    return { ...base, timers: { ...base.timers, ...ranAt } };
  }

  /** The record, if another client wiped it and it is time to put it back. */
  #restored({ restoreAt, record, body }: Finding): ObjectRecord | undefined {
    const memory = this.#memory;
    const now = this.#work.runtime.clock.monotonic();
    if (restoreAt === undefined || restoreAt > now || isDeleting(body)) return undefined;
    memory.waiting.restored = afterRestore(memory.waiting.restored, now);
    reportRestored(this.#work, memory.waiting.restored, body, this.#logger);
    return record;
  }

  #restoreLater({ restoreAt, body }: Finding): number | undefined {
    if (restoreAt === undefined || isDeleting(body)) return undefined;
    return restoreAt > this.#work.runtime.clock.monotonic() ? restoreAt : undefined;
  }

  #sayHowItStands(record: ObjectRecord | undefined, { matching }: Decision): void {
    const work = this.#work;
    if (!work.keepsResult("conditions")) return;
    const level = work.handlers.reconcilers?.standings(this.#memory);
    const isMatched = (id: string) => matching.some((handler) => handler.id === id);
    const standings = work.ownsConditions ? handlerStandings(record, work.target.handlers, isMatched) : [];
    if (work.ownsConditions && work.handlers.background) {
      standings.push(...work.handlers.background.standings(this.#memory));
    }
    if (level) standings.push(...level);
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
    if (isOver(memory.life) || work.runtime.stopping.aborted) return QUIET;
    const { current } = decision;
    const latest = this.#newest;
    const made = this.#made;
    const isCurrent = (body: KubeBody) => body === situation.body || work.wantsSame(body, situation);
    let isLatest: boolean | undefined;
    if (made) {
      const isOwnChange = !isCurrent(made);
      if (made === latest) isLatest = !isOwnChange;
      memory.ownWrites.digest = isOwnChange ? digestOf(work.essenceOf(made)) : current.digest;
      if (isOwnChange) {
        // A client that takes back what was written before this operator has looked at it has made a change all the same.
        if (memory.ownWrites.digest !== memory.record?.handled) memory.sight.unmatchedEssence = work.essenceOf(made);
        return AGAIN;
      }
    }
    if (!(isLatest ?? isCurrent(latest))) return AGAIN;
    // A deletion mark that came with the answer to an own write: the stream will show nothing new.
    if (isDeleting(latest) !== isDeleting(situation.body)) return AGAIN;
    // What was written may be what a filter waits for, and the echo of an own write wakes no object.
    if (this.#made && filtersLookAnywhere(work)) return AGAIN;
    return work.handlers.reconcilers && this.#contested ? AGAIN : undefined;
  }

  /** The newest known body: that of the store, or the last that this turn has seen of an object that is not there. */
  get #newest(): KubeBody {
    return this.#work.store.newest(this.#memory) ?? this.#body;
  }

  /** Writes what is wanted, as far as it fits onto the object. */
  async #send(wanted: WritePlan): Promise<WriteResult> {
    const work = this.#work;
    const memory = this.#memory;
    const base = this.#newest;
    const plan = limitRecordSize(work, memory, base, this.#forState(wanted), this.#logger);
    // Kept until it is done: a result whose write failed is written later, its handler is not called again.
    memory.ownWrites.pending = plan;
    let result: WriteResult;
    try {
      const fence = turnFence(work, memory, base, plan);
      const { onBehalf } = work.reporting;
      if (onBehalf) {
        const handlers = [...new Set(plan.by?.map(({ handler }) => handler))];
        const send = () => write(work.runtime.client, base, plan, work.target, work.store.wrote, fence);
        result = await onBehalf({ handlers, object: referenceTo(work, base) }, send);
      } else if (fence || wantsAnything(plan)) {
        result = await write(work.runtime.client, base, plan, work.target, work.store.wrote, fence);
      } else result = UNCHANGED;
    } catch (error) {
      const lighter = isTooLarge(error) ? lighterPlan(work, memory, base, plan, this.#logger) : undefined;
      if (!lighter) throw error;
      return this.#send(lighter);
    }
    memory.ownWrites.pending = undefined;
    memory.waiting.errors = 0;
    if (result.type === "superseded") throw this.#superseded();
    if (plan.record) {
      memory.record = result.type === "written" ? this.#asKept(plan.record, result.body) : plan.record;
    }
    if (result.type === "written") this.#written(plan, base, result);
    else if (result.type === "gone") this.#live({ type: "missing" });
    // Nothing had to be written: because another client, or this operator with an answer that was lost, has done it.
    else {
      if (result.contested) this.#contested = true;
      this.#body = this.#newest;
    }
    return result;
  }

  /** A record as it lies in the body that is known from now on, so that it is there once; as it is where it differs. */
  #asKept(record: ObjectRecord, body: KubeBody): ObjectRecord {
    const { storage, handlers } = this.#work.target;
    if (storage.place !== "status" || storage.needsEssence) return record;
    const reading = storage.read(body, handlers);
    return reading.type === "found" && deepEqual(reading.record, record) ? reading.record : record;
  }

  /** Where another process may handle the object meanwhile, a write says what it was made for. */
  #forState(plan: WritePlan): WritePlan {
    if (!this.#sees || plan.madeFor) return plan;
    return { ...plan, madeFor: { essence: this.#sees.essence, record: this.#memory.record } };
  }

  /** What was done is dropped: what the object says now counts, and not what was known of it. */
  #superseded(): Superseded {
    const { storage, handlers } = this.#work.target;
    const newest = this.#newest;
    const reading = storage.read(newest, handlers, this.#work.essenceOf(newest));
    if (reading.type === "found") this.#memory.record = reading.record;
    return new Superseded("another process has handled the object meanwhile");
  }

  #written(plan: WritePlan, base: KubeBody, result: Extract<WriteResult, { type: "written" }>): void {
    const work = this.#work;
    const memory = this.#memory;
    if (result.contested) this.#contested = true;
    else work.handlers.reconcilers?.wrote(memory, base, result.body, plan.by ?? []);
    const answers =
      memory.ownWrites.version !== undefined && memory.ownWrites.version !== base.metadata?.resourceVersion;
    this.#made = result.made;
    this.#body = result.body;
    // What it was before the write is held no longer.
    memory.sight.body = result.body;
    memory.ownWrites.version = result.body.metadata?.resourceVersion;
    memory.taken = undefined;
    this.#taken?.wrote(result.body.metadata?.resourceVersion);
    work.reporting.measures.wrote();
    notesOf(memory).wrote.push({ what: whatIsWritten(plan), version: result.body.metadata?.resourceVersion });
    if (answers || result.contested) noteAnswer(work, memory, plan, result.body, this.#logger);
    if (result.dropped) reportDropped(work, result.dropped, this.#logger);
    if (plan.finalizer === "drop" && isDeleting(result.body)) {
      this.#seeDeletion();
      this.#live({ type: "released" });
    }
  }

  #live(event: LifeEvent): void {
    this.#memory.life = nextLife(this.#memory.life, event);
  }

  /** The mark may come with the answer to a write, before the stream shows it: daemons hear of it at once. */
  #seeDeletion(): void {
    const memory = this.#memory;
    if (!seeDeletion(memory)) return;
    // Cannot reject, and nothing waits for a daemon that ignores its signal.
    void this.#work.handlers.background?.stop(memory, "deletion", "the object is being deleted");
  }
}

/** Whether handlers would be called for a change that a former owner may have handled already. */
function wantsCertainty({ cycle, due }: Decision): boolean {
  return due.length > 0 && cycle !== undefined && cycle.reason !== "resume";
}
