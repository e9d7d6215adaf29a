import { describe, expect, it } from "vitest";
import { Stage, template, workload } from "./test-stage.ts";
import { WorkCount } from "./test-work-count.ts";

/** More than are looked at one by one. */
const FEW = 70;
/** What is quadratic would take four times the work for twice the pods; how often a set is looked at varies a little. */
const AT_MOST = 3.2;
/** Objects that are touched between two turns of the event loop, for each pod that there is. */
const PER_POD = 20;

interface Scene {
  readonly name: string;
  readonly play: (stage: Stage, pods: number) => Promise<void>;
}

const ready = async (stage: Stage, plural: string, name: string, pods: number) => {
  await stage.pass(5_000);
  expect((await stage.get(plural, name)).status.readyReplicas).toBe(pods);
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
