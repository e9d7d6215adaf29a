import { describe, expect, it } from "vitest";
import { call } from "../../../test-requests.ts";
import { canonical } from "../hash.ts";
import type { DaemonSet, Node, Pod } from "../tables.ts";
import { Stage, template, workload } from "../test-stage.ts";
import { planDaemonSet } from "./daemon-set-plan.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");

const set = (spec: object = {}, pod: object = {}): DaemonSet =>
  ({
    metadata: { name: "agent", namespace: "default", uid: "set" },
    spec: {
      selector: {},
      template: template("agent", "app:1", pod),
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      ...spec,
    },
  }) as unknown as DaemonSet;

const node = (name: string, labels: Record<string, string> = {}, taints: object[] = []): Node =>
  ({ metadata: { name, labels }, spec: { taints } }) as unknown as Node;

interface PodSketch {
  readonly hash?: string;
  readonly ready?: boolean;
  readonly phase?: string;
  readonly deleted?: boolean;
}

const pod = (on: string, { hash = "new", ready = true, phase = "Running", deleted }: PodSketch = {}): Pod =>
  ({
    metadata: {
      name: `${on}-${hash}`,
      namespace: "default",
      uid: `${on}-${hash}`,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { "controller-revision-hash": hash },
      ...(deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { containers: [], nodeName: on },
    status: {
      phase,
      conditions: ready ? [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] : [],
    },
  }) as unknown as Pod;

function moves(owner: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]) {
  const { create, remove } = planDaemonSet({ set: owner, nodes, pods, hash: "new", now: NOW });
  return { create, remove: remove.map(({ metadata }) => metadata.name) };
}

describe("the plan of a DaemonSet", () => {
  const old = { hash: "old" };
  const surge = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };
  const taint = (effect: string, key = "k") => ({ key, effect });

  it.each<[string, DaemonSet, Node[], Pod[], { create: string[]; remove: string[] }]>([
    ["has one pod on each node", set(), [node("a"), node("b")], [pod("b")], { create: ["a"], remove: [] }],
    [
      "has none where the selector does not fit",
      set({}, { nodeSelector: { disk: "ssd" } }),
      [node("a"), node("b", { disk: "ssd" })],
      [pod("a")],
      { create: ["b"], remove: ["a-new"] },
    ],
    [
      "has none where it does not tolerate the taint",
      set(),
      [node("a", {}, [taint("NoSchedule")]), node("b", {}, [taint("PreferNoSchedule")])],
      [],
      { create: ["b"], remove: [] },
    ],
    [
      "stays where it is when a taint only keeps others from coming",
      set(),
      [node("a", {}, [taint("NoSchedule")]), node("b", {}, [taint("NoExecute")])],
      [pod("a"), pod("b")],
      { create: [], remove: ["b-new"] },
    ],
    [
      "tolerates that a node is cordoned or not ready",
      set(),
      [
        node("a", {}, [taint("NoSchedule", "node.kubernetes.io/unschedulable")]),
        node("b", {}, [taint("NoExecute", "node.kubernetes.io/not-ready")]),
      ],
      [],
      { create: ["a", "b"], remove: [] },
    ],
    [
      "replaces a pod that failed",
      set(),
      [node("a")],
      [pod("a", { phase: "Failed" })],
      { create: [], remove: ["a-new"] },
    ],
    ["waits for a pod that goes", set(), [node("a")], [pod("a", { deleted: true })], { create: [], remove: [] }],
    [
      "updates one after the other",
      set(),
      [node("a"), node("b")],
      [pod("a", old), pod("b", old)],
      { create: [], remove: ["a-old"] },
    ],
    [
      "waits for the updated one",
      set(),
      [node("a"), node("b")],
      [pod("a", { ready: false }), pod("b", old)],
      { create: [], remove: [] },
    ],
    [
      "replaces at once what does not work anyway",
      set(),
      [node("a"), node("b")],
      [pod("a", { ready: false }), pod("b", { ...old, ready: false })],
      { create: [], remove: ["b-old"] },
    ],
    [
      "leaves it to others where they delete the pods",
      set({ updateStrategy: { type: "OnDelete" } }),
      [node("a")],
      [pod("a", old)],
      { create: [], remove: [] },
    ],
    [
      "puts the new one beside the old one",
      set(surge),
      [node("a"), node("b")],
      [pod("a", old), pod("b", old)],
      { create: ["a"], remove: [] },
    ],
    [
      "takes the old one away when the new one works",
      set(surge),
      [node("a"), node("b")],
      [pod("a", old), pod("a"), pod("b", old)],
      { create: [], remove: ["a-old"] },
    ],
    [
      "keeps the old one until then",
      set(surge),
      [node("a"), node("b")],
      [pod("a", old), pod("a", { ready: false }), pod("b", old)],
      { create: [], remove: [] },
    ],
  ])("%s", (_, owner, nodes, pods, expected) => {
    expect(moves(owner, nodes, pods)).toEqual(expected);
  });
});

describe("a DaemonSet", () => {
  it("runs on every node, and follows its template", async () => {
    await using stage = await Stage.start();
    await stage.create("nodes", { metadata: { name: "other", labels: { disk: "ssd" } } });
    await stage.create("daemonsets", workload("agent"));
    await stage.pass(1_000);
    const pods = await stage.list("pods");
    expect(pods.map(({ spec }) => spec.nodeName ?? "nowhere").sort()).toEqual(["lotse-node", "nowhere"]);
    expect(pods[0].spec.tolerations).toContainEqual({
      key: "node.kubernetes.io/unschedulable",
      operator: "Exists",
      effect: "NoSchedule",
    });
    expect((await stage.get("daemonsets", "agent")).status).toEqual({
      currentNumberScheduled: 2,
      desiredNumberScheduled: 2,
      numberMisscheduled: 0,
      numberReady: 1,
      numberAvailable: 1,
      numberUnavailable: 1,
      updatedNumberScheduled: 2,
      observedGeneration: 1,
    });
    await stage.remove("nodes", "other");
    await stage.pass(1_000);
    expect(await stage.names("pods")).toHaveLength(1);

    await stage.patch("daemonsets", "agent", { spec: { template: template("agent", "app:2") } });
    await stage.pass(1_000);
    const [updated] = await stage.list("pods");
    expect(updated.spec.containers[0].image).toBe("app:2");
    expect(await stage.names("controllerrevisions")).toHaveLength(2);
    expect((await stage.get("daemonsets", "agent")).status).toMatchObject({
      numberReady: 1,
      updatedNumberScheduled: 1,
    });
  });

  it("keeps a template in the bytes in which clients look for it", async () => {
    await using stage = await Stage.start();
    await stage.create("daemonsets", workload("agent"));
    await stage.pass(1_000);
    const { text } = await call(stage.cluster, "GET", stage.path("controllerrevisions"));
    const { spec } = await stage.get("daemonsets", "agent");
    const bytes = canonical({ spec: { template: { ...spec.template, $patch: "replace" } } });
    expect(bytes).toContain('{"$patch":"replace"');
    expect(text).toContain(`"data":${bytes}`);
  });

  it("does not replace a daemon that keeps failing as fast as it can", async () => {
    await using stage = await Stage.start();
    await stage.create("daemonsets", workload("agent"));
    stage.cluster.pods.program({ labels: "app=agent" }, { evicted: {} });
    await stage.pass(1_000);
    const [name] = await stage.names("pods");
    await stage.remove("pods", name as string);
    await stage.pass(30_000);
    const failures = (await stage.events("agent")).filter((text) => text.startsWith("FailedDaemonPod"));
    expect(failures.length).toBeGreaterThan(2);
    expect(failures.length).toBeLessThan(8);
  });
});
