import { describe, expect, it } from "vitest";
import type { Pod, ReplicaSet } from "../tables.ts";
import { Stage, template, workload } from "../test-stage.ts";
import { planReplicas, replicaStatus } from "./replica-sets.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");

const set = (spec: object = {}): ReplicaSet =>
  ({ metadata: { name: "set", generation: 1 }, spec: { replicas: 2, selector: {}, ...spec } }) as unknown as ReplicaSet;

interface PodSketch {
  readonly node?: string;
  readonly phase?: string;
  readonly readyAt?: string;
  readonly cost?: string;
  readonly restarts?: number;
  readonly deleted?: boolean;
}

const pod = (
  name: string,
  { node = "n", phase = "Running", readyAt, cost, restarts = 0, deleted }: PodSketch = {},
): Pod =>
  ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...(cost ? { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } } : {}),
      ...(deleted ? { deletionTimestamp: "2026-01-01T00:30:00Z" } : {}),
    },
    spec: { containers: [], ...(node ? { nodeName: node } : {}) },
    status: {
      phase,
      conditions: readyAt ? [{ type: "Ready", status: "True", lastTransitionTime: readyAt }] : [],
      containerStatuses: [{ name: "c", restartCount: restarts }],
    },
  }) as unknown as Pod;

describe("the plan of a ReplicaSet", () => {
  const early = "2026-01-01T00:01:00Z";
  const late = "2026-01-01T00:59:00Z";

  it.each<[string, Pod[], string[]]>([
    [
      "a pod without a node goes before one that has one",
      [pod("a", { readyAt: early }), pod("b", { node: "" })],
      ["b"],
    ],
    ["a pending pod before a running one", [pod("a"), pod("b", { phase: "Pending" })], ["b"]],
    ["a pod that is not ready before one that is", [pod("a", { readyAt: early }), pod("b")], ["b"]],
    [
      "a cheap pod before a dear one",
      [pod("a", { readyAt: early, cost: "10" }), pod("b", { readyAt: early, cost: "-1" })],
      ["b"],
    ],
    ["a young pod before an old one", [pod("a", { readyAt: early }), pod("b", { readyAt: late })], ["b"]],
    [
      "a pod that restarts often before one that does not",
      [pod("a", { readyAt: early }), pod("b", { readyAt: early, restarts: 7 })],
      ["b"],
    ],
  ])("%s", (_, pods, expected) => {
    const { remove } = planReplicas(set({ replicas: 1 }), pods, NOW);
    expect(remove.map(({ metadata }) => metadata.name)).toEqual(expected);
  });

  it("makes what is missing, and nothing while it is deleted", () => {
    expect(planReplicas(set(), [pod("a")], NOW)).toEqual({ create: 1, remove: [] });
    expect(planReplicas(set({ replicas: 5_000 }), [], NOW).create).toBe(500);
    const deleted = set();
    deleted.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(planReplicas(deleted, [], NOW)).toEqual({ create: 0, remove: [] });
  });

  it("counts a pod as available when it has been ready for long enough", () => {
    const pods = [pod("a", { readyAt: early }), pod("b", { readyAt: late }), pod("c"), pod("d", { deleted: true })];
    expect(replicaStatus(set({ minReadySeconds: 120 }), pods, undefined, NOW, true)).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 1,
      observedGeneration: 1,
    });
  });
});

describe("a ReplicaSet", () => {
  it("replaces a pod that goes, adopts one that fits, and releases one that no longer does", async () => {
    await using stage = await Stage.start();
    await stage.create("pods", { metadata: { name: "orphan", labels: { app: "set" } }, ...pick(template("set")) });
    await stage.create("replicasets", workload("set", { replicas: 2 }));
    await stage.pass(1_000);
    const names = await stage.names("pods");
    expect(names).toHaveLength(2);
    expect(names).toContain("orphan");
    expect((await stage.get("pods", "orphan")).metadata.ownerReferences).toMatchObject([
      { name: "set", controller: true },
    ]);

    await stage.patch("pods", "orphan", { metadata: { labels: { app: "other" } } });
    await stage.pass(1_000);
    expect((await stage.get("pods", "orphan")).metadata.ownerReferences).toBeUndefined();
    expect(await stage.names("pods", "app=set")).toHaveLength(2);

    const [victim] = await stage.names("pods", "app=set");
    await stage.remove("pods", victim as string);
    await stage.pass(1_000);
    const after = await stage.names("pods", "app=set");
    expect(after).toHaveLength(2);
    expect(after).not.toContain(victim);
  });

  it("says why it cannot make pods, and goes on when it can", async () => {
    await using stage = await Stage.start();
    await stage.create("resourcequotas", { metadata: { name: "none" }, spec: { hard: { pods: "0" } } });
    await stage.create("replicasets", workload("set", { replicas: 5 }));
    const failed = await stage.get("replicasets", "set");
    expect(failed.status.conditions).toMatchObject([
      {
        type: "ReplicaFailure",
        status: "True",
        reason: "FailedCreate",
        message: expect.stringContaining("exceeded quota"),
      },
    ]);
    // Tried once, and once more after its own status came back: not five times.
    expect((await stage.events("set")).filter((text) => text.startsWith("FailedCreate"))).toHaveLength(2);
    await stage.remove("resourcequotas", "none");
    await stage.pass(2_000);
    const fine = await stage.get("replicasets", "set");
    expect(fine.status).toMatchObject({ replicas: 5, readyReplicas: 5 });
    expect(fine.status.conditions).toBeUndefined();
  });

  it("counts pods as available after a while, where that is asked for", async () => {
    await using stage = await Stage.start();
    await stage.create("replicasets", workload("set", { replicas: 1, minReadySeconds: 30 }));
    await stage.pass(1_000);
    expect((await stage.get("replicasets", "set")).status).toMatchObject({ readyReplicas: 1 });
    expect((await stage.get("replicasets", "set")).status.availableReplicas).toBeUndefined();
    await stage.pass(30_000);
    expect((await stage.get("replicasets", "set")).status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
  });

  it("has an elder sibling, the ReplicationController", async () => {
    await using stage = await Stage.start();
    const spec = { replicas: 2, selector: { app: "rc" }, template: template("rc") };
    await stage.create("replicationcontrollers", { metadata: { name: "rc" }, spec });
    await stage.pass(1_000);
    expect(await stage.names("pods")).toHaveLength(2);
    const { status } = await stage.get("replicationcontrollers", "rc");
    expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 2 });
    expect(status.terminatingReplicas).toBeUndefined();
  });
});

const pick = (body: object): object => ({ spec: (body as { spec: object }).spec });
