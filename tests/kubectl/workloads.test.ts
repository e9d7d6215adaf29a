import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster, type ClusterOptions } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Outcome, type RunOptions, run } from "../run.ts";
import { kubectlPath } from "./kubectl.ts";

/** An embedded cluster, and the real kubectl to talk to it. */
class Terminal {
  readonly cluster: Cluster;
  readonly #folder: string;

  private constructor(cluster: Cluster, folder: string) {
    this.cluster = cluster;
    this.#folder = folder;
  }

  static async open(options: ClusterOptions = {}): Promise<Terminal> {
    const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-workloads-"));
    const cluster = await Cluster.start({ kubelet: "simulate", ...options });
    await cluster.writeKubeconfig(path.join(folder, "kubeconfig"));
    return new Terminal(cluster, folder);
  }

  async close(): Promise<void> {
    await this.cluster.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  kubectl(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const env = { KUBECONFIG: path.join(this.#folder, "kubeconfig"), KUBECACHEDIR: path.join(this.#folder, "cache") };
    return run(kubectlPath(), args, { ...options, env: { ...options.env, ...env } });
  }

  /** Runs kubectl, expects it to succeed, and gives what it printed. */
  async ok(args: readonly string[], stdin?: string): Promise<string> {
    const outcome = await this.kubectl(args, stdin === undefined ? {} : { stdin });
    expect(outcome, `kubectl ${args.join(" ")}`).toMatchObject({ exitCode: 0 });
    return outcome.stdout;
  }

  apply(manifest: object): Promise<string> {
    return this.ok(["apply", "-f", "-"], JSON.stringify(manifest));
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every kind
  async get(...args: string[]): Promise<any> {
    return JSON.parse(await this.ok(["get", ...args, "-o", "json"]));
  }

  async names(...args: string[]): Promise<string[]> {
    const text = await this.ok(["get", ...args, "-o", "jsonpath={.items[*].metadata.name}"]);
    return text.split(" ").filter((name) => name !== "");
  }

  /** Reasons and messages of the events about an object, as kubectl tells them. */
  async events(object: string): Promise<string> {
    return this.ok(["events", "--for", object]);
  }
}

const containers = (image: string) => [{ name: "c", image }];

const workload = (kind: string, name: string, spec: object, image = "app:1") => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: containers(image) } },
    ...spec,
  },
});

const job = (name: string, spec: object, image: string) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: { template: { spec: { restartPolicy: "Never", containers: containers(image) } }, ...spec },
});

describe("the real kubectl and workloads", () => {
  let terminal: Terminal;

  beforeAll(async () => {
    terminal = await Terminal.open();
  });

  afterAll(async () => {
    await terminal?.close();
  });

  it("rolls a Deployment out, scales it, and rolls it back", async () => {
    await terminal.apply(workload("Deployment", "web", { replicas: 3 }));
    expect(await terminal.ok(["rollout", "status", "deployment/web", "--timeout=30s"])).toContain(
      'deployment "web" successfully rolled out',
    );
    const [, row] = (await terminal.ok(["get", "deployment", "web"])).trim().split("\n");
    expect(row?.split(/\s+/).slice(0, 4)).toEqual(["web", "3/3", "3", "3"]);

    expect(await terminal.ok(["scale", "deployment/web", "--replicas=5"])).toContain("scaled");
    await terminal.ok(["wait", "deployment/web", "--for=jsonpath={.status.availableReplicas}=5", "--timeout=30s"]);
    expect(await terminal.names("pods", "-l", "app=web")).toHaveLength(5);

    await terminal.ok(["set", "image", "deployment/web", "c=app:2"]);
    await terminal.ok(["annotate", "deployment/web", "kubernetes.io/change-cause=newer"]);
    await terminal.ok(["rollout", "status", "deployment/web", "--timeout=30s"]);
    const image = ["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}"];
    await vi.waitFor(async () => expect(await terminal.ok(image)).toBe("app:2 app:2 app:2 app:2 app:2"), 10_000);
    const history = await terminal.ok(["rollout", "history", "deployment/web"]);
    expect(history).toMatch(/^1\s+<none>$/m);
    expect(history).toMatch(/^2\s+newer$/m);
    expect(await terminal.ok(["rollout", "history", "deployment/web", "--revision=1"])).toContain("app:1");

    await terminal.ok(["rollout", "undo", "deployment/web"]);
    await terminal.ok(["rollout", "status", "deployment/web", "--timeout=30s"]);
    await vi.waitFor(async () => expect(await terminal.ok(image)).toBe("app:1 app:1 app:1 app:1 app:1"), 10_000);
    const after = await terminal.ok(["rollout", "history", "deployment/web"]);
    expect(after).not.toMatch(/^1\s/m);
    expect(after).toMatch(/^3\s/m);
    const events = await terminal.events("deployment/web");
    expect(events).toMatch(/ScalingReplicaSet.*Scaled up replica set web-\w+ from 0 to 3/);
    expect(events).toMatch(/ScalingReplicaSet.*Scaled up replica set web-\w+ from 3 to 5/);
    expect(events).toMatch(/ScalingReplicaSet.*Scaled down replica set web-\w+/);
    expect(await terminal.ok(["describe", "deployment", "web"])).toMatch(
      /NewReplicaSet:\s+web-\w+ \(5\/5 replicas created\)/,
    );
  });

  it("pauses, resumes and restarts a Deployment, and tells when it cannot go on", async () => {
    terminal.cluster.pods.program({ image: "app:broken" }, { pullError: "no such image" });
    await terminal.apply(workload("Deployment", "api", { replicas: 2 }));
    await terminal.ok(["rollout", "status", "deployment/api", "--timeout=30s"]);
    const [before] = await terminal.names("pods", "-l", "app=api");
    await terminal.ok(["rollout", "pause", "deployment/api"]);
    const refused = await terminal.kubectl(["rollout", "restart", "deployment/api"]);
    expect(refused.stderr).toContain("can't restart paused deployment");
    await terminal.ok(["rollout", "resume", "deployment/api"]);
    await terminal.ok(["rollout", "restart", "deployment/api"]);
    await terminal.ok(["rollout", "status", "deployment/api", "--timeout=30s"]);
    await vi.waitFor(async () => expect(await terminal.names("pods", "-l", "app=api")).not.toContain(before), 10_000);
    // Only now: a slow machine may need more than a second for what does go on.
    await terminal.ok(["patch", "deployment", "api", "-p", '{"spec":{"progressDeadlineSeconds":1}}']);
    await terminal.ok(["set", "image", "deployment/api", "c=app:broken"]);
    const stuck = await terminal.kubectl(["rollout", "status", "deployment/api", "--timeout=30s"]);
    expect(stuck.exitCode).toBe(1);
    expect(stuck.stderr).toContain('deployment "api" exceeded its progress deadline');
    expect((await terminal.get("deployment", "api")).status.availableReplicas).toBe(2);
  });

  it("sees a Job complete, and a failing one give up", async () => {
    terminal.cluster.pods.program({ image: "job:bad" }, { exit: { code: 3 } });
    await terminal.apply(job("good", { completions: 2 }, "job:good"));
    await terminal.apply(job("bad", { backoffLimit: 0 }, "job:bad"));
    await terminal.ok(["wait", "--for=condition=Complete", "job/good", "--timeout=30s"]);
    await terminal.ok(["wait", "--for=condition=Failed", "job/bad", "--timeout=30s"]);
    const rows = (await terminal.ok(["get", "jobs", "--no-headers"])).trim().split("\n");
    expect(rows.map((row) => row.split(/\s+/).slice(0, 3))).toEqual([
      ["bad", "Failed", "0/1"],
      ["good", "Complete", "2/2"],
    ]);
    expect(await terminal.events("job/good")).toMatch(/Completed.*Job completed/);
    expect(await terminal.events("job/bad")).toMatch(
      /Warning\s+BackoffLimitExceeded.*Job has reached the specified backoff limit/,
    );
    expect((await terminal.get("job", "bad")).status).toMatchObject({ failed: 1 });
  });

  it("sees the order of a StatefulSet, and rolls it back", async () => {
    const volumeClaimTemplates = [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ];
    await terminal.apply(workload("StatefulSet", "db", { replicas: 3, serviceName: "db", volumeClaimTemplates }));
    await terminal.ok(["rollout", "status", "statefulset/db", "--timeout=30s"]);
    const pods = (await terminal.get("pods", "-l", "app=db")).items;
    expect(pods.map(({ metadata }: never) => (metadata as { name: string }).name)).toEqual(["db-0", "db-1", "db-2"]);
    // Each was ready before the next one was made.
    for (const [at, pod] of pods.slice(1).entries()) {
      const ready = pods[at].status.conditions.find(({ type }: { type: string }) => type === "Ready");
      expect(Date.parse(pod.metadata.creationTimestamp)).toBeGreaterThanOrEqual(Date.parse(ready.lastTransitionTime));
    }
    const created = (
      await terminal.get("events", "--field-selector=involvedObject.name=db,reason=SuccessfulCreate")
    ).items
      .map(({ message }: { message: string }) => message)
      .filter((message: string) => message.includes("Pod db-") && !message.includes("Claim"));
    expect(created).toEqual([0, 1, 2].map((at) => `Create Pod db-${at} in StatefulSet db successful`));
    expect(await terminal.ok(["get", "pvc", "-o", "jsonpath={.items[*].status.phase}"])).toBe("Bound Bound Bound");

    await terminal.ok(["set", "image", "statefulset/db", "c=app:2"]);
    await terminal.ok(["rollout", "status", "statefulset/db", "--timeout=30s"]);
    await terminal.ok(["rollout", "undo", "statefulset/db"]);
    await terminal.ok(["rollout", "status", "statefulset/db", "--timeout=30s"]);
    const images = ["get", "pods", "-l", "app=db", "-o", "jsonpath={.items[*].spec.containers[0].image}"];
    expect(await terminal.ok(images)).toBe("app:1 app:1 app:1");
    expect(await terminal.ok(["rollout", "history", "statefulset/db"])).toMatch(/^3\s/m);
    expect(await terminal.ok(["delete", "statefulset", "db"])).toContain("deleted");
    await terminal.ok(["wait", "--for=delete", "pod", "-l", "app=db", "--timeout=30s"]);
    expect(await terminal.names("pvc")).toHaveLength(3);
  });

  it("rolls a DaemonSet out", async () => {
    await terminal.apply(workload("DaemonSet", "agent", {}));
    await terminal.ok(["rollout", "status", "daemonset/agent", "--timeout=30s"]);
    await terminal.ok(["set", "image", "daemonset/agent", "c=app:2"]);
    await terminal.ok(["rollout", "status", "daemonset/agent", "--timeout=30s"]);
    await terminal.ok(["rollout", "undo", "daemonset/agent"]);
    await terminal.ok(["rollout", "status", "daemonset/agent", "--timeout=30s"]);
    const images = ["get", "pods", "-l", "app=agent", "-o", "jsonpath={.items[*].spec.containers[0].image}"];
    expect(await terminal.ok(images)).toBe("app:1");
  });

  it("exposes a Deployment, whose ready pods are behind the Service", async () => {
    await terminal.apply(workload("Deployment", "front", { replicas: 2 }));
    await terminal.ok(["expose", "deployment/front", "--port=80", "--target-port=8080"]);
    await terminal.ok(["rollout", "status", "deployment/front", "--timeout=30s"]);
    const slices = ["get", "endpointslices", "-l", "kubernetes.io/service-name=front"];
    await vi.waitFor(async () => {
      const text = await terminal.ok([...slices, "-o", "jsonpath={.items[*].endpoints[*].conditions.ready}"]);
      expect(text).toBe("true true");
    }, 10_000);
    expect(await terminal.ok(["describe", "service", "front"])).toMatch(/Endpoints:\s+10\.244\.\d+\.\d+:8080,10\.244/);
  });

  it("terminates a namespace when the finalizers inside are gone", async () => {
    await terminal.ok(["create", "namespace", "leaving"]);
    await terminal.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "held", namespace: "leaving", finalizers: ["example.com/hold"] },
    });
    const deployment = workload("Deployment", "web", { replicas: 1 });
    await terminal.apply({ ...deployment, metadata: { name: "web", namespace: "leaving" } });
    await terminal.ok(["delete", "namespace", "leaving", "--wait=false"]);
    await terminal.ok(["wait", "namespace/leaving", "--for=condition=NamespaceFinalizersRemaining", "--timeout=30s"]);
    await vi.waitFor(
      async () => expect(await terminal.names("pods,deployments,replicasets", "-n", "leaving")).toEqual([]),
      10_000,
    );
    const namespace = await terminal.get("namespace", "leaving");
    expect(namespace.status.phase).toBe("Terminating");
    expect(JSON.stringify(namespace.status.conditions)).toContain("example.com/hold in 1 resource instances");
    const late = await terminal.kubectl(["create", "configmap", "late", "-n", "leaving"]);
    expect(late.stderr).toContain("because it is being terminated");
    await terminal.ok([
      "patch",
      "configmap",
      "held",
      "-n",
      "leaving",
      "--type=merge",
      "-p",
      '{"metadata":{"finalizers":null}}',
    ]);
    await terminal.ok(["wait", "--for=delete", "namespace/leaving", "--timeout=30s"]);
  });

  describe("deletes a Deployment", () => {
    async function deploy(name: string) {
      await terminal.apply(workload("Deployment", name, { replicas: 2 }));
      await terminal.ok(["rollout", "status", `deployment/${name}`, "--timeout=30s"]);
    }

    const children = (name: string) => terminal.names("replicasets,pods", "-l", `app=${name}`);

    it("after all that it owns", async () => {
      await deploy("foreground");
      const [pod = ""] = await terminal.names("pods", "-l", "app=foreground");
      const hold = (finalizers: string) =>
        terminal.ok(["patch", "pod", pod, "--type=merge", "-p", `{"metadata":{"finalizers":${finalizers}}}`]);
      await hold('["example.com/hold"]');
      await terminal.ok(["delete", "deployment", "foreground", "--cascade=foreground", "--wait=false"]);
      await vi.waitFor(async () => expect(await terminal.names("pods", "-l", "app=foreground")).toEqual([pod]), 10_000);
      for (const kind of ["deployments", "replicasets"]) {
        const [waiting] = (await terminal.get(kind, "-A")).items.filter(
          ({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith("foreground"),
        );
        expect(waiting.metadata.finalizers).toEqual(["foregroundDeletion"]);
      }
      await hold("null");
      await terminal.ok(["wait", "--for=delete", "deployment/foreground", "--timeout=30s"]);
      expect(await children("foreground")).toEqual([]);
    });

    it("before all that it owns", async () => {
      await deploy("background");
      await terminal.ok(["delete", "deployment", "background", "--cascade=background"]);
      expect(await terminal.names("deployments", "-l", "app=background")).toEqual([]);
      await terminal.ok(["wait", "--for=delete", "pod", "-l", "app=background", "--timeout=30s"]);
      expect(await children("background")).toEqual([]);
    });

    it("and leaves what it owned", async () => {
      await deploy("orphan");
      const left = await children("orphan");
      await terminal.ok(["delete", "deployment", "orphan", "--cascade=orphan"]);
      expect(await children("orphan")).toEqual(left);
      const [set] = (await terminal.get("replicasets", "-l", "app=orphan")).items;
      expect(set.metadata.ownerReferences).toBeUndefined();
    });
  });

  it("evicts pods as far as their budget allows", async () => {
    await terminal.apply(workload("Deployment", "safe", { replicas: 3 }));
    await terminal.ok(["create", "poddisruptionbudget", "safe", "--selector=app=safe", "--min-available=2"]);
    await terminal.ok(["rollout", "status", "deployment/safe", "--timeout=30s"]);
    const allowed = (count: number) =>
      terminal.ok(["wait", "pdb/safe", `--for=jsonpath={.status.disruptionsAllowed}=${count}`, "--timeout=30s"]);
    await allowed(1);
    // New pods take their time from now on, so that the budget stays spent for a while.
    terminal.cluster.pods.program({ labels: "app=safe" }, { startDelay: "2s" });
    const [first = "", second = ""] = await terminal.names("pods", "-l", "app=safe");
    const evict = (name: string) =>
      terminal.kubectl(["create", "--raw", `/api/v1/namespaces/default/pods/${name}/eviction`, "-f", "-"], {
        stdin: JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } }),
      });
    expect(await evict(first)).toMatchObject({ exitCode: 0 });
    const refused = await evict(second);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(await terminal.names("pods", "-l", "app=safe")).toContain(second);
    await allowed(1);
    expect(await evict(second)).toMatchObject({ exitCode: 0 });
    await allowed(1);
  });
});

describe("the real kubectl and virtual time", () => {
  it("sees a CronJob fire when the time has come", async () => {
    const clock = new VirtualClock();
    const terminal = await Terminal.open({ clock });
    try {
      await terminal.ok(["create", "cronjob", "tick", "--image=app:1", "--schedule=*/5 * * * *", "--", "true"]);
      await clock.advance(4 * 60_000);
      expect(await terminal.names("jobs")).toEqual([]);
      await clock.advance(2 * 60_000);
      await terminal.cluster.settle();
      expect(await terminal.names("jobs")).toEqual([`tick-${Date.parse("2026-01-01T00:05:00Z") / 60_000}`]);
      await terminal.ok(["wait", "--for=condition=Complete", "job", "--all", "--timeout=30s"]);
      const cron = await terminal.get("cronjob", "tick");
      expect(cron.status).toMatchObject({ lastScheduleTime: "2026-01-01T00:05:00Z" });
      expect(await terminal.events("cronjob/tick")).toMatch(/SuccessfulCreate.*Created job tick-/);
      await clock.advance(60 * 60_000);
      await terminal.cluster.settle();
      expect(await terminal.names("jobs")).toHaveLength(3);
      expect(await terminal.ok(["create", "job", "by-hand", "--from=cronjob/tick"])).toContain("created");
      await clock.advance(1_000);
      await terminal.ok(["wait", "--for=condition=Complete", "job/by-hand", "--timeout=30s"]);
    } finally {
      await terminal.close();
    }
  });
});
