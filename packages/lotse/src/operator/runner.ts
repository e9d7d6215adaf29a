/** Starts and stops an operator: who is brought up in which order, and how it all ends. */
import { setMaxListeners } from "node:events";
import { Client, InvalidError, type KindDescription, type KubeBody } from "@lotse/client";
import { type Clock, type Duration, durationMs, formatDuration, sleep, systemClock } from "@lotse/client/meta";
import {
  Aborted,
  backoffMs,
  DeclarationError,
  type Declarations,
  isResourceClass,
  type LifecycleHandler,
  type Memo,
  planBackoff,
} from "../declare/index.ts";
import { awaitKindFacts } from "../informers/index.ts";
import { atLeast, EventRecorder, Logger, type LogSink, prettySink } from "../report/index.ts";
import { attempt, errorFields, type RecordStorage } from "../turn/index.ts";
import { Controller, type ControllerShared } from "./controller.ts";
import { installCrd } from "./crds.ts";
import { OperatorIndexes } from "./indexes.ts";
import { type KindPlan, kindKey } from "./plan.ts";
import { KindScanner } from "./scanner.ts";
import { Scopes } from "./scopes.ts";

/** How an operator works, wherever it runs. */
export interface OperatorSettings {
  /** Lower case letters, digits and dashes. Lotse's marks on objects carry it. */
  readonly name: string;
  /**
   * What to do about the CRDs of kinds made by `resource()`: `"install"` applies them at start, `"wait"` waits until
   * somebody has. Default `"wait"`; `lotse dev` installs.
   */
  readonly crds?: "install" | "wait";
  /**
   * Where the operator remembers its work on objects. Default: in the status of kinds made by `resource()`, in an
   * annotation elsewhere. `kopf()` reads and writes what Kopf does, so that each can take over from the other.
   */
  readonly persistence?: RecordStorage;
  /** How many objects of one kind are worked on at the same time. Default 10. */
  readonly concurrency?: number;
  /**
   * Which Kubernetes Events the operator posts about its objects: those that warn, all of them (also when a handler
   * succeeds), or none. Default `"warnings"`; `lotse dev` posts all.
   */
  readonly events?: "all" | "warnings" | "none";
  /** How long running handlers may take to end when the operator stops. Default 10 s. */
  readonly graceful?: Duration;
}

/** Where an operator runs. */
export interface StartOptions {
  /** Default: `Client.connect()`, which the operator closes when it stops. */
  readonly client?: Client;
  /** Stops the operator when it aborts. */
  readonly signal?: AbortSignal;
  /**
   * Only objects of these namespaces: names, globs, negations (`["team-*, !team-x"]`). Namespaces that appear later
   * are served as well. Default: all.
   */
  readonly namespaces?: readonly string[];
  /** Wins over the operator's own setting. */
  readonly crds?: "install" | "wait";
  /** Wins over the operator's own setting. */
  readonly events?: "all" | "warnings" | "none";
  /** Takes the log. Default: lines for people on standard error, from `info` up. */
  readonly log?: LogSink;
  /** Time, for tests. */
  readonly clock?: Clock;
  /** Randomness in [0, 1), for tests. */
  readonly random?: () => number;
}

/** An operator at work. */
export interface RunningOperator extends AsyncDisposable {
  /** Resolves when all kinds are there and all their objects are known; rejects when the operator cannot start. */
  readonly ready: Promise<void>;
  /** Resolves when the operator has stopped; rejects when it could not start. */
  readonly stopped: Promise<void>;
  /** Stops gracefully: running handlers get their signal and some time, their work is written down. */
  stop(): Promise<void>;
  /** Resolves when nothing runs and nothing is due now. For tests. */
  idle(): Promise<void>;
}

/** An operator's name is part of annotation and finalizer keys, which limits what it can be. */
export function checkName(name: string | undefined): string {
  if (name !== undefined && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw new DeclarationError(`${JSON.stringify(name)} is not an operator's name`, {
    hint: 'use lower case letters, digits and dashes: new Operator({ name: "exchange-rates" })',
  });
}

/** How patiently an operator waits at its start for a cluster that does not answer. */
const START_BACKOFF = planBackoff({ initial: "500ms", max: "30s" });

/** A kind on its way. */
interface StartedKind {
  /** Resolves when all its objects are known. */
  readonly ready: Promise<Controller>;
  /** The same, for kinds that feed an index. */
  readonly indexed: Promise<Controller> | undefined;
  /** Resolves when its streams have ended. */
  readonly streams: Promise<void>;
}

/** See the module comment. */
export class Runner implements RunningOperator {
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
  readonly #declarations: Declarations;
  readonly #settings: OperatorSettings;
  readonly #options: StartOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #memo: Memo = {};
  readonly #stopping = new AbortController();
  readonly #controllers: Controller[] = [];
  #events: EventRecorder | undefined;

  constructor(declarations: Declarations, settings: OperatorSettings, options: StartOptions) {
    this.#declarations = declarations;
    this.#settings = settings;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const sink = options.log ?? atLeast("info", prettySink(process.stderr, { colours: process.stderr.isTTY === true }));
    this.#logger = new Logger(sink, () => this.#clock.now());
    // Every running turn listens; any number of them is right.
    setMaxListeners(0, this.#stopping.signal);
    if (options.signal?.aborted) this.#stopping.abort(options.signal.reason);
    options.signal?.addEventListener("abort", () => this.#stopping.abort(), { once: true });

    let begin: () => void = () => {};
    let fail: (error: unknown) => void = () => {};
    this.ready = new Promise((resolve, reject) => {
      begin = resolve;
      fail = reject;
    });
    this.stopped = this.#run(begin).then(
      // Nobody shall wait for ever; means nothing to whoever is ready already.
      () => fail(new Aborted("shutdown", "the operator was stopped before it was ready")),
      (error) => {
        fail(error);
        throw error;
      },
    );
    // Whoever does not look at one of the two promises must not be punished for a failure that the other one tells.
    this.ready.catch(() => {});
    this.stopped.catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async idle(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.idle()));
  }

  async #run(begin: () => void): Promise<void> {
    const owned = this.#options.client === undefined;
    const client = (this.#options.client ?? (await Client.connect())).with({ fieldManager: this.#settings.name });
    try {
      const begun = await this.#begin(client, begin);
      const failure = begun && (await firstOf(aborted(this.#stopping.signal), begun.streams));
      this.#stopping.abort();
      await Promise.all(this.#controllers.map((controller) => controller.close()));
      await begun?.streams.catch(() => {});
      await this.#events?.stop();
      await this.#lifecycle("cleanup", client, AbortSignal.timeout(this.#gracefulMs));
      this.#logger.info("the operator has stopped", { operator: this.#settings.name });
      if (failure) throw failure.error;
    } finally {
      this.#stopping.abort();
      if (owned) await client.close();
    }
  }

  /** Everything up to the streams, which go on; undefined when the operator was stopped before it got there. */
  async #begin(client: Client, begin: () => void): Promise<{ readonly streams: Promise<void> } | undefined> {
    try {
      await this.#lifecycle("startup", client, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return undefined;
      if ((this.#options.crds ?? this.#settings.crds) === "install") await this.#installCrds(client);
      return { streams: this.#work(client, begin) };
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      throw error;
    }
  }

  get #gracefulMs(): number {
    return durationMs(this.#settings.graceful ?? "10s");
  }

  /** Brings up all kinds side by side; a kind that is not there keeps nobody else waiting. */
  async #work(client: Client, begin: () => void): Promise<void> {
    const declarations = this.#declarations.resources;
    const ids = declarations.flatMap(({ handlers }) =>
      handlers.filter(({ type }) => type === "index").map(({ id }) => id),
    );
    const scopes = new Scopes(this.#options.namespaces);
    const following = scopes.follow(client, this.#clock, this.#logger, this.#stopping.signal, {
      opened: (namespace) => {
        for (const controller of this.#namespaced()) controller.open(namespace);
      },
      closed: (namespace) => {
        for (const controller of this.#namespaced()) void controller.shut(namespace);
      },
    });
    await Promise.race([following.known, aborted(this.#stopping.signal)]);
    const shared: ControllerShared = {
      operator: this.#settings.name,
      client,
      clock: this.#clock,
      random: this.#options.random ?? Math.random,
      logger: this.#logger,
      stopping: this.#stopping.signal,
      graceMs: this.#gracefulMs,
      concurrency: this.#settings.concurrency ?? 10,
      scopes,
      indexes: new OperatorIndexes(ids),
      persistence: this.#settings.persistence,
      events: this.#eventRecorder(client),
      handlerWrote: (body, kind) => this.#handlerWrote(body, kind),
    };
    const scanner = new KindScanner(client, declarations, this.#clock, this.#logger, this.#stopping.signal);
    const first = await this.#untilItWorks("the kinds of the cluster could not be found out", () => scanner.scan());
    const started = first.map((plan) => this.#handle(plan, shared));
    // Nobody's handlers run before the indexes that they can see are filled.
    const indexed = Promise.all(started.map(({ indexed }) => indexed));
    const run = ({ ready, streams }: StartedKind) => {
      void Promise.all([ready, indexed]).then(([controller]) => controller?.begin());
      return streams;
    };
    const streams = started.map(run);
    void Promise.all([...started.map(({ ready }) => ready), indexed]).then(() => {
      this.#logger.info("the operator is ready", {
        operator: this.#settings.name,
        kinds: this.#controllers.map(({ kind }) => kind.kind).join(", "),
      });
      begin();
    });
    const later = scanner.follow((plan) => streams.push(run(this.#handle(plan, shared))));
    await later;
    await following.done;
    await Promise.all(streams);
  }

  #namespaced(): Controller[] {
    return this.#controllers.filter(({ kind }) => kind.namespaced);
  }

  #eventRecorder(client: Client): EventRecorder {
    const recorder = new EventRecorder({
      client,
      clock: this.#clock,
      random: this.#options.random ?? Math.random,
      component: this.#settings.name,
      onProblem: (message, fields) => this.#logger.warn(message, fields),
      settings: { post: this.#options.events ?? this.#settings.events ?? "warnings" },
    });
    this.#events = recorder;
    return recorder;
  }

  #handle(plan: KindPlan, shared: ControllerShared): StartedKind {
    const { signal } = this.#stopping;
    const { kind, kindClass, handlers } = plan;
    const indexing = handlers.some(({ type }) => type === "index");
    let known: (controller: Controller) => void = () => {};
    const ready = new Promise<Controller>((resolve) => {
      known = resolve;
    });
    const streams = (async () => {
      try {
        const facts = await awaitKindFacts(shared.client, kind, kindClass, this.#clock, signal, (error) =>
          this.#logger.warn("waiting for a kind that the cluster does not have", {
            kind: kindKey(kind),
            error: error instanceof Error ? error.message : String(error),
            hint: isResourceClass(kindClass)
              ? 'install its CRD, or start the operator with crds: "install"'
              : "install it, or check its name and your permissions",
          }),
        );
        const controller = new Controller(shared, handlers, facts);
        this.#controllers.push(controller);
        void controller.synced.then(() => known(controller));
        await controller.streams();
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    })();
    return { ready, streams, indexed: indexing ? ready : undefined };
  }

  #handlerWrote(body: KubeBody, kind: KindDescription): void {
    const controller = this.#controllers.find(
      (one) => one.kind.group === kind.group && one.kind.plural === kind.plural,
    );
    controller?.handlerWrote(body);
  }

  async #installCrds(client: Client): Promise<void> {
    for (const { resource } of this.#declarations.resources) {
      if (!isResourceClass(resource)) continue;
      const { signal } = this.#stopping;
      const written = await this.#untilItWorks("the custom resource definition could not be installed", () =>
        installCrd(client, resource, this.#settings.name, signal),
      );
      if (written)
        this.#logger.info("the custom resource definition is installed", { crd: resource.crd().metadata?.name });
    }
  }

  /** Tries again, with growing delays, what the cluster does not allow or answer now; what it refuses is final. */
  async #untilItWorks<T>(problem: string, work: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await work();
      } catch (error) {
        if (this.#stopping.signal.aborted || error instanceof DeclarationError || error instanceof InvalidError)
          throw error;
        const delayMs = backoffMs(START_BACKOFF, attempts, (this.#options.random ?? Math.random)());
        const { message, hint } = error as { message?: string; hint?: string };
        this.#logger.warn(`${problem}, will be tried again`, {
          error: message,
          hint,
          retryIn: formatDuration(delayMs),
        });
        await sleep(this.#clock, delayMs, this.#stopping.signal);
      }
    }
  }

  /** Startup and cleanup handlers, one after another, each until it succeeds or fails for good. */
  async #lifecycle(type: LifecycleHandler["type"], client: Client, signal: AbortSignal): Promise<void> {
    for (const handler of this.#declarations.lifecycle) {
      if (handler.type === type) await this.#lifecycleHandler(handler, client, signal);
    }
  }

  async #lifecycleHandler(handler: LifecycleHandler, client: Client, signal: AbortSignal): Promise<void> {
    const startedAt = this.#clock.now();
    const logger = this.#logger.with({ handler: handler.id });
    for (let retry = 0; ; retry++) {
      const { retry: plan } = handler;
      const spent = this.#clock.now() - startedAt;
      const { outcome, error } = await attempt(
        (own) =>
          handler.fn({
            client: client.with({ signal: own }),
            logger,
            memo: this.#memo,
            signal: own,
            retry,
            started: new Date(startedAt),
            runtime: spent,
          }),
        {
          clock: this.#clock,
          signal,
          timeoutMs: plan.timeoutMs === undefined ? undefined : Math.max(0, plan.timeoutMs - spent),
          graceMs: this.#gracefulMs,
          errors: plan.errors,
        },
      );
      if (outcome.type === "done" || outcome.type === "aborted") return;
      const exhausted = plan.retries !== undefined && retry + 1 >= plan.retries;
      if (outcome.type === "failed" || exhausted) {
        // Whoever started the operator hears of it by its promises.
        if (handler.type === "startup") throw error;
        logger.error("cleanup handler failed for good", errorFields(error, retry === 0));
        return;
      }
      const delayMs = outcome.delayMs ?? backoffMs(plan.backoff, retry + 1, (this.#options.random ?? Math.random)());
      logger.warn(`${handler.type} handler failed, will be tried again`, {
        ...errorFields(error, retry === 0),
        retryIn: formatDuration(delayMs),
      });
      await sleep(this.#clock, delayMs, signal);
    }
  }
}

/** Resolves when the operator shall stop, or with the error that stops it; streams that just end stop nobody. */
function firstOf(stop: Promise<void>, streams: Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  return new Promise((resolve) => {
    void stop.then(() => resolve(undefined));
    streams.catch((error: unknown) => resolve({ error }));
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
