/** Runs the handlers of an object's turn, one after another, gathers what they want to change, and settles their cycle. */
import type { KubeBody } from "@lotse/client";
import { formatDuration, type JsonObject } from "@lotse/client/meta";
import { type ChangeHandler, matchesFilters, orderDue, PermanentError, type Reason } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import { type ConditionChanges, combineConditionChanges, conditionsOf } from "./conditions.ts";
import { changeContext, eventContext, failureContext } from "./context.ts";
import { type Contribution, isEmptyContribution } from "./contribution.ts";
import { remainingMs } from "./deadlines.ts";
import { type Cycle, type Decision, keepsBase, oldFor, reasonFor } from "./decide.ts";
import { executeForObject, type ObjectExecuted } from "./execute.ts";
import { observePatch } from "./handler-requests.ts";
import type { ContextParts, KindWork, ObjectHandler, TurnRunner } from "./kind-work.ts";
import { errorFields, named } from "./log-fields.ts";
import { notesOf, type ObjectMemory, type RawEvent, takeFailures } from "./memory.ts";
import type { AttemptResult } from "./outcome.ts";
import { combinePatches, PatchDraft, type Transform } from "./patch.ts";
import type { ObjectRecord, RunRecord, StepRecord } from "./record.ts";
import { reportAttempts, reportClosed } from "./reports.ts";
import { reportNoRoom, resultPatch } from "./results.ts";
import { type Attempt, recordInProgress, type Settlement, settle } from "./settle.ts";
import type { Soon } from "./soon.ts";
import { Steps } from "./steps.ts";
import { Stop } from "./stop.ts";
import type { WritePlan } from "./write.ts";

const NO_CHANGES: ConditionChanges = { set: [], remove: [] };

/** A handler in the middle of its work. */
export interface UnderWay {
  readonly handler: ChangeHandler;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  readonly steps: Readonly<Record<string, StepRecord>>;
}

/** One object's turn, while its handlers run. */
export class HandlerRunner implements TurnRunner {
  readonly #work: KindWork;
  readonly #memory: ObjectMemory;
  readonly #logger: Logger;
  /** The state that handlers are shown. */
  body: KubeBody;
  /** What the handlers have wanted to change so far, as one merge patch. */
  changes: JsonObject | undefined;
  /** And as changes of the newest body. */
  readonly transforms: Transform[] = [];
  /** And as conditions. */
  conditions: ConditionChanges | undefined;
  /** The same, handler by handler. */
  readonly by: Contribution[] = [];
  /** When timers have run that remember it (ISO 8601). */
  ranAt: Record<string, string> | undefined;
  /** Whether any handler has been called. */
  worked = false;
  /** Whether steps that wait for another try need not wait. */
  atOnce = false;
  /** What the handlers of changes are called for. */
  #reason: Reason | undefined;

  constructor(work: KindWork, memory: ObjectMemory, body: KubeBody, logger: Logger) {
    this.#work = work;
    this.#memory = memory;
    this.body = body;
    this.#logger = logger;
  }

  /** Whether a handler, or the framework, wants to change the object. */
  get wantsChanges(): boolean {
    return this.changes !== undefined || this.transforms.length > 0 || this.conditions !== undefined;
  }

  /** What the handlers have wanted to change since it was last taken. */
  take(): Pick<WritePlan, "changes" | "transforms" | "conditions" | "by"> {
    const { changes } = this;
    this.changes = undefined;
    const transforms = this.transforms.splice(0);
    return { changes, transforms, conditions: this.#takeConditions(), by: this.by.splice(0) };
  }

  #takeConditions(): WritePlan["conditions"] {
    const changes = this.conditions;
    this.conditions = undefined;
    return changes && { changes, now: new Date(this.#work.runtime.clock.now()) };
  }

  /** Hands raw events to `on.event` handlers: in order, once, whatever comes of it. */
  async events(events: readonly RawEvent[]): Promise<void> {
    for (const event of events) {
      for (const handler of this.#work.handlers.events) {
        const { filters, param } = handler;
        const cause = filters.when && { type: event.type, memo: this.#work.views.memoOf(this.#memory), param };
        if (!matchesFilters(filters, event.body, [event.body], cause)) continue;
        const result = await this.attempt(handler, event.body, undefined, (parts) =>
          handler.fn(eventContext(parts, event)),
        );
        if (result.error !== undefined && result.outcome.type !== "aborted") {
          const first = !this.#work.reporting.saidOnce.has(`event ${handler.id}`);
          this.#work.reporting.saidOnce.add(`event ${handler.id}`);
          const fields = { ...named(handler, result.runId), ...errorFields(result.error, first) };
          this.#logger.error("event handler failed", fields);
        }
      }
    }
  }

  /** Tells `on.failure` handlers what has failed for good: once, whatever comes of it. */
  async failures(): Promise<void> {
    for (const failure of takeFailures(this.#memory)) {
      for (const handler of this.#work.handlers.failures) {
        const { filters, param } = handler;
        const cause = filters.when && { memo: this.#work.views.memoOf(this.#memory), param };
        if (!matchesFilters(filters, this.body, [this.body], cause)) continue;
        const result = await this.attempt(handler, this.body, undefined, (parts) =>
          handler.fn(failureContext(parts, failure)),
        );
        if (result.error === undefined || result.outcome.type === "aborted") continue;
        const fields = { ...named(handler, result.runId), of: failure.handler, ...errorFields(result.error, true) };
        this.#logger.error("failure handler failed, it is not tried again", fields);
      }
    }
  }

  /**
   * Runs the handlers of a cycle that are due, and finds out what follows from it; undefined when nothing was due.
   * `record`: what the object said before; `remember` writes down how far the cycle has got, when a step is done.
   */
  runCycle(
    decision: Decision,
    record: ObjectRecord | undefined,
    remember: (record: ObjectRecord) => Promise<void>,
  ): Soon<Settlement | undefined> {
    const { cycle } = decision;
    if (!cycle) return undefined;
    const finished = cycle.selected.every((handler) => cycle.runs[handler.id]?.outcome !== undefined);
    if (decision.due.length === 0 && !finished) return undefined;
    const decided = decision as Decision & { readonly cycle: Cycle };
    const keeps = keepsBase(this.#work.handlers.changes) || this.#work.target.storage.needsEssence === true;
    const attempts = this.runChangeHandlers(decided, (done, underWay) =>
      remember(recordInProgress(this.#memory.uid, decided, done, underWay, keeps, record, this.#work.runtime.random)),
    );
    if (attempts instanceof Promise) {
      return attempts.then((made) => this.#settle(decided, made, finished, keeps, record));
    }
    return this.#settle(decided, attempts, finished, keeps, record);
  }

  /** What follows from the attempts of a cycle, which people are told. */
  #settle(
    decision: Decision & { readonly cycle: Cycle },
    attempts: readonly Attempt[],
    finished: boolean,
    keeps: boolean,
    record: ObjectRecord | undefined,
  ): Settlement | undefined {
    if (attempts.length === 0 && !finished) return undefined;
    const work = this.#work;
    const memory = this.#memory;
    const { cycle } = decision;
    const settlement = settle(memory.uid, decision, attempts, keeps, record, work.runtime.random);
    reportAttempts(work, memory, cycle, attempts, settlement.failures, this.body, this.#logger);
    if (settlement.closed) reportClosed(work, cycle, settlement, attempts, this, this.#logger);
    return settlement;
  }

  /** Runs the due handlers of a cycle. `remember` writes down how far the turn has got. */
  runChangeHandlers(
    decision: Decision & { readonly cycle: Cycle },
    remember: (attempts: readonly Attempt[], underWay: UnderWay) => Promise<void>,
  ): Soon<Attempt[]> {
    return this.#runFrom(0, this.#ordered(decision), decision, [], remember);
  }

  /** One after another, from the one at `first`; it waits only for those that are asynchronous. */
  #runFrom(
    first: number,
    handlers: readonly ChangeHandler[],
    decision: Decision & { readonly cycle: Cycle },
    attempts: Attempt[],
    remember: (attempts: readonly Attempt[], underWay: UnderWay) => Promise<void>,
  ): Soon<Attempt[]> {
    for (let at = first; at < handlers.length; at++) {
      if (this.#work.runtime.stopping.aborted || this.#memory.running?.reason) break;
      const made = this.#runChange(handlers[at] as ChangeHandler, decision, attempts, remember);
      if (made instanceof Promise) {
        return made.then((attempt) => {
          attempts.push(attempt);
          return this.#runFrom(at + 1, handlers, decision, attempts, remember);
        });
      }
      attempts.push(made);
    }
    return attempts;
  }

  /** One attempt of a handler of changes. */
  #runChange(
    handler: ChangeHandler,
    { cycle, current }: Decision & { readonly cycle: Cycle },
    attempts: readonly Attempt[],
    remember: (attempts: readonly Attempt[], underWay: UnderWay) => Promise<void>,
  ): Soon<Attempt> {
    const { clock } = this.#work.runtime;
    const run = cycle.runs[handler.id];
    const startedAt = clock.now();
    const effortBegan = run ? Date.parse(run.started) : startedAt;
    const reason = reasonFor(cycle, handler.id);
    this.#reason = reason;
    let steps: Steps | undefined;
    const step = () => {
      steps ??= this.#steps(run, (records) => remember([...attempts], { handler, startedAt, steps: records }));
      return steps.step;
    };
    const change = {
      reason,
      old: oldFor(cycle, handler.id),
      new: current.essence,
      field: handler.filters.field,
      step,
      gone: this.#memory.life.state === "gone",
    };
    const { timeoutMs } = handler.retry;
    const left = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (startedAt - effortBegan));
    const retry = run?.attempts ?? 0;
    const call = (parts: ContextParts) =>
      handler.fn(changeContext(parts, { retry, startedAt: effortBegan, now: clock.now() }, change));
    const over = (result: AttemptResult): Attempt => {
      const endedAt = clock.now();
      // What the steps have done could not be written down: the turn fails, not the handler.
      if (steps?.failure !== undefined) throw steps.failure;
      const { outcome, error, runId } = result;
      this.#report(handler, reason, result, endedAt - startedAt);
      const stepFailures = steps?.failures;
      return { handler, runId, outcome, error, startedAt, endedAt, steps: steps?.records, stepFailures };
    };
    const result = this.attempt(handler, this.body, left, call, retry);
    return result instanceof Promise ? result.then(over) : over(result);
  }

  #steps(run: RunRecord | undefined, persist: (records: Readonly<Record<string, StepRecord>>) => Promise<void>): Steps {
    const { clock, random, plan } = this.#work.runtime;
    return new Steps({
      recorded: run?.steps ?? {},
      clock,
      random,
      backoff: plan.backoff,
      remainingMs: (due) => (this.atOnce ? 0 : remainingMs(due, this.#memory.waiting.deadlines, clock)),
      persist,
    });
  }

  #ordered({ cycle, due }: Decision & { readonly cycle: Cycle }): readonly ChangeHandler[] {
    const { kind, runtime } = this.#work;
    const { random, settings } = runtime;
    const { lifecycle } = settings.execution;
    if (lifecycle === "inOrder") return due;
    const waiting = due.map((handler) => ({
      id: handler.id,
      attempts: cycle.runs[handler.id]?.attempts ?? 0,
      handler,
    }));
    return orderDue(lifecycle, waiting, { resource: kind, random }).map(({ handler }) => handler);
  }

  /** Says something of the object that the framework itself has found, where the kind has room for it. */
  condition(type: string, status: boolean, reason: string, message: string): void {
    if (!this.#work.keepsResult("conditions")) return;
    this.conditions = combineConditionChanges(this.conditions ?? NO_CHANGES, {
      set: [{ type, status, reason, message }],
      remove: [],
    });
  }

  /** Takes back what was said of the object, where it was. */
  removeCondition(type: string): void {
    if (!this.#work.keepsResult("conditions")) return;
    if (!this.hasConditionChange(type) && !conditionsOf(this.body)?.some((one) => one.type === type)) return;
    this.conditions = combineConditionChanges(this.conditions ?? NO_CHANGES, { set: [], remove: [type] });
  }

  /** Whether a handler of this turn has said something under this type. */
  hasConditionChange(type: string): boolean {
    return this.conditions?.set.some((one) => one.type === type) === true;
  }

  /** Adds a change that the framework itself wants. */
  change(changes: JsonObject): void {
    this.changes = combinePatches(this.changes, changes);
  }

  /** One attempt of any handler of the turn, and what it wants to change. `retry` is how many there were before. */
  attempt(
    handler: ObjectHandler,
    body: KubeBody,
    timeoutMs: number | undefined,
    call: (parts: ContextParts) => unknown,
    retry = 0,
  ): Soon<AttemptResult> {
    this.worked = true;
    const draft = new PatchDraft();
    const executed = executeForObject(this.#work, {
      handler,
      memory: this.#memory,
      body,
      logger: this.#logger,
      reason: this.#reason,
      retry,
      parent: this.#memory.running ?? new Stop(),
      timeoutMs,
      graceMs: this.#work.runtime.plan.gracefulMs,
      draft,
      call,
    });
    return executed instanceof Promise
      ? executed.then((ended) => this.#ended(handler, draft, ended))
      : this.#ended(handler, draft, executed);
  }

  /** What follows from the end of an attempt, but for whether there is another one. */
  #ended(handler: ObjectHandler, draft: PatchDraft, { result, run, conditions }: ObjectExecuted): AttemptResult {
    notesOf(this.#memory).ran.push(run);
    // Then nothing else shall be begun in this turn.
    if (result.refused) this.#memory.running?.stop(result.refused);
    if (result.abandoned || result.late || result.outcome.type === "aborted") return result;
    let changes: JsonObject | undefined;
    try {
      changes = this.#gather(handler, draft, result);
    } catch (cause) {
      const message = `what the handler returned or patched is not JSON: ${(cause as Error).message}`;
      const error = new PermanentError(message, { cause });
      return { outcome: { type: "failed", message }, error, abandoned: false, runId: result.runId };
    }
    const claims = conditions?.touched ? conditions.changes() : undefined;
    if (claims) this.conditions = combineConditionChanges(this.conditions ?? NO_CHANGES, claims);
    const { id, type } = handler;
    const { transforms } = draft;
    const part = { handler: id, type, changes, transforms, conditions: claims };
    if (!isEmptyContribution(part)) this.by.push(part);
    return result;
  }

  /** Adds what an attempt wants to change; throws when that is not JSON, and then nothing is added. */
  #gather(handler: ObjectHandler, draft: PatchDraft, { outcome }: AttemptResult): JsonObject | undefined {
    let changes = draft.mergePatch;
    // What handlers of events and failures return has no place on the object.
    if (outcome.type === "done" && outcome.result !== undefined && "retry" in handler) {
      const result = resultPatch(handler.id, outcome.result);
      if (this.#work.keepsResult(handler.id)) changes = combinePatches(changes, result);
      else reportNoRoom(this.#work, handler, this.body, this.#logger);
    }
    observePatch(this.#work, handler.id, this.body, { changes, transforms: draft.transforms });
    this.changes = combinePatches(this.changes, changes);
    this.transforms.push(...draft.transforms);
    return changes;
  }

  /** How an attempt ended; failures are told with what follows from them, when the turn is settled. */
  #report(handler: ChangeHandler, reason: Reason, result: AttemptResult, tookMs: number): void {
    if (!this.#logger.wants("warn") || (!this.#logger.wants("info") && result.error === undefined)) return;
    const fields = named(handler, result.runId);
    fields.reason = reason;
    fields.took = formatDuration(tookMs);
    if (result.outcome.type === "done" && result.error === undefined) this.#logger.info("handler succeeded", fields);
    else if (result.outcome.type === "done") {
      this.#logger.warn("handler failed, which is ignored", { ...fields, ...errorFields(result.error, true) });
    } else if (result.outcome.type === "aborted") {
      const { why } = result.refused ?? (result.error as { why?: string } | undefined) ?? {};
      this.#logger.info("handler was stopped", { ...fields, why });
    }
  }
}
