import { describe, expect, it } from "vitest";
import { call } from "../../test-requests.ts";
import { Stage, template, workload } from "./test-stage.ts";
import { WorkCount } from "./test-work-count.ts";

/** More than are looked at one by one. */
const FEW = 70;
/** What is quadratic would take four times the work for twice the pods; how often a set is looked at varies a little. */
const AT_MOST = 3.2;
/** Objects that are touched between two turns of the event loop, for each pod that there is. */
const PER_POD = 12;

interface Scene {
  readonly name: string;
  readonly play: (stage: Stage, pods: number) => Promise<void>;
}

const ready = async (stage: Stage, plural: string, name: string, pods: number) => {
  await stage.pass(5_000);
  expect((await stage.get(plural, name)).status.readyReplicas).toBe(pods);
};

/** Creates an object, and lets what follows from it wait. */
const post = async (stage: Stage, path: string, body: object) => {
  const answer = await call(stage.cluster, "POST", path, { body });
  expect(answer.status, answer.text).toBe(201);
};

const SCENES: readonly Scene[] = [
  {
    name: "a Deployment with a Service, a budget and a quota, that comes and goes",
    play: async (stage, pods) => {
      await stage.create("services", {
        metadata: { name: "web" },
        spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
      });
      await stage.create("resourcequotas", { metadata: { name: "all" }, spec: { hard: { pods: "1000" } } });
      await stage.create("poddisruptionbudgets", {
        metadata: { name: "web" },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } },
      });
      await stage.create("deployments", workload("web", { replicas: pods }));
      await ready(stage, "deployments", "web", pods);
      await stage.remove("deployments", "web");
      await stage.pass(60_000);
      expect(await stage.names("pods")).toEqual([]);
    },
  },
  {
    name: "a StatefulSet whose pods have volumes and come all at once",
    play: async (stage, pods) => {
      const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
      const volumeClaimTemplates = [{ metadata: { name: "data" }, spec }];
      const set = { replicas: pods, serviceName: "db", podManagementPolicy: "Parallel", volumeClaimTemplates };
      await stage.create("statefulsets", workload("db", set));
      await ready(stage, "statefulsets", "db", pods);
    },
  },
  {
    name: "a Job whose pods come all at once",
    play: async (stage, pods) => {
      stage.cluster.pods.program({ labels: "app=once" }, { exit: [{ code: 0 }] });
      const spec = {
        completions: pods,
        parallelism: pods,
        template: template("once", "i", { restartPolicy: "Never" }),
      };
      await stage.create("jobs", { metadata: { name: "once" }, spec });
      await stage.pass(60_000);
      expect((await stage.get("jobs", "once")).status.succeeded).toBe(pods);
    },
  },
  {
    name: "a Deployment that is scaled to nothing",
    play: async (stage, pods) => {
      await stage.create("deployments", workload("web", { replicas: pods }));
      await ready(stage, "deployments", "web", pods);
      await stage.patch("deployments", "web", { spec: { replicas: 0 } });
      await stage.pass(60_000);
      expect(await stage.names("pods")).toEqual([]);
    },
  },
  {
    name: "as many Jobs of one pod each",
    play: async (stage, pods) => {
      stage.cluster.pods.program({ labels: "app=once" }, { exit: [{ code: 0 }] });
      const spec = { template: template("once", "i", { restartPolicy: "Never" }) };
      for (let at = 0; at < pods; at++)
        await post(stage, stage.path("jobs"), { metadata: { name: `job-${at}` }, spec });
      await stage.pass(60_000);
      const jobs = await stage.list("jobs");
      expect(jobs.filter(({ status }) => status.succeeded === 1)).toHaveLength(pods);
    },
  },
  {
    name: "a namespace with pods and ten times as many others, that is deleted",
    play: async (stage, pods) => {
      await stage.create("namespaces", { metadata: { name: "full" } });
      await post(stage, "/apis/apps/v1/namespaces/full/deployments", workload("web", { replicas: pods }));
      for (let at = 0; at < 10 * pods; at++) {
        await post(stage, "/api/v1/namespaces/full/configmaps", { metadata: { name: `one-${at}` } });
      }
      await stage.pass(5_000);
      await stage.remove("namespaces", "full");
      await stage.pass(60_000);
      expect(await stage.names("namespaces")).not.toContain("full");
    },
  },
  {
    name: "pods that no controller owns, all deleted at once",
    play: async (stage, pods) => {
      const spec = { containers: [{ name: "c", image: "i" }] };
      for (let at = 0; at < pods; at++)
        await post(stage, stage.path("pods"), { metadata: { name: `pod-${at}` }, spec });
      await stage.pass(5_000);
      const answer = await call(stage.cluster, "DELETE", stage.path("pods"), { body: { gracePeriodSeconds: 0 } });
      expect(answer.body.items).toHaveLength(pods);
      await stage.pass(60_000);
      expect(await stage.names("pods")).toEqual([]);
    },
  },
];

async function work({ play }: Scene, pods: number): Promise<WorkCount> {
  await using stage = await Stage.start();
  using count = new WorkCount();
  await play(stage, pods);
  return count;
}

describe("the work of controllers, counted in objects that they touch", () => {
  it.each(SCENES)(
    "is twice as much for twice the pods, and comes in small pieces: $name",
    async (scene) => {
      const few = await work(scene, FEW);
      const many = await work(scene, 2 * FEW);
      expect(many.total / few.total).toBeLessThan(AT_MOST);
      expect(many.most).toBeLessThan(2 * FEW * PER_POD);
    },
    240_000,
  );
});
