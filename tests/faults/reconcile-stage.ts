/** An operator in this process, its line, and its corner of a cluster: for faults in such numbers that processes cost too much. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Client, CustomResourceDefinition, type KubeBody, Namespace } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import type { LogRecord, Operator, RunningOperator } from "lotse";
import { vi } from "vitest";
import { fastClock } from "./clock.ts";
import { SPEED } from "./pace.ts";
import { Line, type LineRule, type LineWrite } from "./reconcile-line.ts";

const PATIENCE_MS = 170_000;
/** Server and operator share this process: so many turns of its event loop without a movement mean that none is on its way. */
const CALM_TURNS = 20;
/** What {@link Cluster} faults know operators by. */
export const OPERATOR_AGENT = "lotse-fault-operator";

/** Waits until `check` does not throw. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return await vi.waitFor(check, { timeout: PATIENCE_MS, interval: 5 });
}

/** A cluster with the suite's kinds. One for each test file. */
export class Ground implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly epoch: number;
  readonly #plots: Plot[] = [];

  private constructor(cluster: Cluster, client: Client, epoch: number) {
    this.cluster = cluster;
    this.client = client;
    this.epoch = epoch;
  }

  static async open(kinds: readonly { crd(): CustomResourceDefinition["body"] }[]): Promise<Ground> {
    const epoch = Date.now();
    const cluster = await Cluster.start({ tls: false, clock: fastClock(epoch, SPEED), history: true });
    const client = await cluster.connect();
    for (const kind of kinds) {
      const installed = await client.create(new CustomResourceDefinition(kind.crd()));
      await installed.wait("condition=Established");
    }
    return new Ground(cluster, client, epoch);
  }

  /** A namespace of its own; `make` makes the operator anew for each of its lives. */
  async plot(make: () => Operator): Promise<Plot> {
    const namespace = `plot-${this.#plots.length + 1}`;
    await this.client.create(Namespace.gen({ name: namespace }));
    const plot = new Plot(this, namespace, make);
    this.#plots.push(plot);
    return plot;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#plots.map((plot) => plot.stop()));
    await this.client.close();
    await this.cluster.stop();
  }
}

interface Life {
  readonly running: RunningOperator;
  readonly line: Line;
}

/** See the module comment. */
export class Plot {
  readonly ground: Ground;
  readonly namespace: string;
  readonly client: Client;
  /** What all lives have logged. */
  readonly logs: LogRecord[] = [];
  /** What all lives have sent. */
  readonly #writes: LineWrite[][] = [];
  readonly #make: () => Operator;
  #life: Life | undefined;

  constructor(ground: Ground, namespace: string, make: () => Operator) {
    this.ground = ground;
    this.namespace = namespace;
    this.client = ground.client.inNamespace(namespace);
    this.#make = make;
  }

  get line(): Line {
    if (!this.#life) throw new Error("the operator does not run");
    return this.#life.line;
  }

  get writes(): LineWrite[] {
    return this.#writes.flat();
  }

  /** Starts the operator, and resolves when it is ready or dead. */
  async start(rule: LineRule = {}): Promise<void> {
    const { cluster, epoch } = this.ground;
    const clock = fastClock(epoch, SPEED);
    // Ten minutes of the fast clock: a busy machine must not look like a server that does not answer.
    const connection = await cluster.connect({ userAgent: OPERATOR_AGENT, clock, timeout: "10m", onWarning: () => {} });
    const line = new Line(connection);
    line.rule = rule;
    this.#writes.push(line.writes);
    const client = await Client.connect({ url: cluster.url, transport: line, clock });
    const log = (record: LogRecord) => void this.logs.push(record);
    const running = this.#make().start({ client, clock, namespaces: [this.namespace], crds: "wait", log });
    this.#life = { running, line };
    await Promise.race([running.ready, line.death]);
  }

  /** Starts the operator again if it is dead. */
  async revive(): Promise<void> {
    if (!this.line.isDead) return;
    await this.stop();
    await this.start();
  }

  /** Ends the operator: in peace, or for good if it is dead already. */
  async stop(): Promise<void> {
    const { running, line } = this.#life ?? {};
    this.#life = undefined;
    await running?.stop().catch((error: unknown) => {
      if (!line?.isDead) throw error;
    });
    await line?.close();
  }

  /** Resolves when nothing runs, nothing is due now, and nothing is on its way. Retries that wait are not waited for. */
  async quiet(): Promise<void> {
    const { cluster } = this.ground;
    let late = false;
    const deadline = new Promise<void>((resolve) => {
      setTimeout(resolve, PATIENCE_MS).unref();
    }).then(() => {
      late = true;
    });
    for (let calm = 0; calm < CALM_TURNS; ) {
      const { line, running } = this.#life ?? {};
      const mark = line?.moves;
      // Whoever is dead waits for answers that never come.
      const idle = line?.isDead ? undefined : Promise.race([running?.idle(), line?.death]);
      await Promise.race([deadline, Promise.all([cluster.settle(), idle])]);
      if (late) throw new Error("the operator is never quiet");
      await nextTurn();
      const moved = line?.isBusy || line?.moves !== mark;
      calm = moved && !line?.isDead ? 0 : calm + 1;
    }
  }

  /** Waits until `check` does not throw, and stays true. The operator is started again when it has died. */
  async settled(check: () => Promise<void>): Promise<void> {
    do {
      await eventually(async () => {
        await this.revive();
        await check();
      });
      await this.quiet();
      // One that died after its last write has not said what it did.
    } while (this.line.isDead);
    await check();
  }

  /** Stops the operator in peace and starts it again: what it sends then. */
  async secondPass(): Promise<string[]> {
    await this.stop();
    await this.start();
    await this.quiet();
    return this.line.writes.map(({ label }) => label);
  }

  /** How often each object was created and deleted: `configmaps/a-x`, with the names of uids left out. */
  lifeOf(resource: string, name: string): Record<"created" | "deleted", number> {
    const versions = this.ground.cluster.history(resource, this.namespace, name);
    const count = (type: string) => versions.filter((version) => version.type === type).length;
    return { created: count("created"), deleted: count("deleted") };
  }

  /** Every state that an object of this name was in, oldest first. */
  statesOf(resource: string, name: string): { readonly type: string; readonly body: KubeBody }[] {
    const versions = this.ground.cluster.history(resource, this.namespace, name);
    return versions.map(({ type, object }) => ({ type, body: object as unknown as KubeBody }));
  }

  /** What happened, for whoever has to find out why a test fails. */
  story(): string {
    const log = this.logs.map(
      ({ level, message, object, fields }) => `${level} [${object?.name ?? ""}] ${message} ${JSON.stringify(fields)}`,
    );
    return ["Writes:", ...this.writes.map(({ label }) => label), "Log:", ...log].join("\n");
  }
}
