/**
 * Everything of one kind: its informers feed one mailbox an object, the queue says whose turn it is, and the turn does
 * the rest. A change walks informers → queue → turn, and nothing walks back up.
 */
import { type KindDescription, type KubeBody, storeKey } from "@lotse/client";
import { formatDuration } from "@lotse/client/meta";
import { Background } from "../background/index.ts";
import {
  Aborted,
  type DaemonHandler,
  type Handler,
  type IndexHandler,
  type ReconcileHandler,
  type SettingsPlan,
  type TimerHandler,
  withUsualBackoff,
} from "../declare/index.ts";
import type { InformerChange, KindFacts } from "../informers/index.ts";
import { PRIORITY, WorkQueue } from "../queue/index.ts";
import { bindCleanUp, KindView, Level, NewState, type Reader } from "../reconcile/index.ts";
import {
  type Explanation,
  Journal,
  KindMeasures,
  type Logger,
  type ObjectQuestion,
  RunningAttempts,
  type StreamHealth,
  type Wake,
} from "../report/index.ts";
import type { HandlerWrite } from "../runtime/index.ts";
import {
  ask,
  errorFields,
  isDeleting,
  type KindWork,
  keepEvent,
  lastOf,
  named,
  newMemory,
  noteForeignChange,
  noteWake,
  type ObjectMemory,
  observeRead,
  type RecordStorage,
  retriable,
  seeDeletion,
  seeGone,
  type TurnEnd,
  takeTurn,
} from "../turn/index.ts";
import type { Unwritten } from "./ending.ts";
import { explainObject, isCalled } from "./inspect.ts";
import { KindStreams, type ObjectListener } from "./kind-streams.ts";
import { referenceOf, unwrittenOf, writePending } from "./last-writes.ts";
import { tellOfResults, tellOfSlow } from "./notices.ts";
import { means } from "./plan.ts";
import type { Scope } from "./scopes.ts";
import type { ControllerShared } from "./shared.ts";
import { storageOf } from "./storages.ts";
import { Strangers } from "./strangers.ts";
import { describeTurns, handlersOf } from "./turn-kind.ts";

/** `namespace/name/uid`: an object that is deleted and created again is another one. */
function objectKey(body: KubeBody): string {
  return `${storeKey(body)}/${body.metadata?.uid ?? ""}`;
}

function newState(body: KubeBody): NewState {
  return new NewState(objectKey(body), body.metadata?.resourceVersion);
}

/** What a handler does not say itself, the operator's settings say. */
function withUsual<H extends Handler>(handler: H, { backoff }: SettingsPlan): H {
  return "retry" in handler ? { ...handler, retry: withUsualBackoff(handler.retry, backoff) } : handler;
}

/** Several reconcilers of one kind share its queue: the most careful one decides. */
function concurrencyOf(handlers: readonly ReconcileHandler[]): number | undefined {
  const wanted = handlers.flatMap(({ concurrency }) => concurrency ?? []);
  return wanted.length === 0 ? undefined : Math.min(...wanted);
}

/** Whether a deleted object is gone, and not only marked for deletion: a namespace waits for what is in it. */
function isOver({ apiVersion, kind, metadata, spec }: KubeBody): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = metadata ?? {};
  const isNamespace = apiVersion === "v1" && kind === "Namespace";
  const { finalizers: content = [] } = isNamespace ? ((spec ?? {}) as { finalizers?: readonly string[] }) : {};
  return finalizers.length === 0 && content.length === 0 && !(deletionGracePeriodSeconds > 0);
}

/** See the module comment. */
export class Controller implements ObjectListener {
  readonly #shared: ControllerShared;
  #facts: KindFacts;
  readonly #handlers: readonly Handler[];
  readonly #streams: KindStreams;
  readonly #queue: WorkQueue;
  readonly #memories = new Map<string, ObjectMemory>();
  readonly #journal = new Journal();
  readonly #measures: KindMeasures;
  readonly #attempts: RunningAttempts;
  /** What has been said once for all objects of the kind. */
  readonly #told = new Set<string>();
  readonly #logger: Logger;
  readonly #about = (body: KubeBody) => this.#logger.about(referenceOf(this.kind, objectKey(body)));
  #turnKind: KindWork;
  readonly #background: Background | undefined;
  readonly #level: Level | undefined;
  /** What reconcilers see of the kind. */
  readonly view: KindView;
  /** Whether anything is done for single objects; kinds that are only read need no queue. */
  readonly #works: boolean;
  readonly #indexes: readonly IndexHandler[];
  #strangers: Strangers | undefined;

  #begun = false;

  constructor(operator: ControllerShared, handlers: readonly Handler[], facts: KindFacts) {
    // What is counted of a kind goes with it.
    const shared = { ...operator, metrics: operator.metrics.part() };
    this.#shared = shared;
    this.#facts = facts;
    this.#logger = shared.logger.with({ kind: facts.kind.kind });
    const usually = handlers.map((handler) =>
      bindCleanUp(withUsual(handler, shared.plan), handlers, () => this.#level),
    );
    this.#works = handlers.some(({ type }) => type !== "index");
    this.#streams = new KindStreams(shared, facts.kind, this.#logger, this);
    this.view = new KindView(facts.kind, facts.kindClass, this.#streams);
    const reconcilers = handlersOf<ReconcileHandler>(usually, "reconcile");
    if (reconcilers.length > 0) this.#level = this.#makeLevel(reconcilers);
    const timers = handlersOf<TimerHandler>(usually, "timer");
    const daemons = handlersOf<DaemonHandler>(usually, "daemon");
    this.#indexes = handlersOf<IndexHandler>(usually, "index");
    if (timers.length + daemons.length > 0) this.#background = new Background(timers, daemons);
    this.#handlers = usually;
    const concurrency = concurrencyOf(reconcilers) ?? shared.settings.queueing.concurrency;
    this.#measures = new KindMeasures(shared.metrics, facts.kind.kind);
    this.#attempts = new RunningAttempts({
      clock: shared.clock,
      slowMs: shared.plan.slowMs,
      onSlow: (attempt, forMs) => tellOfSlow(shared, this.kind, this.#logger, attempt, forMs),
    });
    this.#turnKind = this.#describe(this.#storage(facts.keepsRecord));
    this.#queue = new WorkQueue({
      clock: shared.clock,
      concurrency,
      groupOf: (key) => key.slice(0, key.indexOf("/")),
      work: (key, waitedMs) => this.#work(key, waitedMs).catch((error: unknown) => this.#onDefect(key, error)),
      observer: this.#measures,
    });
    this.#measures.watch(
      this.#queue,
      concurrency,
      () => this.#memories.size,
      () => this.health(),
    );
    shared.stopping.addEventListener("abort", this.#interrupt, { once: true });
    this.#strangers = new Strangers([shared.operator, ...shared.formerNames]);
    void this.#streams.synced.then(() => this.#tellOfStrangers());
    tellOfResults(usually, facts, this.#logger);
    this.#streams.begin();
  }

  /** Resolves when all objects that are there have been listed. */
  get synced(): Promise<void> {
    return this.#streams.synced;
  }

  /** Rejects with what keeps it from knowing its objects, the first time that something does. */
  get trouble(): Promise<never> {
    return this.#streams.trouble;
  }

  get kind(): KindDescription {
    return this.#facts.kind;
  }

  #makeLevel(handlers: readonly ReconcileHandler[]): Level {
    const { world, operator, formerNames, clock, metrics } = this.#shared;
    return new Level({
      kind: this.kind,
      handlers,
      world,
      operator,
      formerNames,
      metrics,
      onRead: (handler, kind, namespace) => observeRead(this.#shared.onHandlerRequest, handler, kind, namespace),
      now: () => clock.monotonic(),
      means,
      find: (key) => this.#streams.get(key),
      memory: (key) => this.#memories.get(key),
      wake: (key) => {
        if (this.#memories.has(key)) this.#queue.add(key, this.#level?.isLow ? PRIORITY.resync : PRIORITY.live);
      },
      onMapFailure: (handler, { description: { kind }, namespace, name }, error) =>
        this.#logger.error("whom an object concerns could not be found out, nobody is woken by its change", {
          ...named(handler),
          concerning: `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
          ...errorFields(error, true),
          hint: "the function in `watches` must not throw, whatever the object looks like",
        }),
    });
  }

  /** The kind is served in another version from now on, or its schema keeps something else. */
  async move(facts: KindFacts): Promise<void> {
    this.#facts = facts;
    this.#turnKind = this.#describe(this.#storage(facts.keepsRecord));
    await this.#streams.move(facts.kind);
  }

  #storage(keepsRecord: boolean): RecordStorage {
    const { operator, formerNames, settings } = this.#shared;
    return storageOf({ operator, formerNames, storage: settings.persistence.storage, keepsRecord });
  }

  /** Begins to work on objects. */
  begin(): void {
    this.#begun = true;
    this.#queue.start();
  }

  /** Resolves when the operator stops or the kind vanishes, and all streams have ended; rejects when one fails for good. */
  streams(): Promise<void> {
    return this.#streams.ended();
  }

  /** Watches one more scope. */
  open(scope: Scope): void {
    this.#streams.open(scope);
  }

  /** Watches a scope no longer: its objects are not deleted, but they are no longer this operator's. */
  async shut(scope: Scope): Promise<void> {
    // At once for all of them: the scope may be opened again while what runs for them comes to its end.
    await Promise.all(this.#streams.shut(scope).map((body) => this.#leave(body)));
  }

  /** The kind is served: what waits for it tries at once. */
  served(): void {
    this.#streams.served();
  }

  /**
   * The cluster serves the kind no longer: what is known of its objects is gone, and so is, when what runs for them has
   * ended, all that was made for the kind.
   */
  async vanish(): Promise<void> {
    for (const body of this.#streams.close()) this.gone(body, body);
    if (this.#begun) await this.#queue.idle();
    await this.close();
    this.#level?.close();
    this.#shared.stopping.removeEventListener("abort", this.#interrupt);
    this.#shared.metrics.close();
  }

  async #leave(body: KubeBody): Promise<void> {
    const key = objectKey(body);
    const memory = this.#memories.get(key);
    this.#shared.indexes.remove(this.#indexes, body);
    this.view.changed(body, undefined, undefined);
    if (memory) this.#level?.forget(memory);
    this.#memories.delete(key);
    this.#queue.forget(key);
    memory?.running?.stop(new Aborted("mismatch", "the namespace is no longer served"));
    if (memory) await this.#background?.stop(memory, "mismatch", "the namespace is no longer served");
  }

  /** Takes no new work and resolves when what runs is done and written down, daemons included. */
  async close(): Promise<void> {
    await this.#queue.close();
    const end = async (memory: ObjectMemory) => {
      await this.#background?.stop(memory, "shutdown", "the operator stops");
      await writePending(this.#turnKind, memory, this.#newest(memory.key), this.#logger);
    };
    await Promise.all([...this.#memories.values()].map(end));
    this.#attempts.close();
  }

  /** What handlers have done and the server does not know. */
  unwritten(): Unwritten[] {
    return unwrittenOf(this.kind, this.#memories.values(), this.#journal);
  }

  /** The server answers after it did not: writes that wait for their next try need not wait. */
  hurry(): void {
    for (const [key, { ownWrites }] of this.#memories) if (ownWrites.pending) this.#queue.add(key, PRIORITY.retry);
  }

  /** Resolves when nothing runs and nothing is due now. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Its streams, one for each scope. */
  health(): StreamHealth[] {
    return this.#streams.health();
  }

  /** What is remembered of the object that somebody asks about. */
  #asked({ kind, ...name }: ObjectQuestion): ObjectMemory | undefined {
    return isCalled(this.kind, kind) ? this.#called(name) : undefined;
  }

  #called({ namespace, name }: Omit<ObjectQuestion, "kind">): ObjectMemory | undefined {
    const prefix = `${this.kind.namespaced ? (namespace ?? "default") : ""}/${name}/`;
    return [...this.#memories.values()].findLast(({ key }) => key.startsWith(prefix));
  }

  /** Tries again at once what waits for it, or has failed for good; undefined when the object is unknown. */
  retry(question: ObjectQuestion): readonly string[] | undefined {
    const memory = this.#asked(question);
    if (!memory || memory.life.state === "gone") return undefined;
    const handlers = [
      ...retriable(memory.record),
      ...(this.#background?.retry(memory) ?? []),
      ...(this.#level?.retry(memory) ?? []),
    ];
    if (handlers.length === 0) return handlers;
    ask(memory, "retryNow");
    noteWake(memory, { by: "retry" });
    this.#queue.add(memory.key, PRIORITY.live);
    return handlers;
  }

  /** Something has happened to an object outside of the cluster; false when the object is unknown. */
  wake(name: Omit<ObjectQuestion, "kind">, why: string): boolean {
    const memory = this.#called(name);
    if (!memory || memory.life.state === "gone") return false;
    ask(memory, "woken");
    this.#background?.wake(memory);
    this.#level?.wake(memory);
    noteWake(memory, { by: "outside", what: why });
    this.#queue.add(memory.key, PRIORITY.live);
    return true;
  }

  /** What is known about one object; undefined when it is of another kind, or unknown. */
  explain(question: ObjectQuestion): Explanation | undefined {
    const memory = this.#asked(question);
    const body = memory && (lastOf(memory.life) ?? this.#newest(memory.key));
    if (!memory || !body) return undefined;
    const { operator, clock } = this.#shared;
    return {
      operator,
      ...explainObject(this.kind, memory, body, this.#queue.stateOf(memory.key), clock, this.#attempts.of(memory.key)),
      turns: this.#journal.of(memory.key),
    };
  }

  /** A handler wrote an object of this kind: it is known at once, and whom it concerns is woken. */
  handlerWrote(body: KubeBody, { verb, writer }: HandlerWrite): void {
    const informer = this.#streams.covering(body.metadata?.namespace);
    const uid = body.metadata?.uid;
    if (!informer || !uid) return;
    const by = writer as Reader | undefined;
    const key = storeKey(body);
    if (verb === "delete" && isOver(body)) {
      const last = informer.deleted(key, uid);
      if (last) this.#vanished(last, by);
      else by?.claim(body, true);
      return;
    }
    const before = informer.get(key);
    informer.wrote(body);
    const now = informer.get(key) ?? body;
    this.#shared.indexes.update(this.#indexes, now, this.#about, by);
    if (now.metadata?.resourceVersion !== body.metadata?.resourceVersion) return;
    const news = before?.metadata?.resourceVersion !== now.metadata?.resourceVersion;
    if (news) this.view.changed(before, now, by);
    else by?.claim(now, false);
    if (!this.#works) return;
    this.#wake(body, PRIORITY.live, "own write");
  }

  #vanished(last: KubeBody, by: Reader | undefined): void {
    this.#shared.indexes.remove(this.#indexes, last, by);
    this.view.changed(last, undefined, by);
  }

  changed(body: KubeBody, { type, initial, before }: InformerChange): void {
    const by = newState(body);
    this.#shared.indexes.update(this.#indexes, body, this.#about, by);
    this.view.changed(before, body, by);
    if (!this.#works) return;
    if (initial) this.#strangers?.note(body);
    const memory = this.#memory(body);
    noteForeignChange(memory);
    if (this.#turnKind.handlers.events.length > 0) keepEvent(memory, { type: initial ? undefined : type, body });
    const why = initial ? "initial" : type === "ADDED" ? "added" : "modified";
    this.#wake(body, initial ? PRIORITY.backlog : PRIORITY.live, why);
  }

  echoed(body: KubeBody): void {
    if (this.#turnKind.handlers.events.length === 0) return;
    const memory = this.#memory(body);
    keepEvent(memory, { type: "MODIFIED", body, own: true });
    noteWake(memory, { by: "own write", what: body.metadata?.resourceVersion });
    this.#queue.add(objectKey(body), PRIORITY.live);
  }

  gone(body: KubeBody, before: KubeBody | undefined): void {
    if (before) this.#vanished(before, undefined);
    const key = objectKey(body);
    const memory = this.#memories.get(key);
    if (!memory) return;
    seeGone(memory, body);
    if (this.#turnKind.handlers.events.length > 0) keepEvent(memory, { type: "DELETED", body });
    this.#stopDaemons(memory, "the object is gone");
    noteWake(memory, { by: "deleted", what: body.metadata?.resourceVersion });
    this.#queue.add(key, PRIORITY.live);
  }

  /** Once, when all that was there at the start has been seen. Cannot reject. */
  async #tellOfStrangers(): Promise<void> {
    const strangers = this.#strangers;
    this.#strangers = undefined;
    await strangers?.tell(this.#shared.client, this.#logger);
  }

  async #work(key: string, waitedMs: number): Promise<void> {
    const memory = this.#memories.get(key);
    if (!memory) return;
    const end = await this.#turn(key, memory, waitedMs);
    if (end.type === "forget") {
      this.#level?.forget(memory);
      this.#memories.delete(key);
      this.#queue.forget(key);
    } else if (end.type === "again") {
      noteWake(memory, { by: "again" });
      this.#queue.add(key, PRIORITY.live);
    } else if (end.type === "later") this.#queue.addAt(key, end.at);
  }

  /** A turn never fails; should something around it, such as a tracer of the project's, nobody else suffers for it. */
  #onDefect(key: string, error: unknown): void {
    const pauseMs = 1_000;
    this.#logger.about(referenceOf(this.kind, key)).error("could not work on the object, will be tried again", {
      ...errorFields(error, true),
      retryIn: formatDuration(pauseMs),
    });
    this.#queue.addAt(key, this.#shared.clock.monotonic() + pauseMs);
  }

  #turn(key: string, memory: ObjectMemory, waitedMs: number): Promise<TurnEnd> {
    const { traces } = this.#shared;
    const turn = () => takeTurn(this.#turnKind, memory);
    if (!traces) return turn();
    return traces.turn(referenceOf(this.kind, key), waitedMs, turn, () => this.#journal.of(key).at(-1));
  }

  /** The operator stops: whatever runs is told. One listener for all objects, not one for each turn. */
  readonly #interrupt = () => {
    for (const { running } of this.#memories.values()) running?.stop(new Aborted("shutdown", "the operator stops"));
  };

  #wake(body: KubeBody, priority: (typeof PRIORITY)["live" | "backlog"], by: Wake["by"]): void {
    const memory = this.#memory(body);
    noteWake(memory, { by, what: body.metadata?.resourceVersion });
    if (isDeleting(body) && seeDeletion(memory)) {
      memory.running?.stop(new Aborted("deletion", "the object is being deleted"));
      this.#stopDaemons(memory, "the object is being deleted");
    }
    this.#queue.add(objectKey(body), priority);
  }

  /** At once, whatever the object's turn waits for; cannot reject, and nobody waits for a daemon that ignores its signal. */
  #stopDaemons(memory: ObjectMemory, why: string): void {
    void this.#background?.stop(memory, "deletion", why);
  }

  #memory(body: KubeBody): ObjectMemory {
    const key = objectKey(body);
    let memory = this.#memories.get(key);
    if (!memory) {
      memory = newMemory(key, body.metadata?.uid ?? "", this.#shared.clock.monotonic());
      if (this.#shared.retryAtStart) ask(memory, "retryNow");
      this.#memories.set(key, memory);
    }
    return memory;
  }

  #newest(key: string): KubeBody | undefined {
    const name = key.slice(0, key.lastIndexOf("/"));
    return this.#streams.get(name);
  }

  #describe(storage: RecordStorage): KindWork {
    const { metrics, traces, onHandlerRequest, handlerWrote } = this.#shared;
    return describeTurns({
      shared: this.#shared,
      store: {
        newest: (key) => this.#newest(key),
        wrote: (body) => this.#wrote(body),
        handlerWrote,
        wake: (key) => {
          if (this.#memories.has(key)) this.#queue.add(key, PRIORITY.live);
        },
      },
      reporting: {
        logger: this.#logger,
        metrics,
        traces,
        onHandlerRequest,
        measures: this.#measures,
        journal: this.#journal,
        attempts: this.#attempts,
        saidOnce: this.#told,
      },
      facts: this.#facts,
      handlers: this.#handlers,
      storage,
      background: this.#background,
      reconcilers: this.#level,
      recordNotKept: () => {
        this.#turnKind = this.#describe(this.#storage(false));
      },
    });
  }

  /** A turn has written its object. */
  #wrote(body: KubeBody): void {
    const informer = this.#streams.covering(body.metadata?.namespace);
    const key = storeKey(body);
    const before = informer?.get(key);
    if (!informer?.wrote(body)) return;
    const by = newState(body);
    this.#shared.indexes.update(this.#indexes, informer.get(key) ?? body, this.#about, by);
    this.view.changed(before, informer.get(key), by);
  }
}
