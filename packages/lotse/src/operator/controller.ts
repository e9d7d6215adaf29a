/**
 * Everything of one kind: its informers feed one mailbox an object, the queue says whose turn it is, and the turn does
 * the rest. A change walks informers → queue → turn, and nothing walks back up.
 */
import {
  apiVersionOf,
  type Client,
  type KindDescription,
  type KubeBody,
  type StreamState,
  storeKey,
} from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import { Background } from "../background/index.ts";
import {
  Aborted,
  backoffMs,
  type ChangeHandler,
  type DaemonHandler,
  type EventHandler,
  type FixedSettings,
  fieldKeys,
  type Handler,
  type IndexHandler,
  type Memo,
  type SettingsPlan,
  type TimerHandler,
  withUsualBackoff,
} from "../declare/index.ts";
import type { RecordedRequest } from "../generate/index.ts";
import { Informer, type InformerListener, type KindFacts } from "../informers/index.ts";
import { PRIORITY, WorkQueue } from "../queue/index.ts";
import {
  type EventRecorder,
  type Explanation,
  Journal,
  KindMeasures,
  type Logger,
  type Metrics,
  type ObjectQuestion,
  type StreamHealth,
  type Wake,
} from "../report/index.ts";
import {
  annotationStorage,
  essenceOf,
  fieldsOf,
  isDeleting,
  moved,
  newMemory,
  noteWake,
  type ObjectMemory,
  type RawEvent,
  type RecordStorage,
  statusStorage,
  type TurnKind,
  takeTurn,
} from "../turn/index.ts";
import type { OperatorIndexes } from "./indexes.ts";
import { explainObject, isCalled, streamHealth } from "./inspect.ts";
import type { Scope, Scopes } from "./scopes.ts";

/** What all controllers of an operator share. */
export interface ControllerShared {
  readonly operator: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopping: AbortSignal;
  readonly settings: FixedSettings;
  readonly plan: SettingsPlan;
  /** What each object's memo begins with. */
  readonly memo: Memo;
  readonly scopes: Scopes;
  readonly indexes: OperatorIndexes;
  readonly events: EventRecorder;
  /** A handler wrote an object of this kind. */
  readonly handlerWrote: (body: KubeBody, kind: KindDescription) => void;
  /** Hears of every request of a handler. */
  readonly record: ((request: RecordedRequest) => void) | undefined;
}

/** A scope that is being watched. */
interface OpenScope {
  readonly informer: Informer;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** `namespace/name/uid`: an object that is deleted and created again is another one. */
function objectKey(body: KubeBody): string {
  return `${storeKey(body)}/${body.metadata?.uid ?? ""}`;
}

function handlersOf<T extends Handler>(handlers: readonly Handler[], type: T["type"]): T[] {
  return handlers.filter((handler): handler is T => handler.type === type);
}

/** What a handler does not say itself, the operator's settings say. */
function withUsual<H extends Handler>(handler: H, { backoff }: SettingsPlan): H {
  return "retry" in handler ? { ...handler, retry: withUsualBackoff(handler.retry, backoff) } : handler;
}

/** See the module comment. */
export class Controller implements InformerListener {
  readonly #shared: ControllerShared;
  #facts: KindFacts;
  readonly #handlers: readonly Handler[];
  /** One informer a scope; the key of the whole cluster is undefined. */
  readonly #scopes = new Map<Scope, OpenScope>();
  #fail: (error: unknown) => void = () => {};
  readonly #failure: Promise<never>;
  readonly #queue: WorkQueue;
  readonly #memories = new Map<string, ObjectMemory>();
  readonly #journal = new Journal();
  readonly #measures: KindMeasures;
  readonly #logger: Logger;
  #turnKind: TurnKind;
  readonly #background: Background | undefined;
  readonly #indexes: readonly IndexHandler[];
  /** What keeps a stream from working, as it was told last. */
  #trouble: string | undefined;
  #resolveSynced: () => void = () => {};
  /** Resolves when all objects that are there have been listed. */
  readonly synced: Promise<void>;

  constructor(shared: ControllerShared, handlers: readonly Handler[], facts: KindFacts) {
    this.#shared = shared;
    this.#facts = facts;
    this.#logger = shared.logger.with({ kind: facts.kind.kind });
    const usually = handlers.map((handler) => withUsual(handler, shared.plan));
    const timers = handlersOf<TimerHandler>(usually, "timer");
    const daemons = handlersOf<DaemonHandler>(usually, "daemon");
    this.#indexes = handlersOf<IndexHandler>(usually, "index");
    if (timers.length + daemons.length > 0) this.#background = new Background(timers, daemons);
    this.#handlers = usually;
    this.#measures = new KindMeasures(shared.metrics, facts.kind.kind);
    this.#turnKind = this.#describe(usually, shared.settings.persistence.storage ?? this.#usualStorage());
    this.#queue = new WorkQueue({
      clock: shared.clock,
      concurrency: shared.settings.queueing.concurrency,
      groupOf: (key) => key.slice(0, key.indexOf("/")),
      work: (key) => this.#work(key),
      observer: this.#measures,
    });
    this.#measures.watch(this.#queue, shared.settings.queueing.concurrency, () => this.#memories.size);
    this.#failure = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.#failure.catch(() => {});
    const scopes = facts.kind.namespaced ? shared.scopes.current : [undefined];
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
    shared.stopping.addEventListener("abort", () => this.#interrupt(), { once: true });
    for (const scope of scopes) this.open(scope);
    if (scopes.length === 0) this.#resolveSynced();
  }

  get kind(): KindDescription {
    return this.#facts.kind;
  }

  /** The kind is served in another version from now on, or its schema keeps something else. */
  async move(facts: KindFacts): Promise<void> {
    this.#facts = facts;
    this.#turnKind = this.#describe(this.#handlers, this.#shared.settings.persistence.storage ?? this.#usualStorage());
    for (const [scope, { informer, stop, ended }] of [...this.#scopes]) {
      stop.abort();
      await ended;
      if (this.#scopes.get(scope)?.informer === informer) this.#scopes.set(scope, this.#stream(informer));
    }
  }

  /** A kind whose schema has changed finds its records in the other place. */
  #usualStorage(): RecordStorage {
    const status = statusStorage(this.#shared.operator);
    const annotation = annotationStorage(this.#shared.operator);
    return this.#facts.keepsRecord ? moved(annotation, status) : moved(status, annotation);
  }

  #stream(informer: Informer): OpenScope {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#shared.stopping, stop.signal]);
    const ended = informer.run(signal, this.#facts.kind).catch((error) => this.#fail(error));
    return { informer, stop, ended };
  }

  /** Begins to work on objects. */
  begin(): void {
    this.#queue.start();
  }

  /** Resolves when the operator stops and all streams have ended; rejects when one fails for good. */
  async streams(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      if (this.#shared.stopping.aborted) resolve();
      this.#shared.stopping.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([stopped, this.#failure]);
    await Promise.all([...this.#scopes.values()].map(({ ended }) => ended));
  }

  /** Watches one more scope. */
  open(scope: Scope): void {
    if (this.#scopes.has(scope)) return;
    const { client, clock, random, plan, settings } = this.#shared;
    const informer = new Informer({
      client,
      kind: this.#facts.kind,
      namespace: scope,
      clock,
      random,
      listener: this,
      inactivityMs: plan.inactivityMs,
      serverTimeoutMs: plan.serverTimeoutMs,
      backoff: (failures, chance) => backoffMs(plan.reconnect, failures + 1, chance),
      pageSize: settings.watching.pageSize,
    });
    this.#scopes.set(scope, this.#stream(informer));
  }

  /** Watches a scope no longer: its objects are not deleted, but they are no longer this operator's. */
  async shut(scope: Scope): Promise<void> {
    const open = this.#scopes.get(scope);
    if (!open) return;
    open.stop.abort();
    await open.ended;
    this.#scopes.delete(scope);
    for (const body of open.informer.values()) await this.#leave(body);
  }

  async #leave(body: KubeBody): Promise<void> {
    const key = objectKey(body);
    const memory = this.#memories.get(key);
    this.#shared.indexes.remove(this.#indexes, body);
    this.#memories.delete(key);
    this.#queue.forget(key);
    memory?.running?.stop(new Aborted("mismatch", "the namespace is no longer served"));
    if (memory) await this.#background?.stop(memory, "mismatch", "the namespace is no longer served");
  }

  /** Takes no new work and resolves when what runs is done, daemons included. */
  async close(): Promise<void> {
    await this.#queue.close();
    const stop = (memory: ObjectMemory) => this.#background?.stop(memory, "shutdown", "the operator stops");
    await Promise.all([...this.#memories.values()].map(stop));
  }

  /** Resolves when nothing runs and nothing is due now. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Its streams, one for each scope. */
  health(): StreamHealth[] {
    const now = this.#shared.clock.monotonic();
    return [...this.#scopes].map(([scope, { informer }]) => streamHealth(this.kind, scope, informer, now));
  }

  /** What is known about one object; undefined when it is of another kind, or unknown. */
  explain(question: ObjectQuestion): Explanation | undefined {
    if (!isCalled(this.kind, question.kind)) return undefined;
    const namespace = this.kind.namespaced ? (question.namespace ?? "default") : "";
    const prefix = `${namespace}/${question.name}/`;
    const memory = [...this.#memories.values()].findLast(({ key }) => key.startsWith(prefix));
    const body = memory && (memory.gone ?? this.#newest(memory.key));
    if (!memory || !body) return undefined;
    const { operator, clock } = this.#shared;
    return {
      operator,
      ...explainObject(this.kind, memory, body, this.#queue.stateOf(memory.key), clock),
      turns: this.#journal.of(memory.key),
    };
  }

  /** A handler wrote an object of this kind: it is known at once, and its own handlers are woken. */
  handlerWrote(body: KubeBody): void {
    const informer = this.#informerOf(body);
    if (!informer || !body.metadata?.uid) return;
    informer.wrote(body);
    this.#shared.indexes.update(this.#indexes, informer.get(storeKey(body)) ?? body, this.#logger);
    if (informer.get(storeKey(body))?.metadata?.resourceVersion !== body.metadata.resourceVersion) return;
    this.#wake(body, PRIORITY.live, "own write");
  }

  changed(body: KubeBody, { type, initial }: { readonly type: "ADDED" | "MODIFIED"; readonly initial: boolean }): void {
    this.#shared.indexes.update(this.#indexes, body, this.#logger);
    const memory = this.#memory(body);
    memory.foreign = true;
    if (this.#turnKind.events.length > 0) keep(memory, { type: initial ? undefined : type, body });
    const by = initial ? "initial" : type === "ADDED" ? "added" : "modified";
    this.#wake(body, initial ? PRIORITY.backlog : PRIORITY.live, by);
  }

  echoed(body: KubeBody): void {
    if (this.#turnKind.events.length === 0) return;
    const memory = this.#memory(body);
    keep(memory, { type: "MODIFIED", body });
    noteWake(memory, { by: "own write", what: body.metadata?.resourceVersion });
    this.#queue.add(objectKey(body), PRIORITY.live);
  }

  gone(body: KubeBody): void {
    this.#shared.indexes.remove(this.#indexes, body);
    const key = objectKey(body);
    const memory = this.#memories.get(key);
    if (!memory) return;
    memory.gone = body;
    if (this.#turnKind.events.length > 0) keep(memory, { type: "DELETED", body });
    memory.running?.stop(new Aborted("deletion", "the object is gone"));
    noteWake(memory, { by: "deleted", what: body.metadata?.resourceVersion });
    this.#queue.add(key, PRIORITY.live);
  }

  onSynced(): void {
    if (![...this.#scopes.values()].every(({ informer }) => informer.synced)) return;
    this.#logger.debug("all objects are known", { objects: this.#memories.size });
    this.#resolveSynced();
  }

  state(state: StreamState): void {
    if (state.phase === "watching" && this.#trouble !== undefined) {
      this.#trouble = undefined;
      this.#logger.info("the stream is open again");
    }
    if (state.phase !== "waiting") return;
    const error = state.error as { message?: string; hint?: string } | undefined;
    // Said once, not at every try.
    if (this.#trouble === (error?.message ?? "")) return;
    this.#trouble = error?.message ?? "";
    this.#logger.warn("the stream is interrupted, it will be opened again", {
      error: error?.message,
      hint: error?.hint,
    });
  }

  async #work(key: string): Promise<void> {
    const memory = this.#memories.get(key);
    if (!memory) return;
    const end = await takeTurn(this.#turnKind, key, memory);
    if (end.type === "forget") {
      this.#memories.delete(key);
      this.#queue.forget(key);
    } else if (end.type === "again") {
      noteWake(memory, { by: "again" });
      this.#queue.add(key, PRIORITY.live);
    } else if (end.type === "later") this.#queue.addAt(key, end.at);
  }

  /** The operator stops: whatever runs is told. One listener for all objects, not one for each turn. */
  #interrupt(): void {
    for (const { running } of this.#memories.values()) running?.stop(new Aborted("shutdown", "the operator stops"));
  }

  #wake(body: KubeBody, priority: (typeof PRIORITY)["live" | "backlog"], by: Wake["by"]): void {
    const memory = this.#memory(body);
    noteWake(memory, { by, what: body.metadata?.resourceVersion });
    if (isDeleting(body) && !memory.deletionSeen) {
      memory.deletionSeen = true;
      memory.running?.stop(new Aborted("deletion", "the object is being deleted"));
    }
    this.#queue.add(objectKey(body), priority);
  }

  #memory(body: KubeBody): ObjectMemory {
    const key = objectKey(body);
    let memory = this.#memories.get(key);
    if (!memory) {
      memory = newMemory(key, body.metadata?.uid ?? "", this.#shared.clock.monotonic());
      this.#memories.set(key, memory);
    }
    return memory;
  }

  #informerOf(body: KubeBody): Informer | undefined {
    return this.#covering(body.metadata?.namespace);
  }

  #newest(key: string): KubeBody | undefined {
    const name = key.slice(0, key.lastIndexOf("/"));
    const namespace = name.slice(0, name.indexOf("/")) || undefined;
    return this.#covering(namespace)?.get(name);
  }

  #covering(namespace: string | undefined): Informer | undefined {
    return (this.#scopes.get(undefined) ?? this.#scopes.get(namespace))?.informer;
  }

  #describe(handlers: readonly Handler[], chosen: RecordStorage): TurnKind {
    const { operator, client, clock, random, stopping, handlerWrote, settings, plan } = this.#shared;
    const { kind, kindClass, hasStatus, keepsField } = this.#facts;
    const changes = handlersOf<ChangeHandler>(handlers, "change");
    const { finalizer, ignore } = settings.persistence;
    const storage = finalizer === undefined ? chosen : { ...chosen, finalizer };
    const fields = fieldsOf(changes);
    const ignored = ignore.map((path) => fieldKeys(path));
    return {
      operator,
      kind,
      kindClass,
      changes,
      events: handlersOf<EventHandler>(handlers, "event"),
      background: this.#background,
      target: {
        description: kind,
        hasStatus,
        storage,
        fieldManager: operator,
        handlers: changes.map(({ id }) => id),
      },
      keepsResult: keepsField,
      essenceOf: (body) => storage.clear(essenceOf(body, fields, ignored)),
      indexes: this.#shared.indexes.view,
      client,
      clock,
      random,
      logger: this.#logger,
      metrics: this.#shared.metrics,
      measures: this.#measures,
      journal: this.#journal,
      memoOf: (memory) => {
        memory.memo ??= memoFrom(this.#shared.memo);
        return memory.memo;
      },
      newest: (key) => this.#newest(key),
      wrote: (body) => {
        const informer = this.#informerOf(body);
        informer?.wrote(body);
        this.#shared.indexes.update(this.#indexes, informer?.get(storeKey(body)) ?? body, this.#logger);
      },
      handlerWrote,
      record: this.#shared.record,
      post: (body, type, reason, message) =>
        this.#shared.events.post({
          type,
          reason,
          message,
          object: {
            // Handlers may speak of other objects than their own; items of lists say nothing of their kind.
            apiVersion: body.apiVersion ?? apiVersionOf(kind),
            kind: body.kind ?? kind.kind,
            namespace: body.metadata?.namespace,
            name: body.metadata?.name ?? "",
            uid: body.metadata?.uid,
            resourceVersion: body.metadata?.resourceVersion,
          },
        }),
      wake: (key) => {
        if (this.#memories.has(key)) this.#queue.add(key, PRIORITY.live);
      },
      recordNotKept: () => {
        this.#logger.warn("the kind's status does not keep the operator's record, an annotation is used instead", {
          hint: "install the CRD of this version of the operator",
        });
        this.#turnKind = this.#describe(handlers, annotationStorage(operator));
      },
      stopping,
      settings,
      plan,
    };
  }
}

function keep(memory: ObjectMemory, event: RawEvent): void {
  memory.events ??= [];
  memory.events.push(event);
}

/** An object's memo begins with the operator's notes; their own `clone` may say how. */
function memoFrom(memo: Memo): Memo {
  const { clone } = memo;
  return typeof clone === "function" ? (clone.call(memo) as Memo) : { ...memo };
}
