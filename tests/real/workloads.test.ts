import { setTimeout as delay } from "node:timers/promises";
import { Client } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { untilFurnished } from "../../packages/client/src/test-namespace.ts";
import { RealCluster } from "./cluster.ts";

/** What kube-controller-manager runs here: all that the embedded cluster has an answer to. */
const CONTROLLERS = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "deployment-controller",
  "replicaset-controller",
  "replicationcontroller-controller",
  "statefulset-controller",
  "daemonset-controller",
  "job-controller",
  "endpoints-controller",
  "endpointslice-controller",
  "persistentvolume-binder-controller",
  "persistentvolumeclaim-protection-controller",
  "persistentvolume-protection-controller",
];

const CORE = "/api/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";
const BATCH = "/apis/batch/v1/namespaces/default";
const SLICES =
  "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name%3Dweb";
/** Only what differs for good takes so long. */
const PATIENCE_MS = 120_000;

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind are compared
type Json = any;

/** One of the two servers. */
class Server {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async send(method: string, path: string, body?: Json): Promise<Json> {
    const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : undefined;
    return (await this.#client.raw({ method, path, headers, body })).json();
  }

  /** Plays the node: pods come to `phase`, and those that are told to go are gone. */
  async playNode(selector: string, phase: "Running" | "Succeeded" | "Failed"): Promise<void> {
    const { items } = await this.send("GET", `${CORE}/pods?labelSelector=${encodeURIComponent(selector)}`);
    const now = new Date().toISOString().replace(/\.\d+Z/, "Z");
    for (const [at, { metadata, status }] of items.entries()) {
      const path = `${CORE}/pods/${metadata.name}`;
      if (metadata.deletionTimestamp !== undefined) {
        await this.send("DELETE", path, { gracePeriodSeconds: 0 });
        continue;
      }
      if (status.phase === "Succeeded" || status.phase === "Failed" || status.podIP !== undefined) continue;
      const ip = `10.1.0.${at + 1}`;
      const state =
        phase === "Running"
          ? { running: { startedAt: now } }
          : { terminated: { exitCode: phase === "Failed" ? 1 : 0, startedAt: now, finishedAt: now } };
      const ready = phase === "Running";
      const container = { name: "c", image: "x", imageID: "", ready, restartCount: 0, state };
      const conditions = [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: now }];
      const next = { phase, podIP: ip, podIPs: [{ ip }], startTime: now, conditions, containerStatuses: [container] };
      await this.send("PATCH", `${path}/status`, { status: next });
    }
  }
}

const template = (app: string, image = "app:1") => ({
  metadata: { labels: { app } },
  spec: { nodeName: "n", containers: [{ name: "c", image, ports: [{ name: "http", containerPort: 8080 }] }] },
});

const workload = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
});

const job = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    template: { spec: { nodeName: "n", restartPolicy: "Never", containers: [{ name: "c", image: "a:1" }] } },
    ...spec,
  },
});

interface Step {
  readonly name: string;
  readonly act: (server: Server) => Promise<unknown>;
  /** What is compared afterwards. */
  readonly look: readonly string[];
}

const WEB = [`${APPS}/deployments`, `${APPS}/replicasets`, `${CORE}/pods?labelSelector=app=web`];
const DB = [`${APPS}/statefulsets`, `${APPS}/controllerrevisions`, `${CORE}/pods?labelSelector=app=db`];
const AGENT = [`${APPS}/daemonsets`, `${CORE}/pods?labelSelector=app=agent`];
const WORK = [`${BATCH}/jobs`, `${CORE}/pods?labelSelector=job-name`];
const claimTemplate = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } },
};

/** A line is a step: both clusters do it, and then look the same. */
const STEPS: readonly Step[] = [
  {
    name: "a service without pods has an empty slice",
    act: async (server) => {
      await server.send("POST", "/api/v1/nodes", { metadata: { name: "n" } });
      await server.send("PATCH", "/api/v1/nodes/n", { spec: { taints: null } });
      const ports = [{ name: "p", port: 80, targetPort: "http" }];
      await server.send("POST", `${CORE}/services`, {
        metadata: { name: "web" },
        spec: { selector: { app: "web" }, ports },
      });
    },
    look: [SLICES, `${CORE}/endpoints/web`],
  },
  {
    name: "a Deployment makes a ReplicaSet and its pods",
    act: (server) => server.send("POST", `${APPS}/deployments`, workload("web", { replicas: 2 })),
    look: WEB,
  },
  {
    name: "it is available when they are ready",
    act: (server) => server.playNode("app=web", "Running"),
    look: [...WEB, SLICES, `${CORE}/endpoints/web`],
  },
  {
    name: "another template begins a rollout",
    act: (server) => server.send("PATCH", `${APPS}/deployments/web`, { spec: { template: template("web", "app:2") } }),
    look: WEB,
  },
  { name: "which goes on with the first new pod", act: (server) => server.playNode("app=web", "Running"), look: WEB },
  { name: "and the second", act: (server) => server.playNode("app=web", "Running"), look: WEB },
  { name: "until the old ones are gone", act: (server) => server.playNode("app=web", "Running"), look: WEB },
  {
    name: "the old template comes back with its history",
    act: (server) => server.send("PATCH", `${APPS}/deployments/web`, { spec: { template: template("web", "app:1") } }),
    look: WEB,
  },
  {
    name: "a paused Deployment still scales",
    act: (server) => server.send("PATCH", `${APPS}/deployments/web`, { spec: { paused: true, replicas: 5 } }),
    look: WEB,
  },
  {
    name: "a StatefulSet begins with its first pod and its claim",
    act: (server) =>
      server.send(
        "POST",
        `${APPS}/statefulsets`,
        workload("db", { replicas: 2, serviceName: "db", volumeClaimTemplates: [claimTemplate] }),
      ),
    look: [...DB, `${CORE}/persistentvolumeclaims`],
  },
  { name: "goes on with the second", act: (server) => server.playNode("app=db", "Running"), look: DB },
  { name: "and is complete", act: (server) => server.playNode("app=db", "Running"), look: DB },
  {
    name: "updates from the end",
    act: (server) => server.send("PATCH", `${APPS}/statefulsets/db`, { spec: { template: template("db", "app:2") } }),
    look: DB,
  },
  { name: "one by one", act: (server) => server.playNode("app=db", "Running"), look: DB },
  {
    name: "a DaemonSet has a pod on the node",
    act: (server) => server.send("POST", `${APPS}/daemonsets`, workload("agent")),
    look: AGENT,
  },
  { name: "which gets ready", act: (server) => server.playNode("app=agent", "Running"), look: AGENT },
  {
    name: "Jobs begin",
    act: async (server) => {
      await server.send("POST", `${BATCH}/jobs`, job("good"));
      await server.send("POST", `${BATCH}/jobs`, job("bad", { backoffLimit: 0 }));
      await server.send(
        "POST",
        `${BATCH}/jobs`,
        job("many", { completionMode: "Indexed", completions: 3, parallelism: 2 }),
      );
      await server.send("POST", `${BATCH}/jobs`, job("later", { suspend: true }));
      await server.send("POST", `${BATCH}/jobs`, {
        ...job("labelled"),
        metadata: { name: "labelled", labels: { a: "b" } },
      });
    },
    look: WORK,
  },
  {
    name: "and end, well or badly",
    act: async (server) => {
      await server.playNode("job-name=good", "Succeeded");
      await server.playNode("job-name=bad", "Failed");
      await server.playNode("job-name=many", "Succeeded");
      await server.send("PATCH", `${BATCH}/jobs/later`, { spec: { suspend: false } });
    },
    look: WORK,
  },
  {
    name: "or are suspended",
    act: (server) => server.send("PATCH", `${BATCH}/jobs/later`, { spec: { suspend: true } }),
    look: [`${BATCH}/jobs/later`],
  },
  {
    name: "a volume is free",
    act: (server) =>
      server.send("POST", "/api/v1/persistentvolumes", {
        metadata: { name: "v" },
        spec: {
          capacity: { storage: "5Gi" },
          accessModes: ["ReadWriteOnce"],
          hostPath: { path: "/x" },
          storageClassName: "s",
        },
      }),
    look: ["/api/v1/persistentvolumes/v"],
  },
  {
    name: "until a claim takes it",
    act: (server) =>
      server.send("POST", `${CORE}/persistentvolumeclaims`, {
        metadata: { name: "c" },
        spec: { accessModes: ["ReadWriteOnce"], storageClassName: "s", resources: { requests: { storage: "1Gi" } } },
      }),
    look: ["/api/v1/persistentvolumes/v", `${CORE}/persistentvolumeclaims/c`],
  },
  {
    name: "and released when the claim goes",
    act: (server) => server.send("DELETE", `${CORE}/persistentvolumeclaims/c`),
    look: ["/api/v1/persistentvolumes/v"],
  },
  {
    name: "a ReplicationController makes pods",
    act: (server) =>
      server.send("POST", `${CORE}/replicationcontrollers`, {
        metadata: { name: "rc" },
        spec: { replicas: 1, selector: { app: "rc" }, template: template("rc") },
      }),
    look: [`${CORE}/replicationcontrollers`],
  },
];

const LETTERS = "[bcdfghjklmnpqrstvwxz2456789]";
const VARIES: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID"],
  [new RegExp(`\\b${LETTERS}{7,10}\\b`, "g"), "HASH"],
  [new RegExp(`-${LETTERS}{5}\\b`, "g"), "-NAME"],
  // Pods get their addresses in the order of their names.
  [/10\.1\.0\.\d+/g, "IP"],
  // The real controller loses a race against itself, or does not, before it notes the first progress.
  [/Created new replica set "web-HASH"|ReplicaSet "web-HASH" is progressing\./g, "PROGRESS"],
  [/NewReplicaSetCreated|ReplicaSetUpdated/g, "PROGRESS"],
];
const LEFT_OUT: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "clusterIP",
  "clusterIPs",
  "time",
  // Times are whole seconds: who writes the phase owns this field only when a second went by since the phase before it.
  "f:lastPhaseTransitionTime",
]);

/** Without what is different each time: names by chance, hashes, uids, times and versions. */
function comparable(value: Json): Json {
  if (typeof value === "string")
    return VARIES.reduce((text, [pattern, symbol]) => text.replaceAll(pattern, symbol), value);
  if (Array.isArray(value)) {
    const items = value.map(comparable);
    const unordered = items.some((item) => item?.fieldsV1 !== undefined || item?.metadata !== undefined);
    return unordered ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([key]) => !LEFT_OUT.has(key));
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([key, item]) => [comparable(key), comparable(item)]));
}

describe("workloads under the embedded controllers and under kube-controller-manager", () => {
  let real: RealCluster;
  let embedded: Cluster;
  const clients: Client[] = [];
  const servers: Server[] = [];

  beforeAll(async () => {
    [real, embedded] = await Promise.all([RealCluster.start({ controllers: CONTROLLERS }), Cluster.start()]);
    for (const { kubeconfig } of [real, embedded]) {
      const client = await Client.connect({ kubeconfig: kubeconfig as never });
      clients.push(client);
      servers.push(new Server(client));
    }
    await Promise.all(clients.map(untilFurnished));
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all([real?.stop(), embedded?.stop()]);
  });

  async function see(server: Server | undefined, look: readonly string[]): Promise<Json> {
    const seen: Json = {};
    for (const path of look) {
      const answer = await server?.send("GET", path);
      seen[path] = comparable(answer.items ?? answer);
    }
    return seen;
  }

  it.each(STEPS)("$name", async ({ act, look }) => {
    for (const server of servers) await act(server);
    await embedded.settle();
    const ours = await see(servers[1], look);
    const deadline = performance.now() + PATIENCE_MS;
    let theirs = await see(servers[0], look);
    while (JSON.stringify(theirs) !== JSON.stringify(ours) && performance.now() < deadline) {
      await delay(200);
      theirs = await see(servers[0], look);
    }
    expect(ours).toEqual(theirs);
  });
});
