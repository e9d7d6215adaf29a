import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, MERGE } from "../test-requests.ts";

const PODS = "/api/v1/namespaces/default/pods";

describe("a node that simulates its pods", () => {
  let clock: VirtualClock;
  let cluster: Cluster;

  beforeEach(async () => {
    clock = new VirtualClock();
    // The node alone: pods are only what the tests make.
    cluster = await Cluster.start({
      clock,
      tls: false,
      kubelet: "simulate",
      controllers: { workloads: false },
    });
  });

  afterEach(async () => {
    await cluster.stop();
    expect(clock.pending).toBe(0);
  });

  async function create(name: string, spec: object = {}, metadata: object = {}) {
    const body = { metadata: { name, ...metadata }, spec: { containers: [{ name: "c", image: "app:1" }], ...spec } };
    const answer = await call(cluster, "POST", PODS, { body });
    expect(answer.status, answer.text).toBe(201);
    await cluster.settle();
    return answer.body;
  }

  async function read(name: string) {
    await cluster.settle();
    return (await call(cluster, "GET", `${PODS}/${name}`)).body;
  }

  /** Lets time pass, and everything that falls due happen. */
  async function pass(ms: number) {
    await clock.advance(ms);
    await cluster.settle();
  }

  async function log(name: string, query = "") {
    return (await call(cluster, "GET", `${PODS}/${name}/log${query}`)).text;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a status of any shape
  const conditions = (pod: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: a condition of any shape
    Object.fromEntries(pod.status.conditions.map((one: any) => [one.type, one.status]));

  it("is there, and ready", async () => {
    const node = (await call(cluster, "GET", "/api/v1/nodes/lotse-node")).body;
    expect(node.metadata.labels["kubernetes.io/hostname"]).toBe("lotse-node");
    expect(conditions(node).Ready).toBe("True");
    const lease = await call(
      cluster,
      "GET",
      "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/lotse-node",
    );
    expect(lease.body.spec.holderIdentity).toBe("lotse-node");
  });

  it("takes a pod, and runs it after a while", async () => {
    await create("web");
    const waiting = await read("web");
    expect(waiting.spec.nodeName).toBe("lotse-node");
    expect(waiting.status).toMatchObject({
      phase: "Pending",
      containerStatuses: [{ name: "c", ready: false, state: { waiting: { reason: "ContainerCreating" } } }],
    });
    expect(waiting.status).not.toHaveProperty("podIP");
    expect(conditions(waiting)).toMatchObject({ PodScheduled: "True", Initialized: "True", Ready: "False" });
    await pass(100);
    const running = await read("web");
    expect(running.status).toMatchObject({
      phase: "Running",
      podIP: "10.244.0.2",
      hostIP: "127.0.0.1",
      containerStatuses: [{ ready: true, started: true, restartCount: 0, state: { running: {} } }],
    });
    expect(conditions(running)).toEqual({
      PodReadyToStartContainers: "True",
      Initialized: "True",
      Ready: "True",
      ContainersReady: "True",
      PodScheduled: "True",
    });
  });

  it("leaves pods alone that are not meant for it, and says why", async () => {
    await create("elsewhere", { nodeSelector: { disk: "ssd" } });
    expect((await read("elsewhere")).status.conditions).toMatchObject([
      { type: "PodScheduled", status: "False", reason: "Unschedulable" },
    ]);
    await create("gated", { schedulingGates: [{ name: "wait" }] });
    expect((await read("gated")).status.conditions).toMatchObject([{ reason: "SchedulingGated" }]);
    await create("other", { nodeName: "another" });
    await pass(1_000);
    expect((await read("other")).status.phase).toBe("Pending");
    await call(cluster, "PATCH", "/api/v1/nodes/lotse-node", {
      type: "application/merge-patch+json",
      body: { metadata: { labels: { disk: "ssd" } } },
    });
    await pass(1_000);
    expect((await read("elsewhere")).status.phase).toBe("Running");
  });

  it("starts nothing new while it is cordoned", async () => {
    const cordon = (unschedulable: boolean) =>
      call(cluster, "PATCH", "/api/v1/nodes/lotse-node", {
        type: "application/merge-patch+json",
        body: { spec: { unschedulable } },
      });
    await cordon(true);
    await create("later");
    await pass(1_000);
    expect((await read("later")).spec).not.toHaveProperty("nodeName");
    await cordon(false);
    await pass(1_000);
    expect((await read("later")).status.phase).toBe("Running");
  });

  it("restarts what ends: at once, then after 10, 20, 40 seconds", async () => {
    cluster.pods.program("crash", { logs: ["hello"], exit: { code: 2, after: "1s" }, startDelay: 0 });
    await create("crash");
    const container = async () => (await read("crash")).status.containerStatuses[0];
    expect(await container()).toMatchObject({ restartCount: 0, state: { running: {} } });
    await pass(1_000);
    expect(await container()).toMatchObject({
      restartCount: 1,
      state: { running: {} },
      lastState: { terminated: { exitCode: 2, reason: "Error" } },
    });
    for (const [restarts, delay] of [
      [1, 10],
      [2, 20],
      [3, 40],
    ] as const) {
      await pass(1_000);
      expect(await container()).toMatchObject({
        restartCount: restarts,
        state: { waiting: { reason: "CrashLoopBackOff" } },
      });
      expect((await container()).state.waiting.message).toContain(`back-off ${delay}s`);
      expect((await read("crash")).status.phase).toBe("Running");
      expect(await log("crash")).toBe("hello\n");
      await pass(delay * 1_000 - 1);
      expect((await container()).restartCount).toBe(restarts);
      await pass(1);
      expect(await container()).toMatchObject({ restartCount: restarts + 1, state: { running: {} } });
    }
  });

  it.each([
    ["Never", 0, "Succeeded"],
    ["Never", 3, "Failed"],
    ["OnFailure", 0, "Succeeded"],
  ])("ends a pod with restartPolicy %s and exit code %d as %s", async (restartPolicy, code, phase) => {
    cluster.pods.program("once", { exit: { code, after: "2s", message: "that was it" }, startDelay: 0 });
    await create("once", { restartPolicy });
    expect((await read("once")).status.phase).toBe("Running");
    await pass(2_000);
    const pod = await read("once");
    expect(pod.status.phase).toBe(phase);
    expect(pod.status.containerStatuses[0].state.terminated).toMatchObject({
      exitCode: code,
      message: "that was it",
      reason: code === 0 ? "Completed" : "Error",
    });
    expect(conditions(pod).Ready).toBe("False");
  });

  it("restarts with OnFailure until it succeeds", async () => {
    cluster.pods.program("retry", { exit: [{ code: 1 }, { code: 0, after: "1s" }], startDelay: 0 });
    await create("retry", { restartPolicy: "OnFailure" });
    await pass(0);
    expect((await read("retry")).status.containerStatuses[0].restartCount).toBe(1);
    await pass(1_000);
    expect((await read("retry")).status.phase).toBe("Succeeded");
  });

  it("runs init containers one after the other, and sidecars beside", async () => {
    cluster.pods.program("staged", {
      startDelay: 0,
      containers: { first: { exit: { after: "1s" } }, second: { exit: { after: "1s" } } },
    });
    await create("staged", {
      initContainers: [
        { name: "first", image: "a" },
        { name: "side", image: "a", restartPolicy: "Always" },
        { name: "second", image: "a" },
      ],
    });
    // biome-ignore lint/suspicious/noExplicitAny: a status of any shape
    const states = (pod: any) =>
      [...pod.status.initContainerStatuses, ...pod.status.containerStatuses].map(
        // biome-ignore lint/suspicious/noExplicitAny: a status of any shape
        (one: any) => one.state.waiting?.reason ?? Object.keys(one.state)[0],
      );
    expect(states(await read("staged"))).toEqual(["running", "PodInitializing", "PodInitializing", "PodInitializing"]);
    expect(conditions(await read("staged")).Initialized).toBe("False");
    await pass(1_000);
    expect(states(await read("staged"))).toEqual(["terminated", "running", "running", "PodInitializing"]);
    await pass(1_000);
    const pod = await read("staged");
    expect(states(pod)).toEqual(["terminated", "running", "terminated", "running"]);
    expect(conditions(pod)).toMatchObject({ Initialized: "True", Ready: "True" });
  });

  it("fails a pod whose init container fails and may not be restarted", async () => {
    cluster.pods.program("broken", { startDelay: 0, containers: { prepare: { exit: { code: 4 } } } });
    await create("broken", { restartPolicy: "Never", initContainers: [{ name: "prepare", image: "a" }] });
    await pass(0);
    expect((await read("broken")).status).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { waiting: { reason: "PodInitializing" } } }],
    });
  });

  it("waits for an image that cannot be pulled, and tries again", async () => {
    const undo = cluster.pods.program({ image: /^app:/ }, { pullError: "no such image", startDelay: 0 });
    await create("pull");
    const waiting = async () => (await read("pull")).status.containerStatuses[0].state.waiting;
    expect(await waiting()).toMatchObject({ reason: "ErrImagePull", message: "no such image" });
    expect(await log("pull")).toContain(
      `container \\"c\\" in pod \\"pull\\" is waiting to start: image can't be pulled`,
    );
    await pass(10_000);
    expect((await waiting()).reason).toBe("ImagePullBackOff");
    undo();
    await pass(20_000);
    expect((await read("pull")).status).toMatchObject({ phase: "Running", containerStatuses: [{ restartCount: 0 }] });
  });

  it("is ready when its program says so, or never", async () => {
    cluster.pods.program("slow", { ready: "30s", startDelay: 0 });
    cluster.pods.program("never", { ready: false, startDelay: 0 });
    await create("slow");
    await create("never");
    expect(conditions(await read("slow")).Ready).toBe("False");
    await pass(30_000);
    expect(conditions(await read("slow")).Ready).toBe("True");
    await pass(3_600_000);
    expect(conditions(await read("never"))).toMatchObject({ Ready: "False", Initialized: "True" });
  });

  it("waits for readiness gates that others open", async () => {
    await create("gate", { readinessGates: [{ conditionType: "example.com/ok" }] });
    await pass(100);
    expect(conditions(await read("gate"))).toMatchObject({ ContainersReady: "True", Ready: "False" });
    await call(cluster, "PATCH", `${PODS}/gate/status`, {
      type: "application/strategic-merge-patch+json",
      body: { status: { conditions: [{ type: "example.com/ok", status: "True" }] } },
    });
    expect(conditions(await read("gate"))).toMatchObject({ Ready: "True", "example.com/ok": "True" });
  });

  it("plays a program: logs, readiness, its end", async () => {
    cluster.pods.program("play", {
      startDelay: 0,
      ready: false,
      run: async ({ log: say, sleep, ready, attempt }) => {
        say(`run ${attempt}`);
        await sleep("5s");
        ready(true);
        say("a problem", "stderr");
        await sleep("5s");
        return 9;
      },
    });
    await create("play", { restartPolicy: "Never" });
    expect(await log("play")).toBe("run 0\n");
    await pass(5_000);
    expect(conditions(await read("play")).Ready).toBe("True");
    expect(await log("play", "?stream=Stderr")).toBe("a problem\n");
    expect(await log("play", "?sinceSeconds=2")).toBe("a problem\n");
    expect(await log("play", "?tailLines=1")).toBe("a problem\n");
    expect(await log("play", "?limitBytes=3")).toBe("run");
    expect(await log("play", "?timestamps=true&tailLines=1")).toBe("2026-01-01T00:00:05.000000000Z a problem\n");
    await pass(5_000);
    expect((await read("play")).status.containerStatuses[0].state.terminated.exitCode).toBe(9);
  });

  it("shows a program the command, the variables and the files of its container, as they are when it looks", async () => {
    const maps = "/api/v1/namespaces/default/configmaps";
    await call(cluster, "POST", maps, { body: { metadata: { name: "colours" }, data: { sky: "blue" } } });
    cluster.pods.program("view", {
      startDelay: 0,
      run: async ({ command, env, files, log: say, sleep }) => {
        const sky = () => new TextDecoder().decode(files().get("/etc/colours/sky")?.bytes);
        say(
          `${command.join(" ")}, ${env.SKY}, ${env.IP}, ${sky()}, ${files().get("/etc/colours/sky")?.mode.toString(8)}`,
        );
        await sleep("5s");
        say(sky());
      },
    });
    const env = [
      { name: "SKY", valueFrom: { configMapKeyRef: { name: "colours", key: "sky" } } },
      { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    ];
    const volumeMounts = [{ name: "colours", mountPath: "/etc/colours" }];
    const container = { name: "c", image: "app:1", command: ["echo"], args: ["$(SKY)"], env, volumeMounts };
    const volumes = [{ name: "colours", configMap: { name: "colours", defaultMode: 0o400 } }];
    await create("view", { containers: [container], volumes });
    const { podIP } = (await read("view")).status;
    expect(await log("view")).toBe(`echo blue, blue, ${podIP}, blue, 400\n`);
    await call(cluster, "PATCH", `${maps}/colours`, { type: MERGE, body: { data: { sky: "grey" } } });
    await pass(5_000);
    expect(await log("view", "?tailLines=1")).toBe("grey\n");
  });

  it("lets go of a deleted pod when it has stopped", async () => {
    cluster.pods.program("polite", { startDelay: 0, stopDelay: "4s" });
    await create("polite");
    const deleted = await call(cluster, "DELETE", `${PODS}/polite`);
    expect(deleted.body.metadata.deletionGracePeriodSeconds).toBe(30);
    await pass(3_999);
    expect((await read("polite")).metadata.deletionTimestamp).toBeDefined();
    await pass(1);
    expect((await read("polite")).code).toBe(404);
  });

  it("kills what does not stop in time; a second deletion shortens the time", async () => {
    cluster.pods.program("stubborn", { startDelay: 0, stopDelay: "1h" });
    await create("stubborn");
    await call(cluster, "DELETE", `${PODS}/stubborn`);
    await pass(5_000);
    await call(cluster, "DELETE", `${PODS}/stubborn`, { body: { gracePeriodSeconds: 10 } });
    await pass(9_999);
    expect((await read("stubborn")).code).toBeUndefined();
    await pass(5_001);
    expect((await read("stubborn")).code).toBe(404);
  });

  it("shows how a pod ended that a finalizer keeps", async () => {
    cluster.pods.program("kept", { startDelay: 0, stopCode: 143 });
    await create("kept", {}, { finalizers: ["example.com/keep"] });
    await call(cluster, "DELETE", `${PODS}/kept`);
    await pass(0);
    const pod = await read("kept");
    expect(pod.status.containerStatuses[0].state.terminated.exitCode).toBe(143);
    expect(pod.status.phase).toBe("Failed");
    await call(cluster, "PATCH", `${PODS}/kept`, {
      type: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    });
    expect((await read("kept")).code).toBe(404);
  });

  it("fails a pod that is evicted, or outlives its deadline", async () => {
    cluster.pods.program("evicted", { startDelay: 0, evicted: { after: "1m" } });
    await create("evicted");
    await create("late", { activeDeadlineSeconds: 60 });
    await pass(60_000);
    expect((await read("evicted")).status).toMatchObject({ phase: "Failed", reason: "Evicted" });
    expect((await read("late")).status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  });

  it("finishes the pods of Jobs", async () => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "a" }] } };
    const body = { metadata: { name: "j" }, spec: { template } };
    const job = (await call(cluster, "POST", "/apis/batch/v1/namespaces/default/jobs", { body })).body;
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: job.metadata.uid, controller: true };
    cluster.pods.program({ labels: "job-name=j" }, { logs: "done\n" });
    const metadata = { ownerReferences: [owner], labels: { "job-name": "j" } };
    await create("j-1", { restartPolicy: "Never" }, metadata);
    await pass(100);
    expect((await read("j-1")).status.phase).toBe("Succeeded");
    expect(await log("j-1")).toBe("done\n");
  });

  it("leaves nothing behind of a pod that is made anew under its name", async () => {
    await create("again");
    await pass(100);
    await call(cluster, "DELETE", `${PODS}/again`, { body: { gracePeriodSeconds: 0 } });
    await create("again");
    expect((await read("again")).status.phase).toBe("Pending");
    await pass(100);
    expect((await read("again")).status.podIP).toBe("10.244.0.3");
  });

  it("refuses a matcher that names nothing", () => {
    expect(() => cluster.pods.program("a/b/c", {})).toThrow('"a/b/c" names no pod');
  });
});
