/** Replicas of one operator, each in a process of its own and with a cable of its own to the cluster. */
import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Cable } from "@lotse/testing";
import { build } from "esbuild";
import type { LogRecord } from "lotse";
import type { TestCluster } from "../../fixture.ts";
import { LineReader } from "../lines.ts";
import { LISTENS, type ReplicaSettings } from "./order.ts";

/** One process. */
export interface Replica {
  /** As the Lease has it. */
  readonly identity: string;
  readonly cable: Cable;
  readonly process: ChildProcess;
  readonly log: LogRecord[];
  /** That a signal no longer ends it without a word, or that it has ended before. */
  readonly listens: Promise<unknown>;
  /** Exit code and signal. */
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>;
}

/** Where a crew works. */
export interface Workplace {
  readonly cluster: TestCluster;
  readonly namespace: string;
  readonly witness: string;
  /** `duration/renew/retry`. */
  readonly lease: string;
  readonly coordination: ReplicaSettings["REPLICA_COORDINATION"];
}

/** See the module comment. */
export class Crew implements AsyncDisposable {
  readonly replicas: Replica[] = [];
  readonly #place: Workplace;
  readonly #folder: string;
  readonly #all: Replica[] = [];

  private constructor(place: Workplace, folder: string) {
    this.#place = place;
    this.#folder = folder;
  }

  static async gather(place: Workplace): Promise<Crew> {
    const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-replicas-"));
    const crew = new Crew(place, folder);
    await build({
      entryPoints: [fileURLToPath(new URL("replica.ts", import.meta.url))],
      outfile: crew.#program,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      conditions: ["@lotse/source"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      logLevel: "silent",
    });
    return crew;
  }

  /** Starts one more. */
  async start(): Promise<Replica> {
    const { cluster, namespace, witness, lease, coordination } = this.#place;
    const cable = await Cable.open(cluster.url);
    const identity = `replica-${this.#all.length + 1}`;
    const env: ReplicaSettings = {
      KUBECONFIG: this.#kubeconfig(identity, cable.url),
      REPLICA_NAMESPACE: namespace,
      REPLICA_IDENTITY: identity,
      REPLICA_WITNESS: witness,
      REPLICA_LEASE: lease,
      REPLICA_COORDINATION: coordination,
    };
    const child = spawn(process.execPath, [this.#program], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const log: LogRecord[] = [];
    const ended = once(child, "close") as Promise<[number | null, string | null]>;
    const listening = new EventEmitter();
    const listens = Promise.race([once(listening, LISTENS), ended]);
    const lines = new LineReader((line) => {
      if (line === LISTENS) listening.emit(LISTENS);
      else log.push(JSON.parse(line) as LogRecord);
    });
    child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    const replica: Replica = { identity, cable, process: child, log, listens, ended };
    this.#all.push(replica);
    this.replicas.push(replica);
    return replica;
  }

  /** A replica that is at work or stands by, by its identity. */
  find(identity: string): Replica | undefined {
    return this.replicas.find((one) => one.identity === identity);
  }

  /** It is no more. */
  async dismiss(replica: Replica, signal: "SIGTERM" | "SIGKILL"): Promise<readonly [number | null, string | null]> {
    this.replicas.splice(this.replicas.indexOf(replica), 1);
    if (signal === "SIGTERM") await replica.listens;
    replica.process.kill(signal);
    const ended = await replica.ended;
    replica.cable.close();
    return ended;
  }

  /** What all of them have logged, for whoever has to find out why a test fails. */
  story(): string {
    return this.#all
      .flatMap(({ identity, log }) => log.map((one) => ({ identity, ...one })))
      .toSorted((a, b) => a.time - b.time)
      .map(({ identity, time, level, message, object, fields }) =>
        [new Date(time).toISOString(), identity, level, object?.name, message, JSON.stringify(fields)].join(" "),
      )
      .join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.replicas].map((replica) => this.dismiss(replica, "SIGKILL")));
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get #program(): string {
    return path.join(this.#folder, "replica.mjs");
  }

  #kubeconfig(identity: string, server: string): string {
    const file = path.join(this.#folder, `${identity}.kubeconfig`);
    const config = this.#place.cluster.kubeconfig as { clusters?: { name: string; cluster: object }[] };
    const clusters = config.clusters?.map(({ name, cluster }) => ({ name, cluster: { ...cluster, server } }));
    writeFileSync(file, JSON.stringify({ ...config, clusters }), { mode: 0o600 });
    return file;
  }
}
