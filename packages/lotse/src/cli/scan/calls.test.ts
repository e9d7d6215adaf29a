/**
 * The table of what each method asks for, held against the client itself: no method is missing, and on a cluster no method
 * asks for more than the table says.
 */
import * as client from "@lotse/client";
import {
  type Client,
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  Event,
  Job,
  KubeObject,
  Namespace,
  Node,
  Pod,
  Service,
  StatefulSet,
} from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Need } from "../../generate/index.ts";
import { needOf } from "../../report/index.ts";
import { type CallRule, ruleFor } from "./calls.ts";

type Class = { readonly name: string; readonly prototype: object };

/** A class with those that it extends, the nearest first. */
function linesOf(start: Class): Class[] {
  const line: Class[] = [];
  for (let at: Class | null = start; at?.prototype && at.name !== ""; at = Object.getPrototypeOf(at)) line.push(at);
  return line;
}

/** The methods that a class has itself: not its getters, and nothing that is private to it. */
function methodsOf(owner: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(owner)).flatMap(([name, { value }]) =>
    typeof value === "function" && name !== "constructor" ? [name] : [],
  );
}

const classes = Object.values(client as Readonly<Record<string, unknown>>).filter(
  (value): value is Class =>
    typeof value === "function" && (value === client.Client || value.prototype instanceof KubeObject),
);

/** Of use to those who extend a class, not to those who use it. */
const PROTECTED = new Set(["rollout"]);

describe("the table of calls", () => {
  it("knows every method of the client and of its objects", () => {
    const all = new Set([...classes.flatMap(linesOf), KubeObject as unknown as Class]);
    const unknown = [...all].flatMap((one) => {
      const names = [...methodsOf(one.prototype), ...methodsOf(one)].filter((name) => !PROTECTED.has(name));
      const owner = one.name.replace(/^_/, "");
      return names.filter((name) => !ruleFor(owner, name)).map((name) => `${owner}.${name}`);
    });
    expect(unknown).toEqual([]);
  });
});

describe("on a cluster", { timeout: 300_000 }, () => {
  let cluster: Cluster;
  let admin: Client;
  let asked: Need[];
  let watched: Client;

  beforeAll(async () => {
    cluster = await Cluster.start({ kubelet: "simulate" });
    admin = await cluster.connect();
    watched = admin.with({
      onRequest: (request) => {
        const need = needOf({ handler: "test", ...request });
        if (need) asked.push(need);
      },
    });
    const labels = { app: "web" };
    const others = { app: "other" };
    const template = { metadata: { labels: others }, spec: { containers: [{ name: "main", image: "busybox" }] } };
    await admin.create([
      Pod.gen({ name: "pod", image: "busybox", labels }),
      Deployment.gen({ name: "deployment", image: "busybox" }),
      Job.gen({ name: "job", image: "busybox" }),
      CronJob.gen({ name: "cron", image: "busybox", schedule: "0 0 1 1 *" }),
      Service.gen({ name: "service", ports: 80, selector: labels }),
      ConfigMap.gen({ name: "map" }),
      new StatefulSet({
        metadata: { name: "stateful" },
        spec: { serviceName: "", selector: { matchLabels: others }, template },
      }),
      new DaemonSet({ metadata: { name: "daemons" }, spec: { selector: { matchLabels: others }, template } }),
    ]);
    await admin.wait(Pod, "pod", "condition=Ready");
    await admin.wait(Deployment, "deployment", "condition=Available");
  }, 300_000);

  afterAll(async () => {
    await admin.close();
    await cluster.stop();
  });

  const ended = { signal: AbortSignal.timeout(1) };

  /** Class, method, and a call of it. Failures do not matter: what was asked for does. */
  const CALLS: readonly (readonly [string, string, (c: Client) => Promise<unknown> | unknown])[] = [
    ["Client", "get", (c) => c.get(Pod, "pod")],
    ["Client", "find", (c) => c.find(Pod, { labelSelector: { app: "web" } })],
    ["Client", "list", (c) => c.list(Pod).toArray()],
    ["Client", "table", (c) => c.table(Pod)],
    ["Client", "wait", (c) => c.wait(Pod, "pod", "condition=Ready")],
    ["Client", "create", (c) => c.create(Pod.gen({ name: "new", image: "a" }))],
    ["Client", "apply", (c) => c.apply(Pod.gen({ name: "applied", image: "a" }))],
    ["Client", "patch", (c) => c.patch(Pod, "pod", { metadata: { labels: { a: "b" } } })],
    ["Client", "replace", async (c) => c.replace(await admin.get(Pod, "pod"))],
    ["Client", "delete", (c) => c.delete(Pod, "new")],
    ["KubeObject", "exists", (c) => Pod.ref("pod", { client: c }).exists()],
    ["KubeObject", "refresh", (c) => Pod.ref("pod", { client: c }).refresh()],
    ["KubeObject", "patch", (c) => Pod.ref("pod", { client: c }).patch({ metadata: { labels: { a: "c" } } })],
    ["KubeObject", "patchStatus", (c) => Pod.ref("pod", { client: c }).patchStatus({ message: "x" })],
    ["KubeObject", "label", (c) => Pod.ref("pod", { client: c }).label({ a: "d" })],
    ["KubeObject", "annotate", (c) => Pod.ref("pod", { client: c }).annotate({ a: "d" })],
    [
      "KubeObject",
      "update",
      (c) =>
        Pod.ref("pod", { client: c }).update((body) => void Object.assign(body.metadata ?? {}, { labels: { a: "e" } })),
    ],
    [
      "KubeObject",
      "createOrPatch",
      (c) =>
        ConfigMap.ref("map2", { client: c }).createOrPatch((body) => void Object.assign(body, { data: { a: "b" } })),
    ],
    [
      "KubeObject",
      "createOrPatch",
      (c) =>
        ConfigMap.ref("map2", { client: c }).createOrPatch((body) => void Object.assign(body, { data: { a: "c" } })),
    ],
    ["KubeObject", "wait", (c) => Pod.ref("pod", { client: c }).wait("condition=Ready")],
    ["Pod", "ready", (c) => Pod.ref("pod", { client: c }).ready()],
    ["Pod", "waitReady", (c) => Pod.ref("pod", { client: c }).waitReady()],
    ["Pod", "tolerate", (c) => Pod.ref("pod", { client: c }).tolerate({ key: "a", operator: "Exists" })],
    ["Pod", "exec", (c) => Pod.ref("pod", { client: c }).exec(["true"])],
    ["Pod", "spawn", async (c) => (await Pod.ref("pod", { client: c }).spawn(["true"])).kill?.()],
    ["Pod", "attach", (c) => Pod.ref("pod", { client: c }).attach(ended)],
    ["Pod", "logs", (c) => Pod.ref("pod", { client: c }).logs().toArray()],
    ["Pod", "portForward", async (c) => (await Pod.ref("pod", { client: c }).portForward(80)).close()],
    ["Pod", "connect", async (c) => (await Pod.ref("pod", { client: c }).connect(80)).destroy()],
    ["Pod", "copyTo", (c) => Pod.ref("pod", { client: c }).copyTo(import.meta.filename, "/tmp")],
    ["Pod", "copyFrom", (c) => Pod.ref("pod", { client: c }).copyFrom("/nothing", "/nowhere/at/all")],
    ["PodGroup", "readyPods", (c) => Deployment.ref("deployment", { client: c }).readyPods()],
    ["PodGroup", "readyPod", (c) => Deployment.ref("deployment", { client: c }).readyPod()],
    ["PodGroup", "exec", (c) => Deployment.ref("deployment", { client: c }).exec(["true"])],
    ["PodGroup", "logs", (c) => Deployment.ref("deployment", { client: c }).logs().toArray()],
    ["Workload", "pods", (c) => Deployment.ref("deployment", { client: c }).pods()],
    ["Workload", "rolloutStatus", (c) => Deployment.ref("deployment", { client: c }).rolloutStatus()],
    ["Workload", "waitRollout", (c) => Deployment.ref("deployment", { client: c }).waitRollout()],
    ["Workload", "restart", (c) => Deployment.ref("deployment", { client: c }).restart()],
    ["Workload", "setImage", (c) => Deployment.ref("deployment", { client: c }).setImage("busybox:2")],
    ["ScalableWorkload", "scale", (c) => Deployment.ref("deployment", { client: c }).scale(2)],
    ["Deployment", "pause", (c) => Deployment.ref("deployment", { client: c }).pause()],
    ["Deployment", "resume", (c) => Deployment.ref("deployment", { client: c }).resume()],
    ["Deployment", "undo", (c) => Deployment.ref("deployment", { client: c }).undo()],
    ["StatefulSet", "undo", (c) => StatefulSet.ref("stateful", { client: c }).undo()],
    ["DaemonSet", "undo", (c) => DaemonSet.ref("daemons", { client: c }).undo()],
    ["Job", "scale", (c) => Job.ref("job", { client: c }).scale(2)],
    ["Job", "pods", (c) => Job.ref("job", { client: c }).pods()],
    ["Job", "succeeded", (c) => Job.ref("job", { client: c }).succeeded()],
    ["Job", "failed", (c) => Job.ref("job", { client: c }).failed()],
    ["Job", "waitDone", (c) => Job.ref("job", { client: c }).waitDone({ timeout: "50ms" })],
    ["CronJob", "trigger", (c) => CronJob.ref("cron", { client: c }).trigger()],
    ["CronJob", "suspend", (c) => CronJob.ref("cron", { client: c }).suspend()],
    ["CronJob", "resume", (c) => CronJob.ref("cron", { client: c }).resume()],
    ["Node", "taint", async (c) => (await firstNode(c)).taint("a", "b", "PreferNoSchedule")],
    ["Node", "untaint", async (c) => (await firstNode(c)).untaint("a")],
    ["Node", "cordon", async (c) => (await firstNode(c)).cordon()],
    ["Node", "uncordon", async (c) => (await firstNode(c)).uncordon()],
    ["Node", "pods", async (c) => (await firstNode(c)).pods()],
    ["Service", "pods", (c) => Service.ref("service", { client: c }).pods()],
    ["Service", "pods", (c) => Service.ref("kubernetes", { client: c }).pods()],
    ["Service", "ready", (c) => Service.ref("service", { client: c }).ready()],
    ["Service", "portForward", async (c) => (await Service.ref("service", { client: c }).portForward(80)).close()],
    ["ServiceProxy", "fetch", (c) => Service.ref("service", { client: c }).proxy.fetch("/")],
    ["Namespace", "waitGone", (c) => Namespace.ref("nobody", { client: c }).waitGone()],
    ["Event", "for", async (c) => Event.for((await admin.get(Pod, "pod")).withClient(c)).toArray()],
    ["Pod", "evict", (c) => Pod.ref("pod", { client: c }).evict()],
    [
      "Node",
      "drain",
      async (c) => (await firstNode(c)).drain({ force: true, ignoreDaemonSets: true, timeout: "170s" }),
    ],
  ];

  const firstNode = async (c: Client): Promise<Node> => {
    const node = await admin.list(Node).first();
    if (!node) throw new Error("there is no node");
    return node.withClient(c);
  };

  /** The plural of a call's own kind, where the table does not name another one. */
  const SELF: Readonly<Record<string, string>> = {
    Deployment: "deployments",
    PodGroup: "deployments",
    Workload: "deployments",
    ScalableWorkload: "deployments",
    StatefulSet: "statefulsets",
    DaemonSet: "daemonsets",
    Job: "jobs",
    CronJob: "cronjobs",
    Node: "nodes",
    Service: "services",
    Namespace: "namespaces",
  };

  it.each(CALLS)("%s.%s asks for no more than the table says", async (owner, member, call) => {
    asked = [];
    await Promise.resolve(call(watched)).catch(() => {});
    const rule = ruleFor(owner, member) as CallRule;
    const wanted = (plural: string) =>
      new Set(
        rule.asks.flatMap(({ verbs, subresource, of }) =>
          verbs.map((verb) => `${verb} ${of?.[1] ?? plural}${subresource === undefined ? "" : `/${subresource}`}`),
        ),
      );
    const made = new Set(asked.flatMap(({ verbs, resource }) => verbs.map((verb) => `${verb} ${resource}`)));
    const own = SELF[owner] ?? (asked.some(({ resource }) => resource === "configmaps") ? "configmaps" : "pods");
    expect(made.size, "it asks for something").toBeGreaterThan(0);
    expect([...made].filter((one) => !wanted(own).has(one))).toEqual([]);
  });
});
