/** What the client promises of workloads, services, nodes and jobs; the suite plays the controllers itself. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  ConfigMap,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Job,
  Node,
  NoReadyPodError,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StatefulSet,
} from "../builtin/index.ts";
import type { Client } from "../client/index.ts";
import type { appsv1, corev1, ObjectMeta } from "../kinds/index.ts";
import { inFreshNamespace } from "../test-namespace.ts";
import { DrainError, JobFailedError, RolloutError } from "./errors.ts";
import { referenceTo } from "./owners.ts";

const READY = [
  { type: "Ready", status: "True" },
  { type: "ContainersReady", status: "True" },
];

/** Declares the suite. `connect` gives a client that may do everything. */
export function workloadsContract(connect: () => Promise<Client>): void {
  describe("the client's workloads", () => {
    let client: Client;
    beforeAll(async () => {
      client = await inFreshNamespace(await connect(), { generateName: "workloads-" });
    });

    const pod = async (
      name: string,
      app: string,
      o: { ready?: boolean; nodeName?: string; meta?: ObjectMeta } = {},
    ) => {
      const made = Pod.gen({ name, image: "a", labels: { app } });
      made.body = {
        ...made.body,
        metadata: { ...made.metadata, ...o.meta },
        spec: { ...made.spec, ...(o.nodeName && { nodeName: o.nodeName }), terminationGracePeriodSeconds: 0 },
      };
      await client.create(made);
      return o.ready === false ? made : made.patchStatus({ phase: "Running", conditions: READY });
    };

    it("know their pods by the whole selector, and which of them answer", async () => {
      const web = Deployment.gen({ name: "web", image: "a", labels: { app: "web" } });
      web.body = {
        ...web.body,
        spec: { ...web.spec, selector: { matchExpressions: [{ key: "app", operator: "In", values: ["web", "www"] }] } },
      };
      await client.create(web);
      await Promise.all([pod("web-1", "web"), pod("web-2", "www", { ready: false }), pod("other", "other")]);
      expect((await web.pods()).map(({ name }) => name).sort()).toEqual(["web-1", "web-2"]);
      expect((await web.readyPods()).map(({ name }) => name)).toEqual(["web-1"]);
      expect((await Deployment.ref("web", { client }).readyPod()).name).toBe("web-1");
    });

    it("are ready when the newest spec is rolled out", async () => {
      const app = await client.create(Deployment.gen({ name: "rolling", image: "a:1", replicas: 2 }));
      expect(await app.ready()).toBe(false);
      const rolledOut = app.waitRollout({ timeout: "10s" });
      const other = await client.get(Deployment, "rolling");
      const observedGeneration = other.metadata.generation as number;
      await other.patchStatus({ observedGeneration, replicas: 2, updatedReplicas: 2 });
      expect(await other.rolloutStatus()).toMatchObject({
        done: false,
        message: "0 of 2 updated replicas are available",
      });
      await other.patchStatus({ readyReplicas: 2, availableReplicas: 2 });
      expect(await rolledOut).toBe(app);
      expect(await app.ready()).toBe(true);
      await app.setImage("a:2");
      expect(app.spec.template.spec?.containers[0]?.image).toBe("a:2");
      expect(await app.ready()).toBe(false);
      const reason = "ProgressDeadlineExceeded";
      await other.patchStatus({
        observedGeneration: observedGeneration + 1,
        conditions: [{ type: "Progressing", status: "False", reason }],
      });
      await expect(app.waitRollout()).rejects.toBeInstanceOf(RolloutError);
    });

    it("are restarted, paused and resumed", async () => {
      const app = await client.create(Deployment.gen({ name: "paused", image: "a" }));
      await app.restart();
      expect(app.spec.template.metadata?.annotations).toHaveProperty(["kubectl.kubernetes.io/restartedAt"]);
      await app.pause();
      expect(app.spec.paused).toBe(true);
      await expect(app.restart()).rejects.toThrow("is paused");
      await app.resume();
      expect(app.spec.paused).toBeUndefined();
    });

    it("go back to an earlier revision", async () => {
      const app = await client.create(Deployment.gen({ name: "undone", image: "a:3", env: { NEW: "1" } }));
      await expect(app.undo()).rejects.toThrow("has no earlier revision");
      const revision = (number: number, image: string) =>
        client.create(
          new ReplicaSet({
            metadata: {
              name: `undone-${number}`,
              annotations: { "deployment.kubernetes.io/revision": String(number) },
              ownerReferences: [referenceTo(app)],
            },
            spec: {
              selector: { matchLabels: { app: "undone" } },
              template: {
                metadata: { labels: { app: "undone", "pod-template-hash": String(number) } },
                spec: { containers: [{ name: "undone", image }] },
              },
            },
          }),
        );
      await Promise.all([revision(1, "a:1"), revision(2, "a:2"), revision(3, "a:3")]);
      await app.undo();
      expect(app.spec.template.spec?.containers).toMatchObject([{ image: "a:2" }]);
      expect(app.spec.template.spec?.containers[0]?.env).toBeUndefined();
      expect(app.spec.template.metadata?.labels).toEqual({ app: "undone" });
      await app.undo({ toRevision: 1 });
      expect(app.spec.template.spec?.containers[0]?.image).toBe("a:1");
      await expect(app.undo({ toRevision: 9 })).rejects.toMatchObject({ hint: "its revisions are: 3, 2, 1" });
    });

    it("of other kinds scale, tell their rollout, and go back by their revisions", async () => {
      const template = {
        metadata: { labels: { app: "set" } },
        spec: { containers: [{ name: "main", image: "a:2" }] },
      };
      const spec = { selector: { matchLabels: { app: "set" } }, serviceName: "set", template };
      const set = await client.create(new StatefulSet({ metadata: { name: "set" }, spec }));
      await set.scale(2);
      expect(set.replicas).toBe(2);
      const data = {
        spec: { template: { $patch: "replace", ...template, spec: { containers: [{ name: "main", image: "a:1" }] } } },
      };
      for (const [revision, content] of [
        [1, data],
        [2, { spec: { template } }],
      ] as const) {
        const metadata = { name: `set-${revision}`, ownerReferences: [referenceTo(set)] };
        await client.create(new ControllerRevision({ metadata, revision, data: content } as appsv1.ControllerRevision));
      }
      await set.undo();
      expect(set.spec.template.spec?.containers[0]?.image).toBe("a:1");
      const daemons = await client.create(
        new DaemonSet({ metadata: { name: "daemons" }, spec: { selector: spec.selector, template } }),
      );
      await daemons.patchStatus({
        observedGeneration: 1,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 1,
      } as never);
      expect(await daemons.rolloutStatus()).toMatchObject({ done: false, message: "1 of 2 pods are updated" });
      expect(await daemons.ready()).toBe(false);
    });

    it("behind a service are found by its selector, or by its EndpointSlices", async () => {
      await pod("backend-1", "backend");
      const service = await client.create(Service.gen({ name: "backend", ports: 80 }));
      expect(await service.ready()).toBe(true);
      expect((await service.readyPods()).map(({ name }) => name)).toEqual(["backend-1"]);
      const bare = await client.create(new Service({ metadata: { name: "bare" }, spec: { ports: [{ port: 80 }] } }));
      expect(await bare.ready()).toBe(false);
      await expect(bare.readyPod()).rejects.toBeInstanceOf(NoReadyPodError);
      await client.create(
        new EndpointSlice({
          metadata: { name: "bare-1", labels: { "kubernetes.io/service-name": "bare" } },
          addressType: "IPv4",
          ports: [],
          endpoints: [
            { addresses: ["10.1.0.1"], targetRef: { kind: "Pod", name: "backend-1" } },
            { addresses: ["10.1.0.2"], targetRef: { kind: "Pod", name: "gone" } },
          ],
        }),
      );
      expect(await bare.ready()).toBe(true);
      const balanced = await client.create(
        Service.gen({ name: "balanced", selector: { app: "backend" }, ports: 80, type: "LoadBalancer" }),
      );
      expect(await balanced.ready()).toBe(false);
      await balanced.patchStatus({ loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
      expect(await balanced.ready()).toBe(true);
    });

    it("on a node are drained, but for those of DaemonSets, and those whom nobody brings back only by force", async () => {
      const node = await client.create(new Node({ metadata: { generateName: "node-" } }));
      const owner = await client.create(
        new ReplicaSet({
          metadata: { name: "drained" },
          spec: {
            selector: { matchLabels: { app: "drained" } },
            template: { metadata: { labels: { app: "drained" } }, spec: { containers: [{ name: "a", image: "a" }] } },
          },
        }),
      );
      const daemons = await client.create(
        new DaemonSet({
          metadata: { name: "drain-daemons" },
          spec: {
            selector: { matchLabels: { app: "dd" } },
            template: { metadata: { labels: { app: "dd" } }, spec: { containers: [{ name: "a", image: "a" }] } },
          },
        }),
      );
      const on = { nodeName: node.name };
      await Promise.all([
        pod("drained-1", "drained", { ...on, meta: { ownerReferences: [referenceTo(owner)] } }),
        pod("drained-2", "drained", { ...on, meta: { ownerReferences: [referenceTo(owner)] } }),
        pod("daemon-1", "dd", { ...on, meta: { ownerReferences: [referenceTo(daemons)] } }),
        pod("alone", "alone", on),
      ]);
      expect(await node.pods()).toHaveLength(4);
      const refused = await node.drain().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(DrainError);
      expect([...(refused as DrainError).pods.keys()].map((key) => key.split("/")[1]).sort()).toEqual([
        "alone",
        "daemon-1",
      ]);
      expect(node.unschedulable).toBe(true);
      const gone = await node.drain({ ignoreDaemonSets: true, force: true, gracePeriodSeconds: 0 });
      expect(gone.map(({ name }) => name).sort()).toEqual(["alone", "drained-1", "drained-2"]);
      expect((await node.pods()).map(({ name }) => name)).toEqual(["daemon-1"]);
      await node.uncordon();
      expect(node.unschedulable).toBe(false);
    });

    it("on a node are let go as far as their disruption budget allows", async () => {
      const node = await client.create(new Node({ metadata: { generateName: "node-" } }));
      // A controller that would bring the pods back, and does not where this suite runs.
      const owner = await client.create(ConfigMap.gen({ name: "budgeted" }));
      const meta = { ownerReferences: [referenceTo(owner)] };
      await Promise.all(
        ["budgeted-1", "budgeted-2"].map((name) => pod(name, "budgeted", { nodeName: node.name, meta })),
      );
      const selector = { matchLabels: { app: "budgeted" } };
      const budget = await client.create(
        new PodDisruptionBudget({ metadata: { name: "budgeted" }, spec: { minAvailable: 1, selector } }),
      );
      // What the disruption controller counts where one runs.
      const count = (currentHealthy: number, desiredHealthy: number) =>
        budget.patchStatus({
          observedGeneration: budget.metadata.generation as number,
          disruptionsAllowed: currentHealthy - desiredHealthy,
          currentHealthy,
          desiredHealthy,
          expectedPods: currentHealthy,
        });
      await count(2, 1);
      // Less than the time after which a budget is asked again: a pod that is refused stays.
      const drain = () => node.drain({ gracePeriodSeconds: 0, concurrency: 1, timeout: "4s" });
      const refused = await drain().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(DrainError);
      const [[stuck, why] = []] = (refused as DrainError).pods;
      expect(why).toBe("may not be evicted: Cannot evict pod as it would violate the pod's disruption budget.");
      expect((await node.pods()).map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([stuck]);
      expect((await budget.refresh()).status).toMatchObject({ disruptionsAllowed: 0 });
      await budget.patch({ spec: { minAvailable: 0 } });
      await count(1, 0);
      expect(await drain()).toHaveLength(1);
      expect(await node.pods()).toEqual([]);
    });

    it("meet taints on a node, of which each key and effect is there once", async () => {
      const node = await client.create(new Node({ metadata: { generateName: "tainted-" } }));
      // Others come and go: a node that is not ready has one of the server's.
      const dedicated = () => node.taints.filter(({ key }) => key === "dedicated");
      await node.taint("dedicated", "gpu", "NoSchedule");
      await node.taint("dedicated", "cpu", "NoSchedule");
      await node.taint("dedicated", "", "NoExecute");
      expect(dedicated().map(({ value, effect }) => `${value ?? ""}:${effect}`)).toEqual([
        "cpu:NoSchedule",
        ":NoExecute",
      ]);
      await node.untaint("dedicated", "NoExecute");
      await node.untaint("dedicated");
      expect(dedicated()).toEqual([]);
      await expect(node.untaint("dedicated")).rejects.toThrow("has no taint dedicated");
    });

    it("meet a node that is cordoned, which the server knows, until it is uncordoned", async () => {
      const node = await client.create(new Node({ metadata: { generateName: "cordoned-" } }));
      const asRead = async () => (await client.get(Node, node.name)).unschedulable;
      expect([node.unschedulable, await asRead()]).toEqual([false, false]);
      await node.cordon();
      expect([node.unschedulable, await asRead()]).toEqual([true, true]);
      await node.cordon();
      await node.uncordon();
      expect([node.unschedulable, await asRead()]).toEqual([false, false]);
    });

    it("that are jobs tell how they ended", async () => {
      const job = await client.create(Job.gen({ name: "work", image: "a", command: ["./work"], backoffLimit: 2 }));
      expect([await job.succeeded(), await job.failed()]).toEqual([false, false]);
      const done = job.waitDone({ timeout: "10s" });
      await finish(job, "Complete");
      await done;
      expect(await job.succeeded()).toBe(true);
      const bad = await client.create(Job.gen({ name: "bad", image: "a" }));
      await finish(bad, "Failed");
      const error = await bad.waitDone().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(JobFailedError);
      expect(error).toMatchObject({ reason: "BackoffLimitExceeded" });
    });

    it("that are cron jobs are triggered, and keep their owner", async () => {
      const nightly = await client.create(CronJob.gen({ name: "nightly", image: "a", schedule: "0 3 * * *" }));
      const job = await nightly.trigger({ name: "nightly-now" });
      expect(job).toBeInstanceOf(Job);
      expect(job.name).toBe("nightly-now");
      expect(job.metadata.ownerReferences).toMatchObject([{ kind: "CronJob", uid: nightly.uid, controller: true }]);
      await nightly.suspend();
      expect(nightly.spec.suspend).toBe(true);
      await nightly.resume();
      expect(nightly.spec.suspend).toBe(false);
    });

    it("tolerate taints that they did not before, and show their containers", async () => {
      const one = await pod("tolerant", "tolerant");
      await one.tolerate({ key: "dedicated", operator: "Exists", effect: "NoSchedule" });
      expect(one.tolerations).toContainEqual({ key: "dedicated", operator: "Exists", effect: "NoSchedule" });
      expect(await one.ready()).toBe(true);
      const containerStatuses = [
        { name: "tolerant", image: "a", imageID: "", ready: true, restartCount: 3, state: { running: {} } },
      ] as corev1.ContainerStatus[];
      await one.patchStatus({ containerStatuses });
      expect(one.containers).toMatchObject([{ name: "tolerant", type: "main", ready: true, state: "running" }]);
      expect(one.restartCount).toBe(3);
      await one.evict({ gracePeriodSeconds: 0 });
      await one.wait("delete");
    });

    const finish = async (job: Job, type: "Complete" | "Failed") => {
      const other = await client.get(Job, job.name);
      const [reason, time] = ["BackoffLimitExceeded", new Date().toISOString().replace(/\.\d+Z/, "Z")];
      // The real server checks that a job that is over has said so before.
      const first = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
      await other.patchStatus({
        startTime: time,
        ...(type === "Complete" && { completionTime: time, succeeded: 1 }),
        conditions: [first, type].map((one) => ({ type: one, status: "True", reason, lastTransitionTime: time })),
      });
    };
  });
}
