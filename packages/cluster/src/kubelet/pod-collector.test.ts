import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";

const PODS = "/api/v1/namespaces/default/pods";
const NODES = "/api/v1/nodes";

let clock: VirtualClock;
let cluster: Cluster;

beforeEach(async () => {
  clock = new VirtualClock();
  cluster = await Cluster.start({ clock, tls: false, kubelet: "simulate", history: true });
  await call(cluster, "POST", NODES, { body: { metadata: { name: "elsewhere" } } });
  const spec = { nodeName: "elsewhere", containers: [{ name: "c", image: "app:1" }] };
  await call(cluster, "POST", PODS, { body: { metadata: { name: "far" }, spec } });
});

afterEach(async () => {
  await cluster.stop();
  expect(clock.pending).toBe(0);
});

async function pass(ms: number) {
  await clock.advance(ms);
  await cluster.settle();
}

const isThere = async () => (await call(cluster, "GET", `${PODS}/far`)).status === 200;

it("pods go with their node, some time after it, and say why", async () => {
  await pass(600_000);
  expect(await isThere()).toBe(true);
  await call(cluster, "DELETE", `${NODES}/elsewhere`);
  await pass(39_000);
  expect(await isThere()).toBe(true);
  await pass(2_000);
  expect(await isThere()).toBe(false);
  const last = cluster.history("pods", "default", "far").at(-1);
  expect(last).toMatchObject({
    type: "deleted",
    object: {
      status: {
        phase: "Failed",
        conditions: [{ type: "DisruptionTarget", status: "True", reason: "DeletionByPodGC" }],
      },
    },
  });
});

it("pods stay when their node comes back in time", async () => {
  await call(cluster, "DELETE", `${NODES}/elsewhere`);
  await pass(30_000);
  await call(cluster, "POST", NODES, { body: { metadata: { name: "elsewhere" } } });
  await pass(600_000);
  expect(await isThere()).toBe(true);
});

it("pods for a node that never was go, too", async () => {
  const spec = { nodeName: "nowhere", containers: [{ name: "c", image: "app:1" }] };
  await call(cluster, "POST", PODS, { body: { metadata: { name: "lost" }, spec } });
  await pass(41_000);
  expect((await call(cluster, "GET", `${PODS}/lost`)).status).toBe(404);
  expect(await isThere()).toBe(true);
});
