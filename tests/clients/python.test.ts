/** Python clients, as they come from PyPI, against the embedded cluster. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Client } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { installPackages } from "../python.ts";
import { freePorts } from "../real/server-process.ts";
import { run } from "../run.ts";
import { definition } from "./definition.ts";

/** A cold package index and a slow machine. */
const installLimitMs = 600_000;
const packages = ["kopf==1.45.2", "kr8s==0.20.15"];
const file = (name: string) => fileURLToPath(new URL(`./python/${name}`, import.meta.url));

describe("a client in Python", () => {
  let python: string;
  let cluster: Cluster;
  let client: Client;
  let folder: string;

  beforeAll(async () => {
    const log = (line: string) => void process.stdout.write(`${line}\n`);
    python = await installPackages({ title: "Kopf and kr8s", folder: "clients", packages }, log);
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-clients-"));
    cluster = await Cluster.start({ kubelet: "process", rbac: true });
    await cluster.writeKubeconfig(path.join(folder, "kubeconfig"));
    client = await cluster.connect();
    await client.create(definition);
    await client.wait("crd", definition.metadata.name, "condition=Established", { timeout: "170s" });
  }, installLimitMs);

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  // It would leave compiled files beside the sources, and a memory of kinds in the home folder.
  const env = () => ({
    KUBECONFIG: path.join(folder, "kubeconfig"),
    PYTHONDONTWRITEBYTECODE: "1",
    XDG_CACHE_HOME: path.join(folder, "cache"),
  });

  it("kr8s reads, writes, pages, watches, waits, and opens streams", async () => {
    const [port = 0] = await freePorts(1);
    const program = `require("node:http").createServer((q, a) => a.end("you asked for " + q.url)).listen(${port}, "127.0.0.1", () => console.log("listening"));`;
    const outcome = await run(python, [file("with_kr8s.py")], {
      env: { ...env(), NODE: process.execPath, PROGRAM: program, PORT: String(port) },
    });
    expect(outcome.exitCode, outcome.stderr).toBe(0);
    expect(JSON.parse(outcome.stdout)).toEqual({
      connect: {
        version: expect.stringMatching(/^v1\.36\./),
        who: expect.any(String),
        kinds: ["Deployment", "ExchangeRate", "Pod"],
        versions: true,
      },
      write_and_read: {
        created: true,
        data: { a: "3", b: "2" },
        labels: { tier: "front" },
        found: ["kr8s"],
        twice: [409, 'configmaps "kr8s" already exists'],
        gone: true,
        missing: true,
      },
      pages: { count: 120, sorted: true },
      watch: [
        ["ADDED", "watched", { n: "1" }],
        ["MODIFIED", "watched", { n: "2" }],
        ["DELETED", "watched", { n: "2" }],
      ],
      custom_objects: {
        spec: { currency: "EUR" },
        status: { rate: 1.5 },
        replicas: 3,
        refused: [422, expect.stringContaining("spec.currency in body should match '^[A-Z]{3}$'")],
      },
      workloads: { pods: 2, owners: ["ReplicaSet"] },
      streams: {
        logs: ["listening"],
        exec: ["out\n", "err\n", 0],
        failed: 3,
        answer: "you asked for /path",
      },
    });
  });

  it("Kopf handles an object from its creation to its end", async () => {
    await client.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "table", namespace: "default", labels: { rates: "yes" } },
      data: { rate: "1.25" },
    });
    const stop = new AbortController();
    const running = run(python, ["-m", "kopf", "run", "--standalone", "--namespace", "default", file("with_kopf.py")], {
      env: env(),
      signal: stop.signal,
    });
    const ended = running.then(({ stderr }) => expect.unreachable(`Kopf ended by itself:\n${stderr}`));
    const rate = {
      apiVersion: "rates.example.com/v1",
      kind: "ExchangeRate",
      metadata: { name: "dollar", namespace: "default" },
      spec: { currency: "USD" },
    };
    // biome-ignore lint/suspicious/noExplicitAny: the test looks into an object without a class
    const read = async () => (await client.get("exchangerates", "dollar", { namespace: "default" })) as any;
    const handled = (async () => {
      await client.create(rate);
      await vi.waitFor(
        async () => {
          const { metadata, status } = await read();
          expect(metadata.finalizers).toEqual(["rates.example.com/kopf"]);
          expect(metadata.annotations["example.com/daemon"]).toBe("seen");
          expect(status.rate).toBe(1.25);
          expect(status.ticks).toBeGreaterThan(1);
        },
        { timeout: 60_000, interval: 200 },
      );
      await client.patch("exchangerates", "dollar", { spec: { currency: "CHF" } }, { namespace: "default" });
      await vi.waitFor(
        async () => expect((await read()).metadata.annotations["example.com/changed"]).toBe("USD to CHF"),
        { timeout: 30_000, interval: 200 },
      );
      const events = await client.list("events", { namespace: "default" }).toArray();
      expect(events.map(({ body }) => (body as { message?: string }).message)).toContain("USD has a rate");
      await client.delete("exchangerates", "dollar", { namespace: "default" });
      await vi.waitFor(
        async () => expect(await client.list("exchangerates", { namespace: "default" }).toArray()).toEqual([]),
        {
          timeout: 30_000,
          interval: 200,
        },
      );
    })();
    try {
      await Promise.race([handled, ended]);
    } finally {
      ended.catch(() => {});
      stop.abort();
      await running;
    }
  });
});
