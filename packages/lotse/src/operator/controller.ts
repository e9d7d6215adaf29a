/**
 * Everything of one kind, wired together: its cache feeds one mailbox an object, the queue says whose turn it is, and the
 * turn does the rest. A change walks cache → mailbox → turn, and nothing walks back up.
 */
import { apiVersionOf, type KindDescription, type KubeBody } from "@lotse/client";
import { type IdentityKey, identityKey, objectKeyOf } from "@lotse/client/meta";
import { Background } from "../background/index.ts";
import {
  type DaemonHandler,
  type Handler,
  type IndexHandler,
  type Kept,
  keptText,
  type Memo,
  type ReconcileHandler,
  type TimerHandler,
} from "../declare/index.ts";
import type { KindCapabilities, OperatorIndexes, Scope, Scopes } from "../informers/index.ts";
import { PRIORITY } from "../queue/index.ts";
import { type Author, bindCleanUp, KindReconcilers, type KindView, type TrackedKinds } from "../reconcile/index.ts";
import {
  type Explanation,
  Journal,
  KindMeasures,
  type KindMemory,
  type KindReporting,
  type ObjectQuestion,
  type Reporting,
  RunningAttempts,
  type StreamHealth,
} from "../report/index.ts";
import type { HandlerWrite, KindStore, Runtime } from "../runtime/index.ts";
import { errorFields, type KindWork, lastOf, named, type ObjectMemory, observeRead } from "../turn/index.ts";
import type { Coordinating, Owner } from "./coordinating.ts";
import type { Unwritten } from "./ending.ts";
import { explainElsewhere, explainObject, hasName } from "./explain.ts";
import { Keeping } from "./keeping.ts";
import { KindCache } from "./kind-cache.ts";
import { concurrencyOf, handlersOf, kindWork, withUsual } from "./kind-work.ts";
import { unwrittenOf, writePending } from "./last-writes.ts";
import { Mailboxes } from "./mailboxes.ts";
import { kindMemory } from "./memory.ts";
import { tellOfResults, tellOfSlow } from "./notices.ts";
import { type KindObjective, objectiveOf } from "./objectives.ts";
import type { Readers } from "./readers.ts";
import { Strangers } from "./strangers.ts";

/** What the controllers of one operator are made of, beside their kind. */
export interface ControllerParts {
  readonly runtime: Runtime;
  readonly reporting: Reporting;
  readonly scopes: Scopes;
  readonly indexes: OperatorIndexes<Author>;
  readonly tracked: TrackedKinds;
  /** What each object's memo begins with. */
  readonly memo: Memo;
  /** A handler wrote an object, of whatever kind. */
  readonly handlerWrote: KindStore["handlerWrote"];
  /** What waits for another try is tried when its object is first seen. */
  readonly retryAtStart: boolean;
  /** Whether reconcilers have said that they follow the kind: then all of its objects are read. */
  readonly isFollowed: (kind: KindDescription) => boolean;
  /** Who reads which kind, and what of it. */
  readonly readers: Readers;
}

/** See the module comment. */
export class Controller implements Owner {
  readonly #parts: ControllerParts;
  readonly #reporting: KindReporting;
  readonly #handlers: readonly Handler[];
  readonly #background: Background | undefined;
  readonly #reconcilers: KindReconcilers | undefined;
  readonly #cache: KindCache;
  readonly #mailboxes: Mailboxes;
  /** What the kind promises, if it does. */
  readonly #objective: KindObjective | undefined;
  #capabilities: KindCapabilities;
  #work: KindWork;
  #strangers: Strangers | undefined;
  #begun = false;
  readonly #keeping: Keeping;

  constructor(parts: ControllerParts, handlers: readonly Handler[], capabilities: KindCapabilities) {
    this.#parts = parts;
    this.#capabilities = capabilities;
    const { runtime } = parts;
    const reporting = this.#makeReporting(capabilities.kind);
    this.#reporting = reporting;
    const usually = handlers.map((handler) =>
      bindCleanUp(withUsual(handler, runtime.plan), handlers, () => this.#reconcilers),
    );
    this.#handlers = usually;
    this.#strangers = new Strangers([runtime.operator, ...runtime.formerNames]);
    this.#keeping = new Keeping({
      handlers: usually,
      ownership: runtime.ownership,
      kind: () => this.kind,
      isFollowed: parts.isFollowed(capabilities.kind),
      kept: parts.readers.kept(usually, capabilities.kind),
      onWider: (kept) =>
        reporting.logger.info("more is read of a kind than it was kept with, it is listed anew", {
          kept: kept === "all" ? "all of it" : keptText(kept),
        }),
      streams: () => this.#cache.streams,
    });
    const reconcilers = handlersOf<ReconcileHandler>(usually, "reconcile");
    const concurrency = concurrencyOf(reconcilers) ?? runtime.settings.queueing.concurrency;
    this.#mailboxes = new Mailboxes({
      clock: runtime.clock,
      concurrency,
      observer: reporting.measures,
      retryAtStart: parts.retryAtStart,
      onInitial: (body) => this.#strangers?.note(body),
      ownership: runtime.ownership,
      newest: (key) => this.#cache.newest(key),
    });
    // Operators that only read a kind have nothing to do with what it promises.
    if (this.#hasMail)
      this.#objective = objectiveOf(capabilities, runtime, reporting, (key) => this.#cache.newest(key));
    this.#cache = new KindCache({
      runtime,
      capabilities,
      scopes: parts.scopes,
      indexes: parts.indexes,
      indexHandlers: handlersOf<IndexHandler>(usually, "index"),
      logger: reporting.logger,
      mailboxes: this.#hasMail ? this.#mailboxes : undefined,
      keeping: this.#keeping,
      objective: this.#objective,
    });
    if (reconcilers.length > 0) this.#reconcilers = this.#makeReconcilers(reconcilers);
    const timers = handlersOf<TimerHandler>(usually, "timer");
    const daemons = handlersOf<DaemonHandler>(usually, "daemon");
    if (timers.length + daemons.length > 0) this.#background = new Background(timers, daemons);
    this.#work = this.#makeWork(capabilities.keepsRecord);
    const { queue } = this.#mailboxes;
    reporting.measures.watch(
      queue,
      concurrency,
      () => this.#mailboxes.size,
      () => this.health(),
    );
    runtime.stopping.addEventListener("abort", this.#interrupt, { once: true });
    void this.#cache.streams.synced.then(() => this.#tellOfStrangers());
    tellOfResults(usually, capabilities, reporting.logger);
    this.#cache.streams.begin();
  }

  /** Resolves when all objects that are there have been listed. */
  get synced(): Promise<void> {
    return this.#cache.streams.synced;
  }

  /** Rejects with what keeps it from knowing its objects, the first time that something does. */
  get trouble(): Promise<never> {
    return this.#cache.streams.trouble;
  }

  get kind(): KindDescription {
    return this.#capabilities.kind;
  }

  /** What reconcilers see of the kind. */
  get view(): KindView {
    return this.#cache.view;
  }

  /** The kind is served in another version from now on, or its schema keeps something else. */
  async move(capabilities: KindCapabilities): Promise<void> {
    this.#capabilities = capabilities;
    this.#work = this.#makeWork(capabilities.keepsRecord);
    await this.#cache.streams.move(capabilities.kind);
  }

  /** Begins to work on objects. */
  begin(): void {
    this.#begun = true;
    this.#mailboxes.queue.start();
  }

  /** Resolves when the operator stops or the kind vanishes, and all streams have ended; rejects when one fails for good. */
  streams(): Promise<void> {
    return this.#cache.streams.ended();
  }

  /** Watches one more scope. */
  open(scope: Scope): void {
    this.#cache.streams.open(scope);
  }

  /** Watches a scope no longer: its objects are not deleted, but they are no longer this operator's. */
  async shut(scope: Scope): Promise<void> {
    // At once for all of them: the scope may be opened again while what runs for them comes to its end.
    const left = this.#cache.streams.shut(scope).map((body) => {
      this.#cache.forget(body);
      return this.#mailboxes.leave(body);
    });
    await Promise.all(left);
  }

  async ownershipChanged(why: string): Promise<void> {
    this.#cache.ownershipChanged();
    if (this.#hasMail) await this.#mailboxes.ownershipChanged(this.#cache.streams.values(), why);
  }

  keepingChanged(gained: boolean): void {
    this.#keeping.changed(gained);
  }

  /** Whether not all objects are known. */
  get isPartial(): boolean {
    return this.#keeping.isPartial;
  }

  /** From now on all objects are kept; resolves when they are known. */
  whole(): Promise<void> {
    return this.#keeping.whole();
  }

  /** From now on this is kept of each object as well; resolves when all of them have it. */
  widen(wanted: Kept): Promise<void> {
    return this.#keeping.widen(wanted);
  }

  /** What it takes in memory, and for whom. */
  memory(): KindMemory {
    const { kind } = this;
    const { kept } = this.#keeping;
    return kindMemory(kind, kept, this.#cache.streams.values(), this.#parts.readers.of(this.#handlers, kind));
  }

  /** The kind is served: streams that wait for it try at once. */
  served(): void {
    this.#cache.streams.served();
  }

  /**
   * The cluster serves the kind no longer: what is known of its objects is gone, and so is, when what runs for them has
   * ended, all that was made for the kind.
   */
  async vanish(): Promise<void> {
    for (const body of this.#cache.streams.close()) this.#cache.gone(body, body);
    if (this.#begun) await this.idle();
    await this.close();
    this.#reconcilers?.close();
    this.#parts.runtime.stopping.removeEventListener("abort", this.#interrupt);
    this.#reporting.metrics.close();
  }

  /** Takes no new work and resolves when what runs is done and written down, daemons included. */
  async close(): Promise<void> {
    await this.#mailboxes.queue.close();
    const end = async (memory: ObjectMemory) => {
      await this.#background?.stop(memory, "shutdown", "the operator stops");
      await writePending(this.#work, memory, this.#cache.newest(memory.key), this.#reporting.logger);
    };
    await Promise.all([...this.#mailboxes.memories()].map(end));
    this.#reporting.attempts.close();
    this.#objective?.close();
  }

  /** What handlers have done and the API server does not know. */
  unwritten(): Unwritten[] {
    return unwrittenOf(this.kind, this.#mailboxes.memories(), this.#reporting.journal);
  }

  /** The API server answers after it did not: writes that wait for their next try need not wait. */
  sendPending(): void {
    this.#mailboxes.sendPending();
  }

  /** Resolves when nothing runs and nothing is due now. */
  idle(): Promise<void> {
    return this.#mailboxes.queue.idle();
  }

  /** Its streams, one for each scope. */
  health(): StreamHealth[] {
    return this.#cache.streams.health();
  }

  /** Whether an object is worked on, or waits for its turn now. */
  isBusy(key: IdentityKey): boolean {
    const state = this.#mailboxes.stateOf(key)?.is;
    return state === "running" || state === "ready";
  }

  /** Tries again at once what waits for it, or has failed for good; undefined when the object is unknown. */
  retry(question: ObjectQuestion): readonly string[] | undefined {
    const memory = this.#asked(question);
    return memory && memory.life.state !== "gone" ? this.#mailboxes.retry(memory) : undefined;
  }

  /** Something has happened to an object outside of the cluster; false when the object is unknown. */
  wake(name: Omit<ObjectQuestion, "kind">, why: string): boolean {
    const memory = this.#named(name);
    if (!memory || memory.life.state === "gone") return false;
    this.#mailboxes.wakeFromOutside(memory, why);
    return true;
  }

  /** What is known about one object; undefined when it is of another kind, or unknown. `others`: know of objects that are elsewhere. */
  explain(question: ObjectQuestion, others?: Pick<Coordinating, "elsewhere">): Explanation | undefined {
    const memory = this.#asked(question);
    const body = memory && (lastOf(memory.life) ?? this.#cache.newest(memory.key));
    const { operator, clock } = this.#parts.runtime;
    const { journal, attempts } = this.#reporting;
    if (!memory || !body) {
      const other = others && this.elsewhere(question);
      if (!other) return undefined;
      const elsewhere = others.elsewhere(other, this.kind);
      return {
        operator,
        ...explainElsewhere(this.#work, other, elsewhere, clock),
        objective: this.#objective?.explain(identityKey(other)),
        turns: journal.of(identityKey(other)),
      };
    }
    const { key } = memory;
    return {
      operator,
      ...explainObject(this.kind, memory, body, this.#mailboxes.stateOf(key), clock, attempts.of(key)),
      objective: this.#objective?.explain(key),
      turns: journal.of(key),
    };
  }

  /** An object that is known, and not this process's to work on. */
  elsewhere({ kind, namespace, name }: ObjectQuestion): KubeBody | undefined {
    if (!this.#hasMail || !hasName(this.kind, kind)) return undefined;
    const body = this.#cache.get(objectKeyOf(this.kind.namespaced ? (namespace ?? "default") : undefined, name));
    return body && !this.#parts.runtime.ownership.owns(body, this.kind) ? body : undefined;
  }

  /** The notes of an object; undefined when it is unknown. */
  memoOf(body: KubeBody): Memo | undefined {
    const memory = this.#mailboxes.find(identityKey(body));
    return memory && this.#work.views.memoOf(memory);
  }

  /** The API server has answered a handler's write of an object of this kind. */
  handlerWrote(body: KubeBody, how: HandlerWrite): void {
    this.#cache.handlerWrote(body, how);
  }

  /** Kinds that are only read need no mailboxes. */
  get #hasMail(): boolean {
    return this.#handlers.some(({ type }) => type !== "index");
  }

  /** One listener for all objects, not one for each turn. */
  readonly #interrupt = () => this.#mailboxes.interrupt();

  /** What is remembered of the object that a person asks about. */
  #asked({ kind, ...name }: ObjectQuestion): ObjectMemory | undefined {
    return hasName(this.kind, kind) ? this.#named(name) : undefined;
  }

  #named({ namespace, name }: Omit<ObjectQuestion, "kind">): ObjectMemory | undefined {
    return this.#mailboxes.named(this.kind.namespaced ? (namespace ?? "default") : undefined, name);
  }

  /** Once, when all that was there at the start has been seen. Cannot reject. */
  async #tellOfStrangers(): Promise<void> {
    const strangers = this.#strangers;
    this.#strangers = undefined;
    await strangers?.tell(this.#parts.runtime.client, this.#reporting.logger);
  }

  /** What is counted of a kind goes with it, and what is said once is said once for all of its objects. */
  #makeReporting(kind: KindDescription): KindReporting {
    const { runtime, reporting } = this.#parts;
    const { events, traces, onHandlerRequest, onBehalf } = reporting;
    const metrics = reporting.metrics.part();
    const logger = reporting.logger.with({ kind: kind.kind });
    const attempts = new RunningAttempts({
      clock: runtime.clock,
      slowMs: runtime.plan.slowMs,
      onSlow: (attempt, forMs) => tellOfSlow(runtime.operator, { metrics, events }, this.kind, logger, attempt, forMs),
    });
    return {
      logger,
      metrics,
      traces,
      onHandlerRequest,
      onBehalf,
      post: (body, type, reason, message) => events.post({ type, reason, message, object: subjectOf(body, this.kind) }),
      measures: new KindMeasures(metrics, kind.kind),
      journal: new Journal(),
      attempts,
      saidOnce: new Set(),
    };
  }

  #makeReconcilers(handlers: readonly ReconcileHandler[]): KindReconcilers {
    const { runtime, tracked, readers } = this.#parts;
    const { logger, metrics, onHandlerRequest } = this.#reporting;
    return new KindReconcilers({
      kind: this.kind,
      handlers,
      tracked,
      operator: runtime.operator,
      formerNames: runtime.formerNames,
      metrics,
      onRead: (handler, kind, wanted, namespace) => {
        readers.note(handler, kind, wanted);
        observeRead(onHandlerRequest, handler, kind, namespace);
      },
      now: () => runtime.clock.monotonic(),
      find: (key) => this.#cache.get(key),
      memory: (key) => this.#mailboxes.find(key),
      wake: (key) => this.#mailboxes.wake(key, this.#reconcilers?.isLow ? PRIORITY.resync : PRIORITY.live),
      onMapFailure: (handler, { description: { kind }, namespace, name }, error) =>
        logger.error("whom an object concerns could not be found out, nobody is woken by its change", {
          ...named(handler),
          concerning: `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
          ...errorFields(error, true),
          hint: "the function in `watches` must not throw, whatever the object looks like",
        }),
    });
  }

  /** What turns of the kind are taken with, from now on. */
  #makeWork(keepsRecord: boolean): KindWork {
    const { runtime, indexes, tracked, readers, memo, handlerWrote } = this.#parts;
    const work = kindWork({
      runtime,
      reporting: this.#reporting,
      store: {
        newest: (object) => this.#cache.newestOf(object),
        wrote: (body) => this.#cache.wrote(body),
        handlerWrote,
        wake: (key) => this.#mailboxes.wake(key),
      },
      capabilities: this.#capabilities,
      keepsRecord,
      handlers: this.#handlers,
      background: this.#background,
      reconcilers: this.#reconcilers,
      indexes,
      tracked,
      readers,
      memo,
      recordNotKept: () => {
        this.#work = this.#makeWork(false);
      },
    });
    this.#mailboxes.use(work);
    return work;
  }
}

/** Whom an Event is about: handlers may speak of other objects than their own, and items of lists say no kind. */
function subjectOf(body: KubeBody, kind: KindDescription) {
  return {
    apiVersion: body.apiVersion ?? apiVersionOf(kind),
    kind: body.kind ?? kind.kind,
    namespace: body.metadata?.namespace,
    name: body.metadata?.name ?? "",
    uid: body.metadata?.uid,
    resourceVersion: body.metadata?.resourceVersion,
  };
}
