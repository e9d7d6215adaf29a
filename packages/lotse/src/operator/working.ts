/**
 * The operator at work: brings up all kinds side by side, follows kinds and namespaces that come and go, and knows when
 * everything has ended. A kind that is not there keeps no other kind waiting.
 */
import type { KindDescription } from "@lotse/client";
import { type KindKey, kindKey } from "@lotse/client/meta";
import { idleSelectors, isFollowedBy, type KindPlan, type ResourceDeclaration } from "../declare/index.ts";
import {
  type FollowedScopes,
  KindScanner,
  retryForever,
  type ScannerHealth,
  type ScopeListener,
} from "../informers/index.ts";
import { measureStreams, type StreamHealth } from "../report/index.ts";
import { errorFields } from "../turn/index.ts";
import type { Controller, ControllerParts } from "./controller.ts";
import type { Kinds, StartedKind } from "./kinds.ts";
import { aborted } from "./signals.ts";
import { Tasks } from "./tasks.ts";

/** A server that was away for this long has kept writes from being made that wait for their next try. */
const OUTAGE_MS = 2_000;

/** What {@link Working} is made of. */
export interface WorkingParts {
  readonly declarations: readonly ResourceDeclaration[];
  readonly kinds: Kinds;
  readonly controllers: ControllerParts;
  /** Of every kind that is there it is known what there is, or what keeps it from being known. */
  readonly onKnown: () => void;
  /** All that feeds an index is known. */
  readonly onIndexed: () => void;
  /** All kinds that are there are known: handlers begin. */
  readonly onReady: () => Promise<void>;
}

/** See the module comment. */
export class Working {
  readonly #parts: WorkingParts;
  readonly #scanner: KindScanner;
  readonly #tasks = new Tasks();
  #scopes: FollowedScopes | undefined;
  /** Those that were there at the start. */
  #first: readonly StartedKind[] = [];

  constructor(parts: WorkingParts) {
    this.#parts = parts;
    const { runtime, reporting, scopes } = parts.controllers;
    const { client, clock, random, stopping, plan } = runtime;
    const { logger, metrics } = reporting;
    this.#scanner = new KindScanner({
      client,
      declarations: parts.declarations,
      clock,
      random,
      logger,
      signal: stopping,
      namespace: () => scopes.current[0],
      intervalMs: plan.scanIntervalMs,
    });
    measureStreams(metrics, () => this.health().streams);
    metrics.gauge("lotse_broken_api_versions", "Parts of the API that do not answer.", () => [
      [{}, this.health().broken.length],
    ]);
  }

  /** What is known of kinds and parts of the API, beside the streams of objects. */
  health(): ScannerHealth {
    const health = this.#scanner.health();
    const streams: StreamHealth[] = [...health.streams, ...(this.#scopes?.health() ?? [])];
    return { ...health, streams };
  }

  /** Works until the operator stops and all streams have ended; rejects when one fails for good. */
  async run(): Promise<void> {
    const { controllers, kinds } = this.#parts;
    const { scopes, runtime, reporting } = controllers;
    const { client, clock, random, stopping, settings } = runtime;
    const { logger } = reporting;
    const once = settings.scanning.disabled;
    this.#scopes = scopes.follow({ client, clock, random, logger, stop: stopping, listener: this.#onScopes(), once });
    this.#tasks.add(this.#scopes.done);
    await Promise.race([this.#scopes.known, aborted(stopping)]);
    const forget = client.reachability.onBack((downMs) => {
      if (downMs >= OUTAGE_MS) for (const controller of kinds.controllers) controller.sendPending();
    });
    try {
      this.#tasks.add(
        this.#begin().catch((error: unknown) => {
          // The operator stops: kinds that it has waited for are not waited for any more.
          if (!stopping.aborted) throw error;
        }),
      );
      await Promise.race([this.#tasks.failed, aborted(stopping)]);
      await Promise.race([this.#tasks.failed, this.#tasks.settled()]);
    } finally {
      forget();
    }
  }

  async #begin(): Promise<void> {
    const { controllers, kinds, onKnown, onIndexed, onReady } = this.#parts;
    const { clock, random, stopping, settings } = controllers.runtime;
    const retrying = { clock, random, logger: controllers.reporting.logger, signal: stopping };
    const plans = await retryForever(
      "the kinds of the cluster could not be found out",
      () => this.#scanner.first(),
      retrying,
    );
    this.#first = plans.map((plan) => kinds.start(plan, controllers));
    for (const kind of this.#first) this.#tasks.add(this.#handle(kind));
    kinds.onRead((plan) => this.#start(plan));
    // Cannot reject.
    void Promise.all(this.#first.map(({ indexed }) => indexed)).then(onIndexed);
    const known = this.#first.map(({ ready, trouble }) => Promise.race([ready, trouble.catch(() => undefined)]));
    // Cannot reject.
    void Promise.all(known).then(onKnown);
    const ready = Promise.all(this.#first.map(({ ready }) => ready)).then(() => {
      this.#tellOfIdleSelectors();
      return onReady();
    });
    const scanning = settings.scanning.disabled ? undefined : this.#scanner.follow(this);
    await Promise.all([scanning, Promise.race([ready, aborted(stopping)])]);
  }

  /** A kind has appeared, or it is served in another version: then its objects are the same, and so is what is known. */
  found(plan: KindPlan): void {
    const { kinds, controllers } = this.#parts;
    const { client, stopping } = controllers.runtime;
    const { logger } = controllers.reporting;
    const kind = kindKey(plan.kind);
    const known = kinds.find(plan.kind);
    if (!known) {
      logger.info("a kind has appeared, it is handled from now on", { kind });
      this.#start(plan);
      return;
    }
    logger.info("the kind is served in another version", { kind, version: plan.kind.version });
    const move = async () => known.move(await kinds.resolve(plan, client, stopping));
    this.#tasks.add(this.#unlessStopping(move(), "the kind could not be followed to its other version", { kind }));
  }

  there(key: KindKey): void {
    this.#parts.kinds.there(key);
  }

  vanished(kind: KindDescription): void {
    const { kinds, controllers } = this.#parts;
    const name = { kind: kindKey(kind) };
    controllers.reporting.logger.info("the cluster serves a kind no longer, nothing of it is followed any more", name);
    this.#tasks.add(
      this.#unlessStopping(kinds.giveUp(kind), "what ran for a kind that is gone did not end well", name),
    );
  }

  /** A name that is misspelt in the settings would have all objects sent, and nobody would notice. */
  #tellOfIdleSelectors(): void {
    const { controllers, kinds } = this.#parts;
    const followed = kinds.controllers.map(({ kind }) => kind);
    for (const { setting, resource } of idleSelectors(controllers.runtime.plan.selectors, followed)) {
      controllers.reporting.logger.warn("a selector is for no kind that the operator follows by now", {
        setting,
        kind: resource,
        hint: "check the name; kinds that appear later, or are read by a handler, are selected then",
      });
    }
  }

  #start(plan: KindPlan): StartedKind {
    const kind = this.#parts.kinds.start(plan, this.#parts.controllers);
    this.#tasks.add(this.#handle(kind));
    return kind;
  }

  /** Handlers of a kind begin when all is known that they can see. */
  async #handle({ plan, ready, streams }: StartedKind): Promise<void> {
    // No handler runs before the indexes that it can see are filled.
    const indexed = this.#first.map((one) => one.indexed);
    // And no reconciler runs before what it follows is known.
    const followed = this.#first.filter((one) => isFollowedBy(plan, one.plan.kind)).map((one) => one.ready);
    const begun = Promise.all([ready, ...indexed, ...followed]).then(([controller]) => controller?.begin());
    await Promise.all([streams, Promise.race([begun, streams])]);
  }

  #onScopes(): ScopeListener {
    const namespaced = (): Controller[] => this.#parts.kinds.controllers.filter(({ kind }) => kind.namespaced);
    return {
      opened: (namespace) => {
        for (const controller of namespaced()) controller.open(namespace);
      },
      closed: (namespace) => {
        for (const controller of namespaced()) {
          const shut = controller.shut(namespace);
          this.#tasks.add(this.#unlessStopping(shut, "what ran in a namespace did not end well", { namespace }));
        }
      },
    };
  }

  /** What goes wrong there is told, and ends nothing else. */
  async #unlessStopping(work: Promise<void>, problem: string, fields: Record<string, unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      const { runtime, reporting } = this.#parts.controllers;
      if (!runtime.stopping.aborted) reporting.logger.error(problem, { ...fields, ...errorFields(error, true) });
    }
  }
}
