/** Starts and stops an operator: who is brought up in which order, and how it all ends. */
import { setMaxListeners } from "node:events";
import { Client, type KindDescription, type KubeBody } from "@lotse/client";
import { type Clock, errorMessage, formatDuration, systemClock } from "@lotse/client/meta";
import {
  Aborted,
  type Declarations,
  isResourceClass,
  type Memo,
  planSettings,
  type Settings,
  type SettingsPlan,
  type WokenObject,
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
import type { HandlerWrite } from "../runtime/index.ts";
import { Activities } from "./activities.ts";
import { installCrd } from "./crds.ts";
import { endOperator, planEnding } from "./ending.ts";
import { OperatorIndexes } from "./indexes.ts";
import { Kinds } from "./kinds.ts";
import {
  type OperatorOptions,
  type RetryAnswer,
  type RunningOperator,
  type StartOptions,
  settingsFor,
} from "./options.ts";
import { Outside } from "./outside.ts";
import { untilItWorks } from "./patience.ts";
import { Scopes } from "./scopes.ts";
import type { ControllerShared } from "./shared.ts";
import { aborted } from "./signals.ts";
import { stopLimitMs } from "./stop-time.ts";
import { Working } from "./working.ts";

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
  /** Ends all requests, when an operator that stops cannot wait any longer. */
  readonly #cut = new AbortController();
  /** When it was asked to stop (monotonic). */
  #stoppingSince = 0;
  #working: Working | undefined;
  #outside: Outside | undefined;
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
      metrics: this.#metrics,
      traces: () => this.#traces,
      onHandlerRequest: options.record,
    });
    this.#traces = findTraces({
      operator: operator.name,
      onProblem: (error) => this.#logger.warn("OpenTelemetry is installed and cannot be used", { error }),
    });
    // Every running turn and every request listens; any number of them is right.
    setMaxListeners(0, this.#stopping.signal, this.#cut.signal);
    const noted = () => {
      this.#phase = "stopping";
      this.#stoppingSince = this.#clock.monotonic();
    };
    this.#stopping.signal.addEventListener("abort", noted, { once: true });
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
    this.stopped = this.#inTime(this.#run(begin)).then(
      // Nobody shall wait for ever; means nothing to whoever is ready already.
      () => {
        this.#phase = "stopped";
        fail(new Aborted("shutdown", "the operator was stopped before it was ready"));
      },
      (error) => {
        this.#phase = "failed";
        this.#error = errorMessage(error);
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
    const around = this.#working?.health();
    return {
      operator: this.#operator.name,
      phase: this.#phase,
      ...(this.#error !== undefined && { error: this.#error }),
      streams: [...this.#kinds.controllers.flatMap((controller) => controller.health()), ...(around?.streams ?? [])],
      missing: [...this.#kinds.missing, ...(around?.missing ?? [])],
      ...(around?.error !== undefined && { discovery: around.error }),
      broken: around?.broken.map(({ apiVersion, message }) => ({ apiVersion, error: message })) ?? [],
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
    for (const controller of this.#kinds.controllers) {
      const handlers = controller.retry(question);
      if (handlers) return { operator: this.#operator.name, handlers };
    }
    return undefined;
  }

  wake(kind: WokenObject["kind"], name: Omit<WokenObject, "kind" | "why">, why = "wake"): boolean {
    return this.#kinds.wake({ kind, ...name }, why);
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
      await this.#end(client, begun?.streams);
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
    await endOperator({
      clock: this.#clock,
      logger: this.#logger,
      since: this.#stoppingSince,
      plan: planEnding(this.#killAfterMs),
      enders: [...this.#kinds.controllers, ...(this.#outside ? [this.#outside] : [])],
      streams,
      events: this.#events,
      cleanup: (signal) => this.#activities.cleanup(client, signal),
      cut: (reason) => this.#cut.abort(reason),
    });
    this.#logger.info("the operator has stopped", { operator: this.#operator.name });
  }

  get #killAfterMs(): number {
    return stopLimitMs(this.#plan, this.#declarations);
  }

  /** Whoever waits for the end shall hear of it, also when somebody does not come to an end. */
  #inTime(work: Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    return new Promise((resolve, reject) => {
      let cancel = () => {};
      const onStop = () => {
        const limit = this.#killAfterMs;
        cancel = this.#clock.after(limit, () => {
          this.#cut.abort(new Aborted("shutdown", "the operator did not stop in time"));
          const text = `the operator did not come to its end within ${formatDuration(limit)} (settings.process.killAfter)`;
          reject(new Error(text));
        });
      };
      if (signal.aborted) onStop();
      else signal.addEventListener("abort", onStop, { once: true });
      work.then(resolve, reject).finally(() => {
        signal.removeEventListener("abort", onStop);
        cancel();
      });
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
      this.#working = this.#makeWorking(patient, traces, begin);
      return { streams: this.#working.run() };
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      throw error;
    }
  }

  #makeWorking(client: Client, traces: Traces | undefined, begin: () => void): Working {
    const shared: ControllerShared = {
      operator: this.#operator.name,
      formerNames: this.#operator.formerNames ?? [],
      client: client.with({ signal: this.#cut.signal }),
      clock: this.#clock,
      random: this.#options.random ?? Math.random,
      logger: this.#logger,
      metrics: this.#metrics,
      traces,
      stopping: this.#stopping.signal,
      settings: this.#settings,
      plan: this.#plan,
      memo: this.#memo,
      scopes: new Scopes(this.#options.namespaces),
      indexes: this.#indexes,
      events: this.#eventRecorder(client),
      world: this.#world,
      handlerWrote: (body, kind, how) => this.#handlerWrote(body, kind, how),
      onHandlerRequest: this.#options.record,
      retryAtStart: this.#options.retryAtStart === true,
    };
    const outside = new Outside({
      ...shared,
      declarations: this.#declarations,
      wake: (object, why) => this.#kinds.wake(object, why),
    });
    this.#outside = outside;
    const onReady = () => {
      if (this.#stopping.signal.aborted) return;
      const kinds = this.#kinds.controllers.map(({ kind }) => kind.kind).join(", ");
      this.#logger.info("the operator is ready", { operator: this.#operator.name, kinds });
      begin();
      outside.begin();
    };
    return new Working({ declarations: this.#declarations.resources, kinds: this.#kinds, shared, onReady });
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
