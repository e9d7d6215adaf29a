import { type Client, Lease } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Logger, type LogRecord } from "../../report/index.ts";
import { quiet, Replica, timeUntil } from "../test-replicas.ts";
import { findLeases, operatorsWithLeases, putPause, takePause } from "./leases.ts";
import { PAUSE_ANNOTATION, parsePauses } from "./pause.ts";
import { Pauser, untilHeard } from "./pauser.ts";

let cluster: Cluster;
let client: Client;
let clock: VirtualClock;
let replicas: Replica[];
let logs: LogRecord[];

beforeEach(async () => {
  cluster = await Cluster.start({ tls: false });
  client = await cluster.connect();
  clock = new VirtualClock();
  replicas = [];
  logs = [];
});

afterEach(async () => {
  await Promise.all(replicas.map((one) => one.stop()));
  await client.close();
  await cluster.stop();
  expect(clock.pending, "calls that wait after the end").toBe(0);
});

const until = (check: () => boolean) => timeUntil(check, { cluster, clock, replicas, atMostMs: 120_000 });

/** Lets time pass until it is settled. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let done = false;
  const watched = work.finally(() => {
    done = true;
  });
  watched.catch(() => undefined);
  await until(() => done);
  return watched;
}

async function start(): Promise<Replica> {
  const replica = await Replica.start(cluster, { clock });
  replicas.push(replica);
  await quiet(cluster, replicas);
  return replica;
}

function pauser(more: Partial<ConstructorParameters<typeof Pauser>[0]> = {}): Pauser {
  const logger = new Logger((record) => void logs.push(record), clock.now.bind(clock));
  const find = () => findLeases(more.client ?? client, { operator: "rates", namespace: "default" });
  const who = { by: "ada@laptop", priority: 666, lifetimeMs: 30_000 };
  return new Pauser({ client, clock, logger, find, ...who, ...more });
}

async function pausesOn(name = "rates"): Promise<string[]> {
  const { metadata } = await client.get(Lease, name, { namespace: "default" });
  return parsePauses(metadata.annotations?.[PAUSE_ANNOTATION]).pauses.map(({ by }) => by);
}

const never = new AbortController().signal;

describe("a process that pauses an operator", () => {
  it("begins when whoever works has read it, keeps it while it lives, and lets go at its end", async () => {
    const [a, b] = [await start(), await start()];
    expect(a.works).toBe(true);
    const one = pauser({ message: "developing" });
    expect(await inTime(one.begin(never))).toHaveLength(1);
    expect([a.works, b.works]).toEqual([false, false]);
    expect(a.coordinator.health()).toMatchObject({ state: "paused", reason: "paused by ada@laptop: developing" });
    const begun = clock.monotonic();
    await until(() => clock.monotonic() > begun + 90_000);
    expect(a.works).toBe(false);
    await one.end();
    await until(() => a.works);
    expect(await pausesOn()).toEqual([]);
    expect(logs).toEqual([]);
  });

  it("that dies is waited for until its time has run out", async () => {
    const a = await start();
    const own = await cluster.connect();
    const one = pauser({ client: own });
    await inTime(one.begin(never));
    await own.close();
    const died = clock.monotonic();
    expect(await until(() => a.works)).toBeLessThanOrEqual(31_000);
    expect(clock.monotonic() - died).toBeGreaterThan(15_000);
    await one.end();
    expect(logs.map(({ message }) => message)).toEqual([
      "the pause cannot be renewed, will be tried again",
      "the pause cannot be taken off the Lease, it ends by itself",
    ]);
  });

  it("finds an operator that is deployed later", async () => {
    const found: string[] = [];
    const one = pauser({ onPaused: ({ metadata }) => void found.push(metadata?.name ?? "") });
    expect(await inTime(one.begin(never))).toEqual([]);
    const a = await start();
    expect(a.works).toBe(true);
    await until(() => !a.works);
    expect(found).toEqual(["rates"]);
    await one.end();
    await until(() => a.works);
  });

  it("and another one do not disturb each other", async () => {
    const a = await start();
    const [one, two] = [pauser(), pauser({ by: "bob" })];
    await inTime(Promise.all([one.begin(never), two.begin(never)]));
    expect((await pausesOn()).sort()).toEqual(["ada@laptop", "bob"]);
    await one.end();
    await until(() => true);
    expect([await pausesOn(), a.works]).toEqual([["bob"], false]);
    await two.end();
    await until(() => a.works);
  });
});

describe("the Leases of an operator", () => {
  const lease = (name: string, labels: Record<string, string> = {}, namespace = "default") =>
    client.create(
      new Lease({
        metadata: { name, namespace, labels, annotations: { "lotse.dev/lease-writer": "w" } },
        spec: { holderIdentity: "h" },
      }),
    );

  it("are the one of its name and those that are labelled with it, in one namespace or in all", async () => {
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
    await lease("rates");
    await lease("rates-shard-0", { "lotse.dev/operator": "rates" });
    await lease("shops-shard-0", { "lotse.dev/operator": "shops" });
    await lease("rates", {}, "other");
    const names = async (namespace: string | undefined) =>
      (await findLeases(client, { operator: "rates", namespace })).map(
        ({ metadata }) => `${metadata?.namespace}/${metadata?.name}`,
      );
    expect(await names("default")).toEqual(["default/rates", "default/rates-shard-0"]);
    expect((await names(undefined)).sort()).toEqual(["default/rates", "default/rates-shard-0", "other/rates"]);
    expect(await names("nowhere")).toEqual([]);
    expect(await operatorsWithLeases(client, "default")).toEqual(["rates", "shops"]);
    expect(await operatorsWithLeases(client, undefined)).toEqual(["rates", "shops"]);
  });

  it("that have changed since they were read, or are gone, are no problem", async () => {
    const old = (await lease("rates")).body;
    await client.patch(Lease, "rates", { spec: { holderIdentity: "another" } }, { namespace: "default" });
    const pause = { by: "ada", until: clock.now() + 1_000, priority: 1 };
    const body = await putPause(client, old, pause, clock.now());
    expect(body?.spec?.holderIdentity).toBe("another");
    const without = await takePause(client, old, "ada", clock.now());
    expect(without?.metadata?.annotations).not.toHaveProperty(PAUSE_ANNOTATION);
    expect(await takePause(client, without ?? {}, "ada", clock.now())).toBe(without);
    await client.delete(Lease, "rates", { namespace: "default" });
    expect(await putPause(client, old, pause, clock.now())).toBeUndefined();
  });

  it("are not waited for where nobody holds them, or the holder is gone", async () => {
    const { body } = await lease("rates");
    const free = { ...body, spec: { ...body.spec, holderIdentity: "" } };
    expect(await untilHeard(free, { client, clock }, never)).toBe(false);
    expect(await inTime(untilHeard(body, { client, clock }, never))).toBe(false);
    expect(clock.monotonic()).toBeLessThanOrEqual(17_000);
  });
});
