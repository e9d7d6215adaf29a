import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compose } from "../compose.ts";
import { Stage } from "../controllers/workloads/test-stage.ts";
import { type ApiObject, create } from "../registry/index.ts";
import { call, MERGE } from "../test-requests.ts";
import { PodCollector } from "./pod-collector.ts";

const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const container = { name: "c", image: "app:1" };

describe("where no pods run", () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await Stage.start({ kubelet: false, history: true, controllers: { workloads: false } });
  });

  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
  });

  const owner = (kind: string, { metadata }: { metadata: { name: string; uid: string } }) => ({
    apiVersion: kind === "Job" ? "batch/v1" : "apps/v1",
    kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
  });

  const pod = async (name: string, ready: boolean, metadata: object = {}, phase = "Running") => {
    await stage.create("pods", {
      metadata: { name, labels: { app: "web" }, ...metadata },
      spec: { containers: [container] },
    });
    const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
    await stage.patch("pods", name, { status: { phase, conditions } }, "status");
  };

  const budget = async (name: string, spec: object) => {
    const body = { metadata: { name }, spec: { selector: { matchLabels: { app: "web" } }, ...spec } };
    const made = await call(stage.cluster, "POST", BUDGETS, { body });
    expect(made.status, made.text).toBe(201);
    return status(name);
  };

  const status = async (name: string) => {
    await stage.cluster.settle();
    return (await call(stage.cluster, "GET", `${BUDGETS}/${name}`)).body.status;
  };

  it("budgets count pods, as others say that these are ready", async () => {
    await pod("a", true);
    await pod("b", true);
    await pod("c", false);
    await pod("done", false, {}, "Succeeded");
    expect(await budget("one", { minAvailable: 1 })).toMatchObject({
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 4,
      disruptionsAllowed: 1,
      observedGeneration: 1,
      conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods" }],
    });
    await stage.patch("pods", "a", { status: { conditions: [{ type: "Ready", status: "False" }] } }, "status");
    expect(await status("one")).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0 });
  });

  it("budgets ask the Deployment of ReplicaSets how many pods there should be", async () => {
    const template = { metadata: { labels: { app: "web" } }, spec: { containers: [container] } };
    const spec = { selector: { matchLabels: { app: "web" } }, template };
    const deployment = await stage.create("deployments", { metadata: { name: "web" }, spec: { ...spec, replicas: 4 } });
    const ownerReferences = [owner("Deployment", deployment)];
    for (const name of ["old", "new"]) {
      const set = await stage.create("replicasets", {
        metadata: { name, ownerReferences },
        spec: { ...spec, replicas: 3 },
      });
      await pod(`${name}-pod`, true, { ownerReferences: [owner("ReplicaSet", set)] });
    }
    expect(await budget("share", { maxUnavailable: "25%" })).toMatchObject({
      currentHealthy: 2,
      desiredHealthy: 3,
      expectedPods: 4,
      disruptionsAllowed: 0,
    });
  });

  it("budgets allow nothing where nobody knows how many pods there should be", async () => {
    const spec = { template: { spec: { restartPolicy: "Never", containers: [container] } } };
    const job = await stage.create("jobs", { metadata: { name: "job" }, spec });
    await pod("a", true, { ownerReferences: [owner("Job", job)] });
    expect(await budget("lost", { maxUnavailable: 1 })).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [
        {
          type: "DisruptionAllowed",
          status: "False",
          reason: "SyncFailed",
          message: 'found no controllers for pod "a"',
        },
      ],
    });
  });

  const budgetEvents = async (name: string) => {
    const all = (await stage.list("events")).filter(({ involvedObject }) => involvedObject.name === name);
    return all.map(({ type, reason, message, source }) => `${source.component} ${type} ${reason}: ${message}`);
  };

  it("budgets say that they have no pods, once", async () => {
    await budget("none", { minAvailable: 1 });
    expect(await budgetEvents("none")).toEqual(["controllermanager Normal NoPods: No matching pods found"]);
    await stage.create("pods", { metadata: { name: "other" }, spec: { containers: [container] } });
    const [event] = await stage.list("events");
    expect([event.count, event.involvedObject.kind]).toEqual([1, "PodDisruptionBudget"]);
    await pod("a", true);
    await stage.remove("pods", "a");
    expect((await stage.list("events"))[0].count).toBe(2);
  });

  it("budgets say that pods have no controller, where it matters how many there should be", async () => {
    await pod("a", true);
    await budget("number", { minAvailable: 1 });
    expect(await budgetEvents("number")).toEqual([]);
    const selector = {
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "tier", operator: "NotIn", values: ["db", "cache"] },
        { key: "old", operator: "DoesNotExist" },
      ],
    };
    await budget("share", { minAvailable: "50%", selector });
    expect(await budgetEvents("share")).toEqual([
      "controllermanager Warning UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: " +
        "&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{" +
        "LabelSelectorRequirement{Key:tier,Operator:NotIn,Values:[db cache],}," +
        "LabelSelectorRequirement{Key:old,Operator:DoesNotExist,Values:[],},},}) were found to be unmanaged. " +
        "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
        'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
    ]);
  });

  it("pods that were deleted go when their node is out of service, and not before it is not ready", async () => {
    const taint = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute", value: "nodeshutdown" };
    const ready = (status: string) =>
      stage.patch("nodes", "n", { status: { conditions: [{ type: "Ready", status }] } }, "status");
    await stage.create("nodes", { metadata: { name: "n" }, spec: { taints: [taint] } });
    await ready("True");
    for (const name of ["goes", "stays"]) {
      await stage.create("pods", { metadata: { name }, spec: { nodeName: "n", containers: [container] } });
    }
    await stage.remove("pods", "goes");
    await stage.pass(600_000);
    expect(await stage.names("pods")).toEqual(["goes", "stays"]);
    await ready("Unknown");
    await stage.pass(21_000);
    expect(await stage.names("pods")).toEqual(["stays"]);
    const last = stage.cluster.history("pods", "default", "goes").at(-1);
    expect(last?.object.status).toMatchObject({ phase: "Failed" });
    await stage.remove("pods", "stays");
    await stage.pass(21_000);
    expect(await stage.names("pods")).toEqual([]);
  });

  it("pods go with their node", async () => {
    await stage.create("nodes", { metadata: { name: "n" } });
    await stage.create("pods", { metadata: { name: "p" }, spec: { nodeName: "n", containers: [container] } });
    await stage.pass(600_000);
    expect(await stage.names("pods")).toEqual(["p"]);
    await stage.remove("nodes", "n");
    await stage.pass(41_000);
    expect(await stage.names("pods")).toEqual([]);
  });

  it("a pod that was deleted before it had a node, and is held, has failed", async () => {
    const metadata = { name: "held", finalizers: ["example.com/hold"] };
    await stage.create("pods", { metadata, spec: { containers: [container] } });
    await stage.remove("pods", "held");
    await stage.pass(21_000);
    expect((await stage.get("pods", "held")).status.phase).toBe("Failed");
    await call(stage.cluster, "PATCH", stage.path("pods", "held"), {
      type: MERGE,
      body: { metadata: { finalizers: null } },
    });
    expect(await stage.names("pods")).toEqual([]);
  });
});

it("nobody counts or collects when told not to", async () => {
  await using stage = await Stage.start({
    kubelet: false,
    controllers: { disruptionBudgets: false, podCollection: false },
  });
  await stage.create("pods", { metadata: { name: "p" }, spec: { nodeName: "nowhere", containers: [container] } });
  await call(stage.cluster, "POST", BUDGETS, {
    body: { metadata: { name: "b" }, spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } },
  });
  await stage.pass(600_000);
  expect(await stage.names("pods")).toEqual(["p"]);
  expect((await call(stage.cluster, "GET", `${BUDGETS}/b`)).body.status.observedGeneration).toBeUndefined();
});

it("of pods that have ended only so many are kept: evicted ones go first, then the oldest", async () => {
  const clock = new VirtualClock();
  const parts = await compose(
    { tls: false, clock, admission: { disable: ["NamespaceLifecycle", "ServiceAccount"] } },
    undefined,
  );
  const { backend, requester } = parts.context;
  const endpoint = backend.catalog.storage("", "pods");
  if (!endpoint) throw new Error("pods are not served");
  const collector = new PodCollector(parts.context, 2);
  collector.start();
  for (const [name, reason] of [
    ["old", ""],
    ["evicted", "Evicted"],
    ["young", ""],
    ["last", ""],
  ] as const) {
    const target = { endpoint, namespace: "default", name: undefined, subresource: undefined };
    const spec = { containers: [container], restartPolicy: "Never" };
    const object = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec,
    } as unknown as ApiObject;
    await create(backend, requester, target, object, {
      dryRun: false,
      fieldManager: "test",
      fieldValidation: "Ignore",
    });
    const entry = backend.store.get("pods", `default/${name}`);
    const ended = { ...entry?.object, status: { phase: "Failed", reason } } as Parameters<
      typeof backend.store.update
    >[3];
    backend.store.update("pods", `default/${name}`, entry?.revision as number, ended);
    await clock.advance(1_000);
  }
  await clock.advance(20_000);
  while (!collector.idle) await new Promise((resolve) => setImmediate(resolve));
  expect(backend.store.list("pods").map(({ key }) => key)).toEqual(["default/last", "default/young"]);
  collector.stop();
  backend.pace.stop();
});
