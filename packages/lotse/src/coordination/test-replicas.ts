/** Replicas of one operator for tests: coordinators with an operator that only takes notes, in a time that the test moves. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Client, type ConnectOptions, Lease } from "@lotse/client";
import type { VirtualClock } from "@lotse/client/meta";
import type { Cluster } from "@lotse/cluster";
import { type LeaseOptions, leader, planCoordination } from "../declare/index.ts";
import { Logger, type LogRecord, Metrics } from "../report/index.ts";
import type { Coordinated } from "./coordinator.ts";
import { LeaderCoordinator, type LeaderPlan } from "./leader.ts";

/** How a replica is made. */
export interface ReplicaOptions {
  readonly lease?: LeaseOptions;
  readonly clock: VirtualClock;
  readonly random?: () => number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly connect?: ConnectOptions;
  /** What ends the work for what was lost; at once unless told. */
  readonly letGo?: () => Promise<void>;
}

/** One process of an operator. */
export class Replica implements AsyncDisposable {
  readonly coordinator: LeaderCoordinator;
  readonly logs: LogRecord[] = [];
  readonly metrics = new Metrics();
  /** What it was told, in order. */
  readonly told: string[] = [];
  readonly client: Client;
  /** Requests without an answer; the watch is none. */
  underWay = 0;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #over = false;

  private constructor(client: Client, { lease = {}, clock, random = () => 0, environment = {} }: ReplicaOptions) {
    this.client = client.with({
      onRequest: ({ watch }) => {
        if (watch) return;
        this.underWay++;
        return { ended: () => void this.underWay-- };
      },
    });
    const logger = new Logger(
      (record) => this.logs.push(record),
      () => clock.now(),
    );
    this.coordinator = new LeaderCoordinator(planCoordination(leader(lease)) as LeaderPlan, {
      operator: "rates",
      client: this.client,
      clock,
      random,
      logger,
      metrics: this.metrics,
      environment: { POD_NAMESPACE: "default", ...environment },
      namespaces: undefined,
    });
  }

  static async start(cluster: Cluster, options: ReplicaOptions): Promise<Replica> {
    const { connect, letGo = async () => {} } = options;
    const client = await cluster.connect({ ...connect });
    const replica = new Replica(client, options);
    const coordinated: Coordinated = {
      ownershipChanged: async (why) => {
        replica.told.push(why);
        if (!replica.coordinator.owns()) await letGo();
      },
      leads: (leading) => void replica.told.push(leading ? "lead" : "follow"),
    };
    replica.#running = replica.coordinator.run(coordinated, replica.#stopping.signal);
    return replica;
  }

  get works(): boolean {
    return this.coordinator.owns();
  }

  get messages(): string[] {
    return this.logs.map(({ message }) => message);
  }

  /** It is told to stop, and still has to write things down. */
  beginStop(): void {
    this.#stopping.abort();
  }

  /** A clean stop. */
  async stop(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    this.#stopping.abort();
    await this.#running;
    await this.coordinator.release();
    await this.client.close();
  }

  /** The process is gone: no request of it is sent any more. */
  async crash(): Promise<void> {
    await this.client.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** The Lease as it is in the cluster. */
export async function leaseIn(client: Client): Promise<Lease["body"]> {
  return (await client.get(Lease, "rates", { namespace: "default" })).body;
}

/** On one machine what is sent arrives within a few turns of the event loop; so many without any movement are quiet. */
const QUIET_TURNS = 30;

/** Resolves when nothing is on its way between replicas and cluster. Time stands still meanwhile. */
export async function quiet(cluster: Cluster, replicas: readonly Replica[], hanging = false): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; ) {
    const before = cluster.requests.entries.length;
    await nextTurn();
    const isUnderWay = !hanging && replicas.some(({ underWay }) => underWay > 0);
    const busy = isUnderWay || cluster.requests.entries.length !== before;
    turns = busy ? 0 : turns + 1;
  }
}

/** Lets time pass in small steps, each until all is quiet, until something is true; how long it took, in milliseconds. */
export async function timeUntil(
  check: () => boolean,
  { cluster, clock, replicas, atMostMs, hanging }: Passing,
): Promise<number> {
  const begun = clock.monotonic();
  await quiet(cluster, replicas, hanging);
  while (!check()) {
    if (clock.monotonic() - begun >= atMostMs) throw new Error(`not so after ${atMostMs} ms`);
    await clock.advance(STEP_MS);
    await quiet(cluster, replicas, hanging);
  }
  return clock.monotonic() - begun;
}

/** Lets time pass, with everything that happens in it. */
export async function pass(ms: number, passing: Omit<Passing, "atMostMs">): Promise<void> {
  const end = passing.clock.monotonic() + ms;
  await timeUntil(() => passing.clock.monotonic() >= end, { ...passing, atMostMs: ms + STEP_MS });
}

const STEP_MS = 100;

/** Whose time passes. */
export interface Passing {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  readonly replicas: readonly Replica[];
  readonly atMostMs: number;
  /** Requests get no answer: they are not waited for. */
  readonly hanging?: boolean;
}
