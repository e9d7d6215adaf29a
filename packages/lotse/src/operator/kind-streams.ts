/** The streams of one kind: one informer for each scope, and all of them together as one copy of what is in the cluster. */
import type { KindDescription, KubeBody, StreamState } from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import { type BackoffPlan, backoffMs } from "../declare/index.ts";
import { Informer, type InformerListener, type InformerOptions } from "../informers/index.ts";
import type { Logger, StreamHealth } from "../report/index.ts";
import type { ControllerShared } from "./controller.ts";
import { streamHealth } from "./inspect.ts";
import type { Scope } from "./scopes.ts";

/** A scope that is being watched. */
interface OpenScope {
  readonly informer: Informer;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** What the streams tell of single objects. */
export type ObjectListener = Pick<InformerListener, "changed" | "echoed" | "gone">;

/** Without a setting streams have their own patience, which depends on what went wrong. */
function reconnecting(plan: BackoffPlan | undefined): Pick<InformerOptions, "backoff"> {
  return plan ? { backoff: (failures, chance) => backoffMs(plan, failures + 1, chance) } : {};
}

/** See the module comment. */
export class KindStreams implements InformerListener {
  readonly #shared: ControllerShared;
  readonly #logger: Logger;
  readonly #listener: ObjectListener;
  #kind: KindDescription;
  /** The key of the whole cluster is undefined. */
  readonly #scopes = new Map<Scope, OpenScope>();
  readonly #failure: Promise<never>;
  #fail: (error: unknown) => void = () => {};
  /** What keeps a stream from working, as it was told last. */
  #trouble: string | undefined;
  #resolveSynced: () => void = () => {};
  #rejectTrouble: (error: unknown) => void = () => {};
  /** Rejects with what keeps a stream from working, the first time that something does. */
  readonly trouble: Promise<never>;
  /** Resolves when all objects that are there have been listed. */
  readonly synced: Promise<void>;

  constructor(shared: ControllerShared, kind: KindDescription, logger: Logger, listener: ObjectListener) {
    this.#shared = shared;
    this.#kind = kind;
    this.#logger = logger;
    this.#listener = listener;
    this.#failure = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.#failure.catch(() => {});
    this.trouble = new Promise<never>((_, reject) => {
      this.#rejectTrouble = reject;
    });
    this.trouble.catch(() => {});
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  /** Begins with the scopes that there are. */
  begin(): void {
    const scopes = this.#kind.namespaced ? this.#shared.scopes.current : [undefined];
    for (const scope of scopes) this.open(scope);
    if (scopes.length === 0) this.#resolveSynced();
  }

  /** Resolves when the operator stops and all streams have ended; rejects when one fails for good. */
  async ended(): Promise<void> {
    const { stopping } = this.#shared;
    const stopped = new Promise<void>((resolve) => {
      if (stopping.aborted) resolve();
      stopping.addEventListener("abort", () => resolve(), { once: true });
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
      kind: this.#kind,
      namespace: scope,
      clock,
      random,
      listener: this,
      inactivityMs: plan.inactivityMs,
      serverTimeoutMs: plan.serverTimeoutMs,
      ...reconnecting(plan.reconnect),
      pageSize: settings.watching.pageSize,
    });
    this.#scopes.set(scope, this.#stream(informer));
  }

  /** Watches a scope no longer; returns the objects that it had. */
  async shut(scope: Scope): Promise<KubeBody[]> {
    const open = this.#scopes.get(scope);
    if (!open) return [];
    open.stop.abort();
    await open.ended;
    this.#scopes.delete(scope);
    return [...open.informer.values()];
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

  /** An object by `namespace/name`. */
  get(key: string): KubeBody | undefined {
    return this.covering(key.slice(0, key.indexOf("/")) || undefined)?.get(key);
  }

  /** All objects. */
  *values(): IterableIterator<KubeBody> {
    for (const { informer } of this.#scopes.values()) yield* informer.values();
  }

  health(): StreamHealth[] {
    const now = this.#shared.clock.monotonic();
    return [...this.#scopes].map(([scope, { informer }]) => streamHealth(this.#kind, scope, informer, now));
  }

  #stream(informer: Informer): OpenScope {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#shared.stopping, stop.signal]);
    const ended = informer.run(signal, this.#kind).catch((error) => this.#fail(error));
    return { informer, stop, ended };
  }

  changed: InformerListener["changed"] = (body, change) => this.#listener.changed(body, change);
  echoed: InformerListener["echoed"] = (body) => this.#listener.echoed(body);
  gone: InformerListener["gone"] = (body, before) => this.#listener.gone(body, before);

  onSynced(): void {
    const informers = [...this.#scopes.values()].map(({ informer }) => informer);
    if (!informers.every(({ synced }) => synced)) return;
    const objects = informers.reduce((sum, { size }) => sum + size, 0);
    this.#logger.debug("all objects are known", { objects });
    this.#resolveSynced();
  }

  state(state: StreamState): void {
    if (state.phase === "watching" && this.#trouble !== undefined) {
      this.#trouble = undefined;
      this.#logger.info("the stream is open again");
    }
    if (state.phase !== "waiting") return;
    this.#rejectTrouble(state.error);
    const error = errorMessage(state.error);
    // Said once, not at every try.
    if (this.#trouble === error) return;
    this.#trouble = error;
    const { hint } = (state.error ?? {}) as { hint?: string };
    this.#logger.warn("the stream is interrupted, it will be opened again", { error, hint });
  }
}
