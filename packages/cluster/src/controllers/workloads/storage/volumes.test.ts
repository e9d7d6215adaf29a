import { describe, expect, it } from "vitest";
import type { Claim, StorageClass, Volume } from "../tables.ts";
import { Stage, template } from "../test-stage.ts";
import { findVolume, planClaim, planVolume } from "./volume-plan.ts";

const claim = (spec: object = {}, more: object = {}): Claim =>
  ({
    metadata: { name: "data", namespace: "default", uid: "claim" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "5Gi" } },
      storageClassName: "fast",
      ...spec,
    },
    status: { phase: "Pending" },
    ...more,
  }) as unknown as Claim;

const volume = (name: string, size: string, spec: object = {}, phase = "Available"): Volume =>
  ({
    metadata: { name, labels: { disk: name } },
    spec: { capacity: { storage: size }, accessModes: ["ReadWriteOnce"], storageClassName: "fast", ...spec },
    status: { phase },
  }) as unknown as Volume;

const storageClass = (name: string, more: object = {}): StorageClass =>
  ({ metadata: { name }, provisioner: "p", volumeBindingMode: "Immediate", ...more }) as unknown as StorageClass;

describe("the volume for a claim", () => {
  it.each<[string, object, string | undefined]>([
    ["is the smallest that is large enough", {}, "medium"],
    ["has what its selector asks for", { selector: { matchLabels: { disk: "large" } } }, "large"],
    ["has the modes", { accessModes: ["ReadWriteMany"] }, "shared"],
    ["is of the class", { storageClassName: "slow" }, undefined],
    ["is of the form", { volumeMode: "Block" }, undefined],
    ["is large enough", { resources: { requests: { storage: "1Ti" } } }, undefined],
  ])("%s", (_, spec, expected) => {
    const volumes = [
      volume("small", "1Gi"),
      volume("large", "20Gi"),
      volume("medium", "10Gi"),
      volume("taken", "6Gi", { claimRef: { name: "other", namespace: "default", uid: "x" } }, "Bound"),
      volume("shared", "50Gi", { accessModes: ["ReadWriteMany", "ReadWriteOnce"] }),
    ];
    expect(findVolume(claim(spec), volumes)?.metadata.name).toBe(expected);
  });
});

describe("the plan of a claim", () => {
  const later = storageClass("fast", { volumeBindingMode: "WaitForFirstConsumer" });
  const input = { volumes: [], classes: [storageClass("fast")], node: undefined, consumer: undefined };

  it.each<[string, Parameters<typeof planClaim>[0], object]>([
    ["makes a volume", { ...input, claim: claim() }, { do: "provision" }],
    [
      "takes one that is there",
      { ...input, claim: claim(), volumes: [volume("v", "9Gi")] },
      { do: "bind", chosen: true },
    ],
    [
      "takes the one that waits for it",
      { ...input, claim: claim(), volumes: [volume("v", "1Gi", { claimRef: { name: "data", namespace: "default" } })] },
      { do: "bind", volume: { metadata: { name: "v" } } },
    ],
    [
      "takes the one that it names",
      { ...input, claim: claim({ volumeName: "v" }), volumes: [volume("v", "1Gi")] },
      { do: "bind", chosen: false },
    ],
    ["waits for the one that it names", { ...input, claim: claim({ volumeName: "v" }) }, { do: "nothing" }],
    [
      "has lost its volume",
      { ...input, claim: claim({ volumeName: "v" }, { status: { phase: "Bound" } }) },
      { do: "lose" },
    ],
    [
      "waits for somebody to use it",
      { ...input, classes: [later], claim: claim() },
      { do: "wait", reason: "WaitForFirstConsumer" },
    ],
    [
      "waits for its user to have a place",
      { ...input, classes: [later], claim: claim(), consumer: "web" },
      { do: "wait", reason: "WaitForPodScheduled", message: "waiting for pod web to be scheduled" },
    ],
    [
      "makes a volume where its user is",
      { ...input, classes: [later], claim: claim(), consumer: "web", node: "n" },
      { do: "provision", node: "n" },
    ],
    [
      "takes the default class",
      {
        ...input,
        claim: claim({ storageClassName: undefined }),
        classes: [
          storageClass("std", {
            metadata: { name: "std", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
          }),
        ],
      },
      { do: "classify", storageClass: "std" },
    ],
    [
      "takes no class when it wants none",
      { ...input, claim: claim({ storageClassName: "" }) },
      { do: "wait", reason: "FailedBinding" },
    ],
    [
      "tells that there is no such class",
      { ...input, classes: [], claim: claim() },
      { do: "wait", reason: "ProvisioningFailed" },
    ],
    [
      "leaves it to people where nobody makes volumes",
      { ...input, classes: [storageClass("fast", { provisioner: "kubernetes.io/no-provisioner" })], claim: claim() },
      { do: "nothing" },
    ],
  ])("%s", (_, given, expected) => {
    expect(planClaim(given)).toMatchObject(expected);
  });
});

describe("the plan of a volume", () => {
  const claimRef = { name: "data", namespace: "default", uid: "claim" };

  it.each<[string, Volume, Claim | undefined, object]>([
    ["is free", volume("v", "1Gi", {}, "Pending"), undefined, { do: "phase", phase: "Available" }],
    [
      "is kept for a claim to come",
      volume("v", "1Gi", { claimRef: { name: "data", namespace: "default" } }),
      undefined,
      { do: "nothing" },
    ],
    ["is bound", volume("v", "1Gi", { claimRef }, "Pending"), claim(), { do: "phase", phase: "Bound" }],
    ["is released", volume("v", "1Gi", { claimRef }, "Bound"), undefined, { do: "phase", phase: "Released" }],
    ["stays when it is to be kept", volume("v", "1Gi", { claimRef }, "Released"), undefined, { do: "nothing" }],
    [
      "goes when it is not",
      volume("v", "1Gi", { claimRef, persistentVolumeReclaimPolicy: "Delete" }, "Released"),
      undefined,
      { do: "remove" },
    ],
  ])("%s", (_, one, its, expected) => {
    expect(planVolume(one, its)).toEqual(expected);
  });
});

describe("a PersistentVolumeClaim", () => {
  const body = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } }, ...spec },
  });
  const using = (name: string) => ({
    ...template("web", "app:1", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }] }),
    metadata: { name: `user-of-${name}` },
  });

  it("gets a volume of the standard class, and takes it along", async () => {
    await using stage = await Stage.start();
    await stage.create("persistentvolumeclaims", body("data"));
    const bound = await stage.get("persistentvolumeclaims", "data");
    const name = `pvc-${bound.metadata.uid}`;
    expect(bound).toMatchObject({
      metadata: {
        annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" },
      },
      spec: { storageClassName: "standard", volumeName: name },
      status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" } },
    });
    expect(await stage.get("persistentvolumes", name)).toMatchObject({
      metadata: { annotations: { "pv.kubernetes.io/provisioned-by": "lotse.dev/simulated" } },
      spec: { claimRef: { name: "data", uid: bound.metadata.uid }, persistentVolumeReclaimPolicy: "Delete" },
      status: { phase: "Bound" },
    });
    expect(await stage.events("data")).toEqual([`ProvisioningSucceeded: Successfully provisioned volume ${name}`]);
    await stage.remove("persistentvolumeclaims", "data");
    expect(await stage.names("persistentvolumeclaims")).toEqual([]);
    expect(await stage.names("persistentvolumes")).toEqual([]);
  });

  it("stays while a pod uses it", async () => {
    await using stage = await Stage.start();
    await stage.create("persistentvolumeclaims", body("data"));
    await stage.create("pods", using("data"));
    await stage.pass(1_000);
    await stage.remove("persistentvolumeclaims", "data");
    expect((await stage.get("persistentvolumeclaims", "data")).metadata.deletionTimestamp).toBeDefined();
    await stage.remove("pods", "user-of-data");
    await stage.pass(1_000);
    expect(await stage.names("persistentvolumeclaims")).toEqual([]);
  });

  it("waits for its first user where the class says so", async () => {
    await using stage = await Stage.start();
    await stage.create("storageclasses", {
      metadata: { name: "late" },
      provisioner: "example.com/disks",
      volumeBindingMode: "WaitForFirstConsumer",
      reclaimPolicy: "Retain",
    });
    await stage.create("persistentvolumeclaims", body("data", { storageClassName: "late" }));
    expect((await stage.get("persistentvolumeclaims", "data")).status.phase).toBe("Pending");
    expect(await stage.events("data")).toEqual([
      "WaitForFirstConsumer: waiting for first consumer to be created before binding",
    ]);
    await stage.create("pods", using("data"));
    const bound = await stage.get("persistentvolumeclaims", "data");
    expect(bound.status.phase).toBe("Bound");
    expect(bound.metadata.annotations["volume.kubernetes.io/selected-node"]).toBe("lotse-node");
    await stage.remove("pods", "user-of-data");
    await stage.pass(1_000);
    await stage.remove("persistentvolumeclaims", "data");
    expect((await stage.list("persistentvolumes")).map(({ status }) => status.phase)).toEqual(["Released"]);
  });

  it("takes a volume that somebody made", async () => {
    await using stage = await Stage.start();
    await stage.create("persistentvolumes", {
      metadata: { name: "by-hand" },
      spec: { capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } },
    });
    expect((await stage.get("persistentvolumes", "by-hand")).status.phase).toBe("Available");
    await stage.create("persistentvolumeclaims", body("data", { storageClassName: "" }));
    expect((await stage.get("persistentvolumeclaims", "data")).spec.volumeName).toBe("by-hand");
    expect((await stage.get("persistentvolumes", "by-hand")).status.phase).toBe("Bound");
  });

  it("is waited for by its pod", async () => {
    await using stage = await Stage.start();
    await stage.create("pods", using("data"));
    const scheduled = async () =>
      (await stage.get("pods", "user-of-data")).status.conditions.find(({ type }: never) => type === "PodScheduled");
    expect((await scheduled()).message).toContain('persistentvolumeclaim "data" not found');
    await stage.create("persistentvolumeclaims", body("data", { storageClassName: "none" }));
    expect((await scheduled()).message).toContain("pod has unbound immediate PersistentVolumeClaims");
    expect(await stage.events("data")).toEqual(['ProvisioningFailed: storageclass.storage.k8s.io "none" not found']);
    await stage.create("storageclasses", { metadata: { name: "none" }, provisioner: "example.com/disks" });
    expect(await scheduled()).toMatchObject({ status: "True" });
    expect((await stage.get("pods", "user-of-data")).spec.nodeName).toBe("lotse-node");
  });
});
