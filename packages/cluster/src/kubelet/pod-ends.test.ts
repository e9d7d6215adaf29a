import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, MERGE } from "../test-requests.ts";

const PODS = "/api/v1/namespaces/default/pods";
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

describe("the end of a simulated pod", () => {
  let clock: VirtualClock;
  let cluster: Cluster;

  beforeEach(async () => {
    clock = new VirtualClock();
    const controllers = { workloads: false };
    cluster = await Cluster.start({ clock, tls: false, kubelet: "simulate", history: true, controllers });
  });

  afterEach(async () => {
    await cluster.stop();
    expect(clock.pending).toBe(0);
  });

  async function create(name: string, spec: object = {}, metadata: object = {}) {
    const body = { metadata: { name, ...metadata }, spec: { containers: [{ name: "c", image: "app:1" }], ...spec } };
    const answer = await call(cluster, "POST", PODS, { body });
    expect(answer.status, answer.text).toBe(201);
    await cluster.settle();
  }

  async function pass(ms: number) {
    await clock.advance(ms);
    await cluster.settle();
  }

  /** Deletes it, and tells what a watch saw of it from then on. */
  async function end(name: string, query = ""): Promise<Body[]> {
    const before = cluster.history("pods", "default", name).length;
    await call(cluster, "DELETE", `${PODS}/${name}${query}`);
    await cluster.settle();
    await pass(10_000);
    return cluster
      .history("pods", "default", name)
      .slice(before)
      .map(({ type, object }) => {
        const { metadata, status } = object as Body;
        const ready = status.conditions.find((one: Body) => one.type === "Ready");
        const [container] = status.containerStatuses ?? [];
        return {
          type,
          grace: metadata.deletionGracePeriodSeconds,
          phase: status.phase,
          ready: ready && [ready.status, ready.reason],
          state: container && Object.keys(container.state)[0],
        };
      });
  }

  it("is decided by whoever writes that it has failed: nothing brings it back", async () => {
    await create("failed");
    await pass(1_000);
    await call(cluster, "PATCH", `${PODS}/failed/status`, { type: MERGE, body: { status: { phase: "Failed" } } });
    await pass(40_000);
    const { status } = (await call(cluster, "GET", `${PODS}/failed`)).body;
    expect(status).toMatchObject({ phase: "Failed", containerStatuses: [{ ready: false }] });
    expect(status.containerStatuses[0].state).toHaveProperty("terminated");
  });

  it("is told before it is gone: marked, then no more ready and its containers over, then without time, then gone", async () => {
    await create("web");
    await pass(1_000);
    const seen = await end("web");
    expect(seen[0]).toMatchObject({ type: "updated", grace: 30, phase: "Running", state: "running" });
    expect(seen.slice(-3)).toMatchObject([
      { type: "updated", grace: 30, phase: "Succeeded", ready: ["False", "PodCompleted"], state: "terminated" },
      { type: "updated", grace: 0, phase: "Succeeded", state: "terminated" },
      { type: "deleted", grace: 0, phase: "Succeeded", state: "terminated" },
    ]);
  });

  it("fails when a container does not end well, after the time that it takes", async () => {
    cluster.pods.program("slow", { stopDelay: "5s", stopCode: 3 });
    await create("slow");
    await pass(1_000);
    expect((await end("slow")).at(-2)).toMatchObject({ phase: "Failed", ready: ["False", "PodFailed"] });
  });

  it("is that of a failure when nothing had begun yet", async () => {
    await create("early");
    expect((await end("early")).slice(-2)).toMatchObject([
      { type: "updated", grace: 0, phase: "Failed", state: "terminated" },
      { type: "deleted", phase: "Failed" },
    ]);
    const last = cluster.history("pods", "default", "early").at(-1)?.object as Body;
    expect(last.status.containerStatuses[0].state.terminated).toEqual({
      exitCode: 137,
      reason: "ContainerStatusUnknown",
      message: "The container could not be located when the pod was terminated",
      startedAt: null,
      finishedAt: null,
    });
  });

  it("comes in two steps to a pod that no node has: marked without time, then gone", async () => {
    await create("nowhere", { nodeSelector: { disk: "ssd" } });
    expect(await end("nowhere")).toMatchObject([
      { type: "updated", grace: 0, phase: "Pending" },
      { type: "deleted", grace: 0, phase: "Pending" },
    ]);
  });

  it("comes in two steps when it is asked for at once", async () => {
    await create("now");
    await pass(1_000);
    const seen = await end("now", "?gracePeriodSeconds=0");
    expect(seen.map(({ type, grace, state }) => [type, grace, state])).toEqual([
      ["updated", 0, "running"],
      ["deleted", 0, "running"],
    ]);
  });

  it("is only shown by a dry run", async () => {
    await create("kept", { nodeSelector: { disk: "ssd" } });
    const answer = await call(cluster, "DELETE", `${PODS}/kept?dryRun=All`);
    expect(answer.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    expect((await call(cluster, "GET", `${PODS}/kept`)).body.metadata).not.toHaveProperty("deletionTimestamp");
  });
});
