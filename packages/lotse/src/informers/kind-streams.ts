/** The streams of one kind: one informer for each scope, and all of them together as one copy of what is in the cluster. */
import { type KindDescription, type KubeBody, NotFoundError, type StreamState } from "@lotse/client";
import { errorMessage, namespaceIn, type ObjectKey } from "@lotse/client/meta";
import { type BackoffPlan, backoffMs, describeSelection, type ServerSelection, selectionOf } from "../declare/index.ts";
import type { Logger, StreamHealth } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { Informer, type InformerOptions, type ObjectListener } from "./informer.ts";
import type { Scope, Scopes } from "./scopes.ts";
import { firstOfSignals } from "./signals.ts";
import { streamHealth } from "./stream-health.ts";

/** A scope that is being watched. */
interface OpenScope {
  readonly informer: Informer;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A stream that waits, and how to have it try at once. */
interface WaitingStream {
  readonly error: unknown;
  readonly wake: () => void;
}

/** Without a setting streams have their own patience, which depends on what went wrong. */
function reconnecting(plan: BackoffPlan | undefined): Pick<InformerOptions, "backoff"> {
  return plan ? { backoff: (failures, chance) => backoffMs(plan, failures + 1, chance) } : {};
}

/** See the module comment. */
export class KindStreams {
  readonly #runtime: Runtime;
  readonly #served: Pick<Scopes, "current">;
  readonly #logger: Logger;
  readonly #listener: ObjectListener;
  #kind: KindDescription;
  /** The key of the whole cluster is undefined. */
  readonly #scopes = new Map<Scope, OpenScope>();
  /** The informer of the one scope that there is; undefined when there are none, or several. */
  #only: Informer | undefined;
  readonly #waiting = new Set<WaitingStream>();
  /** Resolves when the kind is followed no longer, rejects when a stream fails for good. */
  readonly #end: Promise<void>;
  #finish: () => void = () => {};
  #fail: (error: unknown) => void = () => {};
  /** What keeps the stream of a scope from working. */
  readonly #troubles = new Map<Scope, string>();
  #isSynced = false;
  #listsInstead = false;
  /** Those who wait for lists. */
  readonly #listed = new Set<() => void>();
  #resolveSynced: () => void = () => {};
  #rejectTrouble: (error: unknown) => void = () => {};
  /** Rejects with what keeps a stream from working, the first time that something does. */
  readonly trouble: Promise<never>;
  /** Resolves when all objects that are there have been listed. */
  readonly synced: Promise<void>;

  constructor(
    runtime: Runtime,
    served: Pick<Scopes, "current">,
    kind: KindDescription,
    logger: Logger,
    listener: ObjectListener,
  ) {
    this.#runtime = runtime;
    this.#served = served;
    this.#kind = kind;
    this.#logger = logger;
    this.#listener = listener;
    this.#end = new Promise<void>((resolve, reject) => {
      this.#finish = () => resolve();
      this.#fail = reject;
    });
    this.#end.catch(() => {});
    runtime.stopping.addEventListener("abort", this.#finish, { once: true });
    if (runtime.stopping.aborted) this.#finish();
    this.trouble = new Promise<never>((_, reject) => {
      this.#rejectTrouble = reject;
    });
    this.trouble.catch(() => {});
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  /** Which objects the settings have the server asked for; undefined: all. */
  get selection(): ServerSelection | undefined {
    return selectionOf(this.#runtime.plan.selectors, this.#kind);
  }

  /** Begins with the scopes that there are. */
  begin(): void {
    const { selection } = this;
    if (selection) {
      this.#logger.info("only some objects of the kind are asked for, the settings say so", {
        selector: describeSelection(selection),
      });
    }
    const scopes = this.#kind.namespaced ? this.#served.current : [undefined];
    for (const scope of scopes) this.open(scope);
    this.#onSynced();
  }

  /** Resolves when the operator stops or the kind is given up, and all streams have ended; rejects when one fails for good. */
  async ended(): Promise<void> {
    await this.#end;
    await Promise.all([...this.#scopes.values()].map(({ ended }) => ended));
  }

  /** The kind is followed no longer; returns the objects that were known of it. */
  close(): KubeBody[] {
    const known = [...this.#scopes.keys()].flatMap((scope) => this.shut(scope));
    this.#runtime.stopping.removeEventListener("abort", this.#finish);
    this.#finish();
    return known;
  }

  /** The kind is served: streams that wait because it was not try at once. */
  served(): void {
    for (const { error, wake } of [...this.#waiting]) if (error instanceof NotFoundError) wake();
  }

  /** Watches one more scope. */
  open(scope: Scope): void {
    if (this.#scopes.has(scope)) return;
    const { client, clock, random, plan, settings } = this.#runtime;
    const informer = new Informer({
      client,
      kind: this.#kind,
      namespace: scope,
      clock,
      random,
      listener: this.#listener,
      shardSelector: () => this.#listener.shard?.(),
      metadataOnly: () => this.#listener.metadataOnly?.() ?? false,
      labelSelector: () => [...(this.selection?.labels ?? []), ...(this.#listener.commonLabels?.() ?? [])],
      fieldSelector: () => this.selection?.fields,
      initialStreaming: settings.watching.initialStreaming,
      onListInstead: (why) => this.#onListInstead(why),
      onSynced: () => this.#onSynced(),
      onListed: () => {
        for (const look of [...this.#listed]) look();
      },
      onState: (state) => this.#onState(scope, state),
      inactivityMs: plan.inactivityMs,
      serverTimeoutMs: plan.serverTimeoutMs,
      ...reconnecting(plan.reconnect),
      onWait: (error, wake) => {
        const waiting = { error, wake };
        this.#waiting.add(waiting);
        return () => this.#waiting.delete(waiting);
      },
      pageSize: settings.watching.pageSize,
    });
    this.#scopes.set(scope, this.#stream(informer));
    this.#count();
  }

  #count(): void {
    const [first, second] = this.#scopes.values();
    this.#only = second ? undefined : first?.informer;
  }

  /** Watches a scope no longer; returns the objects that it had. It may be opened again at once. */
  shut(scope: Scope): KubeBody[] {
    const open = this.#scopes.get(scope);
    if (!open) return [];
    // A stream that was told to end delivers nothing more.
    open.stop.abort();
    this.#scopes.delete(scope);
    this.#count();
    this.#troubles.delete(scope);
    // The others may have waited for nothing but this one.
    this.#onSynced();
    return [...open.informer.values()];
  }

  /** Lets go of what is kept no longer. */
  purge(): void {
    for (const { informer } of this.#scopes.values()) informer.purge();
  }

  /** Lists everything anew: more of it is kept than before. What is known stays known meanwhile. */
  relist(): Promise<void> {
    return this.move(this.#kind);
  }

  /** Lists everything anew; resolves when that has been read, or the kind is followed no longer. */
  async listAnew(): Promise<void> {
    const before = new Map([...this.#scopes.values()].map(({ informer }) => [informer, informer.lists]));
    await this.relist();
    const isRead = () =>
      [...this.#scopes.values()].every(({ informer }) => informer.lists > (before.get(informer) ?? 0));
    let look = () => {};
    const read = new Promise<void>((resolve) => {
      look = () => isRead() && resolve();
    });
    this.#listed.add(look);
    look();
    await Promise.race([read, this.#end]);
    this.#listed.delete(look);
  }

  /** The kind is served in another version from now on. */
  async move(kind: KindDescription): Promise<void> {
    this.#kind = kind;
    for (const [scope, { informer, stop, ended }] of [...this.#scopes]) {
      stop.abort();
      await ended;
      if (this.#scopes.get(scope)?.informer === informer) this.#scopes.set(scope, this.#stream(informer));
    }
  }

  /** The informer of the scope that a namespace is in. */
  covering(namespace: string | undefined): Informer | undefined {
    return (this.#scopes.get(undefined) ?? this.#scopes.get(namespace))?.informer;
  }

  /** An object by its name. */
  get(key: ObjectKey): KubeBody | undefined {
    // A scope knows no object of another: where there is but one, whose namespace it is need not be found out.
    return (this.#only ?? this.covering(namespaceIn(key)))?.get(key);
  }

  /** All objects. */
  *values(): IterableIterator<KubeBody> {
    for (const { informer } of this.#scopes.values()) yield* informer.values();
  }

  health(): StreamHealth[] {
    const now = this.#runtime.clock.monotonic();
    return [...this.#scopes].map(([scope, { informer }]) => streamHealth(this.#kind, scope, informer, now));
  }

  #stream(informer: Informer): OpenScope {
    const stop = new AbortController();
    const { signal, letGo } = firstOfSignals([this.#runtime.stopping, stop.signal]);
    const ended = informer
      .run(signal, this.#kind)
      .catch((error: unknown) => this.#fail(error))
      .finally(letGo);
    return { informer, stop, ended };
  }

  #onSynced(): void {
    const informers = [...this.#scopes.values()].map(({ informer }) => informer);
    if (this.#isSynced || !informers.every(({ synced }) => synced)) return;
    this.#isSynced = true;
    const objects = informers.reduce((sum, { size }) => sum + size, 0);
    this.#logger.debug("all objects are known", { objects });
    this.#resolveSynced();
  }

  /** Said once, not by each of many scopes. */
  #onListInstead(why: unknown): void {
    if (this.#listsInstead) return;
    this.#listsInstead = true;
    this.#logger.warn("the server does not begin a watch with all objects, they are listed instead", {
      error: errorMessage(why),
      hint: 'switch the feature gate WatchList of the server on, or set settings.watching.initialStreaming to "never"',
    });
  }

  /** Said once, not at every try, and not by each of many scopes. */
  #onState(scope: Scope, { phase, error }: StreamState): void {
    if (phase === "waiting") {
      this.#rejectTrouble(error);
      const text = errorMessage(error);
      const known = [...this.#troubles.values()].includes(text);
      this.#troubles.set(scope, text);
      if (known) return;
      const { hint } = (error ?? {}) as { hint?: string };
      const fields = { ...(scope !== undefined && { namespace: scope }), error: text, hint };
      this.#logger.warn("the stream is interrupted, it will be opened again", fields);
    } else if (phase !== "listing" && this.#troubles.delete(scope) && phase === "watching") {
      if (this.#troubles.size === 0) this.#logger.info("the stream is open again");
    }
  }
}
