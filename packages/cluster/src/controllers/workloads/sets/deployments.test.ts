import { describe, expect, it } from "vitest";
import { Stage, template, workload } from "../test-stage.ts";

describe("a Deployment", () => {
  it("makes a ReplicaSet and pods, and tells when they are there", async () => {
    await using stage = await Stage.start();
    await stage.create("deployments", workload("web", { replicas: 3 }));
    await stage.pass(1_000);
    const [set] = await stage.list("replicasets");
    const hash = set.metadata.labels["pod-template-hash"];
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]+$/);
    expect(set).toMatchObject({
      metadata: {
        name: `web-${hash}`,
        annotations: {
          "deployment.kubernetes.io/revision": "1",
          "deployment.kubernetes.io/desired-replicas": "3",
          "deployment.kubernetes.io/max-replicas": "4",
        },
        ownerReferences: [{ kind: "Deployment", name: "web", controller: true, blockOwnerDeletion: true }],
      },
      spec: { replicas: 3, selector: { matchLabels: { app: "web", "pod-template-hash": hash } } },
      status: { replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3, observedGeneration: 1 },
    });
    const pods = await stage.list("pods");
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(
      pods.map(() => expect.stringMatching(new RegExp(`^web-${hash}-[a-z0-9]{5}$`))),
    );
    expect(pods[0].metadata.ownerReferences).toMatchObject([{ kind: "ReplicaSet", name: `web-${hash}` }]);

    const deployment = await stage.get("deployments", "web");
    expect(deployment.metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "1" });
    expect(deployment.status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      terminatingReplicas: 0,
    });
    expect(deployment.status.unavailableReplicas).toBeUndefined();
    expect(deployment.status.conditions.map(({ type, status, reason }: never) => [type, status, reason])).toEqual([
      ["Available", "True", "MinimumReplicasAvailable"],
      ["Progressing", "True", "NewReplicaSetAvailable"],
    ]);
    expect(await stage.events("web")).toEqual([`ScalingReplicaSet: Scaled up replica set web-${hash} from 0 to 3`]);
    const created = await stage.events(`web-${hash}`);
    expect(created).toEqual(pods.map(() => expect.stringMatching(/^SuccessfulCreate: Created pod: web-/)));
    const managers = deployment.metadata.managedFields.map(({ manager, subresource }: never) => [manager, subresource]);
    expect(managers).toContainEqual(["kube-controller-manager", "status"]);
  });

  it("rolls to another template within its bounds, back again, and forgets what is too old", async () => {
    await using stage = await Stage.start();
    const spec = { replicas: 4, revisionHistoryLimit: 1 };
    await stage.create("deployments", workload("web", spec));
    await stage.pass(1_000);
    const [first] = await stage.names("replicasets");

    const most: number[] = [];
    const least: number[] = [];
    await stage.patch("deployments", "web", { spec: { template: template("web", "app:2") } });
    for (let step = 0; step < 40; step++) {
      const { status } = await stage.get("deployments", "web");
      most.push(status.replicas);
      least.push(status.availableReplicas);
      await stage.pass(50);
    }
    // 25 % of 4, both ways.
    expect(Math.max(...most)).toBe(5);
    expect(Math.min(...least)).toBe(3);
    const images = (await stage.list("pods")).map(({ spec: pod }) => pod.containers[0].image);
    expect(images).toEqual(["app:2", "app:2", "app:2", "app:2"]);
    const second = (await stage.names("replicasets")).find((name) => name !== first);
    expect(await stage.events("web")).toContain(`ScalingReplicaSet: Scaled up replica set ${second} from 0 to 1`);
    expect(await stage.events("web")).toContain(`ScalingReplicaSet: Scaled down replica set ${first} from 4 to 3`);

    // What kubectl does to undo a rollout: it puts the old template back.
    await stage.patch("deployments", "web", { spec: { template: template("web", "app:1") } });
    await stage.pass(5_000);
    const back = await stage.get("replicasets", first as string);
    expect(back.spec.replicas).toBe(4);
    expect(back.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "3",
      "deployment.kubernetes.io/revision-history": "1",
    });
    expect((await stage.get("deployments", "web")).metadata.annotations["deployment.kubernetes.io/revision"]).toBe("3");

    await stage.patch("deployments", "web", { spec: { template: template("web", "app:3") } });
    await stage.pass(5_000);
    const names = await stage.names("replicasets");
    expect(names).toHaveLength(2);
    expect(names).not.toContain(second);
  });

  it("scales, and not while it rolls out", async () => {
    await using stage = await Stage.start();
    await stage.create("deployments", workload("web", { replicas: 2 }));
    await stage.pass(1_000);
    await stage.patch("deployments", "web", { spec: { replicas: 5 } }, "scale");
    await stage.pass(1_000);
    const [set] = await stage.list("replicasets");
    expect(set.spec.replicas).toBe(5);
    expect(set.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/desired-replicas": "5",
      "deployment.kubernetes.io/max-replicas": "7",
    });
    await stage.patch("deployments", "web", { spec: { replicas: 1 } });
    await stage.pass(1_000);
    expect(await stage.names("pods")).toHaveLength(1);
    expect((await stage.get("deployments", "web")).status).toMatchObject({ replicas: 1, availableReplicas: 1 });
    expect(await stage.events("web")).toEqual([
      `ScalingReplicaSet: Scaled up replica set ${set.metadata.name} from 0 to 2`,
      `ScalingReplicaSet: Scaled up replica set ${set.metadata.name} from 2 to 5`,
      `ScalingReplicaSet: Scaled down replica set ${set.metadata.name} from 5 to 1`,
    ]);
  });

  it("recreates: the old pods are gone before the new ones come", async () => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ labels: "app=web" }, { stopDelay: "3s" });
    await stage.create("deployments", workload("web", { replicas: 2, strategy: { type: "Recreate" } }));
    await stage.pass(1_000);
    await stage.patch("deployments", "web", { spec: { template: template("web", "app:2") } });
    await stage.pass(1_000);
    const leaving = await stage.list("pods");
    expect(leaving.map(({ spec }) => spec.containers[0].image)).toEqual(["app:1", "app:1"]);
    expect(leaving.every(({ metadata }) => metadata.deletionTimestamp)).toBe(true);
    await stage.pass(3_000);
    const images = (await stage.list("pods")).map(({ spec }) => spec.containers[0].image);
    expect(images).toEqual(["app:2", "app:2"]);
  });

  it("waits while it is paused, and says so", async () => {
    await using stage = await Stage.start();
    await stage.create("deployments", workload("web", { replicas: 1 }));
    await stage.pass(1_000);
    await stage.patch("deployments", "web", { spec: { paused: true, template: template("web", "app:2") } });
    await stage.pass(1_000);
    expect(await stage.names("replicasets")).toHaveLength(1);
    const paused = await stage.get("deployments", "web");
    expect(paused.status.conditions).toContainEqual(
      expect.objectContaining({ type: "Progressing", status: "Unknown", reason: "DeploymentPaused" }),
    );
    await stage.patch("deployments", "web", { spec: { paused: false } });
    await stage.pass(5_000);
    expect((await stage.get("deployments", "web")).status).toMatchObject({ updatedReplicas: 1, availableReplicas: 1 });
  });

  it("gives up on a rollout that makes no progress", async () => {
    await using stage = await Stage.start();
    stage.cluster.pods.program({ image: "app:broken" }, { pullError: "no such image" });
    await stage.create("deployments", workload("web", { replicas: 2, progressDeadlineSeconds: 60 }));
    await stage.pass(1_000);
    await stage.patch("deployments", "web", { spec: { template: template("web", "app:broken") } });
    await stage.pass(59_000);
    const progressing = async () =>
      (await stage.get("deployments", "web")).status.conditions.find(({ type }: never) => type === "Progressing");
    expect(await progressing()).toMatchObject({ status: "True", reason: "ReplicaSetUpdated" });
    await stage.pass(5_000);
    expect(await progressing()).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
    expect((await stage.get("deployments", "web")).status).toMatchObject({ availableReplicas: 2, updatedReplicas: 1 });
  });

  it("adopts a ReplicaSet that was orphaned", async () => {
    await using stage = await Stage.start();
    await stage.create("deployments", workload("web", { replicas: 2 }));
    await stage.pass(1_000);
    const [set] = await stage.names("replicasets");
    const pods = await stage.names("pods");
    await stage.remove("deployments", "web", "Orphan");
    expect((await stage.get("replicasets", set as string)).metadata.ownerReferences).toBeUndefined();
    await stage.create("deployments", workload("web", { replicas: 2 }));
    await stage.pass(1_000);
    expect(await stage.names("replicasets")).toEqual([set]);
    expect(await stage.names("pods")).toEqual(pods);
  });

  it("leaves pods Pending when there is no node", async () => {
    await using stage = await Stage.start({ kubelet: false });
    await stage.create("deployments", workload("web", { replicas: 2 }));
    await stage.pass(1_000);
    expect((await stage.list("pods")).map(({ status }) => status.phase)).toEqual(["Pending", "Pending"]);
    expect((await stage.get("deployments", "web")).status).toMatchObject({ replicas: 2, unavailableReplicas: 2 });
    await stage.remove("deployments", "web");
    expect(await stage.names("pods")).toEqual([]);
  });

  it("can be switched off alone, and with the whole family", async () => {
    await using alone = await Stage.start({ controllers: { deployments: false } });
    await alone.create("deployments", workload("web"));
    await alone.create("replicasets", workload("set"));
    expect(await alone.names("replicasets")).toEqual(["set"]);
    expect(await alone.names("pods")).toHaveLength(1);
    await using none = await Stage.start({ controllers: { workloads: false } });
    await none.create("replicasets", workload("set"));
    expect(await none.names("pods")).toEqual([]);
    expect(await none.names("storageclasses")).toEqual([]);
    await using one = await Stage.start({ controllers: { workloads: false, replicaSets: true } });
    await one.create("replicasets", workload("set"));
    expect(await one.names("pods")).toHaveLength(1);
  });
});
