/**
 * The reconcilers of one kind, as the turn sees them: whoever is due runs within the object's turn, so it never overlaps
 * anything of its object, and what it wants to change is part of the turn's one write.
 */
import { type KindDescription, type KubeBody, KubeObject } from "@lotse/client";
import { formatDuration } from "@lotse/client/meta";
import {
  Aborted,
  type ChangeContext,
  isRequeue,
  type Mapped,
  matchesFilters,
  type ReconcileContext,
  type ReconcileHandler,
  type ResourceInput,
  requeue,
  TemporaryError,
} from "../declare/index.ts";
import {
  type AttemptResult,
  type BackgroundTurn,
  errorFields,
  isDeleting,
  type LevelWork,
  messageOf,
  notesOf,
  type ObjectMemory,
  timerContext,
} from "../turn/index.ts";
import { isCounted, mappedKeys, ownersOf } from "./changes.ts";
import { cleanUpChildren, type Keeping, keepChildren } from "./children/index.ts";
import { reportRun } from "./conditions.ts";
import { beginRun, endRun, nextRunAt, type RunEnd, SELF_WOKEN_LIMIT } from "./due.ts";
import type { KindView } from "./kind-view.ts";
import { ObjectReader } from "./reader.ts";
import type { Change } from "./reads.ts";
import { ReadSession } from "./session.ts";
import type { World } from "./world.ts";

/** How the reconcilers of a kind reach their surroundings. */
export interface LevelParts {
  readonly kind: KindDescription;
  readonly handlers: readonly ReconcileHandler[];
  readonly world: World;
  /** Whether a declared resource means this kind. */
  readonly means: (resource: ResourceInput, kind: KindDescription) => boolean;
  /** The object, if it is known, by `namespace/name`. */
  readonly find: (key: string) => KubeBody | undefined;
  /** What is remembered of an object, by `namespace/name/uid`. */
  readonly memory: (key: string) => ObjectMemory | undefined;
  /** The object shall get its turn. */
  readonly wake: (key: string) => void;
  /** The function that says whom an object of another kind concerns has failed. */
  readonly onMapFailure: (handler: ReconcileHandler, object: KubeObject, error: unknown) => void;
  readonly operator: string;
}

/** See the module comment. */
export class Level implements LevelWork {
  readonly #parts: LevelParts;
  readonly #readers = new Map<string, readonly ObjectReader[]>();
  /** Ends what it listens to: of the world, and of each kind. */
  readonly #listening: (() => void)[] = [];
  #attached: { readonly view: KindView; readonly end: () => void }[] = [];
  readonly looksAnywhere: boolean;

  constructor(parts: LevelParts) {
    this.#parts = parts;
    this.looksAnywhere = parts.handlers.some(({ filters }) => (filters.when ?? filters.field) !== undefined);
    this.#listening.push(parts.world.onKind((view) => this.#attach(view)));
  }

  /** The kind is followed no longer: changes of others concern nobody here. */
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

  /** The operator has written an object over the version `base`. */
  wrote(memory: ObjectMemory, base: string | undefined, body: KubeBody): void {
    for (const reader of this.#readers.get(memory.key) ?? []) reader.wrote(base, body);
  }

  /** The object is gone, or no longer this operator's. */
  forget(memory: ObjectMemory): void {
    for (const reader of this.#readers.get(memory.key) ?? []) reader.release();
    this.#readers.delete(memory.key);
  }

  /** Whether what wakes the objects can wait until after everything that is new. */
  get isLow(): boolean {
    return this.#parts.handlers.every(({ priority }) => priority === "low");
  }

  async tend(turn: BackgroundTurn): Promise<number | undefined> {
    let next: number | undefined;
    for (const reader of this.#of(turn.memory)) {
      const at = await this.#tendOne(turn, reader);
      if (at !== undefined) next = Math.min(next ?? at, at);
    }
    return next;
  }

  /** Runs `onDelete` of a reconciler: it reads like the reconciler itself, and is tried again when that changes. */
  async cleanUp(id: string, context: ChangeContext<KubeBody>): Promise<void> {
    const key = `${context.namespace ?? ""}/${context.name}/${context.uid}`;
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

  async #tendOne(turn: BackgroundTurn, reader: ObjectReader): Promise<number | undefined> {
    const { kind, memory, body } = turn;
    const { handler } = reader;
    if (isDeleting(body)) {
      if (!handler.onDelete && !handler.children) reader.release();
      return undefined;
    }
    const { filters, param } = handler;
    if (!matchesFilters(filters, body, [body], filters.when && { memo: kind.memoOf(memory), param })) {
      reader.release();
      return undefined;
    }
    const news = isNews(reader, body);
    if (news) reader.timing = { ...reader.timing, due: true };
    const now = kind.clock.monotonic();
    const at = nextRunAt(reader.timing, now, handler.rateLimit);
    if (at === undefined || at > now || kind.stopping.aborted || memory.running?.reason) return at;
    await this.#run(turn, reader, now, news);
    return nextRunAt(reader.timing, kind.clock.monotonic(), handler.rateLimit);
  }

  async #run(turn: BackgroundTurn, reader: ObjectReader, begunAt: number, news: boolean): Promise<void> {
    const { kind, body, runs } = turn;
    const { handler, timing: before } = reader;
    const { clock } = kind;
    reader.timing = beginRun(before, begunAt, handler.rateLimit);
    reader.saw = body;
    let session: ReadSession | undefined;
    let answer: unknown;
    const startedAt = clock.now() - (begunAt - (before.failingSince ?? begunAt));
    const result = await runs.attempt(handler, body, handler.retry.timeoutMs, async (parts) => {
      const base = timerContext(parts, { retry: before.failures, startedAt, now: clock.now() });
      session = this.#session(reader, base);
      reader.session = session;
      const context = Object.assign(base, session.reads, {
        requeue,
        now: new Date(clock.now()),
      }) as unknown as ReconcileContext<KubeBody>;
      answer = handler.children
        ? await keepChildren(this.#keeping(reader, session, context, news), turn)
        : await handler.fn(context);
    });
    const end = endOf(result, answer, session?.isStale === true);
    reader.session = undefined;
    if (session) {
      reader.remember(session, end.type === "done");
      noteReads(turn.memory, session);
    }
    const rhythm = { backoff: handler.retry.backoff, resyncMs: handler.resyncMs, rateLimit: handler.rateLimit };
    reader.timing = endRun(reader.timing, end, begunAt, clock.monotonic(), rhythm, kind.random);
    this.#report(turn, reader, result, end);
  }

  #session(reader: ObjectReader, context: Pick<ReconcileContext<KubeBody>, "client" | "indexes" | "namespace">) {
    const { indexes, namespace } = context;
    return new ReadSession({ reader, world: this.#parts.world, client: () => context.client, indexes, namespace });
  }

  /** `news`: the run was woken by its object, which is therefore there. */
  #keeping(reader: ObjectReader, session: ReadSession, context: ReconcileContext<KubeBody>, news: boolean): Keeping {
    let lives: Promise<boolean> | undefined = news ? Promise.resolve(true) : undefined;
    const parentLives = () => {
      lives ??= isThere(context);
      return lives;
    };
    return { operator: this.#parts.operator, handler: reader.handler, reader, session, context, parentLives };
  }

  #report(turn: BackgroundTurn, { handler, timing }: ObjectReader, { error }: AttemptResult, end: RunEnd): void {
    const { kind, body, runs, logger } = turn;
    const now = kind.clock.monotonic();
    if (end.type === "aborted") return;
    if (end.type === "done") {
      logger.debug("reconciled", { handler: handler.id });
      if (timing.selfWoken === SELF_WOKEN_LIMIT + 1) {
        const hint = "write what shall be and not something new each time, or read again after writing";
        logger.warn("a reconciler is woken by its own writes again and again, it is slowed down", {
          handler: handler.id,
          at: handler.place,
          hint,
        });
        kind.post(body, "Warning", "HotLoop", `${handler.id} is woken by its own writes again and again`);
        kind.metrics.count("lotse_hot_loops_total", "Handlers called by their own changes again and again.", {
          operator: kind.operator,
          kind: kind.kind.kind,
        });
      }
    } else {
      const fields = { handler: handler.id, at: handler.place, ...errorFields(error, timing.failures === 1) };
      if (end.type === "stuck") logger.error("reconciling failed for good, until something changes", fields);
      else {
        const retryIn = formatDuration(Math.max(0, (timing.dueAt ?? now) - now));
        logger.warn("reconciling failed, will be tried again", { ...fields, retryIn });
      }
      kind.post(body, "Warning", "ReconcileFailed", `${handler.id} failed: ${messageOf(error)}`);
    }
    if (handler.conditions && !handler.children) reportRun(runs, kind, body, end, messageOf(error));
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
    const listen = (listener: (change: Change) => void) =>
      void this.#attached.push({ view, end: view.listen(listener) });
    for (const handler of this.#parts.handlers) {
      const { id, owns, watches } = handler;
      if (owns.some((resource) => this.#parts.means(resource, view.kind))) {
        listen((change) => this.#wakeOwners(id, view, change));
      }
      for (const { resource, map } of watches) {
        if (!this.#parts.means(resource, view.kind)) continue;
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
    const keys = new Set<string>();
    for (const body of [change.before, change.now]) {
      if (!body) continue;
      const object = view.kindClass ? new view.kindClass(body) : new KubeObject(body, undefined, view.kind);
      try {
        for (const key of mappedKeys(map(object), body, kind)) keys.add(key);
      } catch (error) {
        // It runs where the stream is read, which must not end because somebody's function fails for one object.
        onMapFailure(handler, object, error);
      }
    }
    for (const key of keys) {
      const uid = find(key)?.metadata?.uid;
      if (uid !== undefined) this.#wakeByKey(handler.id, `${key}/${uid}`, view, change);
    }
  }

  #wakeByKey(id: string, key: string, view: KindView, change: Change): void {
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

/** Whether the server has the object, and nobody has asked to delete it. */
async function isThere({ get, resource, name, namespace, uid }: ReconcileContext<KubeBody>): Promise<boolean> {
  const live = await get.live(resource, name, { namespace });
  return live?.uid === uid && !isDeleting(live.body);
}

/** Whether the object is not what the last run has seen, in a way that counts. */
function isNews({ saw, handler }: ObjectReader, body: KubeBody): boolean {
  if (saw === undefined) return true;
  if (saw.metadata?.resourceVersion === body.metadata?.resourceVersion) return false;
  return isCounted(handler.changes, saw, body);
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
