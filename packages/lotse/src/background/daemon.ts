/**
 * One daemon of one object. It ends by itself, or by its signal when the object goes, stops matching, or the operator
 * stops; after a failure it is tried again.
 */
import type { KubeBody } from "@lotse/client";
import { sleep } from "@lotse/client/meta";
import { Aborted, type DaemonHandler, FencedError, filterContext, TemporaryError } from "../declare/index.ts";
import type { JournalRun, JournalWrite, Logger } from "../report/index.ts";
import {
  type AttemptResult,
  type BackgroundTurn,
  ConditionsDraft,
  combinePatches,
  conditionsOf,
  daemonContext,
  daemonFence,
  errorFields,
  executeForObject,
  type KindWork,
  messageOf,
  type ObjectMemory,
  observePatch,
  PatchDraft,
  refusalIn,
  reportTrouble,
  resultPatch,
  retryDelayMs,
  type Standing,
  Stop,
  type WritePlan,
  write,
} from "../turn/index.ts";

/** A daemon that failed and has been at work again for so long is taken for well. */
const WELL_AFTER_MS = 60_000;

/** See the module comment. */
export class Daemon {
  readonly #work: KindWork;
  readonly #memory: ObjectMemory;
  readonly #handler: DaemonHandler;
  readonly #first: KubeBody;
  readonly #logger: Logger;
  readonly #stop = new Stop();
  readonly #startedAt: number;
  #pause: AbortController | undefined;
  #over = false;
  /** What it wanted to change at its end was refused: it begins anew where its object is. */
  #refused = false;
  #standing: Standing | undefined;
  /** Digest of the essence that it failed with. */
  #failedFor: string | undefined;
  /** Resolves with whether it ended by itself, when it has ended or was abandoned. Never rejects. */
  readonly ended: Promise<boolean>;

  constructor({ work, memory, body, logger }: BackgroundTurn, handler: DaemonHandler) {
    this.#work = work;
    this.#memory = memory;
    this.#handler = handler;
    this.#first = body;
    this.#logger = logger.with({ handler: handler.id });
    this.#startedAt = work.runtime.clock.now();
    const onStop = () => this.stop("shutdown", "the operator stops");
    work.runtime.stopping.addEventListener("abort", onStop, { once: true });
    this.ended = this.#run().then((byItself) => {
      work.runtime.stopping.removeEventListener("abort", onStop);
      this.#over = byItself;
      return byItself;
    });
  }

  /** It ended by itself. */
  get isOver(): boolean {
    return this.#over;
  }

  /** How it stands; undefined when all is well. */
  get standing(): Standing | undefined {
    return this.#standing;
  }

  /** It failed for good, and its object has changed since. */
  get isLifted(): boolean {
    return this.#over && this.#standing?.state === "failed" && this.#failedFor !== this.#memory.sight.digest;
  }

  /** Tells it to end. */
  stop(why: Aborted["why"], message: string): void {
    this.#stop.stop(new Aborted(why, message));
  }

  /** Ends the wait for its next attempt; whether it was waiting. */
  hurry(): boolean {
    this.#pause?.abort();
    return this.#pause !== undefined;
  }

  async #run(): Promise<boolean> {
    const { clock } = this.#work.runtime;
    try {
      const initialDelayMs = this.#handler.initialDelay(filterContext(this.#first));
      if (initialDelayMs > 0) await sleep(clock, initialDelayMs, this.#stop.signal);
      this.#logger.debug("daemon begins");
      for (let attempts = 0; ; attempts++) {
        const result = await this.#attempt(attempts);
        if (result.abandoned || this.#refused) return false;
        const { type } = result.outcome;
        if (type === "aborted" || (this.#stop.reason && type === "done")) return false;
        const spentMs = clock.now() - this.#startedAt;
        const { random } = this.#work.runtime;
        const delayMs = retryDelayMs(this.#handler.retry, result.outcome, attempts + 1, spentMs, random);
        this.#report(result, attempts + 1, delayMs);
        if (delayMs === undefined) return true;
        await this.#wait(delayMs);
      }
    } catch (error) {
      if (this.#stop.reason) return false;
      this.#trouble(error, 1, undefined);
      return true;
    }
  }

  async #wait(ms: number): Promise<void> {
    this.#pause = new AbortController();
    try {
      await sleep(this.#work.runtime.clock, ms, AbortSignal.any([this.#stop.signal, this.#pause.signal]));
    } catch (error) {
      if (this.#stop.reason) throw error;
    } finally {
      this.#pause = undefined;
    }
  }

  async #attempt(attempts: number): Promise<AttemptResult> {
    const work = this.#work;
    const { clock } = work.runtime;
    const handler = this.#handler;
    const wrote: JournalWrite[] = [];
    const body = this.#newest();
    const conditions = new ConditionsDraft(conditionsOf(body));
    const draft: PatchDraft = new PatchDraft(() => this.#flush(draft, conditions, wrote));
    const { timeoutMs } = handler.retry;
    const forgive = this.#standing && clock.after(WELL_AFTER_MS, () => this.#recovered());
    const { result, run } = await executeForObject(work, {
      handler,
      memory: this.#memory,
      body,
      logger: this.#logger,
      reason: undefined,
      retry: attempts,
      parent: this.#stop,
      timeoutMs: timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (clock.now() - this.#startedAt)),
      graceMs: handler.graceMs ?? work.runtime.plan.daemonGraceMs,
      draft,
      conditions,
      call: (parts) => {
        const effort = { retry: attempts, startedAt: this.#startedAt, now: clock.now() };
        return handler.fn(daemonContext(parts, effort, () => this.#newest()));
      },
      after: async (ended) => {
        if (ended.abandoned || ended.late || ended.outcome.type === "aborted") return;
        await this.#writeEnd(draft, conditions, ended, wrote);
      },
    });
    forgive?.();
    this.#note(run, wrote);
    return result;
  }

  #newest(): KubeBody {
    const { uid, sight } = this.#memory;
    const body = this.#work.store.newest(this.#memory);
    return (body?.metadata?.uid === uid ? body : sight.body) ?? this.#first;
  }

  /** Writes what the daemon wants so far; when that is refused, it is as if it had not been tried. */
  async #flush(draft: PatchDraft, conditions: ConditionsDraft, wrote: JournalWrite[]): Promise<void> {
    const { reason } = this.#stop;
    if (reason) throw reason.why === "ownership" ? new FencedError(reason.message) : reason;
    const taken = draft.take();
    const said = conditions.take();
    try {
      await this.#write(taken.changes, taken.transforms, said, wrote);
    } catch (error) {
      draft.putBack(taken);
      for (const type of said.remove) if (!conditions.says(type)) conditions.remove(type);
      for (const input of said.set) if (!conditions.says(input.type)) conditions.put(input);
      throw error;
    }
  }

  /** What is left in the patch, and the result; a write that is refused is told and not tried again. */
  async #writeEnd(
    draft: PatchDraft,
    conditions: ConditionsDraft,
    { outcome, runId }: AttemptResult,
    wrote: JournalWrite[],
  ): Promise<void> {
    const { id } = this.#handler;
    const logger = this.#logger.with({ runId });
    try {
      let { mergePatch: changes } = draft;
      if (outcome.type === "done" && outcome.result !== undefined && this.#work.keepsResult(id)) {
        changes = combinePatches(changes, resultPatch(id, outcome.result));
      }
      await this.#write(changes, draft.transforms, conditions.changes(), wrote);
    } catch (error) {
      if (refusalIn(error)) {
        this.#refused = true;
        logger.info("what the daemon wanted to change is not written here", { why: messageOf(error) });
        return;
      }
      logger.error("what the daemon wanted to change could not be written", errorFields(error, true));
      this.#work.reporting.post(
        this.#newest(),
        "Warning",
        "HandlerFailed",
        `what ${id} wanted to change could not be written: ${messageOf(error)}`,
      );
    }
  }

  async #write(
    changes: WritePlan["changes"],
    transforms: WritePlan["transforms"] & object,
    said: ReturnType<ConditionsDraft["changes"]>,
    wrote: JournalWrite[],
  ): Promise<void> {
    const work = this.#work;
    const body = this.#newest();
    observePatch(work, this.#handler.id, body, { changes, transforms });
    const speaks = said.set.length + said.remove.length > 0;
    const conditions = speaks ? { changes: said, now: new Date(work.runtime.clock.now()) } : undefined;
    const plan: WritePlan = { changes, transforms, conditions, record: undefined, finalizer: "keep" };
    // Like any write of a handler: the object is woken, for what its other handlers and reconcilers have to know.
    const onWritten = (written: KubeBody) =>
      work.store.handlerWrote(written, work.kind, { verb: "patch", writer: undefined });
    const fence = daemonFence(work, this.#memory, body);
    const result = await write(work.runtime.client, body, plan, work.target, onWritten, fence);
    if (result.type === "superseded") throw new FencedError("another process has handled the object meanwhile");
    if (result.type !== "written") return;
    work.reporting.measures.wrote();
    const what = [...Object.keys(changes ?? {}), ...(conditions ? ["conditions"] : [])].join(", ") || "transformations";
    wrote.push({ what, version: result.body.metadata?.resourceVersion });
  }

  /** A daemon runs beside the turns of its object; `explain` tells of it all the same. */
  #note(run: JournalRun, wrote: readonly JournalWrite[]): void {
    const { runtime, reporting } = this.#work;
    const { tookMs } = run;
    reporting.journal.add(this.#memory.key, {
      at: runtime.clock.now() - tookMs,
      tookMs,
      woke: [{ by: "daemon" }],
      version: this.#newest().metadata?.resourceVersion,
      ran: [run],
      wrote,
      after: "waits",
    });
  }

  #recovered(): void {
    if (!this.#standing) return;
    this.#standing = undefined;
    this.#work.store.wake(this.#memory.key);
  }

  #report({ outcome, error, runId }: AttemptResult, attempts: number, delayMs: number | undefined): void {
    const logger = this.#logger.with({ runId });
    if (outcome.type === "done" && error === undefined) {
      this.#recovered();
      logger.info("daemon has ended");
    } else if (outcome.type === "done") {
      logger.warn("daemon failed, which is ignored", errorFields(error, true));
    } else this.#trouble(error, attempts, delayMs, runId);
  }

  #trouble(error: unknown, attempts: number, retryInMs: number | undefined, runId?: string): void {
    const handler = this.#handler;
    const { id } = handler;
    const message = messageOf(error);
    const before = this.#standing;
    this.#failedFor = this.#memory.sight.digest;
    this.#standing = standingAfter(id, error, message, retryInMs);
    const trouble = { what: "daemon", reason: "daemon", handler, runId, error, attempts, retryInMs } as const;
    reportTrouble(this.#work, this.#memory, this.#newest(), trouble, this.#logger);
    // The object says how its work stands, with its next turn.
    if (before?.state !== this.#standing?.state) this.#work.store.wake(this.#memory.key);
  }
}

/** Who waits by a `TemporaryError` has not failed; daemons do little else. */
function standingAfter(
  id: string,
  error: unknown,
  message: string,
  retryInMs: number | undefined,
): Standing | undefined {
  if (retryInMs === undefined) return { id, state: "failed", reason: "HandlerFailed", message };
  return error instanceof TemporaryError ? undefined : { id, state: "fails", reason: "HandlerRetrying", message };
}
