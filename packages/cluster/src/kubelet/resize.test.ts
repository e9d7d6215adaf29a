import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Stage } from "../controllers/workloads/test-stage.ts";
import { call, MERGE } from "../test-requests.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

describe("a pod that is resized", () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await Stage.start({ kubelet: { mode: "simulate", capacity: { cpu: 2 } }, history: true });
  });

  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
  });

  const container = (cpu: string, more: object = {}) => ({
    name: "c",
    image: "app:1",
    resources: { requests: { cpu }, limits: { cpu } },
    ...more,
  });

  const create = async (name: string, cpu: string, more: object = {}) => {
    await stage.create("pods", { metadata: { name }, spec: { containers: [container(cpu, more)] } });
    await stage.pass(1_000);
  };

  const resize = async (name: string, cpu: string, more: object = {}) => {
    const path = stage.path("pods", name, "resize");
    const { resources } = container(cpu);
    const body = { spec: { containers: [{ name: "c", resources, ...more }] } };
    const answer = await call(stage.cluster, "PATCH", path, { type: "application/strategic-merge-patch+json", body });
    await stage.pass(1_000);
    return answer;
  };

  const condition = ({ status }: Body, type: string) => status.conditions.find((one: Body) => one.type === type);

  it("has what it asks for, and shows it", async () => {
    await create("p", "500m");
    const before = await stage.get("pods", "p");
    expect(before.status.containerStatuses[0]).toMatchObject({
      allocatedResources: { cpu: "500m" },
      resources: { requests: { cpu: "500m" }, limits: { cpu: "500m" } },
    });
    const answer = await resize("p", "1");
    expect(answer.status, answer.text).toBe(200);
    const after = await stage.get("pods", "p");
    expect(after.status.containerStatuses[0]).toMatchObject({
      allocatedResources: { cpu: "1" },
      resources: { requests: { cpu: "1" }, limits: { cpu: "1" } },
      restartCount: 0,
    });
    expect([after.metadata.generation, after.status.observedGeneration]).toEqual([2, 2]);
    expect(condition(after, "PodResizeInProgress")).toBeUndefined();
    const events = (await stage.events("p")).filter((event) => event.startsWith("Resize"));
    const summary = (cpu: string) =>
      JSON.stringify({ containers: [{ name: "c", resources: { limits: { cpu }, requests: { cpu } } }], generation: 2 });
    expect(events).toEqual([
      `ResizeStarted: Pod resize started: ${summary("1")}`,
      `ResizeCompleted: Pod resize completed: ${summary("1")}`,
    ]);
  });

  it("tells that it is under way before it is done", async () => {
    await create("p", "500m");
    await resize("p", "1");
    const seen = stage.cluster
      .history("pods", "default", "p")
      .map(({ object }) => object as Body)
      .filter((pod) => pod.metadata.generation === 2 && pod.status.observedGeneration === 2)
      .map((pod) => [
        condition(pod, "PodResizeInProgress")?.status,
        condition(pod, "PodResizeInProgress")?.observedGeneration,
        pod.status.containerStatuses[0].allocatedResources.cpu,
        pod.status.containerStatuses[0].resources.requests.cpu,
      ]);
    expect(seen).toEqual([
      ["True", 2, "1", "500m"],
      [undefined, undefined, "1", "1"],
    ]);
  });

  it("is started anew where its policy says so", async () => {
    await create("p", "500m", { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] });
    await resize("p", "1");
    const { status } = await stage.get("pods", "p");
    expect(status.containerStatuses[0]).toMatchObject({
      restartCount: 1,
      state: { running: {} },
      resources: { requests: { cpu: "1" } },
    });
    expect(condition({ status }, "PodResizeInProgress")).toBeUndefined();
  });

  it("waits while others have what it wants", async () => {
    await create("other", "1");
    await create("p", "500m");
    expect((await resize("p", "1500m")).status).toBe(200);
    const waiting = await stage.get("pods", "p");
    expect(condition(waiting, "PodResizePending")).toMatchObject({
      status: "True",
      reason: "Deferred",
      observedGeneration: 2,
      message: "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
    });
    expect(waiting.status.containerStatuses[0].resources.requests.cpu).toBe("500m");
    expect((await stage.events("p")).some((event) => event.startsWith("ResizeDeferred: Pod resize Deferred: {"))).toBe(
      true,
    );
    await stage.remove("pods", "other");
    await stage.pass(1_000);
    const after = await stage.get("pods", "p");
    expect(condition(after, "PodResizePending")).toBeUndefined();
    expect(after.status.containerStatuses[0].resources.requests.cpu).toBe("1500m");
  });

  it("leaves room for others when it gets smaller", async () => {
    await create("p", "1500m");
    await create("next", "1");
    expect((await stage.get("pods", "next")).status.phase).toBe("Pending");
    await resize("p", "500m");
    expect((await stage.get("pods", "next")).status.phase).toBe("Running");
  });

  it("is refused what its node could never give, and another class of service", async () => {
    await create("p", "500m");
    const { status, body } = await resize("p", "3");
    expect([status, body.message, body.details.causes]).toEqual([
      403,
      `pods "p" is forbidden: node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000`,
      [{ reason: "NodeCapacity" }],
    ]);
    const path = stage.path("pods", "p", "resize");
    const other = await call(stage.cluster, "PATCH", path, {
      type: MERGE,
      body: { spec: { containers: [{ name: "d", image: "x" }] } },
    });
    expect(other.status).toBe(422);
  });
});
