/**
 * Everything of one kind, wired together: its cache feeds one mailbox an object, the queue says whose turn it is, and the
 * turn does the rest. A change walks cache → mailbox → turn, and nothing walks back up.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { IdentityKey } from "@lotse/client/meta";
import { Background } from "../background/index.ts";
import {
  type DaemonHandler,
  type Handler,
  type IndexHandler,
  type ReconcileHandler,
  type SettingsPlan,
  type TimerHandler,
  withUsualBackoff,
} from "../declare/index.ts";
import type { KindCapabilities, Scope } from "../informers/index.ts";
import { PRIORITY } from "../queue/index.ts";
import { bindCleanUp, KindReconcilers, type KindView } from "../reconcile/index.ts";
import {
  type Explanation,
  Journal,
  KindMeasures,
  type Logger,
  type ObjectQuestion,
  type StreamHealth,
} from "../report/index.ts";
import {
  errorFields,
  type HandlerWrite,
  named,
  type ObjectMemory,
  RunningAttempts,
  recordRead,
  storageOf,
  type TurnKind,
} from "../turn/index.ts";
import type { Unwritten } from "./ending.ts";
import { explainObject, hasName } from "./explain.ts";
import { KindCache } from "./kind-cache.ts";
import { unwrittenOf, writePending } from "./last-writes.ts";
import { Mailboxes } from "./mailboxes.ts";
import { tellOfResults, tellOfSlow } from "./notices.ts";
import type { ControllerShared } from "./shared.ts";
import { Strangers } from "./strangers.ts";
import { describeTurns, handlersOf } from "./turn-kind.ts";

/** What a handler does not say itself, the operator's settings say. */
function withUsual<H extends Handler>(handler: H, { backoff }: SettingsPlan): H {
  return "retry" in handler ? { ...handler, retry: withUsualBackoff(handler.retry, backoff) } : handler;
}

/** Several reconcilers of one kind share its queue: the most careful one decides. */
function concurrencyOf(handlers: readonly ReconcileHandler[]): number | undefined {
  const wanted = handlers.flatMap(({ concurrency }) => concurrency ?? []);
  return wanted.length === 0 ? undefined : Math.min(...wanted);
}

/** See the module comment. */
export class Controller {
  readonly #shared: ControllerShared;
  readonly #handlers: readonly Handler[];
  readonly #logger: Logger;
  readonly #journal = new Journal();
  readonly #measures: KindMeasures;
  readonly #attempts: RunningAttempts;
  /** What has been said once for all objects of the kind. */
  readonly #told = new Set<string>();
  readonly #background: Background | undefined;
  readonly #reconcilers: KindReconcilers | undefined;
  readonly #cache: KindCache;
  readonly #mailboxes: Mailboxes;
  #capabilities: KindCapabilities;
  #turnKind: TurnKind;
  #strangers: Strangers | undefined;
  #begun = false;

  constructor(operator: ControllerShared, handlers: readonly Handler[], capabilities: KindCapabilities) {
    // What is counted of a kind goes with it.
    const shared = { ...operator, metrics: operator.metrics.part() };
    this.#shared = shared;
    this.#capabilities = capabilities;
    const { kind } = capabilities;
    this.#logger = shared.logger.with({ kind: kind.kind });
    const usually = handlers.map((handler) =>
      bindCleanUp(withUsual(handler, shared.plan), handlers, () => this.#reconcilers),
    );
    this.#handlers = usually;
    this.#measures = new KindMeasures(shared.metrics, kind.kind);
    this.#attempts = new RunningAttempts({
      clock: shared.clock,
      slowMs: shared.plan.slowMs,
      onSlow: (attempt, forMs) => tellOfSlow(shared, this.kind, this.#logger, attempt, forMs),
    });
    this.#strangers = new Strangers([shared.operator, ...shared.formerNames]);
    const reconcilers = handlersOf<ReconcileHandler>(usually, "reconcile");
    const concurrency = concurrencyOf(reconcilers) ?? shared.settings.queueing.concurrency;
    this.#mailboxes = new Mailboxes({
      clock: shared.clock,
      concurrency,
      observer: this.#measures,
      retryAtStart: shared.retryAtStart,
      onInitial: (body) => this.#strangers?.note(body),
    });
    this.#cache = new KindCache({
      runtime: shared,
      capabilities,
      scopes: shared.scopes,
      indexes: shared.indexes,
      indexHandlers: handlersOf<IndexHandler>(usually, "index"),
      logger: this.#logger,
      // Kinds that are only read need no mailboxes.
      mailboxes: handlers.some(({ type }) => type !== "index") ? this.#mailboxes : undefined,
    });
    if (reconcilers.length > 0) this.#reconcilers = this.#makeReconcilers(reconcilers);
    const timers = handlersOf<TimerHandler>(usually, "timer");
    const daemons = handlersOf<DaemonHandler>(usually, "daemon");
    if (timers.length + daemons.length > 0) this.#background = new Background(timers, daemons);
    this.#turnKind = this.#describe(capabilities.keepsRecord);
    this.#measures.watch(
      this.#mailboxes.queue,
      concurrency,
      () => this.#mailboxes.size,
      () => this.health(),
    );
    shared.stopping.addEventListener("abort", this.#interrupt, { once: true });
    void this.#cache.streams.synced.then(() => this.#tellOfStrangers());
    tellOfResults(usually, capabilities, this.#logger);
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
    this.#turnKind = this.#describe(capabilities.keepsRecord);
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
    this.#shared.stopping.removeEventListener("abort", this.#interrupt);
    this.#shared.metrics.close();
  }

  /** Takes no new work and resolves when what runs is done and written down, daemons included. */
  async close(): Promise<void> {
    await this.#mailboxes.queue.close();
    const end = async (memory: ObjectMemory) => {
      await this.#background?.stop(memory, "shutdown", "the operator stops");
      await writePending(this.#turnKind, memory, this.#cache.newest(memory.key), this.#logger);
    };
    await Promise.all([...this.#mailboxes.memories()].map(end));
    this.#attempts.close();
  }

  /** What handlers have done and the API server does not know. */
  unwritten(): Unwritten[] {
    return unwrittenOf(this.kind, this.#mailboxes.memories(), this.#journal);
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

  /** Tries again at once what waits for it, or has failed for good; undefined when the object is unknown. */
  retry(question: ObjectQuestion): readonly string[] | undefined {
    const memory = this.#asked(question);
    return memory && !memory.gone ? this.#mailboxes.retry(memory) : undefined;
  }

  /** Something has happened to an object outside of the cluster; false when the object is unknown. */
  wake(name: Omit<ObjectQuestion, "kind">, why: string): boolean {
    const memory = this.#named(name);
    if (!memory || memory.gone) return false;
    this.#mailboxes.wakeFromOutside(memory, why);
    return true;
  }

  /** What is known about one object; undefined when it is of another kind, or unknown. */
  explain(question: ObjectQuestion): Explanation | undefined {
    const memory = this.#asked(question);
    const body = memory && (memory.gone ?? this.#cache.newest(memory.key));
    if (!memory || !body) return undefined;
    const { operator, clock } = this.#shared;
    const { key } = memory;
    return {
      operator,
      ...explainObject(this.kind, memory, body, this.#mailboxes.stateOf(key), clock, this.#attempts.of(key)),
      turns: this.#journal.of(key),
    };
  }

  /** The API server has answered a handler's write of an object of this kind. */
  handlerWrote(body: KubeBody, how: HandlerWrite): void {
    this.#cache.handlerWrote(body, how);
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
    await strangers?.tell(this.#shared.client, this.#logger);
  }

  #makeReconcilers(handlers: readonly ReconcileHandler[]): KindReconcilers {
    const { tracked, operator, formerNames, clock, metrics } = this.#shared;
    return new KindReconcilers({
      kind: this.kind,
      handlers,
      tracked,
      operator,
      formerNames,
      metrics,
      onRead: (handler, kind, namespace) => recordRead(this.#shared.record, handler, kind, namespace),
      now: () => clock.monotonic(),
      find: (key) => this.#cache.get(key),
      memory: (key) => this.#mailboxes.find(key),
      wake: (key) => this.#mailboxes.wake(key, this.#reconcilers?.isLow ? PRIORITY.resync : PRIORITY.live),
      onMapFailure: (handler, { description: { kind }, namespace, name }, error) =>
        this.#logger.error("whom an object concerns could not be found out, nobody is woken by its change", {
          ...named(handler),
          concerning: `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
          ...errorFields(error, true),
          hint: "the function in `watches` must not throw, whatever the object looks like",
        }),
    });
  }

  /** What turns of the kind are taken with, from now on. */
  #describe(keepsRecord: boolean): TurnKind {
    const { operator, formerNames, settings } = this.#shared;
    const turnKind = describeTurns({
      shared: this.#shared,
      capabilities: this.#capabilities,
      handlers: this.#handlers,
      storage: storageOf({ operator, formerNames, storage: settings.persistence.storage, keepsRecord }),
      background: this.#background,
      level: this.#reconcilers,
      logger: this.#logger,
      measures: this.#measures,
      journal: this.#journal,
      attempts: this.#attempts,
      told: this.#told,
      newest: (key) => this.#cache.newest(key as IdentityKey),
      wrote: (body) => this.#cache.wrote(body),
      wake: (key) => this.#mailboxes.wake(key as IdentityKey),
      recordNotKept: () => {
        this.#turnKind = this.#describe(false);
      },
    });
    this.#mailboxes.use(turnKind);
    return turnKind;
  }
}
