import { afterEach, describe, expect, it } from "vitest";
import { Stage, template, workload } from "../../controllers/workloads/test-stage.ts";
import { call, MERGE } from "../../test-requests.ts";
import type { KubeletSettings } from "../process/process-node.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

describe("pods look for a node", () => {
  let stage: Stage;

  const begin = async (capacity: KubeletSettings["capacity"] = {}) => {
    stage = await Stage.start({ kubelet: { mode: "simulate", capacity }, history: true });
  };

  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
  });

  const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "c", image: "app:1" }], ...spec },
  });
  const asking = (requests: object, more: object = {}) => ({
    containers: [{ name: "c", image: "app:1", resources: { requests, limits: extended(requests) } }],
    ...more,
  });
  const extended = (requests: object) =>
    Object.fromEntries(Object.entries(requests).filter(([name]) => name.includes("/")));
  const scheduled = ({ status }: Body) => status.conditions.find((one: Body) => one.type === "PodScheduled");
  const whyNot = async (name: string) => scheduled(await stage.get("pods", name)).message;
  const phase = async (name: string) => (await stage.get("pods", name)).status.phase;
  const onNode = (body: object) => stage.patch("nodes", "lotse-node", body);

  it("with enough cpu, and wait for others to go when there is none", async () => {
    await begin({ cpu: 2 });
    await stage.create("pods", pod("first", asking({ cpu: "1500m" })));
    await stage.create("pods", pod("second", asking({ cpu: "600m" })));
    await stage.pass(1_000);
    expect(await phase("first")).toBe("Running");
    expect(scheduled(await stage.get("pods", "second"))).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      observedGeneration: 1,
      message:
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    });
    expect(await stage.events("second")).toEqual([`FailedScheduling: ${await whyNot("second")}`]);
    await stage.remove("pods", "first");
    await stage.pass(1_000);
    expect(await phase("second")).toBe("Running");
  });

  it("with room for what runs beside and before their containers, and for their overhead", async () => {
    await begin({ cpu: 2 });
    const small = { resources: { requests: { cpu: "100m" } } };
    const large = { resources: { requests: { cpu: "2100m" } } };
    const init = (what: object) => ({ initContainers: [{ name: "i", image: "app:1", ...what }] });
    await stage.create("pods", pod("big-start", init(large)));
    expect(await whyNot("big-start")).toContain("1 Insufficient cpu.");
    expect(await whyNot("big-start")).toContain("1 Preemption is not helpful for scheduling.");
    await stage.create(
      "pods",
      pod("beside", { ...asking({ cpu: "1950m" }), ...init({ ...small, restartPolicy: "Always" }) }),
    );
    expect(await whyNot("beside")).toContain("1 Insufficient cpu.");
    await stage.create("pods", pod("before", { ...asking({ cpu: "1950m" }), ...init(small) }));
    expect((await stage.get("pods", "before")).spec.nodeName).toBe("lotse-node");
  });

  it("with the devices that they ask for, and no more pods than it takes", async () => {
    await begin({ pods: 2, "example.com/gpu": 1 });
    const gpu = asking({ "example.com/gpu": "1" });
    await stage.create("pods", pod("a", gpu));
    await stage.create("pods", pod("b", gpu));
    expect(await whyNot("b")).toContain("0/1 nodes are available: 1 Insufficient example.com/gpu.");
    await stage.create("pods", pod("c"));
    await stage.create("pods", pod("d"));
    expect(await whyNot("d")).toContain("0/1 nodes are available: 1 Too many pods.");
  });

  it("get the room of pods that have ended", async () => {
    await begin({ cpu: 1 });
    stage.cluster.pods.program("short", { exit: { after: "30s" } });
    await stage.create("pods", pod("short", { ...asking({ cpu: 1 }), restartPolicy: "Never" }));
    await stage.create("pods", pod("next", asking({ cpu: 1 })));
    await stage.pass(20_000);
    expect(await phase("next")).toBe("Pending");
    await stage.pass(20_000);
    expect([await phase("short"), await phase("next")]).toEqual(["Succeeded", "Running"]);
  });

  it("whose ports are free", async () => {
    await begin();
    const port = (hostIP?: string) => ({
      containers: [{ name: "c", image: "app:1", ports: [{ containerPort: 80, hostPort: 8080, hostIP }] }],
    });
    await stage.create("pods", pod("one", port("127.0.0.1")));
    await stage.create("pods", pod("two", port("127.0.0.2")));
    await stage.create("pods", pod("all", port()));
    expect((await stage.get("pods", "two")).spec.nodeName).toBe("lotse-node");
    expect(await whyNot("all")).toContain("1 node(s) didn't have free ports for the requested pod ports.");
  });

  it("whose taints they tolerate", async () => {
    await begin();
    await onNode({ spec: { taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }] } });
    await stage.create("pods", pod("web"));
    const tolerations = [{ key: "dedicated", operator: "Equal", value: "db", effect: "NoSchedule" }];
    await stage.create("pods", pod("db", { tolerations }));
    expect((await stage.get("pods", "db")).spec.nodeName).toBe("lotse-node");
    expect(await whyNot("web")).toBe(
      "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    );
    await onNode({ spec: { taints: null } });
    await stage.pass(1_000);
    expect(await phase("web")).toBe("Running");
  });

  it("whose labels are those of their affinity", async () => {
    await begin();
    const nodeSelectorTerms = [{ matchExpressions: [{ key: "size", operator: "Gt", values: ["3"] }] }];
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
    await stage.create("pods", pod("web", { affinity }));
    expect(await whyNot("web")).toContain("1 node(s) didn't match Pod's node affinity/selector.");
    await onNode({ metadata: { labels: { size: "5" } } });
    expect((await stage.get("pods", "web")).spec.nodeName).toBe("lotse-node");
  });

  it("among several, and say what each of them lacks", async () => {
    await begin({ cpu: 1 });
    const node = async (name: string, cpu: string, spec: object = {}) => {
      await stage.create("nodes", { metadata: { name }, spec });
      const amounts = { cpu, pods: "10" };
      await stage.patch("nodes", name, { status: { allocatable: amounts, capacity: amounts } }, "status");
    };
    await node("tainted", "8", { taints: [{ key: "a", effect: "NoSchedule" }] });
    await node("avoided", "8", { taints: [{ key: "a", effect: "PreferNoSchedule" }] });
    await stage.create("nodes", { metadata: { name: "bare" } });
    await stage.create("pods", pod("any", asking({ cpu: 1 })));
    await stage.create("pods", pod("other", asking({ cpu: 1 })));
    expect((await stage.get("pods", "any")).spec.nodeName).toBe("lotse-node");
    expect((await stage.get("pods", "other")).spec.nodeName).toBe("avoided");
    await stage.create("pods", pod("huge", asking({ cpu: 10 })));
    expect(await whyNot("huge")).toBe(
      "0/4 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), 3 Insufficient cpu. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.",
    );
  });

  it("but not when they ask for another scheduler", async () => {
    await begin();
    await stage.create("pods", pod("mine", { schedulerName: "my-scheduler" }));
    await stage.pass(1_000);
    const { spec, status } = await stage.get("pods", "mine");
    expect([spec.nodeName, status.conditions]).toEqual([undefined, undefined]);
  });

  it("and the most important one gets it first", async () => {
    await begin({ cpu: 1 });
    for (const [name, value] of [
      ["low", 1],
      ["high", 1_000],
    ] as const) {
      await call(stage.cluster, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
        body: { metadata: { name }, value, preemptionPolicy: "Never" },
      });
    }
    await stage.create("pods", pod("first", asking({ cpu: 1 })));
    await stage.create("pods", pod("second", asking({ cpu: 1 }, { priorityClassName: "low" })));
    await stage.create("pods", pod("third", asking({ cpu: 1 }, { priorityClassName: "high" })));
    expect(await whyNot("third")).toBe(
      "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
    );
    await stage.remove("pods", "first");
    await stage.pass(1_000);
    expect([await phase("second"), await phase("third")]).toEqual(["Pending", "Running"]);
  });

  it("and look once for all that are alike", async () => {
    await begin({ pods: 20 });
    await stage.create("deployments", workload("web", { replicas: 60, template: template("web") }));
    await stage.pass(2_000);
    const pods = await stage.list("pods");
    expect(pods.filter(({ status }) => status.phase === "Running")).toHaveLength(20);
    const waiting = pods.filter(({ spec }) => spec.nodeName === undefined);
    expect(new Set(waiting.map((one) => scheduled(one).message))).toEqual(
      new Set([
        "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
      ]),
    );
    // When the reason is another one, all of them are told.
    await onNode({ spec: { unschedulable: true } });
    const told = (await stage.list("pods"))
      .filter(({ spec }) => spec.nodeName === undefined)
      .map((one) => scheduled(one).message);
    expect(told.every((message) => message.includes("node(s) were unschedulable"))).toBe(true);
    await onNode({ spec: { unschedulable: null } });
    await stage.patch(
      "nodes",
      "lotse-node",
      { status: { allocatable: { pods: "70" }, capacity: { pods: "70" } } },
      "status",
    );
    await stage.pass(2_000);
    expect((await stage.list("pods")).filter(({ status }) => status.phase === "Running")).toHaveLength(60);
  });
});

describe("a more important pod", () => {
  let stage: Stage;
  const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";

  const begin = async (cpu: number) => {
    stage = await Stage.start({ kubelet: { mode: "simulate", capacity: { cpu } }, history: true });
    for (const [name, value] of [
      ["low", 1],
      ["middle", 10],
      ["high", 100],
    ] as const) {
      await call(stage.cluster, "POST", CLASSES, { body: { metadata: { name }, value } });
    }
  };

  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
  });

  const create = async (name: string, priorityClassName: string, cpu: string | number, metadata: object = {}) => {
    const containers = [{ name: "c", image: "app:1", resources: { requests: { cpu } } }];
    const spec = { priorityClassName, containers, terminationGracePeriodSeconds: 5 };
    await stage.create("pods", { metadata: { name, ...metadata }, spec });
    await stage.pass(1_000);
  };
  const names = async () => (await stage.names("pods")).sort();

  it("makes a lesser one go, waits for it, and takes its place", async () => {
    await begin(2);
    stage.cluster.pods.program("victim", { stopDelay: "3s" });
    await create("victim", "low", 1);
    await create("kept", "middle", 1);
    await create("vip", "high", 1);
    const waiting = await stage.get("pods", "vip");
    expect(waiting.status).toMatchObject({
      phase: "Pending",
      nominatedNodeName: "lotse-node",
      conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes are available: 1 Insufficient cpu." }],
    });
    const victim = await stage.get("pods", "victim");
    expect(victim.metadata.deletionGracePeriodSeconds).toBe(5);
    expect(victim.status.conditions).toContainEqual(
      expect.objectContaining({
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: "default-scheduler: preempting to accommodate a higher priority pod",
      }),
    );
    expect(await stage.events("victim")).toContain(
      `Preempted: Preempted by pod ${waiting.metadata.uid} on node lotse-node`,
    );
    await stage.pass(5_000);
    expect(await names()).toEqual(["kept", "vip"]);
    const running = await stage.get("pods", "vip");
    expect(running.status.phase).toBe("Running");
    expect(running.status).not.toHaveProperty("nominatedNodeName");
  });

  it("has the room that was made for it, and nobody else", async () => {
    await begin(1);
    stage.cluster.pods.program("victim", { stopDelay: "3s" });
    await create("victim", "low", 1);
    await create("vip", "high", 1);
    await create("late", "low", 1);
    await stage.pass(5_000);
    expect((await stage.get("pods", "vip")).status.phase).toBe("Running");
    expect((await stage.get("pods", "late")).status.phase).toBe("Pending");
  });

  it("makes no more go than it has to, and the least important first", async () => {
    await begin(3);
    await create("a", "middle", 1);
    await create("b", "low", 1);
    await create("c", "low", 1);
    await create("vip", "high", 1);
    await stage.pass(1_000);
    // Of two that are equal, the younger one.
    expect(await names()).toEqual(["a", "b", "vip"]);
  });

  it("spares what a budget protects, if it can", async () => {
    await begin(2);
    await create("guarded", "low", 1, { labels: { app: "guarded" } });
    await create("free", "middle", 1);
    await call(stage.cluster, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
      body: { metadata: { name: "b" }, spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } } },
    });
    await stage.cluster.settle();
    await create("vip", "high", 1);
    expect(await names()).toEqual(["guarded", "vip"]);
    await create("vip2", "high", 1);
    expect(await names()).toEqual(["vip", "vip2"]);
  });
});

describe("a taint that makes pods go", () => {
  it("does so at once, or when their time is over, or never", async () => {
    await using stage = await Stage.start({ history: true });
    const key = "maintenance";
    const tolerations = (tolerationSeconds?: number) => [
      { key, operator: "Exists", effect: "NoExecute", tolerationSeconds },
    ];
    const create = (name: string, spec: object) =>
      stage.create("pods", { metadata: { name }, spec: { containers: [{ name: "c", image: "app:1" }], ...spec } });
    await create("none", {});
    await create("some", { tolerations: tolerations(60) });
    await create("all", { tolerations: tolerations() });
    await stage.pass(1_000);
    await stage.patch("nodes", "lotse-node", { spec: { taints: [{ key, effect: "NoExecute" }] } });
    await stage.pass(1_000);
    expect((await stage.names("pods")).sort()).toEqual(["all", "some"]);
    const events = (await call(stage.cluster, "GET", stage.path("events"))).body.items as Body[];
    expect(events).toContainEqual(
      expect.objectContaining({ reason: "TaintManagerEviction", message: "Marking for deletion Pod default/none" }),
    );
    const last = stage.cluster.history("pods", "default", "none").at(-1)?.object as Body;
    expect(last.status.conditions).toContainEqual(
      expect.objectContaining({
        type: "DisruptionTarget",
        reason: "DeletionByTaintManager",
        message: "Taint manager: deleting due to NoExecute taint",
      }),
    );
    await stage.pass(61_000);
    expect(await stage.names("pods")).toEqual(["all"]);
  });

  it("does nothing when it is gone in time", async () => {
    await using stage = await Stage.start();
    const key = "maintenance";
    await stage.create("pods", {
      metadata: { name: "some" },
      spec: {
        containers: [{ name: "c", image: "app:1" }],
        tolerations: [{ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }],
      },
    });
    await stage.pass(1_000);
    const taint = (taints: unknown) =>
      call(stage.cluster, "PATCH", "/api/v1/nodes/lotse-node", { type: MERGE, body: { spec: { taints } } });
    await taint([{ key, effect: "NoExecute" }]);
    await stage.pass(30_000);
    await taint(null);
    await stage.pass(60_000);
    expect(await stage.names("pods")).toEqual(["some"]);
    expect(await stage.events("some")).toContain("TaintManagerEviction: Cancelling deletion of Pod default/some");
  });
});
