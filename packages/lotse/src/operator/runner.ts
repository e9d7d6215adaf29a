/** Starts and stops an operator: who is brought up in which order, and how it all ends. */
import { setMaxListeners } from "node:events";
import { Client, type KindDescription, type KubeBody } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import {
  Aborted,
  type Declarations,
  isResourceClass,
  type Memo,
  planSettings,
  type Settings,
  type SettingsPlan,
} from "../declare/index.ts";
import { World } from "../reconcile/index.ts";
import {
  atLeast,
  EventRecorder,
  type Explanation,
  findTraces,
  isWanted,
  Logger,
  type LogRecord,
  type LogSink,
  Metrics,
  type ObjectQuestion,
  type OperatorHealth,
  prettySink,
  restMeasures,
  type Traces,
} from "../report/index.ts";
import type { HandlerWrite } from "../turn/index.ts";
import { Activities } from "./activities.ts";
import type { Controller, ControllerShared } from "./controller.ts";
import { installCrd } from "./crds.ts";
import { OperatorIndexes } from "./indexes.ts";
import { Kinds, type StartedKind } from "./kinds.ts";
import {
  type OperatorOptions,
  type RetryAnswer,
  type RunningOperator,
  type StartOptions,
  settingsFor,
} from "./options.ts";
import { untilItWorks } from "./patience.ts";
import { followedBy, type KindPlan, kindKey } from "./plan.ts";
import { KindScanner } from "./scanner.ts";
import { type ScopeListener, Scopes } from "./scopes.ts";

/** See the module comment. */
export class Runner implements RunningOperator {
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
  readonly #declarations: Declarations;
  readonly #operator: OperatorOptions;
  readonly #options: StartOptions;
  readonly #settings: Settings;
  #plan: SettingsPlan;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #memo: Memo;
  readonly #activities: Activities;
  readonly #indexes: OperatorIndexes;
  readonly #world = new World((kind, kindClass) => this.#kinds.read(kind, kindClass));
  readonly #kinds: Kinds;
  readonly #metrics = new Metrics();
  readonly #traces: Promise<Traces | undefined>;
  readonly #stopping = new AbortController();
  #events: EventRecorder | undefined;
  #client: Client | undefined;
  #phase: OperatorHealth["phase"] = "starting";
  /** Why it failed. */
  #error: string | undefined;

  constructor(declarations: Declarations, operator: OperatorOptions, options: StartOptions) {
    this.#declarations = declarations;
    this.#operator = operator;
    this.#options = options;
    this.#settings = settingsFor(operator, options);
    this.#plan = planSettings(this.#settings);
    this.#clock = options.clock ?? systemClock;
    this.#memo = options.memo ?? {};
    const sink = options.log ?? atLeast("info", prettySink(process.stderr, { colours: process.stderr.isTTY === true }));
    this.#logger = new Logger(this.#alsoPosting(sink), () => this.#clock.now());
    this.#indexes = new OperatorIndexes(
      declarations.resources.flatMap(({ handlers }) =>
        handlers.filter(({ type }) => type === "index").map(({ id }) => id),
      ),
      (id) => this.#world.indexReads(id),
    );
    this.#kinds = new Kinds({
      declarations: declarations.resources,
      world: this.#world,
      clock: this.#clock,
      logger: this.#logger,
      stopping: this.#stopping.signal,
    });
    this.#activities = new Activities({
      handlers: declarations.lifecycle,
      settings: this.#settings,
      plan: () => this.#plan,
      memo: this.#memo,
      indexes: () => this.#indexes.view,
      logger: this.#logger,
      clock: this.#clock,
      random: options.random ?? Math.random,
      record: options.record,
    });
    this.#traces = findTraces({
      operator: operator.name,
      onProblem: (error) => this.#logger.warn("OpenTelemetry is installed and cannot be used", { error }),
    });
    // Every running turn listens; any number of them is right.
    setMaxListeners(0, this.#stopping.signal);
    if (options.signal?.aborted) this.#stopping.abort(options.signal.reason);
    options.signal?.addEventListener("abort", () => this.#stopping.abort(), { once: true });

    let begin: () => void = () => {};
    let fail: (error: unknown) => void = () => {};
    this.ready = new Promise((resolve, reject) => {
      begin = () => {
        if (this.#phase === "starting") this.#phase = "ready";
        resolve();
      };
      fail = reject;
    });
    this.#stopping.signal.addEventListener("abort", () => {
      this.#phase = "stopping";
    });
    this.stopped = this.#run(begin).then(
      // Nobody shall wait for ever; means nothing to whoever is ready already.
      () => {
        this.#phase = "stopped";
        fail(new Aborted("shutdown", "the operator was stopped before it was ready"));
      },
      (error) => {
        this.#phase = "failed";
        this.#error = error instanceof Error ? error.message : String(error);
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

  metrics(): string {
    return this.#metrics.render();
  }

  health(): OperatorHealth {
    return {
      operator: this.#operator.name,
      phase: this.#phase,
      ...(this.#error !== undefined && { error: this.#error }),
      streams: this.#kinds.controllers.flatMap((controller) => controller.health()),
      missing: [...this.#kinds.missing],
    };
  }

  explain(question: ObjectQuestion): Explanation | undefined {
    for (const controller of this.#kinds.controllers) {
      const explanation = controller.explain(question);
      if (explanation) return explanation;
    }
    return undefined;
  }

  retry(question: ObjectQuestion): RetryAnswer | undefined {
    const explanation = this.explain(question);
    return explanation && { operator: explanation.operator, handlers: explanation.open.map(({ handler }) => handler) };
  }

  async idle(): Promise<void> {
    await Promise.all(this.#kinds.controllers.map((controller) => controller.idle()));
  }

  async probe(): Promise<Readonly<Record<string, unknown>>> {
    if (!this.#client) await Promise.race([this.ready, this.stopped]);
    const client = this.#client;
    if (!client) throw new Aborted("shutdown", "the operator has stopped");
    return this.#activities.probe(client, this.#stopping.signal);
  }

  async #run(begin: () => void): Promise<void> {
    const owned = this.#options.client === undefined;
    const client = this.#measured(this.#options.client ?? (await this.#connect()));
    this.#client = client;
    try {
      const begun = await this.#begin(client, begin);
      const failure = begun && (await firstOf(aborted(this.#stopping.signal), begun.streams));
      this.#stopping.abort();
      await this.#inTime(this.#end(client, begun?.streams));
      if (failure) throw failure.error;
    } finally {
      this.#stopping.abort();
      this.#client = undefined;
      if (owned) await client.close();
    }
  }

  async #connect(): Promise<Client> {
    const { signal } = this.#stopping;
    return Client.connect(this.#activities.hasLogin ? { login: () => this.#activities.login(signal) } : {});
  }

  /** The operator's own view of its client: it signs its writes, and its requests are counted. */
  #measured(client: Client): Client {
    const onRequest = restMeasures(this.#metrics, client.config.server, () => this.#clock.monotonic());
    return client.with({ fieldManager: this.#operator.name, onRequest });
  }

  async #end(client: Client, streams: Promise<void> | undefined): Promise<void> {
    await Promise.all(this.#kinds.controllers.map((controller) => controller.close()));
    await streams?.catch(() => {});
    await this.#events?.stop();
    await this.#activities.cleanup(client, AbortSignal.timeout(this.#plan.gracefulMs));
    this.#logger.info("the operator has stopped", { operator: this.#operator.name });
  }

  /** Whoever waits for the end shall hear of it, also when somebody does not come to an end. */
  #inTime(end: Promise<void>): Promise<void> {
    const { killAfter } = this.#settings.process;
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(this.#plan.killAfterMs, () =>
        reject(new Error(`the operator did not come to its end within ${killAfter} (settings.process.killAfter)`)),
      );
      end.then(resolve, reject).finally(cancel);
    });
  }

  /** Log lines about objects become Events where the settings say so. */
  #alsoPosting(sink: LogSink): LogSink {
    const { posting } = this.#settings;
    const write = (record: LogRecord) => {
      if (isWanted(record.level, sink.level)) sink(record);
      const { level, message, object } = record;
      if (!object || posting.logs === "none" || !isWanted(level, posting.logs)) return;
      const type = level === "warn" || level === "error" ? "Warning" : "Normal";
      this.#events?.post({ type, reason: "Logging", message, object });
    };
    // Settings may still change at startup, hence asked for each line.
    return Object.defineProperty(write, "level", {
      get: () => (posting.logs === "none" ? sink.level : undefined),
    });
  }

  /** Everything up to the streams, which go on; undefined when the operator was stopped before it got there. */
  async #begin(client: Client, begin: () => void): Promise<{ readonly streams: Promise<void> } | undefined> {
    try {
      await this.#activities.startup(client, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return undefined;
      this.#plan = planSettings(this.#settings);
      for (const group of Object.values(this.#settings)) Object.freeze(group);
      if ((this.#options.crds ?? this.#operator.crds) === "install") await this.#installCrds(client);
      const { requestTimeout } = this.#settings.networking;
      const traces = await this.#traces;
      const patient = client.with({
        timeout: requestTimeout,
        onRequest: traces?.requestsTo(client.config.server),
      });
      this.#client = patient;
      return { streams: this.#work(patient, traces, begin) };
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      throw error;
    }
  }

  /** Brings up all kinds side by side; a kind that is not there keeps nobody else waiting. */
  async #work(client: Client, traces: Traces | undefined, begin: () => void): Promise<void> {
    const declarations = this.#declarations.resources;
    const scopes = new Scopes(this.#options.namespaces);
    const { scanning } = this.#settings;
    const listener: ScopeListener = {
      opened: (namespace) => {
        for (const controller of this.#namespaced()) controller.open(namespace);
      },
      closed: (namespace) => {
        for (const controller of this.#namespaced()) void controller.shut(namespace);
      },
    };
    const { signal } = this.#stopping;
    const following = scopes.follow(client, this.#clock, this.#logger, signal, listener, scanning.disabled);
    await Promise.race([following.known, aborted(this.#stopping.signal)]);
    const shared: ControllerShared = {
      operator: this.#operator.name,
      client,
      clock: this.#clock,
      random: this.#options.random ?? Math.random,
      logger: this.#logger,
      metrics: this.#metrics,
      traces,
      stopping: this.#stopping.signal,
      settings: this.#settings,
      plan: this.#plan,
      memo: this.#memo,
      scopes,
      indexes: this.#indexes,
      events: this.#eventRecorder(client),
      world: this.#world,
      handlerWrote: (body, kind, how) => this.#handlerWrote(body, kind, how),
      record: this.#options.record,
    };
    const scanner = new KindScanner({
      client,
      declarations,
      clock: this.#clock,
      logger: this.#logger,
      signal: this.#stopping.signal,
      intervalMs: this.#plan.scanIntervalMs,
    });
    const first = await this.#untilItWorks("the kinds of the cluster could not be found out", () => scanner.scan());
    const started = first.map((plan) => this.#kinds.start(plan, shared));
    // Nobody's handlers run before the indexes that they can see are filled.
    const indexed = Promise.all(started.map(({ indexed }) => indexed));
    const run = ({ plan, ready, streams }: StartedKind) => {
      // And no reconciler runs before what it follows is known.
      const followed = Promise.all(started.filter((one) => followedBy(plan, one.plan.kind)).map((one) => one.ready));
      void Promise.all([ready, indexed, followed]).then(([controller]) => controller?.begin());
      return streams;
    };
    const streams = started.map(run);
    this.#kinds.onRead((plan) => {
      const kind = this.#kinds.start(plan, shared);
      streams.push(run(kind));
      return kind;
    });
    void Promise.all([...started.map(({ ready }) => ready), indexed]).then(() => {
      this.#logger.info("the operator is ready", {
        operator: this.#operator.name,
        kinds: this.#kinds.controllers.map(({ kind }) => kind.kind).join(", "),
      });
      begin();
    });
    if (!scanning.disabled)
      await scanner.follow((plan) => this.#follow(plan, shared, (kind) => streams.push(run(kind))));
    await following.done;
    await Promise.all(streams);
  }

  /** A kind has appeared, or it is served in another version: then its objects are the same, and so is what is known. */
  #follow(plan: KindPlan, shared: ControllerShared, begin: (kind: StartedKind) => void): void {
    const known = this.#kinds.find(plan.kind);
    if (!known) {
      begin(this.#kinds.start(plan, shared));
      return;
    }
    const { version } = plan.kind;
    this.#logger.info("the kind is served in another version", { kind: kindKey(plan.kind), version });
    void this.#kinds.facts(plan, shared.client).then(
      (facts) => known.move(facts),
      () => {},
    );
  }

  #namespaced(): Controller[] {
    return this.#kinds.controllers.filter(({ kind }) => kind.namespaced);
  }

  #eventRecorder(client: Client): EventRecorder {
    const recorder = new EventRecorder({
      client,
      clock: this.#clock,
      random: this.#options.random ?? Math.random,
      component: this.#settings.posting.component,
      instance: this.#settings.posting.instance,
      onProblem: (message, fields) => this.#logger.warn(message, fields),
      settings: { post: this.#settings.posting.events },
    });
    this.#events = recorder;
    return recorder;
  }

  #handlerWrote(body: KubeBody, kind: KindDescription, how: HandlerWrite): void {
    this.#kinds.find(kind)?.handlerWrote(body, how);
  }

  async #installCrds(client: Client): Promise<void> {
    for (const { resource } of this.#declarations.resources) {
      if (!isResourceClass(resource)) continue;
      const { signal } = this.#stopping;
      const written = await this.#untilItWorks("the custom resource definition could not be installed", () =>
        installCrd(client, resource, this.#operator.name, signal),
      );
      if (written)
        this.#logger.info("the custom resource definition is installed", { crd: resource.crd().metadata?.name });
    }
  }

  #untilItWorks<T>(problem: string, work: () => Promise<T>): Promise<T> {
    const { signal } = this.#stopping;
    const random = this.#options.random ?? Math.random;
    return untilItWorks(problem, work, { clock: this.#clock, random, logger: this.#logger, signal });
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
