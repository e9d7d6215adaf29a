/** client-go and controller-runtime, as they come from the module proxy, against the embedded cluster. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Client } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../run.ts";
import { definition } from "./definition.ts";
import { buildGoClient } from "./go/build.ts";

/** A cold module proxy and a slow machine. */
const buildLimitMs = 900_000;

describe("a client in Go", () => {
  let program: string;
  let cluster: Cluster;
  let client: Client;
  let folder: string;

  beforeAll(async () => {
    program = await buildGoClient((line) => process.stdout.write(`${line}\n`));
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-clients-"));
    cluster = await Cluster.start({ kubelet: "simulate", rbac: true });
    await cluster.writeKubeconfig(path.join(folder, "kubeconfig"));
    client = await cluster.connect();
    await client.create(definition);
    await client.wait("crd", definition.metadata.name, "condition=Established", { timeout: "170s" });
  }, buildLimitMs);

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  async function play(name: string): Promise<unknown> {
    const outcome = await run(program, [name], { env: { KUBECONFIG: path.join(folder, "kubeconfig") } });
    expect(outcome.exitCode, outcome.stderr).toBe(0);
    return JSON.parse(outcome.stdout);
  }

  it("works with typed objects, whose bodies are protobuf", async () => {
    expect(await play("typed")).toEqual({
      version: "1.36",
      bytes: "AAH/",
      conflict: true,
      data: { a: "2", c: "3", d: "4", e: "5" },
      missing: 'configmaps "nowhere" not found',
      pages: 2,
      events: ["ADDED", "DELETED", "DELETED"],
      role: true,
    });
  });

  it("keeps informers that list by watching", async () => {
    expect(await play("informers")).toEqual({
      synced: 3,
      metadata: 3,
      journal: [
        "added informed",
        "added informed-0",
        "added informed-1",
        "added informed-2",
        "deleted informed-1",
        "updated informed-0",
      ],
    });
    const initial = cluster.requests.filter(({ path }) => path.includes("sendInitialEvents=true"));
    expect(initial.map(({ resource }) => resource)).toEqual(
      expect.arrayContaining(["configmaps", "exchangerates.rates.example.com"]),
    );
    // A refusal would make client-go fall back to a list.
    expect(new Set(initial.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("elects a leader, and the next one when it has gone", async () => {
    expect(await play("election")).toEqual({ leaders: ["first", "second"], holder: "second", transitions: 1 });
  });

  it("runs an operator with controller-runtime", async () => {
    expect(await play("manager")).toEqual({
      finalizers: ["rates.example.com/controller-runtime"],
      indexed: 1,
      event: "has a finalizer",
    });
  });
});
