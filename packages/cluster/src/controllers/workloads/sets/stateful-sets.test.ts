import { describe, expect, it } from "vitest";
import type { Claim, ControllerRevision, Pod, StatefulSet } from "../tables.ts";
import { Stage, template, workload } from "../test-stage.ts";
import { planStatefulSet, type Revisions } from "./stateful-set-plan.ts";
import { claimOwners } from "./stateful-sets.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");

const set = (spec: object = {}, status: object = {}): StatefulSet =>
  ({
    metadata: { name: "db", namespace: "default", uid: "set", generation: 1 },
    spec: { replicas: 3, selector: { matchLabels: { app: "db" } }, serviceName: "db", template: {}, ...spec },
    status,
  }) as unknown as StatefulSet;

const revision = (name: string): ControllerRevision =>
  ({ metadata: { name }, data: { spec: { template: template("db", name) } } }) as unknown as ControllerRevision;

const SAME: Revisions = { current: revision("one"), update: revision("one") };
const NEXT: Revisions = { current: revision("one"), update: revision("two") };

interface PodSketch {
  readonly ready?: boolean;
  readonly deleted?: boolean;
  readonly phase?: string;
  readonly revision?: string;
}

const pod = (ordinal: number, { ready = true, deleted, phase = "Running", revision = "one" }: PodSketch = {}): Pod =>
  ({
    metadata: {
      name: `db-${ordinal}`,
      uid: `db-${ordinal}`,
      labels: { "controller-revision-hash": revision },
      ...(deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { containers: [] },
    status: {
      phase,
      conditions: ready ? [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] : [],
    },
  }) as unknown as Pod;

function moves(owner: StatefulSet, pods: readonly Pod[], revisions = SAME) {
  const { create, remove } = planStatefulSet(owner, pods, revisions, NOW);
  const name = ({ metadata }: Pod) => metadata.name;
  return { create: create.map(name), remove: remove.map(name) };
}

describe("the plan of a StatefulSet", () => {
  it.each<[string, StatefulSet, Pod[], { create: string[]; remove: string[] }]>([
    ["begins with the first", set(), [], { create: ["db-0"], remove: [] }],
    ["waits for a pod to be ready", set(), [pod(0, { ready: false })], { create: [], remove: [] }],
    ["goes on when it is", set(), [pod(0)], { create: ["db-1"], remove: [] }],
    ["fills a gap before it goes on", set(), [pod(0), pod(2)], { create: ["db-1"], remove: [] }],
    ["waits for a pod that goes", set(), [pod(0, { deleted: true }), pod(1)], { create: [], remove: [] }],
    [
      "replaces a pod that has ended",
      set(),
      [pod(0, { phase: "Failed", ready: false })],
      { create: [], remove: ["db-0"] },
    ],
    ["shrinks from the end", set({ replicas: 1 }), [pod(0), pod(1), pod(2)], { create: [], remove: ["db-2"] }],
    [
      "shrinks one at a time",
      set({ replicas: 1 }),
      [pod(0), pod(1), pod(2, { deleted: true })],
      { create: [], remove: [] },
    ],
    ["counts from where it is told to", set({ ordinals: { start: 5 } }), [pod(5)], { create: ["db-6"], remove: [] }],
    [
      "does everything at once where order does not matter",
      set({ replicas: 2, podManagementPolicy: "Parallel" }),
      [pod(1, { ready: false }), pod(2), pod(3)],
      { create: ["db-0"], remove: ["db-3", "db-2"] },
    ],
  ])("%s", (_, owner, pods, expected) => {
    expect(moves(owner, pods)).toEqual(expected);
  });

  const rolling = (partition: number) => ({ type: "RollingUpdate", rollingUpdate: { partition } });

  it.each<[string, StatefulSet, Pod[], { create: string[]; remove: string[] }]>([
    [
      "updates from the end",
      set({ updateStrategy: rolling(0) }),
      [pod(0), pod(1), pod(2)],
      { create: [], remove: ["db-2"] },
    ],
    [
      "waits for the updated one",
      set({ updateStrategy: rolling(0) }),
      [pod(0), pod(1), pod(2, { revision: "two", ready: false })],
      { create: [], remove: [] },
    ],
    [
      "stops at the partition",
      set({ updateStrategy: rolling(2) }),
      [pod(0), pod(1), pod(2, { revision: "two" })],
      { create: [], remove: [] },
    ],
    [
      "leaves it to others where they delete the pods",
      set({ updateStrategy: { type: "OnDelete" } }),
      [pod(0), pod(1), pod(2)],
      { create: [], remove: [] },
    ],
  ])("%s", (_, owner, pods, expected) => {
    expect(moves(owner, pods, NEXT)).toEqual(expected);
  });

  it("makes pods below the partition from the old template", () => {
    const owner = set({ updateStrategy: rolling(1) });
    const image = (pods: readonly Pod[]) =>
      planStatefulSet(owner, pods, NEXT, NOW).create[0]?.spec.containers[0]?.image;
    expect(image([])).toBe("one");
    expect(image([pod(0)])).toBe("two");
  });

  it("gives pods a name of their own in the network, and their volumes", () => {
    const owner = set({
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
    });
    const [made] = planStatefulSet(owner, [], SAME, NOW).create;
    expect(made?.metadata.labels).toMatchObject({
      app: "db",
      "statefulset.kubernetes.io/pod-name": "db-0",
      "apps.kubernetes.io/pod-index": "0",
      "controller-revision-hash": "one",
    });
    expect(made?.spec).toMatchObject({
      hostname: "db-0",
      subdomain: "db",
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-db-0" } }],
    });
  });
});

describe("who owns the claims of a StatefulSet", () => {
  const claim = (...owners: object[]) =>
    ({ metadata: { name: "data-db-2", ownerReferences: owners } }) as unknown as Claim;
  const policy = (whenDeleted: string, whenScaled: string) => ({
    persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
  });
  const bySet = { kind: "StatefulSet", name: "db", uid: "set" };
  const byPod = { kind: "Pod", name: "db-2", uid: "db-2" };

  it.each<[string, object, boolean, Claim, object[] | undefined]>([
    ["nobody, when they are kept", policy("Retain", "Retain"), true, claim(), undefined],
    ["nobody any more, when they are kept now", policy("Retain", "Retain"), true, claim(bySet), []],
    ["the set, when they go with it", policy("Delete", "Retain"), true, claim(), [bySet]],
    ["the pod, when they go because the set shrinks", policy("Retain", "Delete"), false, claim(), [byPod]],
    ["the pod in place of the set", policy("Delete", "Delete"), false, claim(bySet), [byPod]],
    ["whoever manages them", policy("Delete", "Delete"), true, claim({ uid: "x", controller: true }), undefined],
  ])("%s", (_, spec, inRange, one, expected) => {
    const owners = claimOwners(set(spec), pod(2), inRange, one);
    if (expected === undefined) expect(owners).toBeUndefined();
    else expect(owners).toMatchObject(expected);
  });
});

describe("a StatefulSet", () => {
  it("makes its pods in order, each with its claim, and takes them away in reverse", async () => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ labels: "app=db" }, { stopDelay: "2s" });
    const volumeClaimTemplates = [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ];
    await stage.create("statefulsets", workload("db", { replicas: 3, serviceName: "db", volumeClaimTemplates }));
    expect(await stage.names("pods")).toEqual(["db-0"]);
    await stage.pass(150);
    expect(await stage.names("pods")).toEqual(["db-0", "db-1"]);
    await stage.pass(1_000);
    expect(await stage.names("pods")).toEqual(["db-0", "db-1", "db-2"]);
    const claims = await stage.list("persistentvolumeclaims");
    expect(claims.map(({ metadata, status }) => [metadata.name, status.phase])).toEqual([
      ["data-db-0", "Bound"],
      ["data-db-1", "Bound"],
      ["data-db-2", "Bound"],
    ]);
    const { status } = await stage.get("statefulsets", "db");
    const [revision] = await stage.list("controllerrevisions");
    expect(status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: revision.metadata.name,
      updateRevision: revision.metadata.name,
      collisionCount: 0,
    });
    expect(revision).toMatchObject({ revision: 1, data: { spec: { template: { $patch: "replace" } } } });
    expect((await stage.events("db")).slice(0, 2)).toEqual([
      "SuccessfulCreate: Create Claim data-db-0 Pod db-0 in StatefulSet db success",
      "SuccessfulCreate: Create Pod db-0 in StatefulSet db successful",
    ]);

    await stage.patch("statefulsets", "db", { spec: { replicas: 1 } }, "scale");
    const leaving = async () =>
      (await stage.list("pods")).flatMap(({ metadata }) => (metadata.deletionTimestamp ? metadata.name : []));
    expect(await leaving()).toEqual(["db-2"]);
    await stage.pass(2_000);
    expect(await leaving()).toEqual(["db-1"]);
    await stage.pass(2_000);
    expect(await stage.names("pods")).toEqual(["db-0"]);
    expect(await stage.names("persistentvolumeclaims")).toHaveLength(3);
  });

  it("rolls out from the end, and back by its history", async () => {
    await using stage = await Stage.start();
    await stage.create("statefulsets", workload("db", { replicas: 2 }));
    await stage.pass(1_000);
    const images = async () => (await stage.list("pods")).map(({ spec }) => spec.containers[0].image);
    await stage.patch("statefulsets", "db", { spec: { template: template("db", "app:2") } });
    await stage.pass(50);
    expect(await images()).toEqual(["app:1", "app:2"]);
    const between = (await stage.get("statefulsets", "db")).status;
    expect(between.currentRevision).not.toBe(between.updateRevision);
    await stage.pass(1_000);
    expect(await images()).toEqual(["app:2", "app:2"]);
    expect((await stage.get("statefulsets", "db")).status).toMatchObject({
      currentRevision: between.updateRevision,
      updatedReplicas: 2,
    });
    await stage.patch("statefulsets", "db", { spec: { template: template("db", "app:1") } });
    await stage.pass(1_000);
    expect(await images()).toEqual(["app:1", "app:1"]);
    const history = (await stage.list("controllerrevisions")).map((one) => one.revision).sort();
    expect(history).toEqual([2, 3]);
  });

  it("lets claims go with it where it is told to", async () => {
    await using stage = await Stage.start();
    const volumeClaimTemplates = [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ];
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: "Delete", whenScaled: "Delete" };
    const spec = { replicas: 2, volumeClaimTemplates, persistentVolumeClaimRetentionPolicy };
    await stage.create("statefulsets", workload("db", spec));
    await stage.pass(1_000);
    await stage.patch("statefulsets", "db", { spec: { replicas: 1 } });
    await stage.pass(1_000);
    expect(await stage.names("persistentvolumeclaims")).toEqual(["data-db-0"]);
    await stage.remove("statefulsets", "db");
    await stage.pass(1_000);
    expect(await stage.names("persistentvolumeclaims")).toEqual([]);
    expect(await stage.names("persistentvolumes")).toEqual([]);
  });
});
