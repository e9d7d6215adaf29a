/**
 * `lotse generate deploy --coordination shards --replicas 3 | kubectl apply -f -`: the three processes of the Deployment,
 * each with nothing but the token of its ServiceAccount, share the objects; one is killed, and the others do its part.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import type { Client } from "lotse/client";
import { Lease } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ExchangeRate } from "../../examples/exchange-rates/operator.ts";
import { type ClusterKind, run, startCluster, type TestCluster } from "../fixture.ts";
import { type HeldRates, startRates } from "./deploy-job.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOTSE = path.join(ROOT, "packages/lotse/bin/lotse.js");
const EXAMPLE = "examples/exchange-rates/operator.ts";
const [NAME, NAMESPACE] = ["exchange-rates", "rates"];
const PATIENCE = { timeout: 120_000, interval: 200 };

interface Deployment {
  readonly kind: string;
  readonly spec: {
    replicas: number;
    template: { spec: { containers: { env: { name: string; value?: string }[] }[] } };
  };
}

const generated = await run(
  process.execPath,
  [LOTSE, "generate", "deploy", EXAMPLE, "--namespace", NAMESPACE, "--coordination", "shards", "--replicas", "3"],
  { cwd: ROOT },
);
const deployment = (loadAll(generated.stdout) as Deployment[]).find(({ kind }) => kind === "Deployment");

/** A pod of the Deployment, as a process. */
class Pod {
  readonly #child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  #log = "";

  constructor(name: string, kubeconfig: string, more: Readonly<Record<string, string>>) {
    const { env = [] } = deployment?.spec.template.spec.containers[0] ?? {};
    this.#child = spawn(process.execPath, [LOTSE, "run", EXAMPLE, "--log-format", "json"], {
      cwd: ROOT,
      env: {
        ...process.env,
        ...Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
        POD_NAME: name,
        POD_NAMESPACE: NAMESPACE,
        LOTSE_RUN_LIVENESS: "http://127.0.0.1:0/healthz",
        LOTSE_RUN_EXPLAIN: "http://127.0.0.1:0",
        KUBECONFIG: kubeconfig,
        ...more,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#log += text;
    });
    this.ended = once(this.#child, "close");
  }

  get log(): string {
    return this.#log;
  }

  /** Its part of all objects in percent, as it told last. */
  get share(): number {
    return Number([...this.#log.matchAll(/"share":"([\d.]+) %"/g)].at(-1)?.[1] ?? 0);
  }

  /** Names of the objects whose creation it has handled. */
  get published(): string[] {
    const lines = this.#log.split("\n").filter((line) => line.includes('"rate published"'));
    return lines.map((line) => (JSON.parse(line) as { object: { name: string } }).object.name);
  }

  async end(signal: NodeJS.Signals): Promise<unknown[]> {
    this.#child.kill(signal);
    return this.ended;
  }
}

describe.each<ClusterKind>(["embedded", "real"])("three replicas deployed to the %s cluster", (kind) => {
  let cluster: TestCluster;
  let admin: Client;
  let rates: HeldRates;
  let folder: string;
  const pods: Pod[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-deploy-shards-"));
    const kubeconfig = path.join(folder, "kubeconfig");
    cluster = await startCluster(kind, { tls: true });
    admin = (await cluster.connect()).inNamespace(NAMESPACE);
    rates = await startRates();
    await kubectl(["create", "namespace", NAMESPACE]);
    await kubectl(["apply", "-f", "-"], generated.stdout);
    const token = await kubectl(["create", "token", NAME, "-n", NAMESPACE]);
    const config = structuredClone(cluster.kubeconfig) as { users: { user: object }[] };
    for (const one of config.users) one.user = { token: token.trim() };
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    for (let i = 0; i < (deployment?.spec.replicas ?? 0); i++) {
      pods.push(new Pod(`${NAME}-${i}`, kubeconfig, { RATES_URL: rates.url }));
    }
  });

  afterAll(async () => {
    await Promise.all(pods.map((pod) => pod.end("SIGKILL")));
    await rates?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function kubectl(args: readonly string[], stdin = ""): Promise<string> {
    const outcome = await cluster.kubectl(args, { stdin });
    expect(outcome, `kubectl ${args.join(" ")}`).toMatchObject({ exitCode: 0 });
    return outcome.stdout;
  }

  async function createRates(names: readonly string[]): Promise<void> {
    for (const name of names) await admin.create(new ExchangeRate({ metadata: { name }, spec: { currency: "EUR" } }));
    await vi.waitFor(async () => {
      const all = await admin.list(ExchangeRate).toArray();
      const ready = all.filter(({ status }) => status?.rate !== undefined).map(({ name }) => name);
      expect(names.filter((name) => !ready.includes(name))).toEqual([]);
    }, PATIENCE);
  }

  it("share the objects, and do the part of one that is killed", { timeout: 300_000 }, async ({ onTestFailed }) => {
    onTestFailed(() => console.error(pods.map(({ log }) => log).join("\n\n")));
    expect(pods).toHaveLength(3);
    await vi.waitFor(() => {
      for (const { share } of pods) expect(Math.round(share / 10)).toBe(3);
    }, PATIENCE);
    const leases = await admin.list(Lease, { labelSelector: { "lotse.dev/operator": NAME } }).toArray();
    expect(leases.map(({ name }) => name).sort()).toEqual([0, 1, 2].map((n) => `${NAME}-shard-${n}`));

    const names = Array.from({ length: 30 }, (_, i) => `rate-${i}`);
    await createRates(names);
    await vi.waitFor(
      () => expect(pods.flatMap(({ published }) => published).sort()).toEqual(names.toSorted()),
      PATIENCE,
    );
    for (const { published } of pods) expect(published.length).toBeGreaterThan(0);

    expect(await pods[0]?.end("SIGKILL")).toEqual([null, "SIGKILL"]);
    await createRates(Array.from({ length: 30 }, (_, i) => `later-${i}`));
    for (const pod of pods.slice(1)) expect(await pod.end("SIGTERM")).toEqual([0, null]);
    for (const { log } of pods) expect(log).not.toMatch(/forbidden|permission/i);
  });
});
