import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  Client,
  ConfigError,
  CustomResourceDefinition,
  type KubeBody,
  KubeObject,
  Namespace,
  type ObjectBody,
} from "@lotse/client";
import { type Duration, durationMs, type VirtualClock } from "@lotse/client/meta";
import { Cluster, type RequestEntry } from "@lotse/cluster";
import { type Operator, parseRecording, type RunningOperator, recorder, type StartOptions } from "lotse";
import { DueClock } from "./due-clock.ts";
import { CapturedLogs } from "./logs.ts";
import { Relay } from "./relay.ts";
import { untilQuiet } from "./settle.ts";

/** How to test an operator. */
export interface HarnessOptions {
  /** Time of the operator and of its cluster, which moves when the test says so: see `advance`. Default: real time. */
  readonly clock?: VirtualClock;
  /** Only these namespaces are the operator's; they are created. Default: all. */
  readonly namespaces?: readonly string[];
  /** Objects that are there before the operator starts, in this order: client objects or plain manifests. */
  readonly objects?: readonly (KubeObject<ObjectBody> | KubeBody)[];
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
   * real time, 10 s by default.
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
  /** Starts the operator again. */
  startOperator(): Promise<void>;
  /** The operator's successful writes since the cluster started, or since `harness.cluster.requests.clear()`. */
  writes(): OperatorWrite[];
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
  const cluster = await Cluster.start(options.clock ? { clock: options.clock } : {});
  const bench = new Bench(operator, options, cluster, await cluster.connect());
  try {
    await bench.prepare();
    await bench.startOperator();
    return bench;
  } catch (error) {
    await bench.stop();
    throw error;
  }
}

/** What handlers ask for is written down while tests run, for `lotse generate`: each thing once, however many tests. */
function recordTo(file: string): StartOptions["record"] & {} {
  const before = existsSync(file) ? parseRecording(readFileSync(file, "utf8")) : [];
  return recorder((line) => appendFileSync(file, line), before);
}

/** The operator's requests carry this, so that they can be told from the test's. */
const USER_AGENT = "lotse-harness-operator";
const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);

interface AtWork {
  readonly running: RunningOperator;
  readonly relay: Relay;
}

class Bench implements Harness {
  readonly client: Client;
  readonly cluster: Cluster;
  readonly logs = new CapturedLogs();
  readonly #operator: Operator;
  readonly #options: HarnessOptions;
  readonly #clock: DueClock | undefined;
  #atWork: AtWork | undefined;

  constructor(operator: Operator, options: HarnessOptions, cluster: Cluster, client: Client) {
    this.#operator = operator;
    this.#options = options;
    this.#clock = options.clock && new DueClock(options.clock);
    this.cluster = cluster;
    this.client = client;
  }

  get operator(): RunningOperator {
    if (this.#atWork) return this.#atWork.running;
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
    for (const object of this.#options.objects ?? []) {
      await (object instanceof KubeObject ? this.client.create(object) : this.client.create(object));
    }
  }

  async startOperator(): Promise<void> {
    if (this.#atWork) throw new Error("the operator runs already: harness.restart() stops it first");
    const { namespaces, start = {} } = this.#options;
    const connection = await this.cluster.connect({ userAgent: USER_AGENT });
    const relay = new Relay(connection, this.#options.clock);
    const client = await Client.connect({ url: this.cluster.url, transport: relay });
    const running = this.#operator.start({
      // The harness has installed the CRDs: an operator that does nothing then writes nothing.
      crds: "wait",
      ...start,
      client,
      log: (record) => {
        this.logs.sink(record);
        start.log?.(record);
      },
      ...(this.#clock && { clock: this.#clock }),
      ...(namespaces && { namespaces }),
      ...(process.env.LOTSE_RECORD && { record: recordTo(process.env.LOTSE_RECORD) }),
    });
    this.#atWork = { running, relay };
    await running.ready;
  }

  async stopOperator(): Promise<void> {
    const { running, relay } = this.#atWork ?? {};
    this.#atWork = undefined;
    try {
      await running?.stop();
    } finally {
      await relay?.close();
    }
  }

  async restart(): Promise<void> {
    await this.stopOperator();
    await this.startOperator();
    await this.settle();
  }

  async settle({ timeout = "10s" }: { readonly timeout?: Duration } = {}): Promise<void> {
    const { cluster } = this;
    const requests = () => cluster.requests.entries;
    await untilQuiet(
      {
        idle: () => Promise.all([cluster.settle(), this.#atWork?.running.idle()]),
        busy: () => (this.#atWork?.relay.underWay ?? 0) > 0,
        mark: () => `${this.#atWork?.relay.moves} ${requests().length}`,
        turn: () => nextTurn(),
      },
      durationMs(timeout),
      () => this.#lastSigns(),
    );
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

  /** What the operator was seen doing last, for whoever wonders why it does not end. */
  #lastSigns(): string {
    const line = this.logs.records.at(-1)?.message;
    const request = this.cluster.requests.filter({ userAgent: USER_AGENT }).at(-1);
    return [
      line === undefined ? "it has logged nothing" : `its last line was "${line}"`,
      request && `its last request was ${request.method} ${request.path} (${request.status})`,
    ]
      .filter(Boolean)
      .join(", ");
  }

  async stop(): Promise<void> {
    try {
      await this.stopOperator();
    } finally {
      await this.client.close();
      await this.cluster.stop();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
