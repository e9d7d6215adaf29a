import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";

const PODS = "/api/v1/namespaces/default/pods";

let clock: VirtualClock;
let cluster: Cluster;

beforeEach(async () => {
  clock = new VirtualClock();
  cluster = await Cluster.start({
    clock,
    tls: false,
    kubelet: "simulate",
    controllers: { workloads: false },
  });
});

afterEach(() => cluster.stop());

async function create(name: string, lifecycle: object, spec: object = {}) {
  const body = { metadata: { name }, spec: { containers: [{ name: "c", image: "app:1", lifecycle }], ...spec } };
  const answer = await call(cluster, "POST", PODS, { body });
  expect(answer.status, answer.text).toBe(201);
  await pass(100);
}

async function pass(ms: number) {
  await clock.advance(ms);
  await cluster.settle();
}

const read = async (name: string) => (await call(cluster, "GET", `${PODS}/${name}`)).body;

/** What was told of hooks and of the end of containers, in order. */
async function told(name: string): Promise<string[]> {
  const query = `?fieldSelector=involvedObject.name=${name}`;
  const { items } = (await call(cluster, "GET", `/api/v1/namespaces/default/events${query}`)).body;
  items.sort((a: Event, b: Event) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  return items
    .filter(({ reason }: Event) => /Hook|Killing/.test(reason))
    .map(({ type, reason, message }: Event) => `${type} ${reason}: ${message}`);
}

interface Event {
  readonly metadata: { readonly resourceVersion: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

const runs = (command: string) => ({ exec: { command: command.split(" ") } });

describe("a hook of a simulated container", () => {
  it("that fails at the start is told, and ends the container", async () => {
    cluster.pods.program("bad", { exec: { "warm up": 3 } });
    await create("bad", { postStart: runs("warm up") }, { restartPolicy: "Never" });
    expect(await told("bad")).toEqual([
      "Warning FailedPostStartHook: PostStartHook failed",
      "Normal Killing: FailedPostStartHook",
    ]);
    const { status } = await read("bad");
    expect(status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 0 });
  });

  it("that fails at the start fails again after each restart", async () => {
    cluster.pods.program("again", { exec: { "warm up": 3 } });
    await create("again", { postStart: runs("warm up") });
    await pass(15_000);
    const { status } = await read("again");
    expect(status.containerStatuses[0]).toMatchObject({ ready: false });
    expect(status.containerStatuses[0].restartCount).toBeGreaterThan(0);
  });

  it("keeps the container from counting as running until it is done", async () => {
    let done: (code: number) => void = () => {};
    const answer = new Promise<number>((resolve) => {
      done = resolve;
    });
    cluster.pods.program("slow", { exec: () => answer });
    await create("slow", { postStart: runs("warm up") });
    expect((await read("slow")).status).toMatchObject({
      phase: "Pending",
      containerStatuses: [{ ready: false, state: { waiting: { reason: "ContainerCreating" } } }],
    });
    done(0);
    await pass(100);
    expect((await read("slow")).status).toMatchObject({ phase: "Running", containerStatuses: [{ ready: true }] });
    expect(await told("slow")).toEqual([]);
  });

  it("that is never done does not keep a pod that is deleted", async () => {
    cluster.pods.program("stuck", { exec: () => new Promise<number>(() => {}) });
    await create("stuck", { postStart: runs("warm up") });
    await call(cluster, "DELETE", `${PODS}/stuck?gracePeriodSeconds=5`);
    await pass(6_000);
    expect((await call(cluster, "GET", `${PODS}/stuck`)).status).toBe(404);
  });

  it("that fails before the end is told, and the container ends all the same", async () => {
    cluster.pods.program("leaves", { exec: { "say goodbye": { exitCode: 1, stderr: "no" } } });
    await create("leaves", { preStop: runs("say goodbye") });
    await call(cluster, "DELETE", `${PODS}/leaves`);
    await pass(1_000);
    expect(await told("leaves")).toEqual([
      "Normal Killing: Stopping container c",
      "Warning FailedPreStopHook: PreStopHook failed",
    ]);
    expect((await call(cluster, "GET", `${PODS}/leaves`)).status).toBe(404);
  });

  it("before the end has the grace period and no more", async () => {
    cluster.pods.program("lingers", { exec: () => new Promise<number>(() => {}) });
    await create("lingers", { preStop: runs("say goodbye") });
    await call(cluster, "DELETE", `${PODS}/lingers?gracePeriodSeconds=10`);
    await pass(9_000);
    expect((await call(cluster, "GET", `${PODS}/lingers`)).status).toBe(200);
    await pass(2_000);
    expect((await call(cluster, "GET", `${PODS}/lingers`)).status).toBe(404);
  });

  it("of which no program knows goes well", async () => {
    await create("plain", { postStart: runs("warm up"), preStop: runs("say goodbye") });
    expect((await read("plain")).status.phase).toBe("Running");
    await call(cluster, "DELETE", `${PODS}/plain`);
    await pass(1_000);
    expect(await told("plain")).toEqual(["Normal Killing: Stopping container c"]);
  });
});
