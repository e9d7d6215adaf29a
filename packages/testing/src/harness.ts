import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type Client,
  ConfigError,
  CustomResourceDefinition,
  type KubeBody,
  KubeError,
  KubeObject,
  Namespace,
  type ObjectBody,
} from "@lotse/client";
import { type Duration, durationMs, type VirtualClock } from "@lotse/client/meta";
import { Cluster, type ClusterOptions, type RequestEntry } from "@lotse/cluster";
import {
  type LogRecord,
  type Operator,
  parseRecording,
  type RunningOperator,
  requestRecorder,
  type StartOptions,
} from "lotse";
import { CapturedLogs } from "./logs.ts";
import type { Refusals } from "./refusals.ts";
import { type Deployed, deployOperator, type RbacOptions } from "./rights.ts";
import { untilQuiet } from "./settle.ts";
import { DueClock, type ExternalCall, Incarnation, type Interference, Life } from "./world/index.ts";

/** How to test an operator. */
export interface HarnessOptions {
  /** Time of the operator and of its cluster, which moves when the test says so: see `advance`. Default: real time. */
  readonly clock?: VirtualClock;
  /** Only these namespaces are the operator's; they are created. Default: all. */
  readonly namespaces?: readonly string[];
  /** Objects that are there before the operator starts, in this order: client objects or plain manifests. */
  readonly objects?: readonly (KubeObject<ObjectBody> | KubeBody)[];
  /**
   * Whether pods run, as `Cluster.start({ kubelet })` has it: `"simulate"` lets them pretend, as `harness.cluster.pods`
   * tells them to, `"process"` runs their commands. Default: they stay Pending. Simulated pods are ready, and those of
   * Jobs done, when `settle()` resolves, unless they were told to take their time; with a `clock`, what pods and their
   * controllers do later comes when the test advances it.
   *
   * @example
   * ```ts
   * await using harness = await startHarness(operator, { kubelet: "simulate" });
   * harness.cluster.pods.program({ labels: "job-name=backup" }, { exit: { code: 1 } });
   * ```
   */
  readonly kubelet?: ClusterOptions["kubelet"];
  /**
   * Roles decide what the operator may do: it runs as its service account, with exactly the role that
   * `lotse generate deploy` makes of it. The test's own client stays the administrator. `{ rules }` are rights that you
   * give it besides, as you would by hand where it is deployed.
   *
   * The start fails when it is not known what a handler asks for, unless `rules` are given, or the test is the one that
   * finds out: with `LOTSE_RECORD=operator.requests.jsonl` such an operator may do everything, and what it does is written
   * down.
   *
   * @example
   * ```ts
   * await using harness = await startHarness(operator, { rbac: true });
   * await harness.client.create(new Database({ metadata: { name: "shop" }, spec: {} }));
   * await harness.settle();
   * expect(harness.refusals()).toEqual([]);
   * ```
   */
  readonly rbac?: boolean | RbacOptions;
  /** More options of `operator.start()`. A `log` here gets the lines too. */
  readonly start?: Omit<StartOptions, "client" | "clock" | "namespaces">;
}

/** A write of the operator, as the server saw it. */
export type OperatorWrite = Pick<
  RequestEntry,
  "verb" | "resource" | "subresource" | "namespace" | "name" | "path" | "status" | "body"
>;

/** An operator at work on a cluster of its own. */
export interface Harness extends AsyncDisposable {
  /** The test's own client: what it writes is not counted as the operator's. */
  readonly client: Client;
  readonly cluster: Cluster;
  /** The operator at work; another one after a restart. */
  readonly operator: RunningOperator;
  /** What the operator has logged, over restarts. */
  readonly logs: CapturedLogs;
  /**
   * Resolves when everything is quiet: the cluster's controllers are done, the operator has been shown every change, and
   * nothing runs or is due. Timers and retries that wait for their time are not waited for. Rejects after `timeout` of
   * real time, 30 s by default: a busy machine may be slow, only what never ends shall be told.
   */
  settle(options?: { readonly timeout?: Duration }): Promise<void>;
  /**
   * Moves the virtual clock, stopping wherever the operator has something to do until that is done: what takes an hour
   * happens in milliseconds, and exactly as often as it would.
   */
  advance(duration: Duration): Promise<void>;
  /** Stops the operator and starts it again on the same cluster, as a deployment does; resolves when all is quiet. */
  restart(): Promise<void>;
  /** Stops the operator; what happens now it finds when it starts again. */
  stopOperator(): Promise<void>;
  /**
   * Ends the operator in this instant, as a process does that is killed: nothing is written down, no handler hears of it,
   * and whatever it waits for neither returns nor throws. `startOperator()` or `restart()` begins its next life.
   *
   * @example
   * ```ts
   * await harness.client.create(new Database({ metadata: { name: "shop" }, spec: {} }));
   * await harness.crash();
   * await harness.restart();
   * ```
   */
  crash(): Promise<void>;
  /** Starts the operator again. */
  startOperator(): Promise<void>;
  /** The operator's successful writes since the cluster started, or since `harness.cluster.requests.clear()`. */
  writes(): OperatorWrite[];
  /**
   * What the operator asked for and its role does not allow, each thing once, over restarts:
   * `["list secrets in default (handler open)"]`. Empty without `rbac`. The log has a warning for each, with the rule that
   * is missing.
   */
  refusals(): string[];
  /** Stops everything; `await using` calls it. */
  stop(): Promise<void>;
}

/**
 * Starts a cluster, installs the operator's CRDs, and sets the operator to work. Needs no test runner in particular.
 *
 * @example
 * ```ts
 * await using harness = await startHarness(operator);
 * await harness.client.create(new Greeting({ metadata: { name: "hello" }, spec: { to: "world" } }));
 * await harness.settle();
 * expect(harness.writes()).toHaveLength(1);
 * ```
 */
export async function startHarness(operator: Operator, options: HarnessOptions = {}): Promise<Harness> {
  return openHarness(operator, options, {});
}

/** What the kit itself says besides. */
export interface HarnessInternals {
  /** Decides about everything that passes between the operator and its cluster. */
  readonly interference?: Interference;
  /** Hears of each call to the world outside; see `external`. */
  readonly onExternal?: (call: ExternalCall) => void;
  /** How its cluster starts, besides. */
  readonly cluster?: Pick<ClusterOptions, "random" | "history" | "onTrouble">;
  /** `false`: the operator is started later. */
  readonly starts?: boolean;
  /** Asked each time that all is quiet: whether it has set something going, which is to be waited for as well. */
  readonly atRest?: () => Promise<boolean>;
}

/** {@link startHarness}, with more to say. */
export async function openHarness(
  operator: Operator,
  options: HarnessOptions,
  internals: HarnessInternals,
): Promise<Bench> {
  const { kubelet = false, rbac = false } = options;
  const dueClock = options.clock && new DueClock(options.clock);
  // Where pods run, time also stops at what they and their controllers have to do. Without, the cluster's own timers
  // only keep streams alive, which need not be waited for.
  const clock = kubelet ? dueClock : options.clock;
  const cluster = await Cluster.start({
    tls: false,
    kubelet: atOnce(kubelet),
    rbac: rbac !== false,
    ...(clock && { clock }),
    ...internals.cluster,
  });
  const bench = new Bench({ operator, options, internals, cluster, client: await cluster.connect(), clock: dueClock });
  try {
    await bench.prepare();
    if (internals.starts !== false) await bench.startOperator();
    return bench;
  } catch (error) {
    await bench.stop();
    throw error;
  }
}

/** Simulated pods are there when everything is quiet, unless the test wants to see them wait. */
function atOnce(kubelet: ClusterOptions["kubelet"]): NonNullable<ClusterOptions["kubelet"]> {
  if (!kubelet) return false;
  const settings = typeof kubelet === "string" ? { mode: kubelet } : kubelet;
  return { startDelay: 0, ...settings };
}

/** As for `lotse dev`, `off` is no file. */
function recordingFile(): string | undefined {
  const file = process.env.LOTSE_RECORD;
  return file && file !== "off" ? file : undefined;
}

/** Which handler asks for what is heard by the test's own recording and by the list of refusals. */
function recordFor(refusals: Refusals | undefined): Pick<StartOptions, "record"> {
  const file = recordingFile();
  const heard = [file ? recordTo(file) : undefined, refusals?.asked].filter((one) => one !== undefined);
  if (heard.length === 0) return {};
  return {
    record: (request) => {
      for (const hear of heard) hear(request);
    },
  };
}

/** What handlers ask for is written down while tests run, for `lotse generate`: each thing once, however many tests. */
function recordTo(file: string): StartOptions["record"] & {} {
  const before = existsSync(file) ? parseRecording(readFileSync(file, "utf8")) : [];
  return requestRecorder((line) => appendFileSync(file, line), before);
}

/** The operator's requests carry this, so that they can be told from the test's. */
const USER_AGENT = "lotse-harness-operator";
/** How long an operator may take to become ready after it was refused something. */
const REFUSED_AFTER_MS = 5_000;
const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);

interface BenchParts {
  readonly operator: Operator;
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
  readonly #operator: Operator;
  readonly #options: HarnessOptions;
  readonly #internals: HarnessInternals;
  readonly #clock: DueClock | undefined;
  #atWork: Incarnation | undefined;
  /** Those that were killed: nothing of them may be left when the harness stops. */
  readonly #dead: Incarnation[] = [];
  #lives = 0;
  #deployed: Deployed | undefined;

  constructor({ operator, options, internals, cluster, client, clock }: BenchParts) {
    this.#operator = operator;
    this.#options = options;
    this.#internals = internals;
    this.#clock = clock;
    this.cluster = cluster;
    this.client = client;
  }

  /** The life that the operator lives now; undefined while it is stopped or dead. */
  get incarnation(): Incarnation | undefined {
    const atWork = this.#atWork;
    if (!atWork?.isDead) return atWork;
    this.#dead.push(atWork);
    this.#atWork = undefined;
    return undefined;
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

  /** What is there before the operator starts. */
  async prepare(): Promise<void> {
    for (const name of this.#options.namespaces ?? []) {
      if (name !== "default") await this.client.create(Namespace.gen({ name }));
    }
    for (const { resource } of this.#operator.resources) {
      const { crd } = resource as { crd?: () => CustomResourceDefinition["body"] };
      if (!crd) continue;
      const definition = await this.client.create(new CustomResourceDefinition(crd()));
      await definition.wait("condition=Established");
    }
    const { rbac = false, namespaces } = this.#options;
    if (rbac !== false) {
      this.#deployed = await deployOperator({
        operator: this.#operator,
        rbac: rbac === true ? {} : rbac,
        namespaces,
        admin: this.client,
        log: (record) => this.#log(record),
        recording: recordingFile(),
      });
    }
    for (const object of this.#options.objects ?? []) {
      await (object instanceof KubeObject ? this.client.create(object) : this.client.create(object));
    }
  }

  async startOperator(): Promise<void> {
    if (this.incarnation) throw new Error("the operator runs already: harness.restart() stops it first");
    const { namespaces, start = {} } = this.#options;
    const { cluster } = this;
    const { account, refusals } = this.#deployed ?? {};
    const incarnation = await Incarnation.start({
      operator: this.#operator,
      cluster,
      life: new Life(++this.#lives, (call) => this.#internals.onExternal?.(call)),
      userAgent: USER_AGENT,
      kubeconfig: account === undefined ? undefined : cluster.kubeconfigFor({ serviceAccount: account }),
      clock: this.#clock,
      testClock: this.#options.clock,
      interference: this.#internals.interference,
      view: refusals && ((client) => client.with({ onRequest: refusals.listener })),
      start: {
        // The harness has installed the CRDs: an operator that does nothing then writes nothing.
        crds: "wait",
        // Many tests run side by side, and each of their operators listens.
        webhooks: { port: 0, host: "127.0.0.1" },
        ...start,
        log: (record) => this.#log(record),
        ...(namespaces && { namespaces }),
        ...recordFor(refusals),
      },
    });
    this.#atWork = incarnation;
    await this.#readyInTime(incarnation);
  }

  /** An operator that may not see its objects waits until it may; one that is killed meanwhile is never ready. */
  async #readyInTime({ running: { ready }, dead }: Incarnation): Promise<void> {
    if (!this.#deployed) return Promise.race([ready, dead]);
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      const check = () => {
        if (this.refusals().length > 0) reject(new KubeError(`the operator cannot start:${this.#refusalText()}`));
      };
      const timer = setInterval(check, REFUSED_AFTER_MS);
      cancel = () => clearInterval(timer);
    });
    await Promise.race([ready, dead, late]).finally(cancel);
  }

  #log(record: LogRecord): void {
    this.logs.sink(record);
    this.#options.start?.log?.(record);
  }

  refusals(): string[] {
    return this.#deployed?.refusals.texts ?? [];
  }

  #refusalText(): string {
    const texts = this.refusals();
    return texts.length === 0 ? "" : ` its role does not allow ${texts.join(", ")}`;
  }

  async stopOperator(): Promise<void> {
    const { incarnation } = this;
    this.#atWork = undefined;
    await incarnation?.stop();
  }

  async crash(): Promise<void> {
    const { incarnation } = this;
    await incarnation?.crash();
  }

  async restart(): Promise<void> {
    await this.stopOperator();
    await this.startOperator();
    await this.settle();
  }

  async settle({ timeout = "30s" }: { readonly timeout?: Duration } = {}): Promise<void> {
    const { cluster } = this;
    const requests = () => cluster.requests.entries;
    const quiet = () =>
      untilQuiet(
        {
          idle: () => Promise.all([cluster.settle(), this.#idle()]),
          busy: () => (this.incarnation?.relay.underWay ?? 0) > 0,
          mark: () => `${this.incarnation?.relay.moves} ${requests().length}`,
          turn: () => nextTurn(),
        },
        durationMs(timeout),
        () => this.#lastSigns(),
      );
    do await quiet();
    while (await this.#internals.atRest?.());
  }

  /** A dead operator is idle, too. */
  async #idle(): Promise<void> {
    const { incarnation } = this;
    await Promise.race([incarnation?.running.idle(), incarnation?.dead]);
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
    while (clock.monotonic() < end) {
      const next = Math.min(this.#clock.nextDue ?? end, end);
      await clock.advance(Math.max(0, next - clock.monotonic()));
      await this.settle();
    }
  }

  writes(): OperatorWrite[] {
    return this.cluster.requests
      .filter(({ verb, userAgent, status, resource }) => {
        // Reviews are questions in the form of a write.
        return WRITES.has(verb) && userAgent === USER_AGENT && status < 400 && !resource?.includes("reviews.");
      })
      .map(({ verb, resource, subresource, namespace, name, path, status, body }) => {
        return { verb, resource, subresource, namespace, name, path, status, body };
      });
  }

  /** What the operator was seen doing last, for a test author who wonders why it does not end. */
  #lastSigns(): string {
    const line = this.logs.records.at(-1)?.message;
    const request = this.cluster.requests.filter({ userAgent: USER_AGENT }).at(-1);
    return [
      line === undefined ? "it has logged nothing" : `its last line was "${line}"`,
      request && `its last request was ${request.method} ${request.path} (${request.status})`,
      this.#refusalText().trim(),
    ]
      .filter(Boolean)
      .join(", ");
  }

  async stop(): Promise<void> {
    try {
      await this.stopOperator();
      await Promise.all(this.#dead.map((dead) => dead.crash()));
    } finally {
      await this.client.close();
      await this.cluster.stop();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
