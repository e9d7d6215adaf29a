import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { type Reply, testClient } from "../client/test-cluster.ts";
import { VirtualClock } from "../meta/index.ts";
import { passing } from "../test-passing.ts";
import type { RawRequest } from "../transport/index.ts";
import { judge } from "./drain.ts";
import { CronJob, DaemonSet, Deployment, Job, Node, Pod, Service } from "./index.ts";
import { daemonSetRollout, deploymentRollout, replicaRollout, statefulSetRollout } from "./rollout.ts";
import { targetPortOf } from "./service.ts";

describe("the status of a rollout", () => {
  const metadata = { generation: 2 };
  it("says nothing about a spec that the controller has not seen", () => {
    for (const rollout of [deploymentRollout, daemonSetRollout, statefulSetRollout, replicaRollout]) {
      expect(rollout({ metadata, status: { observedGeneration: 1 } } as never)).toMatchObject({ done: false });
    }
  });

  it.each([
    [{ updatedReplicas: 1 }, "1 of 3 replicas are updated"],
    [{ updatedReplicas: 3, replicas: 5 }, "2 old replicas have still to go"],
    [{ updatedReplicas: 3, replicas: 3, availableReplicas: 1 }, "1 of 3 updated replicas are available"],
  ])("of a Deployment with %o is: %s", (status, message) => {
    const body = { metadata, spec: { replicas: 3 }, status: { observedGeneration: 2, ...status } };
    expect(deploymentRollout(body as never)).toEqual({ done: false, failed: false, message });
  });

  it("of a StatefulSet counts its partition, and its revisions", () => {
    const spec = { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } };
    const status = { observedGeneration: 2, readyReplicas: 3, updatedReplicas: 0 };
    expect(statefulSetRollout({ metadata, spec, status } as never).message).toBe(
      "0 of 1 pods of the partition are updated",
    );
    const revisions = { updateRevision: "b", currentRevision: "a", updatedReplicas: 1 };
    expect(
      statefulSetRollout({ metadata, spec: { replicas: 3 }, status: { ...status, ...revisions } } as never).message,
    ).toBe("1 of 3 pods are updated");
    const same = { updateRevision: "b", currentRevision: "b" };
    expect(statefulSetRollout({ metadata, spec: { replicas: 3 }, status: { ...status, ...same } } as never).done).toBe(
      true,
    );
  });

  it("of a DaemonSet that waits for deletions is done", () => {
    const spec = { updateStrategy: { type: "OnDelete" } };
    const status = { observedGeneration: 2, desiredNumberScheduled: 3 };
    expect(daemonSetRollout({ metadata, spec, status } as never).done).toBe(true);
  });
});

describe("setImage", () => {
  const containers = [
    { name: "web", image: "a" },
    { name: "log", image: "b" },
  ];
  const app = async () => {
    const { client, transport } = await testClient(({ body }) => ({ body }));
    const spec = { selector: {}, template: { spec: { containers, initContainers: [{ name: "setup", image: "c" }] } } };
    return { app: new Deployment({ metadata: { name: "app", namespace: "n" }, spec }, client), transport };
  };

  it("patches containers by name, those of the start, too", async () => {
    const { app: deployment, transport } = await app();
    await deployment.setImage({ log: "b:2", setup: "c:2" });
    expect(transport.requests[0]).toMatchObject({
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: {
        spec: {
          template: {
            spec: { containers: [{ name: "log", image: "b:2" }], initContainers: [{ name: "setup", image: "c:2" }] },
          },
        },
      },
    });
  });

  it("refuses to guess", async () => {
    const { app: deployment } = await app();
    await expect(deployment.setImage("x")).rejects.toThrow("there are 2 containers");
    await expect(deployment.setImage({ wep: "x" })).rejects.toMatchObject({
      hint: "the containers are: web, log, setup",
    });
  });
});

describe("drain", () => {
  const owner = (kind: string) => ({ apiVersion: "apps/v1", kind, name: "o", uid: "o", controller: true });

  it.each([
    [
      "a mirror of a file on the node",
      { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } },
      {},
      "leave",
    ],
    ["a pod of a DaemonSet", { metadata: { ownerReferences: [owner("DaemonSet")] } }, {}, "refuse"],
    [
      "such a pod, if told so",
      { metadata: { ownerReferences: [owner("DaemonSet")] } },
      { ignoreDaemonSets: true },
      "leave",
    ],
    ["a pod that nobody brings back", {}, {}, "refuse"],
    ["such a pod, if told so", {}, { force: true }, "evict"],
    ["a pod that is over", { status: { phase: "Succeeded" } }, {}, "evict"],
    [
      "a pod with data of its own",
      { metadata: { ownerReferences: [owner("ReplicaSet")] }, spec: { volumes: [{ name: "v", emptyDir: {} }] } },
      {},
      "refuse",
    ],
    [
      "such a pod, if told so",
      { metadata: { ownerReferences: [owner("ReplicaSet")] }, spec: { volumes: [{ name: "v", emptyDir: {} }] } },
      { deleteEmptyDirData: true },
      "evict",
    ],
  ])("judges %s: %s", (_, pod, o, verdict) => {
    expect(judge(pod as never, o).do).toBe(verdict);
  });

  const budget = {
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
  };
  const web = {
    metadata: { name: "web", namespace: "a", uid: "u", ownerReferences: [owner("ReplicaSet")] },
  };

  /** A node with one pod, whose budget refuses `times` times. */
  async function crowded(times: number) {
    const clock = new VirtualClock();
    let asked = 0;
    let evicted = false;
    const handler = ({ path, method, query }: RawRequest): Reply => {
      if (path.endsWith("/eviction")) {
        if (asked++ < times) return { status: 429, body: budget };
        evicted = true;
        return { body: {} };
      }
      if (method === "PATCH") return { body: { metadata: { name: "n" } } };
      const items = evicted ? [] : [web];
      return query?.watch ? { body: {} } : { body: { metadata: { resourceVersion: "1" }, items } };
    };
    const { client, transport } = await testClient(handler, { clock });
    return { node: Node.ref("n", { client }), clock, transport, evictions: () => asked };
  }

  it("asks again while a disruption budget refuses", async () => {
    const { node, clock, evictions, transport } = await crowded(2);
    const told: string[] = [];
    const draining = node.drain({ onPod: (_, what) => told.push(what), gracePeriodSeconds: 5 });
    expect((await passing(clock, draining)).map(({ name }) => name)).toEqual(["web"]);
    expect(evictions()).toBe(3);
    expect(told).toEqual(["evicting", "waiting", "waiting", "gone"]);
    expect(transport.requests.find(({ path }) => path.endsWith("/eviction"))).toMatchObject({
      path: "/api/v1/namespaces/a/pods/web/eviction",
      retry: false,
      body: { kind: "Eviction", deleteOptions: { gracePeriodSeconds: 5, preconditions: { uid: "u" } } },
    });
  });

  it("gives up when the time is over, and says which budget was in the way", async () => {
    const { node, clock } = await crowded(Number.POSITIVE_INFINITY);
    const draining = node.drain({ timeout: "12s" }).catch((error: unknown) => error);
    const error = await passing(clock, draining);
    expect(error).toMatchObject({ code: "LOTSE_DRAIN", message: expect.stringContaining("disruption budget") });
  });
});

describe("a service", () => {
  it("maps its ports to those of its pods", () => {
    const body = {
      metadata: { name: "web" },
      spec: {
        ports: [
          { port: 80, targetPort: "http", name: "web" },
          { port: 81, name: "same" },
        ],
      },
    };
    expect(targetPortOf(body, 80)).toBe("http");
    expect(targetPortOf(body, "web")).toBe("http");
    expect(targetPortOf(body, "same")).toBe(81);
    expect(() => targetPortOf(body, 99)).toThrow("has no port 99");
  });

  it("is asked through the API server, whatever slashes the path begins with", async () => {
    const { client, transport } = await testClient(() => ({ body: { posted: true } }));
    const service = new Service(
      { metadata: { name: "web", namespace: "a" }, spec: { ports: [{ port: 80, name: "http" }] } },
      client,
    );
    const response = await service.proxy.fetch("//things?x=1", { method: "POST", body: { a: 1 } });
    expect(response.status).toBe(200);
    expect(transport.log).toEqual(["POST /api/v1/namespaces/a/services/web:http/proxy/things?x=1"]);
    expect(transport.requests[0]?.body).toEqual({ a: 1 });
  });

  it("answers with a Response also when it answers no; the API server's own refusal is an error", async () => {
    const own = {
      kind: "Status",
      apiVersion: "v1",
      reason: "NotFound",
      message: 'services "web" not found',
      details: { kind: "services", name: "web" },
    };
    let body: unknown = "no such page";
    const { client } = await testClient(() => ({ status: 404, body }));
    const service = new Service({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } }, client);
    const refused = await service.proxy.fetch("/none");
    expect([refused.status, await refused.text()]).toEqual([404, "no such page"]);
    body = { kind: "Status", apiVersion: "v1", reason: "NotFound", message: "of another server behind the proxy" };
    expect((await service.proxy.fetch("/none")).status).toBe(404);
    body = own;
    await expect(service.proxy.fetch("/none")).rejects.toThrow('services "web" not found');
    const two = new Service(
      { metadata: { name: "web" }, spec: { ports: [{ port: 80 }, { port: 81, name: "b" }] } },
      client,
    );
    await expect(two.proxy.fetch("/")).rejects.toMatchObject({ hint: "pass port: 80 or b" });
  });
});

describe("jobs", () => {
  it("scale by the number of pods at a time", async () => {
    const { client, transport } = await testClient(({ body }) => ({ body }));
    await Job.ref("work", { client }).scale(4);
    expect(transport.requests[0]).toMatchObject({
      path: "/apis/batch/v1/namespaces/default/jobs/work",
      body: { spec: { parallelism: 4 } },
    });
  });

  it("that failed tell the last lines of their newest pod, and which one was the last of all", async () => {
    const conditions = [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded", message: "tried 3 times" }];
    const job = {
      metadata: { name: "work", namespace: "default", uid: "j", resourceVersion: "1" },
      spec: { selector: { matchLabels: { job: "work" } } },
      status: { conditions },
    };
    const pod = (name: string, minute: number) => ({
      metadata: { name, namespace: "default", creationTimestamp: `2026-01-01T00:0${minute}:00Z` },
      spec: { containers: [{ name: "main" }] },
    });
    const pods = [pod("first", 1), pod("last", 3), pod("second", 2)];
    let gone = false;
    const { client, transport } = await testClient(({ path, query }): Reply => {
      if (path.endsWith("/log")) {
        const lines = `connecting\nrefused by ${path.split("/").at(-2)}\n`;
        return gone ? { status: 404 } : { events: new PassThrough().end(lines) };
      }
      if (query?.watch) return { events: new PassThrough() };
      if (path.endsWith("/jobs")) return { body: { metadata: { resourceVersion: "1" }, items: [job] } };
      if (path.endsWith("/pods")) return { body: { metadata: {}, items: pods } };
      return { body: pods.find(({ metadata }) => path.endsWith(`/${metadata.name}`)) ?? job };
    });
    const fail = () =>
      Job.ref("work", { client })
        .waitDone()
        .catch((reason: unknown) => reason);
    expect(await fail()).toMatchObject({
      code: "LOTSE_JOB_FAILED",
      message: "Job default/work failed: tried 3 times",
      reason: "BackoffLimitExceeded",
      lastLines: ["connecting", "refused by last"],
      hint: "it said last: refused by last",
    });
    expect(transport.log).toContain("GET /api/v1/namespaces/default/pods/last/log?container=main&tailLines=20");
    gone = true;
    expect(await fail()).toMatchObject({ lastLines: [], hint: "look at the events of its pods" });
  });

  it("are triggered under a name that the server makes", async () => {
    const { client, transport } = await testClient(({ body }) => ({ body }));
    const spec = { schedule: "@daily", jobTemplate: { metadata: { labels: { a: "b" } }, spec: { template: {} } } };
    const cron = new CronJob({ metadata: { name: "n", namespace: "x", uid: "c" }, spec } as CronJob["body"], client);
    await cron.trigger();
    expect(transport.requests[0]?.body).toMatchObject({
      metadata: {
        generateName: "n-manual-",
        labels: { a: "b" },
        annotations: { "cronjob.kubernetes.io/instantiate": "manual" },
        ownerReferences: [{ kind: "CronJob", uid: "c", controller: true }],
      },
    });
  });
});

describe("the pods that answer", () => {
  it("are known from one list, however many there are", async () => {
    const status = (ready: string) => ({
      phase: "Running",
      conditions: ["Ready", "ContainersReady"].map((type) => ({ type, status: ready })),
    });
    const items = ["True", "False", "True"].map((ready, i) => ({
      metadata: { name: `p${i}` },
      status: status(ready),
    }));
    const { client, transport } = await testClient(() => ({ body: { metadata: {}, items } }));
    const spec = { selector: { matchExpressions: [{ key: "app", operator: "In", values: ["a", "b"] }] }, template: {} };
    const web = new Deployment({ metadata: { name: "web" }, spec }, client);
    expect((await web.readyPods()).map(({ name }) => name)).toEqual(["p0", "p2"]);
    expect(transport.log).toEqual(["GET /api/v1/namespaces/default/pods?limit=500&labelSelector=app in (a,b)"]);
  });
});

describe("a DaemonSet", () => {
  it("finds no pods by an empty selector, which would mean all", async () => {
    const { client, transport } = await testClient(() => ({ body: { items: [] } }));
    const set = new DaemonSet({ metadata: { name: "d" }, spec: { selector: {}, template: {} } }, client);
    expect(await set.pods()).toEqual([]);
    expect(transport.requests).toEqual([]);
    expect(new Pod({ metadata: { name: "p" } }).containers).toEqual([]);
  });
});
