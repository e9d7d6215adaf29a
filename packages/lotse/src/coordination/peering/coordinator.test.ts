import type { Client } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FencedError, type PeeringCoordination } from "../../declare/index.ts";
import { Logger, type LogRecord, Metrics } from "../../report/index.ts";
import { PeeringCoordinator } from "./coordinator.ts";
import { installPeering, peeringCrd, peeringObject } from "./test-peering-kinds.ts";

/** A process that takes part, and what its operator was told. */
interface Member {
  readonly coordinator: PeeringCoordinator;
  readonly told: string[];
  readonly logs: LogRecord[];
  readonly metrics: Metrics;
  /** What a running handler needs to end. */
  drain: () => Promise<void>;
  stop(): Promise<void>;
}

let cluster: Cluster;
let client: Client;
let clock: VirtualClock;
let members: Member[];

beforeEach(async () => {
  clock = new VirtualClock(Date.now());
  cluster = await Cluster.start({ tls: false });
  client = await cluster.connect();
  members = [];
});

afterEach(async () => {
  await Promise.all(members.map((member) => member.stop()));
  await client.close();
  await cluster.stop();
});

function join(
  identity: string | undefined,
  plan: Partial<PeeringCoordination> = {},
  { namespaces, as = client, environment = {} }: Partial<JoinOptions> = {},
): Member {
  const logs: LogRecord[] = [];
  const told: string[] = [];
  const metrics = new Metrics();
  const coordinator = new PeeringCoordinator(
    { type: "peering", ...(identity !== undefined && { identity }), ...plan },
    {
      ...{ operator: "rates", client: as, clock, random: () => 0.5, metrics, environment, namespaces },
      logger: new Logger((record) => void logs.push(record), clock.now.bind(clock)),
    },
  );
  const stopping = new AbortController();
  const running = coordinator.run(
    {
      ownershipChanged: async (why) => {
        told.push(`${coordinator.owns() ? "works" : "stops"}: ${why}`);
        if (!coordinator.owns()) await member.drain();
      },
      leads: (leading) => void told.push(leading ? "leads" : "follows"),
    },
    stopping.signal,
  );
  let ended: Promise<void> | undefined;
  const member: Member = {
    ...{ coordinator, told, logs, metrics },
    drain: async () => undefined,
    stop() {
      stopping.abort();
      ended ??= running.then(() => coordinator.release());
      return ended;
    },
  };
  members.push(member);
  return member;
}

interface JoinOptions {
  readonly namespaces: readonly (string | RegExp)[] | undefined;
  readonly as: Client;
  readonly environment: Readonly<Record<string, string>>;
}

const stance = ({ coordinator }: Member) => coordinator.health().state;
const settled = (check: () => unknown) => vi.waitFor(check, { timeout: 170_000, interval: 20 });
const becomes = (member: Member, state: string) => settled(() => expect(stance(member)).toBe(state));
const messages = ({ logs }: Member, level?: string) =>
  logs.filter((line) => level === undefined || line.level === level).map(({ message }) => message);

/** Time passes, as fast as it can, until something is so. */
async function eventually(check: () => unknown, stepMs = 1_000): Promise<void> {
  await vi.waitFor(
    async () => {
      await clock.advance(stepMs);
      await check();
    },
    { timeout: 170_000, interval: 20 },
  );
}

async function statusOf(
  namespace?: string,
  name = "default",
  group = "kopf.dev",
): Promise<Record<string, { lastseen?: string }>> {
  const plural = namespace === undefined ? "clusterkopfpeerings" : "kopfpeerings";
  const view = namespace === undefined ? client : client.inNamespace(namespace);
  return ((await view.get(`${plural}.${group}`, name)).body as { status?: Record<string, object> }).status ?? {};
}

describe("on one object for the cluster", () => {
  beforeEach(async () => {
    await installPeering(client);
    await client.create(peeringObject());
  });

  it("a process writes its record, works, and takes the record off when it leaves", async () => {
    const a = join("a", { priority: 5, lifetime: "30s" });
    expect(() => a.coordinator.pass()).toThrow(FencedError);
    await becomes(a, "working");
    expect(await statusOf()).toMatchObject({ a: { priority: 5, lifetime: 30, lotse: { says: "working" } } });
    expect(a.coordinator.owns()).toBe(true);
    expect(a.coordinator.ownsTask()).toBe(true);
    expect(() => a.coordinator.pass()).not.toThrow();
    await settled(() => expect(a.told).toEqual(["leads", "works: no peer has precedence"]));
    expect(a.coordinator.health()).toMatchObject({ type: "peering", identity: "a", renewedMs: 0 });
    expect(a.metrics.render()).toContain('lotse_peering_working{name="default"} 1');
    await a.stop();
    expect(await statusOf()).toEqual({});
    expect(() => a.coordinator.pass()).toThrow(FencedError);
  });

  it("the lower one pauses, is told why, refuses writes, and goes on when the higher one leaves", async () => {
    const a = join("a");
    await becomes(a, "working");
    const b = join("b", { priority: 10 });
    await becomes(b, "working");
    expect(a.coordinator.health()).toMatchObject({ state: "paused", holder: "b" });
    expect(a.coordinator.owns()).toBe(false);
    expect(() => a.coordinator.pass()).toThrow(/b has the higher priority 10/);
    expect(a.told.slice(2)).toEqual(["follows", "stops: b has the higher priority 10"]);
    expect(await statusOf()).toMatchObject({ a: { lotse: { says: "paused" } }, b: { lotse: { says: "working" } } });
    await b.stop();
    await becomes(a, "working");
    expect(messages(a, "info")).toEqual([
      "taking part in the peering",
      "no peer has precedence, the operator works",
      "the operator pauses",
      "no peer has precedence, the operator works",
    ]);
    expect(messages(a, "warn")).toEqual([]);
  });

  it("the higher one begins when what runs in the lower one has ended", async () => {
    const a = join("a");
    let end = () => {};
    a.drain = () =>
      new Promise((resolve) => {
        end = resolve;
      });
    await becomes(a, "working");
    const b = join("b", { priority: 10 });
    await becomes(a, "paused");
    await settled(() =>
      expect(b.coordinator.health()).toMatchObject({ state: "waiting", reason: "a has not stopped yet" }),
    );
    expect(() => a.coordinator.pass()).toThrow(FencedError);
    end();
    await becomes(b, "working");
  });

  it("equal ones made by Lotse: the first works, the second stands by and takes over", async () => {
    const a = join("a");
    await becomes(a, "working");
    await clock.advance(10);
    const b = join("b");
    await becomes(b, "standby");
    expect(stance(a)).toBe("working");
    await a.stop();
    await becomes(b, "working");
  });

  it("an equal one made by Kopf pauses them both, with a warning that names it, once", async () => {
    const a = join("a");
    await becomes(a, "working");
    const record = { priority: 0, lifetime: 3_600, lastseen: new Date(clock.now()).toISOString() };
    await client.patch("clusterkopfpeerings.kopf.dev", "default", { status: { kopf: record } } as never);
    await becomes(a, "paused");
    const warned = a.logs.filter(({ level }) => level === "warn");
    expect(warned).toMatchObject([
      { message: "there are peers with the same priority, all of them pause", fields: { peers: ["kopf"] } },
    ]);
    await client.patch("clusterkopfpeerings.kopf.dev", "default", { status: { kopf: null } } as never);
    await becomes(a, "working");
  });

  it("the record is renewed in time, and one who dies is removed by the others", async () => {
    const b = join("b", { priority: 10 });
    await becomes(b, "working");
    const seen = new Set<string>();
    await eventually(async () => {
      seen.add((await statusOf()).b?.lastseen ?? "none");
      expect(stance(b)).toBe("working");
      expect(seen.size).toBe(3);
    }, 5_000);
    const past = { priority: 20, lifetime: 60, lastseen: new Date(clock.now() - 61_000).toISOString() };
    await client.patch("clusterkopfpeerings.kopf.dev", "default", { status: { dead: past } } as never);
    await settled(async () => expect(Object.keys(await statusOf())).toEqual(["b"]));
    expect(stance(b)).toBe("working");
    const quiet = { priority: 20, lifetime: 60, lastseen: new Date(clock.now() + 3_600_000).toISOString() };
    await client.patch("clusterkopfpeerings.kopf.dev", "default", { status: { quiet } } as never);
    await becomes(b, "paused");
    await eventually(() => expect(stance(b)).toBe("working"));
    expect(Object.keys(await statusOf())).toEqual(["b"]);
  });

  it("the record is written again when another client removes it", async () => {
    const a = join("a");
    await becomes(a, "working");
    await client.patch("clusterkopfpeerings.kopf.dev", "default", { status: { a: null } } as never);
    await eventually(async () => expect(await statusOf()).toHaveProperty("a"));
    expect(messages(a, "warn")).toContain("another peer has removed the record of this process, it is written again");
  });

  it("log lines about renewals are for debugging, and there are none with stealth", async () => {
    const a = join("a", { priority: 1 });
    const b = join("b", { stealth: true });
    await becomes(a, "working");
    await becomes(b, "paused");
    await settled(() => expect(messages(a, "debug")).toContain("the record of this process is renewed"));
    expect(messages(b)).not.toContain("the record of this process is renewed");
  });

  it("the identity is the pod's where there is one", async () => {
    const a = join(undefined, {}, { environment: { POD_ID: "rates-77" } });
    await becomes(a, "working");
    expect(Object.keys(await statusOf())).toEqual(["rates-77"]);
    const b = join(undefined, { priority: 1 }, { environment: { USER: "ada" } });
    await becomes(b, "working");
    expect(b.coordinator.health().identity).toMatch(/^ada@.+\/\d{14}\/[a-z0-9]{3}$/);
  });

  it("a process that cannot reach the server stops before its time has run out", async () => {
    const own = await cluster.connect();
    const a = join("a", {}, { as: own });
    await becomes(a, "working");
    await own.close();
    await eventually(() => expect(stance(a)).toBe("waiting"));
    expect(() => a.coordinator.pass()).toThrow(FencedError);
    expect(a.told.at(-1)).toMatch(/^stops: /);
    expect(messages(a, "warn")).toContain("the peering object cannot be written, will be tried again");
  });

  it("one of another name is none of ours", async () => {
    await client.create(peeringObject(undefined, "other"));
    const a = join("a", { name: "other" });
    const b = join("b", { priority: 1 });
    await becomes(a, "working");
    await becomes(b, "working");
    expect(Object.keys(await statusOf(undefined, "other"))).toEqual(["a"]);
  });
});

describe("without an object", () => {
  it("or its definition a process works as if alone, and takes part when they come", async () => {
    const a = join("a");
    await becomes(a, "working");
    expect(messages(a, "info")).toContain("there is no peering object, the operator works as if it were alone");
    await installPeering(client);
    await client.create({
      ...peeringObject(),
      status: { b: { priority: 9, lifetime: 3_600, lastseen: new Date(clock.now()).toISOString() } },
    } as never);
    await eventually(() => expect(stance(a)).toBe("paused"));
    await client.delete("clusterkopfpeerings.kopf.dev", "default");
    await becomes(a, "working");
  });

  it("it waits where that is mandatory, and says for what", async () => {
    const a = join("a", { mandatory: true, name: "ours" });
    await settled(() =>
      expect(a.logs.find(({ level }) => level === "warn")).toMatchObject({
        message: "the peering object is not there, the operator waits for it",
        fields: { peering: "ours", hint: "create the ClusterKopfPeering ours, or leave `mandatory` out" },
      }),
    );
    expect(a.coordinator.health()).toMatchObject({ state: "waiting", reason: "the peering object is not there" });
    await installPeering(client);
    await client.create(peeringObject(undefined, "ours"));
    await eventually(() => expect(stance(a)).toBe("working"));
  });

  it("and without the right to look it waits, and says which right is missing", async () => {
    await cluster.stop();
    cluster = await Cluster.start({ tls: false, rbac: true });
    client = await cluster.connect();
    await installPeering(client);
    await client.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "poor", namespace: "default" } });
    const poor = await cluster.connect({ kubeconfig: cluster.kubeconfigFor({ serviceAccount: "default/poor" }) });
    const a = join("a", {}, { as: poor });
    await settled(() =>
      expect(a.logs.find(({ level }) => level === "warn")).toMatchObject({
        message: "the peering object cannot be read, will be tried again",
        fields: { hint: "allow get, list, watch and patch of clusterkopfpeerings.kopf.dev" },
      }),
    );
    expect(stance(a)).toBe("waiting");
    await a.stop();
    await poor.close();
  });
});

describe("in namespaces", () => {
  beforeEach(async () => {
    await installPeering(client, peeringCrd(false));
    for (const name of ["one", "two"]) {
      await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await client.create(peeringObject(name));
    }
  });

  it("a process has a record in each that it serves, and pauses for a peer in any of them", async () => {
    const a = join("a", {}, { namespaces: ["one", "two"] });
    await becomes(a, "working");
    for (const name of ["one", "two"]) expect(Object.keys(await statusOf(name))).toEqual(["a"]);
    const b = join("b", { priority: 1 }, { namespaces: ["two"] });
    await becomes(b, "working");
    expect(stance(a)).toBe("paused");
    expect(Object.keys(await statusOf("one"))).toEqual(["a"]);
    await b.stop();
    await becomes(a, "working");
    await a.stop();
    for (const name of ["one", "two"]) expect(await statusOf(name)).toEqual({});
  });

  it("those that come later count, too, where patterns name them", async () => {
    const a = join("a", {}, { namespaces: ["t*"] });
    await becomes(a, "working");
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "three" } });
    await client.create({
      ...peeringObject("three"),
      status: { b: { priority: 9, lifetime: 3_600, lastseen: new Date(clock.now()).toISOString() } },
    } as never);
    await becomes(a, "paused");
    expect(Object.keys(await statusOf("one"))).toEqual([]);
  });

  it("the whole cluster can be served by the objects of namespaces, and namespaces by that of the cluster", async () => {
    await installPeering(client, peeringCrd(true));
    await client.create(peeringObject());
    const a = join("a", { clusterwide: false });
    await becomes(a, "working");
    await settled(async () => expect(Object.keys(await statusOf("one"))).toEqual(["a"]));
    expect(await statusOf()).toEqual({});
    const b = join("b", { clusterwide: true }, { namespaces: ["one"] });
    await becomes(b, "working");
    expect(Object.keys(await statusOf())).toEqual(["b"]);
  });

  it("it is mandatory that each has an object", async () => {
    await client.inNamespace("two").delete("kopfpeerings.kopf.dev", "default");
    const a = join("a", { mandatory: true }, { namespaces: ["one", "two"] });
    await settled(() => expect(a.coordinator.health().reason).toBe("the peering object is not there"));
    await client.create(peeringObject("two"));
    await becomes(a, "working");
  });
});

it("the legacy group does where only that is served, also with a status of its own", async () => {
  await installPeering(client, peeringCrd(true, "zalando.org", true));
  await client.create(peeringObject(undefined, "default", "zalando.org"));
  const [a, b] = [join("a"), join("b", { priority: 1 })];
  await becomes(b, "working");
  await becomes(a, "paused");
  expect(Object.keys(await statusOf(undefined, "default", "zalando.org")).sort()).toEqual(["a", "b"]);
});
