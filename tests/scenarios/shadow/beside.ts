/**
 * A version of an operator at work, and others as its shadows. Examples can be loaded once more with other words in their
 * source, so that the versions differ: the copy lies where modules of the workspace are found.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as after, setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  Client,
  type RawRequest,
  type RawResponse,
  type Transport,
  type WebSocketConnection,
  type WebSocketRequest,
} from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster, type ClusterOptions } from "@lotse/cluster";
import type { LogRecord, Operator, RunningOperator, ShadowOptions, ShadowReport, StartOptions } from "lotse";
import { afterAll, beforeAll, vi } from "vitest";
import { inFreshNamespace } from "../../../packages/client/src/test-namespace.ts";
import { clustersUnderTest, startCluster, type TestCluster } from "../../fixture.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Time moves in such steps. */
const STEP_MS = 500;
const SETTLE_MS = 2 * STEP_MS;

/** So many turns of the event loop without any movement mean that nothing is on its way. */
const QUIET_TURNS = 20;
/** Whoever is not idle for so long, with nothing on its way, waits for time. */
const WAITS_MS = 25;
/** A real server answers later, and nobody knows when: it is given this much, so often. */
const REAL_MS = 20;
const REAL_TURNS = 4;

/** A text of the source, and what stands in its place in the new version. */
export type Planted = readonly [old: string, planted: string];

/** A version that runs as a shadow. */
export interface Shadowed {
  readonly running: RunningOperator;
  readonly logs: readonly LogRecord[];
  /** What it says now. */
  report(): ShadowReport;
}

/** A version at work on a cluster, and others beside it, in a time that the test moves. */
export interface Beside extends AsyncDisposable {
  /** Undefined where a real server is one of its own processes. */
  readonly cluster: Cluster | undefined;
  readonly clock: VirtualClock;
  /** The test's own. */
  readonly client: Client;
  /** Starts the version that works; again, after it was stopped. */
  work(): Promise<RunningOperator>;
  /** Starts a version as a shadow. */
  shadow(operator: Operator, options?: Partial<ShadowOptions>, start?: StartOptions): Promise<Shadowed>;
  /** Resolves when no version has anything to do. */
  quiet(): Promise<void>;
  /** Lets time pass for all of them, and for the cluster. */
  advance(ms: number): Promise<void>;
  /** Lets a whole second pass, by the time of the server: what is made from now on is younger than what was. */
  nextSecond(): Promise<void>;
  /** Lets so much time pass that everything has settled. */
  settle(): Promise<void>;
  /** Settles, and checks; where a real server may be late, again and again. */
  settled(check: () => unknown): Promise<void>;
}

let loads = 0;

/** Loads an example once more, with other words in it. */
export async function loadAgain(example: string, planted: readonly Planted[] = []): Promise<Operator> {
  const folder = path.join(root, "examples", example);
  let source = readFileSync(path.join(folder, "operator.ts"), "utf8");
  for (const [old, text] of planted) {
    if (!source.includes(old)) throw new Error(`${example} does not say ${JSON.stringify(old)}`);
    source = source.replace(old, () => text);
  }
  source = source.replaceAll(/from "\.\//g, `from "${folder}/`);
  const copies = path.join(root, ".lotse", "shadow-tests");
  mkdirSync(copies, { recursive: true });
  const file = path.join(copies, `${example}-${process.pid}-${++loads}.ts`);
  writeFileSync(file, source);
  try {
    const { default: operator } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default: Operator };
    return operator;
  } finally {
    rmSync(file);
  }
}

/** Whether scenarios run on a real server: it has no kubelet, and a time of its own. */
export const REAL = clustersUnderTest().includes("real");

type Kubelet = NonNullable<ClusterOptions["kubelet"]>;

/** A real server for all tests of a file. */
let shared: TestCluster | undefined;

/**
 * Has the tests of a file share a real server, whose start takes longer than any of them: each has a namespace of its own
 * then, and its versions look at nothing else. For files whose operators stay in a namespace.
 */
export function shareServer(): void {
  if (!REAL) return;
  beforeAll(async () => {
    shared = await startCluster("real");
  });
  afterAll(async () => {
    await shared?.stop();
    shared = undefined;
  });
}

/** A server, and the time of those who work with it. */
interface Server {
  readonly cluster: Cluster | undefined;
  /** The only one that versions look at; undefined: all of them. */
  readonly namespace: string | undefined;
  readonly clock: VirtualClock;
  connect(userAgent?: string): Promise<Client>;
  /** Resolves when it has told everything, as far as anybody can know. */
  settle(): Promise<unknown>;
  stop(): Promise<void>;
}

async function startServer(kubelet: Kubelet): Promise<Server> {
  if (REAL) {
    const { kubeconfigPath, stop } = shared ? { ...shared, stop: async () => {} } : await startCluster("real");
    const namespace = shared && (await freshNamespace(kubeconfigPath));
    return {
      cluster: undefined,
      namespace,
      clock: new VirtualClock(Date.now()),
      connect: (userAgent) => Client.connect({ kubeconfig: kubeconfigPath, userAgent, namespace }),
      settle: () => after(REAL_MS),
      stop,
    };
  }
  const clock = new VirtualClock();
  const cluster = await Cluster.start({
    kubelet: kubelet && { startDelay: 0, ...(typeof kubelet === "string" ? { mode: kubelet } : kubelet) },
    clock,
  });
  return {
    cluster,
    namespace: undefined,
    clock,
    connect: (userAgent) => cluster.connect({ userAgent }),
    settle: () => cluster.settle(),
    stop: () => cluster.stop(),
  };
}

async function freshNamespace(kubeconfig: string): Promise<string> {
  const admin = await Client.connect({ kubeconfig });
  try {
    return (await inFreshNamespace(admin, { generateName: "beside-" })).namespace;
  } finally {
    await admin.close();
  }
}

/** Starts a cluster; nobody works on it yet. */
export async function startBeside(works: Operator, kubelet: Kubelet = false): Promise<Beside> {
  const server = await startServer(kubelet);
  const { cluster, clock, namespace } = server;
  const client = await server.connect();
  const ways: Counted[] = [];
  const all: RunningOperator[] = [];
  const connect = async (userAgent: string) => {
    const way = new Counted(await server.connect(userAgent));
    ways.push(way);
    return Client.connect({ url: client.config.server, transport: way, namespace });
  };
  const quiet = async () => {
    const mark = () => ways.map(({ moves }) => moves).join();
    for (let turns = 0; turns < (REAL ? REAL_TURNS : QUIET_TURNS); ) {
      const before = mark();
      // A handler that waits for time to pass is not idle before it does.
      await Promise.race([Promise.all([server.settle(), ...all.map((one) => one.idle())]), after(WAITS_MS)]);
      await nextTurn();
      turns = mark() !== before || ways.some(({ underWay }) => underWay > 0) ? 0 : turns + 1;
    }
  };
  const advance = async (ms: number) => {
    await quiet();
    for (let left = ms; left > 0; left -= STEP_MS) {
      await clock.advance(Math.min(left, STEP_MS));
      await quiet();
    }
  };
  const settle = () => advance(2 * SETTLE_MS);
  const begin = async (operator: Operator, options: StartOptions) => {
    const running = operator.start({
      clock,
      crds: "install",
      ...(namespace && { namespaces: [namespace] }),
      ...options,
    });
    all.push(running);
    await running.ready;
    return running;
  };
  return {
    cluster,
    clock,
    client,
    work: async () => begin(works, { client: await connect(WORKS), log: () => {} }),
    async shadow(operator, options, start) {
      const logs: LogRecord[] = [];
      const shadow = { settle: SETTLE_MS, ...options };
      const log = (record: LogRecord) => void logs.push(record);
      const running = await begin(operator, { client: await connect(SHADOWS), log, ...start, shadow });
      return { running, logs, report: () => running.shadow?.report() as ShadowReport };
    },
    quiet,
    advance,
    async nextSecond() {
      await advance(1_000);
      // A real server has a time of its own, which may be behind that of the versions.
      if (REAL) await after(Math.max(0, clock.now() + 1_000 - Date.now()));
    },
    settle,
    async settled(check) {
      await settle();
      if (!REAL) return void check();
      await vi.waitFor(
        async () => {
          await settle();
          check();
        },
        { timeout: 60_000 },
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((one) => one.stop()));
      await Promise.all(ways.map((way) => way.close()));
      await client.close();
      await server.stop();
    },
  };
}

/** How the requests of the version that works, and of shadows, are told apart. */
export const WORKS = "the version that works";
export const SHADOWS = "a shadow";

/** A way to the cluster that sees what is under way. */
class Counted implements Transport {
  readonly #client: Client;
  underWay = 0;
  moves = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  async request(request: RawRequest): Promise<RawResponse> {
    return this.#counted(async () => {
      const response = await this.#client.raw(request);
      if (request.stream) response.body.on("data", () => this.moves++);
      return response;
    });
  }

  webSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
    return this.#counted(async () => {
      const connection = await this.#client.webSocket(request);
      // A command is under way until its connection is closed.
      this.underWay++;
      void connection.closed.finally(() => {
        this.moves++;
        this.underWay--;
      });
      return connection;
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.moves++;
    this.underWay++;
    try {
      return await work();
    } finally {
      this.moves++;
      this.underWay--;
    }
  }
}
