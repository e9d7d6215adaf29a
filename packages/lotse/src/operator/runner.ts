/** Starts and stops an operator: which parts are brought up in which order, and how it all ends. */
import { Client } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import {
  Aborted,
  type CoordinationPlan,
  type Declarations,
  isFollowedByAny,
  isResourceClass,
  type Memo,
  type OperatorOptions,
  planCoordination,
  planSettings,
  type ResourceClass,
  reconciledKinds,
  type Settings,
  type SettingsPlan,
  settingsFor,
  type WebhookOptions,
  type WokenObject,
} from "../declare/index.ts";
import { OperatorIndexes, Scopes } from "../informers/index.ts";
import { installCrds } from "../install/index.ts";
import { type Author, TrackedKinds } from "../reconcile/index.ts";
import {
  type EventRecorder,
  type Explanation,
  findTraces,
  Logger,
  Metrics,
  minLevel,
  type ObjectQuestion,
  type OperatorHealth,
  type OperatorMemory,
  prettySink,
  restMeasures,
  type Traces,
} from "../report/index.ts";
import { ALONE, runIds } from "../runtime/index.ts";
import type { Shadow } from "../shadow/index.ts";
import { Activities } from "./activities.ts";
import { type Coordinating, coordinate } from "./coordinating.ts";
import { endOperator, planEnding } from "./ending.ts";
import { formerParts, removeAllOfFormer } from "./former.ts";
import { allOf, firstOf } from "./going-on.ts";
import { memoFrom } from "./kind-work.ts";
import { Kinds } from "./kinds.ts";
import { Lifetime } from "./lifetime.ts";
import type { InternalStartOptions, RetryAnswer, RunningOperator, RunningShadow } from "./options.ts";
import { Outside } from "./outside.ts";
import { alsoPosting } from "./posting-sink.ts";
import { Readers } from "./readers.ts";
import { asShadow, castShadow, shadowFace } from "./shadowing.ts";
import { aborted } from "./signals.ts";
import { stopLimitMs } from "./stop-time.ts";
import { makeSurroundings, type Surroundings } from "./surroundings.ts";
import type { TogetherOptions } from "./together.ts";
import type { AccessSharing } from "./webhook-access.ts";
import type { Webhooks } from "./webhooks.ts";
import { Working } from "./working.ts";

/** What is left of the time to stop when the webhook server has to be gone. */
const FAREWELL_MS = 300;

/** See the module comment. */
export class Runner implements RunningOperator {
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
  readonly shadow: RunningShadow | undefined;
  readonly #declarations: Declarations;
  readonly #operator: OperatorOptions;
  readonly #options: InternalStartOptions & TogetherOptions;
  readonly #coordination: CoordinationPlan;
  readonly #settings: Settings;
  #plan: SettingsPlan;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #nextRunId: () => string;
  readonly #logger: Logger;
  readonly #memo: Memo;
  readonly #lifetime: Lifetime;
  readonly #activities: Activities;
  readonly #indexes: OperatorIndexes<Author>;
  readonly #tracked = new TrackedKinds((kind, kindClass, wanted) => this.#kinds.read(kind, kindClass, wanted));
  readonly #kinds: Kinds;
  readonly #readers: Readers;
  readonly #metrics = new Metrics();
  readonly #traces: Promise<Traces | undefined>;
  #working: Working | undefined;
  #outside: Outside | undefined;
  #coordinating: Coordinating | undefined;
  #events: EventRecorder | undefined;
  #webhooks: Webhooks | undefined;
  #former: Promise<void> | undefined;
  #onIndexed: () => void = () => {};
  #killed = false;
  #client: Client | undefined;
  #shadow: Shadow | undefined;

  constructor(declarations: Declarations, operator: OperatorOptions, options: InternalStartOptions & TogetherOptions) {
    this.#declarations = declarations;
    this.#operator = operator;
    this.#options = options.shadow ? asShadow(options) : options;
    this.#coordination = planCoordination(this.#options.coordination ?? operator.coordination);
    this.#settings = settingsFor(operator, this.#options);
    this.#plan = planSettings(this.#settings);
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#nextRunId = runIds(this.#random);
    this.#memo = options.memo ?? {};
    const sink =
      options.log ?? minLevel("info", prettySink(process.stderr, { colours: process.stderr.isTTY === true }));
    const posting = alsoPosting(sink, this.#settings.posting, () => this.#events);
    this.#logger = new Logger(posting, () => this.#clock.now());
    this.#lifetime = new Lifetime({
      clock: this.#clock,
      signal: options.signal,
      killAfterMs: () => this.#killAfterMs,
    });
    this.#indexes = new OperatorIndexes(indexIds(declarations), (id, key, by) =>
      this.#tracked.indexReads(id).indexChanged(key, { before: undefined, now: undefined, by }),
    );
    this.#readers = new Readers(declarations.resources);
    this.#kinds = new Kinds({
      declarations: declarations.resources,
      tracked: this.#tracked,
      clock: this.#clock,
      logger: this.#logger,
      stopping: this.#lifetime.stopping,
    });
    this.#activities = new Activities({
      handlers: declarations.activities,
      settings: this.#settings,
      plan: () => this.#plan,
      memo: this.#memo,
      indexes: () => this.#indexes.view,
      logger: this.#logger,
      clock: this.#clock,
      random: this.#random,
      nextRunId: this.#nextRunId,
      metrics: this.#metrics,
      traces: () => this.#traces,
      onHandlerRequest: options.record,
      onBehalf: () => this.#shadow?.onBehalf ?? options.onBehalf,
    });
    this.shadow = options.shadow && shadowFace(() => this.#shadow, this.#lifetime.ready);
    this.#traces = findTraces({
      operator: operator.name,
      onProblem: (error) => this.#logger.warn("OpenTelemetry is installed and cannot be used", { error }),
    });
    this.ready = this.#lifetime.ready;
    this.stopped = this.#lifetime.live(this.#run());
  }

  async stop(): Promise<void> {
    this.#lifetime.stop();
    await this.stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async kill(): Promise<void> {
    this.#killed = true;
    await this.#webhooks?.kill();
  }

  metrics(): string {
    return this.#metrics.render();
  }

  health(): OperatorHealth {
    const around = this.#working?.health();
    const webhooks = this.#webhooks?.health();
    const coordination = this.#coordinating?.health();
    return {
      operator: this.#operator.name,
      ...this.#lifetime.health,
      streams: [
        ...(this.#shadow?.health() ?? this.#kinds.controllers.flatMap((controller) => controller.health())),
        ...(around?.streams ?? []),
      ],
      missing: [...this.#kinds.missing, ...(around?.missing ?? [])],
      ...(around?.error !== undefined && { discovery: around.error }),
      broken: around?.broken.map(({ apiVersion, message }) => ({ apiVersion, error: message })) ?? [],
      ...(webhooks && { webhooks }),
      ...(coordination && { coordination }),
    };
  }

  explain(question: ObjectQuestion): Explanation | undefined {
    for (const controller of this.#kinds.controllers) {
      const explanation = controller.explain(question, this.#coordinating);
      if (explanation) return explanation;
    }
    return undefined;
  }

  memory(): OperatorMemory {
    return { operator: this.#operator.name, kinds: this.#kinds.controllers.map((controller) => controller.memory()) };
  }

  retry(question: ObjectQuestion): RetryAnswer | undefined {
    for (const controller of this.#kinds.controllers) {
      const { name: operator } = this.#operator;
      const handlers = controller.retry(question);
      if (handlers) return { operator, handlers };
      const other = controller.elsewhere(question);
      const elsewhere = other && this.#coordinating?.elsewhere(other, controller.kind);
      if (elsewhere) return { operator, handlers: [], elsewhere };
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
    return this.#activities.probe(client, this.#lifetime.stopping);
  }

  async #run(): Promise<void> {
    const owned = this.#options.client === undefined;
    const own = this.#measured(this.#options.client ?? (await this.#connect()));
    try {
      const client = await this.#inItsWorld(own);
      this.#client = client;
      const begun = await this.#begin(client);
      const failure = begun && (await firstOf(aborted(this.#lifetime.stopping), begun.streams));
      this.#lifetime.stop();
      await this.#end(client, begun?.streams);
      if (failure) throw failure.error;
    } finally {
      this.#lifetime.stop();
      // Also when the start has failed after they were opened.
      await this.#coordinating?.release();
      await this.#webhooks?.close();
      await this.#former;
      this.#client = undefined;
      await this.#shadow?.close();
      if (owned) await own.close();
    }
  }

  /** The client of a shadow lives in a world of its own. */
  async #inItsWorld(client: Client): Promise<Client> {
    const options = this.#options.shadow;
    if (!options) return client;
    this.#shadow = await castShadow({
      client,
      options,
      operator: this.#operator,
      declarations: this.#declarations,
      settings: this.#settings,
      namespaces: this.#options.namespaces,
      kinds: this.#kinds,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      metrics: this.#metrics,
    });
    return (await this.#shadow.connect()).with({ fieldManager: this.#operator.name });
  }

  async #connect(): Promise<Client> {
    const { stopping } = this.#lifetime;
    return Client.connect(this.#activities.hasLogin ? { login: () => this.#activities.login(stopping) } : {});
  }

  /** The operator's own view of its client: it signs its writes, and its requests are counted. */
  #measured(client: Client): Client {
    const onRequest = restMeasures(this.#metrics, client.config.server, () => this.#clock.monotonic());
    return client.with({ fieldManager: this.#operator.name, onRequest });
  }

  async #end(client: Client, streams: Promise<void> | undefined): Promise<void> {
    await this.#webhooks?.withdraw();
    await endOperator({
      clock: this.#clock,
      logger: this.#logger,
      since: this.#lifetime.stoppingSince,
      plan: planEnding(this.#killAfterMs),
      enders: [...this.#kinds.controllers, ...(this.#outside ? [this.#outside] : [])],
      streams,
      events: this.#events,
      cleanup: (signal) => this.#activities.cleanup(client, signal),
      cut: (reason) => this.#lifetime.cut(reason),
      release: () => this.#coordinating?.release() ?? Promise.resolve(),
    });
    // Only now: as long as a watch is open, the API server may ask for conversions.
    const spentMs = this.#clock.monotonic() - this.#lifetime.stoppingSince;
    await this.#webhooks?.close(Math.max(0, this.#killAfterMs - spentMs - FAREWELL_MS));
    this.#logger.info("the operator has stopped", { operator: this.#operator.name });
  }

  get #killAfterMs(): number {
    return stopLimitMs(this.#plan, this.#declarations);
  }

  /** Everything up to the streams, which go on; undefined when the operator was stopped before it got there. */
  async #begin(client: Client): Promise<{ readonly streams: Promise<void> } | undefined> {
    const { stopping } = this.#lifetime;
    try {
      await this.#activities.startup(client, stopping);
      if (stopping.aborted) return undefined;
      this.#plan = planSettings(this.#settings);
      for (const group of Object.values(this.#settings)) Object.freeze(group);
      const { requestTimeout } = this.#settings.networking;
      const traces = await this.#traces;
      const patient = client.with({
        timeout: requestTimeout,
        onRequest: traces?.requestsTo(client.config.server),
      });
      this.#client = patient;
      this.#coordinating = await this.#coordinate(patient);
      await this.#coordinating?.prepare();
      const surroundings = makeSurroundings({
        operator: this.#operator,
        client: patient,
        clock: this.#clock,
        random: this.#random,
        nextRunId: this.#nextRunId,
        settings: this.#settings,
        plan: this.#plan,
        ownership: this.#coordinating?.ownership ?? ALONE,
        lifetime: this.#lifetime,
        logger: this.#logger,
        metrics: this.#metrics,
        traces,
        onHandlerRequest: this.#options.record,
        onBehalf: this.#shadow?.onBehalf ?? this.#options.onBehalf,
      });
      this.#events = surroundings.reporting.events;
      const webhooks = await this.#openWebhooks(surroundings);
      if (this.#installs) {
        const retrying = { clock: this.#clock, random: this.#random, logger: this.#logger, signal: stopping };
        const definitionOf = webhooks && ((resource: CrdClass) => webhooks.definitionOf(resource));
        await installCrds(client, this.#declarations.kinds, this.#operator.name, retrying, definitionOf);
      }
      await webhooks?.registerConversions();
      const registered = webhooks?.register();
      this.#working = this.#makeWorking(surroundings, registered);
      return { streams: allOf(this.#working.run(), registered, this.#coordinating?.failed, stopping) };
    } catch (error) {
      if (stopping.aborted) return undefined;
      throw error;
    }
  }

  get #installs(): boolean {
    return (this.#options.crds ?? this.#operator.crds) === "install";
  }

  get #webhookOptions(): WebhookOptions {
    return { ...this.#operator.webhooks, ...this.#options.webhooks };
  }

  /** What is said of the address at the start is said to all operators that run together. */
  get #sharing(): AccessSharing | undefined {
    const { together, webhooks = {} } = this.#options;
    return together && { together, oneAddress: webhooks.service !== undefined || webhooks.url !== undefined };
  }

  /** Only operators that judge, rule or convert load what that needs. */
  async #openWebhooks({ runtime, reporting }: Surroundings): Promise<Webhooks | undefined> {
    const declarations = this.#declarations;
    if (this.#shadow || !judgesAnything(declarations)) return undefined;
    const { Webhooks } = await import("./webhooks.ts");
    const indexed =
      indexIds(declarations).length === 0
        ? undefined
        : new Promise<void>((resolve) => {
            this.#onIndexed = resolve;
          });
    this.#webhooks = await Webhooks.start({
      runtime,
      reporting,
      declarations,
      options: this.#webhookOptions,
      installs: this.#installs,
      sharing: this.#sharing,
      namespaces: this.#options.namespaces,
      indexes: this.#indexes.view,
      indexed,
      memoOf: (kind, body) => this.#kinds.find(kind)?.memoOf(body),
      newMemo: () => memoFrom(this.#memo),
      handlerWrote: (body, kind, how) => this.#kinds.find(kind)?.handlerWrote(body, how),
      isKilled: () => this.#killed,
    });
    return this.#webhooks;
  }

  async #coordinate(client: Client): Promise<Coordinating | undefined> {
    const parts = {
      operator: this.#operator.name,
      client,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      metrics: this.#metrics,
      environment: process.env,
      namespaces: this.#options.namespaces,
      parents: reconciledKinds(this.#declarations),
    };
    return coordinate(this.#coordination, this.#options.coordinator, parts, {
      owners: () => [...this.#kinds.controllers, ...(this.#outside ? [this.#outside] : [])],
      activities: this.#activities,
      stopping: this.#lifetime.stopping,
      graceMs: this.#plan.gracefulMs,
    });
  }

  /** `registered`: the API server has been told of the operator. */
  #makeWorking({ runtime, reporting }: Surroundings, registered: Promise<void> | undefined): Working {
    const lifetime = this.#lifetime;
    const outside = new Outside({
      runtime,
      reporting,
      declarations: this.#declarations,
      memo: this.#memo,
      indexes: this.#indexes.view,
      wake: (object, why) => this.#kinds.wake(object, why),
    });
    this.#outside = outside;
    return new Working({
      declarations: this.#declarations.resources,
      kinds: this.#kinds,
      controllers: {
        runtime,
        reporting,
        scopes: new Scopes(this.#options.namespaces),
        indexes: this.#indexes,
        tracked: this.#tracked,
        memo: this.#memo,
        handlerWrote: (body, kind, how) => this.#kinds.find(kind)?.handlerWrote(body, how),
        retryAtStart: this.#options.retryAtStart === true,
        isFollowed: (kind) => isFollowedByAny(this.#declarations, kind),
        readers: this.#readers,
      },
      onKnown: () => this.#coordinating?.begin(),
      onIndexed: () => this.#onIndexed(),
      onReady: async () => {
        await registered;
        if (lifetime.stopping.aborted) return;
        const kinds = this.#kinds.controllers.map(({ kind }) => kind.kind).join(", ");
        const standsBy = this.#coordinating !== undefined;
        const sentence = standsBy ? "the operator is ready and stands by" : "the operator is ready";
        this.#logger.info(sentence, { operator: this.#operator.name, kinds });
        lifetime.begin();
        this.#shadow?.begin();
        outside.begin();
        // Nothing waits for it, and it competes with nothing that is needed to begin.
        if (!registersAnything(this.#declarations) && this.#webhookOptions.register !== false) {
          this.#former = removeAllOfFormer(formerParts(runtime, reporting));
        }
      },
    });
  }
}

type CrdClass = ResourceClass<unknown, unknown>;

/** Whether there is anything for which the API server has to be told of the operator. */
function judgesAnything({ admission, policies, conversions, kinds }: Declarations): boolean {
  if (registersAnything({ admission, policies }) || conversions.size > 0) return true;
  return kinds.some((kind) => isResourceClass(kind) && kind.versions.length > 1);
}

/** Whether the API server is told of objects that judge: another version may have none of them. */
function registersAnything({ admission, policies }: Pick<Declarations, "admission" | "policies">): boolean {
  return admission.length + policies.length > 0;
}

/** The ids of all declared indexes. */
function indexIds({ resources }: Pick<Declarations, "resources">): string[] {
  return resources.flatMap(({ handlers }) => handlers.filter(({ type }) => type === "index").map(({ id }) => id));
}
