/** An operator in a process of its own, its proxy, and its corner of a cluster. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, CustomResourceDefinition, Namespace } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { ChaosProxy } from "@lotse/testing";
import { build } from "esbuild";
import type { LogRecord } from "lotse";
import { type TestContext, vi } from "vitest";
import { installedModules } from "../../packages/lotse/src/cli/terminal/test-project.ts";
import { fastClock } from "./clock.ts";
import { type Note, readNotes } from "./journal.ts";
import { Thing, Trouble } from "./kinds.ts";
import { LineReader } from "./lines.ts";
import type { ProcessSettings } from "./operator-process.ts";
import { SPEED } from "./pace.ts";

/** Nobody has said a word for this long: two and a half seconds of the fast clock. */
const QUIET_MS = 2_500 / SPEED;
const PATIENCE_MS = 400_000;

/** How tests run that start processes: side by side, on machines that may be busy. */
export const CONCURRENT = { concurrent: true, timeout: 900_000 } as const;

const OPERATORS = ["scenario-operator", "misbehaving-operator"] as const;
type OperatorName = (typeof OPERATORS)[number];

/** Waits until `check` does not throw. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return await vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });
}

/** A cluster with the suite's kinds, and the operators' programs. One for each test file. */
export class Site implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly folder: string;
  readonly epoch: number;
  readonly #trials: Trial[] = [];
  #count = 0;

  private constructor(cluster: Cluster, client: Client, folder: string, epoch: number) {
    this.cluster = cluster;
    this.client = client;
    this.folder = folder;
    this.epoch = epoch;
  }

  static async open({ crds = true }: { crds?: boolean } = {}): Promise<Site> {
    const epoch = Date.now();
    const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-faults-"));
    symlinkSync(installedModules(), path.join(folder, "node_modules"));
    const [cluster] = await Promise.all([
      Cluster.start({ tls: false, clock: fastClock(epoch, SPEED) }),
      build({
        entryPoints: OPERATORS.map((name) => fileURLToPath(new URL(`${name}.ts`, import.meta.url))),
        outdir: folder,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        packages: "external",
        platform: "node",
        format: "esm",
        target: "node20",
        sourcemap: "linked",
        logLevel: "silent",
      }),
    ]).catch((error: unknown) => {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    });
    const client = await cluster.connect();
    const site = new Site(cluster, client, folder, epoch);
    for (const crd of crds ? [Thing.crd(), Trouble.crd()] : []) {
      const installed = await client.create(new CustomResourceDefinition(crd));
      await installed.wait("condition=Established");
    }
    return site;
  }

  /** A new corner of the cluster, with nobody in it yet. A test that fails tells what happened there. */
  async trial(test?: TestContext, operator: OperatorName = "scenario-operator"): Promise<Trial> {
    const namespace = `trial-${++this.#count}`;
    const proxy = await ChaosProxy.open(this.cluster.url);
    const trial = new Trial(this, namespace, proxy, operator);
    this.#trials.push(trial);
    test?.onTestFailed(() => console.error(`${test.task.name}\n${trial.story()}`));
    await this.client.create(Namespace.gen({ name: namespace }));
    return trial;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#trials.map((trial) => trial.close()));
    await this.client.close();
    await this.cluster.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One life of an operator. */
export interface Life {
  readonly pid: number;
  /** Exit code and signal. */
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>;
  readonly log: LogRecord[];
}

/** See the module comment. */
export class Trial {
  readonly proxy: ChaosProxy;
  readonly namespace: string;
  readonly client: Client;
  readonly lives: Life[] = [];
  readonly #site: Site;
  readonly #program: string;
  readonly #flags: readonly string[];
  readonly #journal: string;
  readonly #complaints: string[] = [];
  #process: ChildProcess | undefined;

  constructor(site: Site, namespace: string, proxy: ChaosProxy, operator: OperatorName) {
    this.#site = site;
    this.namespace = namespace;
    this.proxy = proxy;
    this.client = site.client.inNamespace(namespace);
    this.#program = path.join(site.folder, `${operator}.mjs`);
    // They take time to read, and only the places of misbehaving handlers are looked at.
    this.#flags = operator === "misbehaving-operator" ? ["--enable-source-maps"] : [];
    this.#journal = path.join(site.folder, `${namespace}.journal`);
    proxy.kill = () => this.kill();
  }

  /** Starts the operator; its kubeconfig points to the proxy. */
  start(settings: { readonly crds?: "install" | "wait" } = {}): Life {
    const kubeconfig = path.join(this.#site.folder, `${this.namespace}.kubeconfig`);
    const [cluster] = this.#site.cluster.kubeconfig.clusters ?? [];
    const clusters = [{ name: cluster?.name, cluster: { ...cluster?.cluster, server: this.proxy.url } }];
    writeFileSync(kubeconfig, JSON.stringify({ ...this.#site.cluster.kubeconfig, clusters }), { mode: 0o600 });
    const env: ProcessSettings = {
      KUBECONFIG: kubeconfig,
      FAULTS_NAMESPACE: this.namespace,
      FAULTS_JOURNAL: this.#journal,
      FAULTS_GATES: this.#gates,
      FAULTS_EPOCH: String(this.#site.epoch),
      FAULTS_SPEED: String(SPEED),
      FAULTS_CRDS: settings.crds ?? "wait",
    };
    const child = spawn(process.execPath, [...this.#flags, this.#program], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = child;
    const log: LogRecord[] = [];
    const reader = new LineReader((line) => log.push(JSON.parse(line) as LogRecord));
    child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
    // Node begins with the line of the program that threw, which is as long as the bundle.
    const complaints = new LineReader((line) => this.#complaints.push(line.slice(0, 200)));
    child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk));
    // "close" comes when all that it has printed is here as well.
    const ended = once(child, "close") as Promise<[number | null, string | null]>;
    const life: Life = { pid: child.pid ?? 0, ended, log };
    this.lives.push(life);
    return life;
  }

  /** Kills the operator where it stands. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.lives.at(-1)?.ended;
  }

  /** Asks the operator to stop; gives its exit code and signal. */
  async stop(): Promise<readonly [code: number | null, signal: string | null] | undefined> {
    this.#process?.kill("SIGTERM");
    return await this.lives.at(-1)?.ended;
  }

  get notes(): Note[] {
    return readNotes(this.#journal);
  }

  /** What all lives have logged. */
  get log(): LogRecord[] {
    return this.lives.flatMap(({ log }) => log);
  }

  /** Lets the handler go on that waits for `name`. */
  openGate(name: string): void {
    writeFileSync(this.#gates + name, "");
  }

  /** Resolves when the operator is ready and nobody has said a word for a while. */
  async quiet(): Promise<void> {
    await eventually(() => {
      if (!this.lives.at(-1)?.log.some(({ message }) => message === "ready")) throw new Error("is not ready");
      if (this.proxy.quietMs < QUIET_MS) throw new Error("is not quiet");
    });
  }

  /** What happened, for whoever has to find out why a test fails. */
  story(): string {
    const log = this.log.map(({ level, message, object, fields }) => {
      const { stack: _, ...rest } = (fields ?? {}) as Record<string, unknown>;
      return `${level} [${object?.name ?? ""}] ${message} ${JSON.stringify(rest)}`;
    });
    const notes = this.notes.map(({ pid, object, handler, reason, retry, saw, phase }) =>
      [pid, object, handler, reason, retry, saw, phase].join(" "),
    );
    const requests = this.proxy.requests.map(({ label, index }) => `${label} #${index + 1}`);
    return ["Requests:", ...requests, "Calls:", ...notes, "Log:", ...log, "Standard error:", ...this.#complaints].join(
      "\n",
    );
  }

  async close(): Promise<void> {
    await this.kill();
    await this.proxy.close();
  }

  get #gates(): string {
    return path.join(this.#site.folder, `${this.namespace}.gate.`);
  }
}
