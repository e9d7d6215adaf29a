import { Lease } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FencedError } from "../declare/index.ts";
import { PAUSE_ANNOTATION } from "./pause/index.ts";
import { leaseIn, pass, quiet, Replica, type ReplicaOptions, timeUntil } from "./test-replicas.ts";

let cluster: Cluster;
let clock: VirtualClock;
let replicas: Replica[];

beforeEach(async () => {
  cluster = await Cluster.start({ tls: false });
  clock = new VirtualClock();
  replicas = [];
});

afterEach(async () => {
  // What is given back to a server that does not answer is waited for: that takes time, too.
  const stopped = Promise.all(replicas.map((one) => one.stop()));
  let over = false;
  const isOver = stopped.finally(() => {
    over = true;
  });
  while (!over) await clock.advance(1_000);
  await isOver;
  await cluster.stop();
  expect(clock.pending, "calls that wait after the end").toBe(0);
});

async function start(options: Partial<ReplicaOptions> = {}): Promise<Replica> {
  const replica = await Replica.start(cluster, { clock, ...options });
  replicas.push(replica);
  await quiet(cluster, replicas);
  return replica;
}

const passing = () => ({ cluster, clock, replicas });
const until = (check: () => boolean, atMostMs = 60_000) => timeUntil(check, { ...passing(), atMostMs });
const requestsOf = (verb: string) => cluster.requests.filter({ verb, resource: "leases.coordination.k8s.io" }).length;

describe("a process that is to lead", () => {
  it("takes a Lease that client-go would understand, and keeps it", async () => {
    const a = await start({ lease: { identity: "a" } });
    expect(a.works).toBe(true);
    expect(a.told).toEqual(["lead", "this process leads"]);
    expect((await leaseIn(a.client)).spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
    await pass(60_000, passing());
    expect(a.works).toBe(true);
    expect((await leaseIn(a.client)).spec).toMatchObject({
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:01:00.000000Z",
      leaseTransitions: 0,
    });
    expect(a.told).toEqual(["lead", "this process leads"]);
  });

  it("lets no write pass before it leads, and says who does", async () => {
    const a = await start({ lease: { identity: "a" } });
    const b = await start({ lease: { identity: "b" } });
    expect(() => a.coordinator.pass()).not.toThrow();
    expect(() => b.coordinator.pass()).toThrow(FencedError);
    expect(() => b.coordinator.pass()).toThrow("another process leads, a");
    expect([b.works, b.coordinator.ownsTask()]).toEqual([false, false]);
    expect(b.told).toEqual([]);
    expect(b.coordinator.health()).toEqual({ type: "leader", identity: "b", state: "standby", holder: "a" });
    expect(a.coordinator.health()).toMatchObject({ state: "working", holder: "a", renewedMs: 0 });
  });

  it("costs the server at most one request in two seconds, and a standby next to nothing", async () => {
    await start();
    await start();
    const before = cluster.requests.entries.length;
    await pass(120_000, passing());
    expect(requestsOf("update")).toBeLessThanOrEqual(60);
    expect(cluster.requests.entries.length - before).toBeLessThanOrEqual(60);
  });

  it("is told by the names that dashboards know", async () => {
    const a = await start();
    const b = await start();
    await pass(1_000, passing());
    expect(a.metrics.render()).toContain('leader_election_master_status{name="rates"} 1');
    expect(a.metrics.render()).toContain('lotse_lease_renewal_age_seconds{name="rates"} 1');
    expect(b.metrics.render()).toContain('leader_election_master_status{name="rates"} 0');
    expect(b.metrics.render()).not.toContain("renewal_age");
  });
});

describe("when the leader goes", () => {
  it("cleanly, the next one leads at once", async () => {
    const a = await start();
    const b = await start();
    await pass(5_000, passing());
    await a.stop();
    expect(await until(() => b.works)).toBe(0);
    expect(b.told).toEqual(["lead", "this process leads"]);
    expect((await leaseIn(b.client)).spec).toMatchObject({ leaseTransitions: 1, leaseDurationSeconds: 15 });
    expect(() => a.coordinator.pass()).toThrow("this process has given its Lease back");
  });

  it("cleanly and without permission to watch, the next one leads after its next look", async () => {
    cluster.faults.add({ match: { verb: "watch", resource: "leases.coordination.k8s.io" }, status: 403 });
    const a = await start();
    const b = await start();
    await pass(5_000, passing());
    expect(b.messages).toContain("the Lease cannot be watched, it is read again and again instead");
    await a.stop();
    expect(await until(() => b.works)).toBeLessThanOrEqual(2_400);
  });

  it("by a crash, the next one leads after the Lease's duration, and not before", async () => {
    const a = await start();
    const b = await start();
    await pass(60_000, passing());
    await a.crash();
    const took = await until(() => b.works);
    expect(took).toBeGreaterThan(13_000);
    expect(took).toBeLessThanOrEqual(15_400);
    expect(a.works).toBe(false);
  });

  it("by a crash, a third one waits for its turn", async () => {
    const [a, b, c] = [await start(), await start(), await start()];
    await a.crash();
    await until(() => b.works || c.works);
    const [second, third] = b.works ? [b, c] : [c, b];
    await pass(60_000, passing());
    expect([second.works, third.works]).toEqual([true, false]);
    await second.crash();
    await until(() => third.works);
    expect(second.works).toBe(false);
    expect((await leaseIn(third.client)).spec).toMatchObject({ leaseTransitions: 2 });
  });
});

describe("a leader that cannot renew", () => {
  it("closes its fence in time, stands by until its work has ended, and takes the Lease again", async () => {
    let ended = () => {};
    const letGo = () =>
      new Promise<void>((resolve) => {
        ended = resolve;
      });
    const a = await start({ letGo });
    const fault = cluster.faults.add({ match: { verb: "update" }, status: 500 });
    const took = await until(() => !a.works);
    expect(took).toBeGreaterThan(9_000);
    expect(took).toBeLessThanOrEqual(10_000);
    expect(() => a.coordinator.pass()).toThrow("this process renewed its Lease 10s ago, and has to take it again");
    fault.remove();
    await pass(30_000, passing());
    expect(a.works, "while its work goes on").toBe(false);
    expect(a.told).toEqual(["lead", "this process leads", "follow", "the Lease is lost: it was not renewed in time"]);
    ended();
    await until(() => a.works);
    expect(a.told.slice(4)).toEqual(["lead", "this process leads"]);
    expect(a.messages).toContain("the Lease cannot be reached, will be tried again");
    expect(a.metrics.render()).toMatch(/lotse_lease_renewal_failures_total\{name="rates"\} [345]/);
  });

  it("tries again while requests hang, and gives up in time", async () => {
    const a = await start();
    const fault = cluster.faults.add({ match: { verb: "update" }, delay: 3_600_000 });
    const took = await timeUntil(() => !a.works, { ...passing(), atMostMs: 11_000, hanging: true });
    expect(took).toBe(10_000);
    expect(fault.hits).toBeGreaterThanOrEqual(3);
    fault.remove();
    await until(() => a.works);
  });

  it("leads on when an answer was lost: it knows its own record", async () => {
    const a = await start();
    cluster.faults.add({ match: { verb: "update", count: 1 }, reset: "after" });
    await pass(30_000, passing());
    expect(a.works).toBe(true);
    expect(a.told).toEqual(["lead", "this process leads"]);
    expect(a.metrics.render()).toContain('leader_election_slowpath_total{name="rates"} ');
  });

  it("is told which right is missing", async () => {
    cluster.faults.add({ match: { resource: "leases.coordination.k8s.io" }, status: 403 });
    const a = await start();
    expect(a.coordinator.health()).toMatchObject({ state: "waiting", reason: "forbidden" });
    const line = a.logs.find(({ message }) => message === "the Lease cannot be reached, will be tried again");
    expect(line).toMatchObject({
      level: "warn",
      fields: { hint: "allow get of leases.coordination.k8s.io in default" },
    });
    await pass(20_000, passing());
    cluster.faults.clear();
    await until(() => a.works);
    expect(a.messages).toContain("the Lease can be reached again");
  });

  it("finds its fence closed when it was stopped and goes on, before anything else happens", async () => {
    const a = await start();
    // The clock of a stopped process goes on, but none of its timers.
    const real = clock.monotonic.bind(clock);
    clock.monotonic = () => real() + 20_000;
    expect(() => a.coordinator.pass()).toThrow(FencedError);
    expect(a.told).toEqual(["lead", "this process leads"]);
    clock.monotonic = real;
    // It stays closed, though the clock be young again.
    expect(() => a.coordinator.pass()).toThrow(FencedError);
    await until(() => a.works);
    expect(a.told.slice(2)).toEqual([
      "follow",
      "the Lease is lost: it was not renewed in time",
      "lead",
      "this process leads",
    ]);
  });

  it("gives way at once when the Lease is in other hands", async () => {
    const a = await start();
    await a.client.patch(Lease, "rates", { spec: { holderIdentity: "thief" } }, { namespace: "default" });
    expect(await until(() => !a.works)).toBe(0);
    expect(a.told.at(-1)).toBe("the Lease is lost: another process has taken it");
    expect(await until(() => a.works)).toBeGreaterThan(14_000);
  });

  it("stops when its Lease is deleted, and makes another", async () => {
    const a = await start();
    const b = await start();
    await a.client.delete(Lease, "rates", { namespace: "default" });
    await until(() => a.told.includes("the Lease is lost: it was deleted"));
    await until(() => a.works || b.works);
    expect([a.works, b.works]).toEqual([true, false]);
  });
});

describe("two processes with the same identity", () => {
  it("never both lead: the record says whose it is", async () => {
    const a = await start({ lease: { identity: "same" } });
    const b = await start({ lease: { identity: "same" } });
    await pass(30_000, passing());
    expect([a.works, b.works]).toEqual([true, false]);
    expect(b.messages).toContain("another process with the same identity holds the Lease");
    await a.crash();
    expect(await until(() => b.works)).toBeGreaterThan(12_000);
  });
});

describe("a process that stops", () => {
  it("keeps the Lease until everything is written", async () => {
    const a = await start();
    const b = await start();
    a.beginStop();
    await pass(60_000, passing());
    expect([a.works, b.works]).toEqual([true, false]);
    await a.stop();
    expect(await until(() => b.works)).toBe(0);
  });

  it("takes nothing any more", async () => {
    const a = await start();
    const b = await start();
    b.beginStop();
    await a.stop();
    await pass(30_000, passing());
    expect(b.works).toBe(false);
  });

  it("leaves its Lease to run out when the server does not answer, and does not wait for ever", async () => {
    const a = await start();
    cluster.faults.add({ match: { verb: "update" }, status: 503 });
    let over = false;
    const stopped = a.stop().then(() => {
      over = true;
    });
    expect(await until(() => over)).toBeLessThanOrEqual(7_000);
    await stopped;
    expect(a.messages).toContain("the Lease could not be given back, others take it when it has run out");
    cluster.faults.clear();
  });
});

describe("a pause on the Lease", () => {
  const pause = (until: string) => ({
    metadata: { annotations: { [PAUSE_ANNOTATION]: JSON.stringify({ by: "ada", until, message: "the demo" }) } },
  });

  it("lets nobody work while it lasts; the holder keeps the Lease, and the pause stays in it", async () => {
    const a = await start();
    const b = await start();
    const patch = { ...pause("2026-01-01T00:05:00Z") };
    await a.client.patch(Lease, "rates", patch, { namespace: "default" });
    expect(await until(() => !a.works)).toBe(0);
    expect(() => a.coordinator.pass()).toThrow("nothing was sent: the operator is paused by ada: the demo");
    expect(a.told.slice(2)).toEqual(["follow", "paused by ada: the demo"]);
    await pass(240_000, passing());
    expect([a.works, b.works]).toEqual([false, false]);
    for (const one of [a, b]) {
      expect(one.coordinator.health()).toMatchObject({ state: "paused", reason: "paused by ada: the demo" });
    }
    expect((await leaseIn(a.client)).metadata?.annotations).toMatchObject(patch.metadata.annotations);
    expect((await leaseIn(a.client)).spec?.leaseTransitions).toBe(0);
    await until(() => a.works);
    expect(clock.monotonic()).toBe(300_000);
    expect(a.messages).toContain("the pause is over");
  });

  it("that is renewed lasts on, and people are told of it once", async () => {
    const a = await start();
    for (const until of ["2026-01-01T00:00:30Z", "2026-01-01T00:00:40Z", "2026-01-01T00:00:50Z"]) {
      await a.client.patch(Lease, "rates", pause(until), { namespace: "default" });
      await pass(10_000, passing());
    }
    expect(a.works).toBe(false);
    await until(() => a.works);
    expect(clock.monotonic()).toBe(50_000);
    const told = (level: string) => a.logs.filter((line) => line.level === level && /pause/.test(line.message));
    expect(told("info").map(({ message }) => message)).toEqual([
      "a pause is in force, no process works",
      "the pause is over",
    ]);
    expect(told("debug").map(({ message }) => message)).toEqual(["the pause is renewed", "the pause is renewed"]);
  });

  it("ends when it is taken off", async () => {
    const a = await start();
    await a.client.patch(Lease, "rates", pause("2026-01-01T01:00:00Z"), { namespace: "default" });
    await until(() => !a.works);
    const nothing = { metadata: { annotations: { [PAUSE_ANNOTATION]: null } } };
    await a.client.patch(Lease, "rates", nothing as never, { namespace: "default" });
    expect(await until(() => a.works)).toBe(0);
  });

  it("does not concern a process that was started with a higher priority", async () => {
    const a = await start({ lease: { priority: 101 } });
    await a.client.patch(Lease, "rates", pause("2026-01-01T01:00:00Z"), { namespace: "default" });
    await pass(5_000, passing());
    expect([a.works, a.coordinator.health().state]).toEqual([true, "working"]);
  });

  it("that cannot be read pauses nothing, and is told of", async () => {
    const a = await start();
    const nonsense = { metadata: { annotations: { [PAUSE_ANNOTATION]: "soon" } } };
    await a.client.patch(Lease, "rates", nonsense, { namespace: "default" });
    await pass(5_000, passing());
    expect(a.works).toBe(true);
    const lines = a.logs.filter(({ message }) => message.startsWith("the pause on the Lease cannot be read"));
    expect(lines).toHaveLength(1);
  });
});
