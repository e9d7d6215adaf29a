/**
 * The reconcilers of one kind, as the turn sees them: those that are due run within the object's turn, so they never
 * overlap anything of its object, and what they want to change is part of the turn's one write.
 */
import { type KindDescription, type KubeBody, KubeObject } from "@lotse/client";
import { type IdentityKey, identityKeyOf, kindKey, type ObjectKey, objectKeyOf } from "@lotse/client/meta";
import {
  Aborted,
  type ChangeContext,
  isRequeue,
  type Kept,
  keptFor,
  type Mapped,
  matchesFilters,
  type ReconcileContext,
  type ReconcileHandler,
  requeue,
  selects,
  TemporaryError,
} from "../declare/index.ts";
import type { Metrics } from "../report/index.ts";
import {
  type AttemptResult,
  type BackgroundTurn,
  type Contribution,
  countHotLoop,
  isDeleting,
  notesOf,
  noteWake,
  type ObjectMemory,
  type ReconcileWork,
  reportTrouble,
  type Standing,
  timerContext,
} from "../turn/index.ts";
import { mappedKeys, ownersOf } from "./changes.ts";
import {
  cleanUpChildren,
  hasChildren,
  type Keeping,
  keepChildren,
  letChildrenGo,
  type OperatorNames,
} from "./children/index.ts";
import { beginRun, endRun, nextRunAt, type RunEnd } from "./due.ts";
import type { KindView } from "./kind-view.ts";
import { ObjectReader } from "./reader.ts";
import type { Change } from "./reads.ts";
import { ReadSession } from "./session.ts";
import { observe, standingAfter } from "./standing.ts";
import type { TrackedKinds } from "./tracked-kinds.ts";

/** How the reconcilers of a kind reach their surroundings. */
export interface KindReconcilersParts {
  readonly kind: KindDescription;
  readonly handlers: readonly ReconcileHandler[];
  readonly tracked: TrackedKinds;
  /** The object of this name, if it is known. */
  readonly find: (key: ObjectKey) => KubeBody | undefined;
  /** What is remembered of an object. */
  readonly memory: (key: IdentityKey) => ObjectMemory | undefined;
  /** The object shall get its turn. */
  readonly wake: (key: IdentityKey) => void;
  /** The function that says whom an object of another kind concerns has failed. */
  readonly onMapFailure: (handler: ReconcileHandler, object: KubeObject, error: unknown) => void;
  readonly operator: string;
  /** Names that it had before. */
  readonly formerNames: readonly string[];
  /** A reconciler reads a kind from the operator's own copy. */
  readonly onRead: (handler: string, kind: KindDescription, wanted: Kept, namespace: string | undefined) => void;
  readonly metrics: Metrics;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** See the module comment. */
export class KindReconcilers implements ReconcileWork {
  readonly #parts: KindReconcilersParts;
  readonly #readers = new Map<IdentityKey, readonly ObjectReader[]>();
  /** The kinds that each declaration names as its own. */
  /** What they want of the kinds that they read, by reconciler and kind. */
  readonly #wanted = new Map<string, Kept>();
  readonly #owned = new Map<string, Set<KindView>>();
  /** Ends what it listens to: kinds that come, and the changes of each kind. */
  readonly #listening: (() => void)[] = [];
  #attached: { readonly view: KindView; readonly end: () => void }[] = [];
  readonly looksAnywhere: boolean;

  constructor(parts: KindReconcilersParts) {
    this.#parts = parts;
    this.looksAnywhere = parts.handlers.some(({ filters }) => (filters.when ?? filters.field) !== undefined);
    this.#listening.push(parts.tracked.onKind((view) => this.#attach(view)));
  }

  /** The kind is followed no longer: changes of other kinds concern no object here. */
  close(): void {
    for (const end of this.#listening.splice(0)) end();
    for (const { end } of this.#attached.splice(0)) end();
  }

  /** Who of an object's reconcilers makes a write; undefined for handlers of other sorts. */
  writerOf(memory: ObjectMemory, handler: string): ObjectReader | undefined {
    return this.#readers
      .get(memory.key)
      ?.find((reader) => reader.handler.id === handler || `${reader.handler.id}/onDelete` === handler);
  }

  wrote(memory: ObjectMemory, base: KubeBody, body: KubeBody, by: readonly Contribution[]): void {
    const now = this.#parts.now();
    for (const reader of this.#readers.get(memory.key) ?? []) reader.wrote(base, body, by, now);
  }

  next(turn: BackgroundTurn): number | undefined {
    const { memory } = turn;
    const now = this.#parts.now();
    let next: number | undefined;
    for (const reader of this.#readers.get(memory.key) ?? []) {
      if (reader.woken === undefined) continue;
      this.#tellLoop(turn, reader);
      const at = nextRunAt(reader.timing, now, reader.handler.rateLimit);
      if (at === undefined) continue;
      if (at <= now) noteWake(memory, { by: "read", what: reader.woken });
      next = Math.min(next ?? at, at);
    }
    return next;
  }

  /** The object is gone, or no longer this operator's. */
  forget(memory: ObjectMemory): void {
    for (const reader of this.#readers.get(memory.key) ?? []) reader.release();
    this.#readers.delete(memory.key);
  }

  standings(memory: ObjectMemory): readonly Standing[] | undefined {
    const standings: Standing[] = [];
    for (const { handler, applies, standing } of this.#readers.get(memory.key) ?? []) {
      if (!handler.conditions || !applies) continue;
      if (!standing) return undefined;
      standings.push(standing);
    }
    return standings;
  }

  retry(memory: ObjectMemory): readonly string[] {
    const retried = (this.#readers.get(memory.key) ?? []).filter(({ timing }) => timing.failures > 0);
    for (const reader of retried) reader.timing = { ...reader.timing, due: true };
    return retried.map(({ handler }) => handler.id);
  }

  wake(memory: ObjectMemory): void {
    for (const reader of this.#readers.get(memory.key) ?? []) reader.timing = { ...reader.timing, due: true };
  }

  /** Whether what wakes the objects can wait until after everything that is new. */
  get isLow(): boolean {
    return this.#parts.handlers.every(({ priority }) => priority === "low");
  }

  async runDue(turn: BackgroundTurn): Promise<number | undefined> {
    let next: number | undefined;
    for (const reader of this.#of(turn.memory)) {
      const at = await this.#runOne(turn, reader);
      if (at !== undefined) next = Math.min(next ?? at, at);
    }
    return next;
  }

  get #names(): OperatorNames {
    return [this.#parts.operator, ...this.#parts.formerNames];
  }

  /** Whether children of the declaration `id`, or notes of them, are still there for an object. */
  holds(id: string, body: KubeBody): boolean {
    return hasChildren(this.#names, id, body, this.#owned.get(id) ?? []);
  }

  /** Runs `onDelete` of a reconciler: it reads like the reconciler itself, and is tried again when that changes. */
  async cleanUp(id: string, context: ChangeContext<KubeBody>): Promise<void> {
    const key = identityKeyOf(objectKeyOf(context.namespace, context.name), context.uid);
    const memory = this.#parts.memory(key);
    const reader = memory && this.#of(memory).find(({ handler }) => handler.id === id);
    if (!reader) return;
    const session = this.#session(reader, context);
    const now = new Date(context.started.getTime() + context.runtime);
    const own = Object.assign(context, session.reads, { requeue, now }) as unknown as ReconcileContext<KubeBody>;
    reader.session = session;
    try {
      const { children, onDelete } = reader.handler;
      const result = children
        ? await cleanUpChildren(this.#keeping(reader, session, own, true))
        : await onDelete?.(own);
      if (isRequeue(result)) throw new TemporaryError("the cleanup goes on", { delay: result.afterMs });
    } finally {
      reader.session = undefined;
      reader.remember(session, true);
    }
  }

  async #runOne(turn: BackgroundTurn, reader: ObjectReader): Promise<number | undefined> {
    const { work, memory, body } = turn;
    const { handler } = reader;
    if (isDeleting(body)) {
      if (!handler.onDelete && !handler.children) reader.release();
      return undefined;
    }
    const { filters, param } = handler;
    const fits = matchesFilters(filters, body, [body], filters.when && { memo: work.views.memoOf(memory), param });
    reader.applies = fits;
    if (!fits && !(handler.children?.onMismatch === "delete" && this.holds(handler.id, body))) {
      reader.release();
      return undefined;
    }
    const news = reader.isNews(body);
    // The server has just answered a write of the object, or the stream has shown it: it is there.
    const shown = news || reader.woken !== undefined;
    reader.woken = undefined;
    if (news) reader.timing = { ...reader.timing, due: true };
    const now = work.runtime.clock.monotonic();
    const at = nextRunAt(reader.timing, now, handler.rateLimit);
    if (at === undefined || at > now || work.runtime.stopping.aborted || memory.running?.reason) return at;
    const end = await this.#run(turn, reader, now, shown, fits);
    if (fits || end.type !== "done" || end.requeueMs !== undefined) {
      return nextRunAt(reader.timing, work.runtime.clock.monotonic(), handler.rateLimit);
    }
    // Nothing is left of it: whatever the object was held for is looked at once more.
    reader.release();
    return work.runtime.clock.monotonic();
  }

  /** `fits`: the object is one that the reconciler is for; else its children go. */
  async #run(
    turn: BackgroundTurn,
    reader: ObjectReader,
    begunAt: number,
    shown: boolean,
    fits: boolean,
  ): Promise<RunEnd> {
    const { work, body, runner } = turn;
    const { handler, timing: before } = reader;
    const { clock } = work.runtime;
    reader.timing = beginRun(before, begunAt, handler.rateLimit);
    reader.saw = body;
    reader.children = undefined;
    let session: ReadSession | undefined;
    let answer: unknown;
    const startedAt = clock.now() - (begunAt - (before.failingSince ?? begunAt));
    const result = await runner.attempt(handler, body, handler.retry.timeoutMs, async (parts) => {
      const base = timerContext(parts, { retry: before.failures, startedAt, now: clock.now() });
      session = this.#session(reader, base);
      reader.session = session;
      const context = Object.assign(base, session.reads, {
        requeue,
        now: new Date(clock.now()),
      }) as unknown as ReconcileContext<KubeBody>;
      const keep = fits ? keepChildren : letChildrenGo;
      answer = handler.children
        ? await keep(this.#keeping(reader, session, context, shown), turn)
        : await handler.fn(context);
    });
    const end = endOf(result, answer, session?.isStale === true);
    reader.session = undefined;
    if (session) {
      reader.remember(session, end.type === "done");
      noteReads(turn.memory, session);
    }
    const rhythm = { backoff: handler.retry.backoff, resyncMs: handler.resyncMs, rateLimit: handler.rateLimit };
    reader.timing = endRun(reader.timing, end, begunAt, clock.monotonic(), rhythm, work.runtime.random);
    this.#report(turn, reader, result, end);
    return end;
  }

  #session(reader: ObjectReader, context: Pick<ReconcileContext<KubeBody>, "client" | "indexes" | "namespace">) {
    const { indexes, namespace } = context;
    const { tracked, onRead } = this.#parts;
    return new ReadSession({
      reader,
      tracked,
      client: () => context.client,
      indexes,
      namespace,
      onRead: (kind, wanted) => onRead(reader.handler.id, kind, wanted, namespace),
      wanted: (kind) => this.#wantedBy(reader.handler, kind),
    });
  }

  /** What a reconciler has said of a kind that it reads; looked up once, and not at each read. */
  #wantedBy(handler: ReconcileHandler, kind: KindDescription): Kept {
    const key = `${handler.id} ${kindKey(kind)}`;
    const wanted = this.#wanted.get(key) ?? keptFor(handler, kind) ?? "all";
    this.#wanted.set(key, wanted);
    return wanted;
  }

  /** `shown`: the run was woken by its object, which is therefore there. */
  #keeping(reader: ObjectReader, session: ReadSession, context: ReconcileContext<KubeBody>, shown: boolean): Keeping {
    let lives: Promise<boolean> | undefined = shown ? Promise.resolve(true) : undefined;
    const parentLives = () => {
      lives ??= isThere(context);
      return lives;
    };
    const { handler, memory } = reader;
    const { operator, now } = this.#parts;
    const parentWrote = (base: KubeBody, body: KubeBody) => this.wrote(memory, base, body, []);
    const tellFight = (what: string) => {
      context.warn("HotLoop", what);
      this.#countLoop();
    };
    const asked = { operator, names: this.#names, handler, reader, memory, session, context };
    return { ...asked, parentLives, parentWrote, tellFight, now };
  }

  #report(turn: BackgroundTurn, reader: ObjectReader, { error, runId }: AttemptResult, end: RunEnd): void {
    const { work, memory, body, runner, logger } = turn;
    const { handler, timing } = reader;
    const now = work.runtime.clock.monotonic();
    if (end.type === "aborted") return;
    if (end.type === "done") {
      logger.debug("reconciled", { handler: handler.id, runId });
      this.#tellLoop(turn, reader);
    } else {
      const retryInMs = end.type === "stuck" ? undefined : Math.max(0, (timing.dueAt ?? now) - now);
      const effort = { attempts: timing.failures, sinceMs: now - (timing.failingSince ?? now) };
      const trouble = { what: "reconciler", reason: "reconcile", handler, runId, error, retryInMs, ...effort } as const;
      reportTrouble(work, memory, body, trouble, logger);
    }
    if (!handler.conditions) return;
    reader.standing = standingAfter(end, error, reader.children);
    observe(runner, work, body);
  }

  /** Once for each row of runs that it owes to itself. */
  #tellLoop({ work, body, logger }: BackgroundTurn, reader: ObjectReader): void {
    if (!reader.isLooping()) return;
    const { id, sourceLocation } = reader.handler;
    logger.warn("a reconciler is woken by its own writes again and again, it is slowed down", {
      handler: id,
      at: sourceLocation,
      by: reader.woken,
      hint: "write what shall be and not something new each time, or read again after writing",
    });
    work.reporting.post(body, "Warning", "HotLoop", `${id} is woken by its own writes again and again`);
    this.#countLoop();
  }

  #countLoop(): void {
    const { metrics, operator, kind } = this.#parts;
    countHotLoop(metrics, operator, kind);
  }

  #of(memory: ObjectMemory): readonly ObjectReader[] {
    let readers = this.#readers.get(memory.key);
    if (!readers) {
      readers = this.#parts.handlers.map((handler) => new ObjectReader(handler, memory, this.#parts.wake));
      this.#readers.set(memory.key, readers);
    }
    return readers;
  }

  /** Follows the kinds that reconcilers own or watch. */
  #attach(view: KindView): void {
    // Kinds come and go: what is gone is not kept.
    this.#attached = this.#attached.filter((one) => !one.view.isClosed);
    for (const views of this.#owned.values()) for (const one of views) if (one.isClosed) views.delete(one);
    const listen = (listener: (change: Change) => void) =>
      void this.#attached.push({ view, end: view.listen(listener) });
    for (const handler of this.#parts.handlers) {
      const { id, owns, watches } = handler;
      if (owns.some((resource) => selects(resource, view.kind))) {
        this.#owned.set(id, (this.#owned.get(id) ?? new Set()).add(view));
        listen((change) => this.#wakeOwners(id, view, change));
      }
      for (const { resource, map } of watches) {
        if (!selects(resource, view.kind)) continue;
        listen((change) => this.#wakeMapped(handler, view, map as (object: KubeObject) => Mapped, change));
      }
    }
  }

  #wakeOwners(id: string, view: KindView, change: Change): void {
    const { kind } = this.#parts;
    const keys = new Set([...ownersOf(change.before, kind), ...ownersOf(change.now, kind)]);
    for (const key of keys) this.#wakeByKey(id, key, view, change);
  }

  #wakeMapped(handler: ReconcileHandler, view: KindView, map: (object: KubeObject) => Mapped, change: Change): void {
    const { kind, find, onMapFailure } = this.#parts;
    const keys = new Set<ObjectKey>();
    for (const body of [change.before, change.now]) {
      if (!body) continue;
      const object = view.kindClass ? new view.kindClass(body) : new KubeObject(body, undefined, view.kind);
      try {
        for (const key of mappedKeys(map(object), body, kind)) keys.add(key);
      } catch (error) {
        // It runs where the stream is read, which must not end because the function of a declaration fails for one object.
        onMapFailure(handler, object, error);
      }
    }
    for (const key of keys) {
      const uid = find(key)?.metadata?.uid;
      if (uid !== undefined) this.#wakeByKey(handler.id, identityKeyOf(key, uid), view, change);
    }
  }

  #wakeByKey(id: string, key: IdentityKey, view: KindView, change: Change): void {
    const reader = this.#readers.get(key)?.find(({ handler }) => handler.id === id);
    reader?.onMapped(change, view.kind.kind);
  }
}

/** More than this is not worth telling of one turn. */
const MOST_READS = 20;

/** For people who ask later. */
function noteReads(memory: ObjectMemory, session: ReadSession): void {
  const notes = notesOf(memory);
  for (const point of session.points) {
    if ((notes.read?.length ?? 0) >= MOST_READS) return;
    notes.read ??= [];
    notes.read.push(point.text);
  }
}

/** Whether the API server has the object, and no client has asked to delete it. */
async function isThere({ get, resource, name, namespace, uid }: ReconcileContext<KubeBody>): Promise<boolean> {
  const live = await get.live(resource, name, { namespace });
  return live?.uid === uid && !isDeleting(live.body);
}

function endOf({ outcome, error }: AttemptResult, answer: unknown, stale: boolean): RunEnd {
  if (outcome.type === "done" && error === undefined) {
    return { type: "done", requeueMs: isRequeue(answer) ? answer.afterMs : undefined, stale };
  }
  // An error that is ignored by the declaration.
  if (outcome.type === "done") return { type: "done", requeueMs: undefined, stale: false };
  if (outcome.type === "aborted") return { type: "aborted" };
  if (outcome.type === "temporary") return { type: "failed", delayMs: outcome.delayMs };
  // A run that took too long is a failure like others: the next one may be quicker.
  return error instanceof Aborted && error.why === "timeout"
    ? { type: "failed", delayMs: undefined }
    : { type: "stuck" };
}
