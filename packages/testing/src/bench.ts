/** The harness itself: operators at work on their cluster, and what a test does with them. */
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import {
  type AnyObject,
  type Client,
  ConfigError,
  CustomResourceDefinition,
  type KindClass,
  type KubeBody,
  KubeError,
  KubeObject,
  Namespace,
  NotFoundError,
} from "@lotse/client";
import { type Duration, durationMs, type VirtualClock } from "@lotse/client/meta";
import type { Cluster } from "@lotse/cluster";
import type { LogRecord, Operator, RunningOperator } from "lotse";
import type { Harness, HarnessInternals, HarnessOptions, OperatorWrite, UntilOptions } from "./harness-contract.ts";
import { CapturedLogs } from "./logs.ts";
import {
  type Applicable,
  applyAll,
  type InVain,
  inVainText,
  isAsWanted,
  isNote,
  isOfCluster,
  maskObjects,
  objectsIn,
  type Snapshot,
  type StoredBody,
  titleOf,
  type Wanted,
} from "./objects/index.ts";
import { activeOracles, Court, hasSecondPass, OracleError, type OracleName, type Violation } from "./oracles/index.ts";
import { Seat } from "./seat.ts";
import { untilQuiet } from "./settle.ts";
import type { DueClock, Incarnation } from "./world/index.ts";

/** The operator's requests carry this, so that they can be told from the test's. */
const USER_AGENT = "lotse-harness-operator";
const POLL_MS = 10;
const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** What an operator registers for itself, and what the harness did for it. */
const REGISTERED = new Set(["CustomResourceDefinition", "APIService"]);
const REGISTRATION_GROUP = "admissionregistration.k8s.io/";
/** How long the end of a test waits for quiet: where there is none, the state of the cluster says nothing. */
const LAST_QUIET_MS = 1_000;
const LAST_LINES = 5;

interface BenchParts {
  readonly operators: readonly Operator[];
  readonly options: HarnessOptions;
  readonly internals: HarnessInternals;
  readonly cluster: Cluster;
  readonly client: Client;
  readonly clock: DueClock | undefined;
}

/** See {@link Harness}. */
export class Bench implements Harness {
  readonly client: Client;
  readonly cluster: Cluster;
  readonly logs = new CapturedLogs();
  readonly #options: HarnessOptions;
  readonly #internals: Pick<HarnessInternals, "atRest">;
  readonly #clock: DueClock | undefined;
  readonly #seats: readonly Seat[];
  readonly #court: Court;
  /** The uids of what was there before anybody made anything. */
  #furniture: ReadonlySet<string> = new Set();
  /** What the test has heard of already, from an error or because it asked. */
  readonly #toldRefusals = new Set<string>();
  #lives = 0;
  #stopped: Promise<void> | undefined;

  constructor({ operators, options, internals, cluster, client, clock }: BenchParts) {
    this.#options = options;
    this.#internals = internals;
    this.#clock = clock;
    this.cluster = cluster;
    this.client = client;
    // Whoever interferes judges by other measures: what it does to an operator is no fault of the operator.
    const active = internals.interference ? new Set<OracleName>() : activeOracles(options.oracles);
    this.#court = new Court(active, cluster);
    this.#seats = operators.map(
      (operator, i) =>
        new Seat({
          operator,
          cluster,
          userAgent: i === 0 ? USER_AGENT : `${USER_AGENT}-${i + 1}`,
          namespaces: options.namespaces,
          start: options.start ?? {},
          clock,
          testClock: options.clock,
          interference: internals.interference,
          witness: this.#court.witness,
          onExternal: (call) => internals.onExternal?.(call),
          log: (record) => this.#log(record),
          nextLife: () => ++this.#lives,
        }),
    );
  }

  /** The life that the first operator lives now; undefined while it is stopped or dead. */
  get incarnation(): Incarnation | undefined {
    return this.#seats[0]?.incarnation;
  }

  /** How many lives it has lived. */
  get lives(): number {
    return this.#lives;
  }

  /** When the operator, and where pods run its cluster, has something to do next (monotonic). */
  get nextDue(): number | undefined {
    return this.#clock?.nextDue;
  }

  get operator(): RunningOperator {
    const { incarnation } = this;
    if (incarnation) return incarnation.running;
    throw new Error("the operator is stopped: harness.startOperator() starts it again");
  }

  get operators(): readonly RunningOperator[] {
    return this.#seats.flatMap(({ incarnation }) => (incarnation ? [incarnation.running] : []));
  }

  /** What is there before the operator starts. */
  async prepare(): Promise<void> {
    const { namespaces, rbac = false, objects = [] } = this.#options;
    for (const name of namespaces ?? []) {
      if (name !== "default") await this.client.create(Namespace.gen({ name }));
    }
    await this.#installKinds();
    if (rbac !== false) {
      for (const seat of this.#seats) await seat.deploy(rbac === true ? {} : rbac, this.client);
    }
    this.#furniture = new Set(objectsIn(this.cluster).map(({ metadata }) => metadata.uid));
    for (const object of objects) {
      await (object instanceof KubeObject ? this.client.create(object) : this.client.create(object));
    }
  }

  /** Several operators may work on one kind: it is installed once. */
  async #installKinds(): Promise<void> {
    const installed = new Set<string>();
    for (const kind of this.#seats.flatMap(({ operator }) => operator.kinds)) {
      const { crd } = kind as { crd?: () => CustomResourceDefinition["body"] };
      const body = crd?.();
      const { name = "" } = body?.metadata ?? {};
      if (!body || installed.has(name)) continue;
      installed.add(name);
      const definition = await this.client.create(new CustomResourceDefinition(body));
      await definition.wait("condition=Established");
    }
  }

  async startOperator(): Promise<void> {
    try {
      await each(this.#seats, (seat) => seat.start());
    } catch (error) {
      this.refusals();
      throw error;
    }
  }

  #log(record: LogRecord): void {
    this.logs.sink(record);
    this.#options.start?.log?.(record);
  }

  refusals(): string[] {
    const texts = this.#refused();
    // A test that asks for them judges for itself.
    for (const text of texts) this.#toldRefusals.add(text);
    return texts;
  }

  #refused(): string[] {
    return [...new Set(this.#seats.flatMap(({ refusals }) => refusals))];
  }

  async stopOperator(): Promise<void> {
    await each(this.#seats, (seat) => seat.stop());
  }

  async crash(): Promise<void> {
    await each(this.#seats, (seat) => seat.crash());
  }

  async restart(): Promise<void> {
    await this.stopOperator();
    await this.startOperator();
    await this.settle();
  }

  async settle({ timeout = "30s" }: { readonly timeout?: Duration } = {}): Promise<void> {
    const { cluster } = this;
    const requests = () => cluster.requests.entries;
    const relays = () => this.#seats.flatMap(({ incarnation }) => (incarnation ? [incarnation.relay] : []));
    const quiet = () =>
      untilQuiet(
        {
          idle: () => Promise.all([cluster.settle(), ...this.#seats.map((seat) => seat.idle())]),
          busy: () => relays().some(({ underWay }) => underWay > 0),
          mark: () => `${relays().map(({ moves }) => moves)} ${requests().length}`,
          turn: () => nextTurn(),
        },
        durationMs(timeout),
        () => this.#lastSigns(),
      );
    do await quiet();
    while (await this.#internals.atRest?.());
    this.#court.look();
  }

  async advance(duration: Duration): Promise<void> {
    const { clock } = this.#options;
    if (!clock || !this.#clock) {
      throw new ConfigError("real time cannot be advanced", {
        hint: "startHarness(operator, { clock: new VirtualClock() })",
      });
    }
    const end = clock.monotonic() + durationMs(duration);
    await this.settle();
    while (clock.monotonic() < end) await this.#step(clock, end);
  }

  /** Time passes until something is due, or until `end`, and that is done. */
  async #step(clock: VirtualClock, end: number): Promise<void> {
    const next = Math.min(this.#clock?.nextDue ?? end, end);
    await clock.advance(Math.max(0, next - clock.monotonic()));
    await this.settle();
  }

  apply(text: string): Promise<KubeObject[]>;
  apply<T extends AnyObject>(object: T): Promise<T>;
  apply(body: KubeBody): Promise<KubeObject>;
  apply(objects: readonly (KubeBody | AnyObject)[]): Promise<KubeObject[]>;
  async apply(input: Applicable): Promise<unknown> {
    const applied = await applyAll(this.client, input);
    return typeof input === "string" || Array.isArray(input) ? applied : applied[0];
  }

  async until<T extends AnyObject>(
    kind: KindClass<T>,
    name: string,
    wanted: Wanted<T>,
    { within = "1h", timeout = "30s" }: UntilOptions = {},
  ): Promise<T> {
    const { clock } = this.#options;
    const [object = "", namespace] = name.split("/", 2).reverse();
    const read = async () => {
      try {
        return await this.client.get(kind, object, namespace === undefined ? {} : { namespace });
      } catch (error) {
        if (error instanceof NotFoundError) return undefined;
        throw error;
      }
    };
    const end = clock ? clock.monotonic() + durationMs(within) : performance.now() + durationMs(timeout);
    if (clock) await this.settle();
    let last = await read();
    while (!isAsWanted(last, wanted)) {
      if ((clock ? clock.monotonic() : performance.now()) >= end) {
        const patience = clock ? `within ${String(within)} of its time` : `within ${String(timeout)}`;
        throw new KubeError(await this.#inVain(kind, { object, namespace, wanted, last, patience }));
      }
      if (clock) await this.#step(clock, end);
      else await pause(POLL_MS);
      last = await read();
    }
    return last as T;
  }

  async #inVain<T extends AnyObject>(
    kind: KindClass<T>,
    {
      object,
      namespace,
      ...rest
    }: Pick<InVain<T>, "wanted" | "last" | "patience"> & { object: string; namespace: string | undefined },
  ): Promise<string> {
    const others = await this.client.list(kind, { namespace: "*" }).toArray();
    const title = rest.last
      ? titleOf(rest.last.body)
      : titleOf({
          kind: kind.description.kind,
          metadata: { name: object, ...(namespace !== undefined && { namespace }) },
        });
    const log = this.logs.lines(LAST_LINES);
    return inVainText({ ...rest, title, others: others.map(({ body }) => titleOf(body)), log });
  }

  snapshot(): Snapshot {
    return maskObjects(this.#made());
  }

  /** What the operator or the test has made. */
  #made(): StoredBody[] {
    return objectsIn(this.cluster).filter((body) => {
      const { kind, apiVersion, metadata } = body;
      if (this.#furniture.has(metadata.uid) || isNote(body) || isOfCluster(body)) return false;
      return !REGISTERED.has(kind) && !apiVersion.startsWith(REGISTRATION_GROUP);
    });
  }

  writes(): OperatorWrite[] {
    return this.cluster.requests
      .filter(({ verb, userAgent, status, resource }) => {
        // Reviews are questions in the form of a write.
        return WRITES.has(verb) && userAgent.startsWith(USER_AGENT) && status < 400 && !resource?.includes("reviews.");
      })
      .map(({ verb, resource, subresource, namespace, name, path, status, body }) => {
        return { verb, resource, subresource, namespace, name, path, status, body };
      });
  }

  /** What the operator was seen doing last, for a test author who wonders why it does not end. */
  #lastSigns(): string {
    const line = this.logs.records.at(-1)?.message;
    const request = this.cluster.requests.filter(({ userAgent }) => userAgent.startsWith(USER_AGENT)).at(-1);
    const refusals = this.refusals();
    return [
      line === undefined ? "it has logged nothing" : `its last line was "${line}"`,
      request && `its last request was ${request.method} ${request.path} (${request.status})`,
      refusals.length > 0 && `its role does not allow ${refusals.join(", ")}`,
    ]
      .filter(Boolean)
      .join(", ");
  }

  stop(): Promise<void> {
    // A second end, by `await using` after a test that stopped it itself, has nothing to tell.
    if (this.#stopped) return this.#stopped.catch(() => {});
    this.#stopped = this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const violations: Violation[] = [];
    try {
      violations.push(...(await this.#judge()));
    } finally {
      await this.close();
    }
    violations.push(...this.#court.judgeEnd(this.logs.records));
    if (violations.length > 0) throw new OracleError(violations);
  }

  /** Stops everything, and judges nothing. */
  async close(): Promise<void> {
    try {
      await this.stopOperator();
      await each(this.#seats, (seat) => seat.bury());
    } finally {
      await this.client.close();
      await this.cluster.stop();
    }
  }

  /** Whether the operators have kept what every operator promises, while they are still at work. */
  async #judge(): Promise<Violation[]> {
    const seats = this.#seats.filter(({ incarnation }) => incarnation);
    const isQuiet = seats.length > 0 && (await this.#becomesQuiet());
    const judged = seats.flatMap(({ operator, incarnation }) =>
      incarnation ? [{ operator, running: incarnation.running }] : [],
    );
    const lacking = this.#seats.flatMap((seat) => seat.lacking);
    const refusals = [...new Set(lacking)].filter((text) => !this.#toldRefusals.has(text));
    const found = this.#court.judge({ log: this.logs.records, judged, refusals, isQuiet });
    const again = seats.filter(({ operator }) => hasSecondPass(operator));
    // One that is already in a loop would be told twice; where nothing was made there is nothing to pass over.
    if (!isQuiet || again.length === 0 || found.length > 0 || !this.#court.isActive("idempotence")) return found;
    if (this.#made().length === 0) return found;
    const before = this.#court.beforeSecondPass();
    const { length: lines } = this.logs.records;
    if (!(await this.#passesAgain(again))) return found;
    const operators = again.map(({ operator }) => operator);
    return this.#court.judgeSecondPass(before, operators, this.logs.records.slice(lines));
  }

  async #becomesQuiet(): Promise<boolean> {
    return this.settle({ timeout: LAST_QUIET_MS }).then(
      () => true,
      () => false,
    );
  }

  /** Starts operators again; false where that cannot be done: the test may have taken away what they need. */
  async #passesAgain(seats: readonly Seat[]): Promise<boolean> {
    let cancel = () => {};
    const late = new Promise<false>((resolve) => {
      const timer = setTimeout(() => resolve(false), LAST_QUIET_MS * 5);
      cancel = () => clearTimeout(timer);
    });
    const started = each(seats, async (seat) => {
      await seat.stop();
      await seat.start();
    }).then(
      () => true,
      () => false,
    );
    const began = await Promise.race([started, late]).finally(cancel);
    return began && (await this.#becomesQuiet());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Does something with each at the same time, and waits for all of them, also where one fails. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(all.map(work));
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}
