/** `lotse freeze` and `lotse resume` on an embedded cluster, with an operator's coordinator beside them. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Client, Lease } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createCoordinator, PAUSE_ANNOTATION } from "../coordination/index.ts";
import { type Coordination, leader, peering, planCoordination } from "../declare/index.ts";
import { Logger, Metrics } from "../report/index.ts";
import { main } from "./main.ts";
import { testIo } from "./terminal/test-io.ts";

let cluster: Cluster;
let client: Client;
let cwd: string;

beforeEach(async () => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-freeze-"));
  cluster = await Cluster.start();
  await cluster.writeKubeconfig(path.join(cwd, "kubeconfig"));
  client = await cluster.connect();
});

afterEach(async () => {
  await client.close();
  await cluster.stop();
  rmSync(cwd, { recursive: true, force: true });
});

async function lotse(...argv: string[]) {
  const io = testIo({ cwd, env: { KUBECONFIG: path.join(cwd, "kubeconfig"), USER: "ada" } });
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

const ME = `ada@${os.hostname()}`;

/** A process of an operator, without the operator. */
async function join(coordination: Coordination) {
  const coordinator = await createCoordinator(planCoordination(coordination), {
    ...{ operator: "rates", client, clock: systemClock, random: Math.random, metrics: new Metrics() },
    logger: new Logger(
      () => undefined,
      () => 0,
    ),
    ...{ environment: { POD_NAMESPACE: "default", POD_ID: "rates-0" }, namespaces: undefined },
  });
  if (!coordinator) throw new Error("it is alone");
  const stopping = new AbortController();
  const running = coordinator.run({ ownershipChanged: async () => {}, leads: () => {} }, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await running;
    await coordinator.release();
  });
  await vi.waitFor(() => expect(coordinator.health().state).toBe("working"), { timeout: 170_000 });
  return coordinator;
}

const state = (coordinator: Awaited<ReturnType<typeof join>>, expected: string) =>
  vi.waitFor(() => expect(coordinator.health().state).toBe(expected), { timeout: 170_000 });

describe("by the operator's Lease", () => {
  it("freeze pauses it, says so when it writes nothing any more, and resume has it go on", async () => {
    const rates = await join(leader({ identity: "rates-0", retry: "300ms" }));
    const frozen = await lotse("freeze", "rates", "--lifetime", "10m", "--message", "a restore");
    expect(frozen).toEqual({
      code: 0,
      out: `default/rates: paused for 10m by ${ME} with priority 100, rates-0 writes nothing any more\nEnd it with: lotse resume rates\n`,
      err: "",
    });
    expect(rates.health()).toMatchObject({ state: "paused", reason: `paused by ${ME}: a restore` });
    const resumed = await lotse("resume", "rates", "-n", "default");
    expect(resumed).toEqual({ code: 0, out: `default/rates: the pause by ${ME} is over\n`, err: "" });
    await state(rates, "working");
    expect((await lotse("resume", "rates")).out).toBe(`default/rates: ${ME} has not paused it\n`);
  });

  it("prints JSON, needs no name where there is one operator, and says who else has paused it", async () => {
    await join(leader({ identity: "rates-0", retry: "300ms" }));
    const { code, out } = await lotse(
      "freeze",
      "-A",
      "--id",
      "bob",
      "--priority",
      "7",
      "--lifetime",
      "60",
      "-o",
      "json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ...{ operator: "rates", namespace: "default", lease: "rates", holder: "rates-0", heard: true, by: "bob" },
      ...{ priority: 7, until: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    const { metadata } = await client.get(Lease, "rates", { namespace: "default" });
    expect(JSON.parse(metadata.annotations?.[PAUSE_ANNOTATION] ?? "")).toMatchObject({ by: "bob", lifetime: 60 });
    expect((await lotse("resume")).out).toBe(
      `default/rates: ${ME} has not paused it, it is paused by bob (--id takes that back)\n`,
    );
    expect(JSON.parse((await lotse("resume", "--id", "bob", "-o", "json")).out)).toEqual({
      ...{ operator: "rates", namespace: "default", lease: "rates", by: "bob", removed: true, pausedBy: [] },
    });
  });

  it("says what to do where there is no Lease", async () => {
    const nothing = await lotse("freeze", "shops");
    expect(nothing).toEqual({
      code: 1,
      out: "",
      err: [
        "Error: there is no Lease of the operator shops in the namespace default",
        "Why:   an operator that runs alone coordinates with nobody, and cannot be told to pause",
        'Do:    choose its namespace with -n or -A; run it with coordination: "leader", or scale it down\n',
      ].join("\n"),
    });
    expect((await lotse("resume", "-A")).err).toContain("there is no Lease of an operator in any namespace");
    const lease = (name: string) =>
      client.create(new Lease({ metadata: { name, annotations: { "lotse.dev/lease-writer": "w" } } }));
    await lease("shop");
    expect((await lotse("freeze", "shops")).err).toContain("did you mean shop?");
    await lease("rates");
    expect(await lotse("freeze")).toMatchObject({ code: 2, err: expect.stringContaining("name one of rates, shop") });
  });

  it("says which rights are missing", async () => {
    await cluster.stop();
    cluster = await Cluster.start({ rbac: true });
    client = await cluster.connect();
    await client.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "poor", namespace: "default" } });
    const { writeFile } = await import("node:fs/promises");
    const kubeconfig = cluster.kubeconfigFor({ serviceAccount: "default/poor" });
    await writeFile(path.join(cwd, "kubeconfig"), JSON.stringify(kubeconfig));
    const { code, err } = await lotse("freeze", "rates");
    expect(code).toBe(1);
    expect(err).toMatch(
      /^Error: you may not pause an operator here\nWhy: .*forbidden.*\nDo: .*get, list and patch leases/,
    );
  });
});

describe("by a peering object", () => {
  async function install(): Promise<void> {
    const { installPeering, peeringCrd, peeringObject } = await import("../coordination/peering/test-peering-kinds.ts");
    await installPeering(client);
    await installPeering(client, peeringCrd(false));
    await client.create(peeringObject());
    await client.create(peeringObject("default"));
  }

  it("freeze pauses all peers, in Kopf's form, and resume has them go on", async () => {
    await install();
    const rates = await join(peering());
    const frozen = await lotse("freeze", "--peering", "default", "--message", "a restore");
    expect(frozen).toEqual({
      code: 0,
      out: `ClusterKopfPeering default: paused for 5m by ${ME} with priority 100\nEnd it with: lotse resume --peering default\n`,
      err: "",
    });
    expect(rates.health()).toMatchObject({ state: "paused", holder: ME });
    const { body } = await client.get("clusterkopfpeerings.kopf.dev", "default");
    expect((body as { status?: Record<string, object> }).status?.[ME]).toMatchObject({
      ...{ priority: 100, lifetime: 300, message: "a restore", lastseen: expect.any(String) },
    });
    expect((await lotse("resume", "--peering", "default")).out).toBe(
      `ClusterKopfPeering default: the pause by ${ME} is over\n`,
    );
    await state(rates, "working");
  });

  it("in namespaces writes to the objects of each, by name or by a pattern", async () => {
    await install();
    expect((await lotse("freeze", "--peering", "default", "-n", "def*", "--id", "bob")).out).toContain(
      "KopfPeering default/default: paused for 5m by bob",
    );
    const resumed = await lotse("resume", "--peering", "default", "-n", "default", "--id", "bob", "-o", "json");
    expect(JSON.parse(resumed.out)).toMatchObject({ kind: "KopfPeering", namespace: "default", removed: true });
  });

  it("says what to do where the definition or the object is missing", async () => {
    expect(await lotse("freeze", "--peering", "default")).toMatchObject({
      code: 1,
      err: [
        "Error: the cluster has no kind ClusterKopfPeering",
        "Why:   neither kopf.dev/v1 nor zalando.org/v1 has it",
        "Do:    install Kopf's definition of it, or leave --peering out to pause an operator by its Lease\n",
      ].join("\n"),
    });
    await install();
    const { code, err } = await lotse("resume", "--peering", "ours");
    expect([code, err]).toEqual([1, expect.stringContaining("there is no ClusterKopfPeering ours\n")]);
    expect((await lotse("freeze", "--peering", "x", "-n", "default")).err).toContain("in the namespace default\n");
  });
});

describe("wrong usage", () => {
  it.each([
    [["freeze", "rates", "-n", "a", "-A"], "--namespace and --all-namespaces exclude each other"],
    [["resume", "rates", "--peering", "default"], "rates and --peering exclude each other"],
    [["freeze", "rates", "--lifetime", "soon"], "It is a duration: 30s, 5m, 1h30m."],
    [["freeze", "rates", "--lifetime", "1ms"], "It is a second at least."],
    [["freeze", "rates", "--priority", "high"], "It is a whole number."],
  ])("%j is 2: %s", async (argv, message) => {
    const { code, err } = await lotse(...argv);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
