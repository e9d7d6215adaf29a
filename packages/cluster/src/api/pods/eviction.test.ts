import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call, MERGE } from "../../test-requests.ts";

const CORE = "/api/v1/namespaces/default";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

describe("evictions", () => {
  let clock: VirtualClock;
  let cluster: Cluster;

  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await Cluster.start({ clock, tls: false, kubelet: { mode: "simulate", startDelay: 0 } });
  });

  afterEach(() => cluster.stop());

  async function pod(name: string) {
    const spec = { containers: [{ name: "c", image: "i" }] };
    await call(cluster, "POST", `${CORE}/pods`, { body: { metadata: { name, labels: { app: "web" } }, spec } });
    await cluster.settle();
  }

  async function budget(spec: object, name = "b") {
    const body = { metadata: { name }, spec: { selector: { matchLabels: { app: "web" } }, ...spec } };
    expect((await call(cluster, "POST", BUDGETS, { body })).status).toBe(201);
    await cluster.settle();
  }

  async function read(name = "b") {
    await cluster.settle();
    return (await call(cluster, "GET", `${BUDGETS}/${name}`)).body.status;
  }

  const evict = (name: string, more: object = {}, query = "") =>
    call(cluster, "POST", `${CORE}/pods/${name}/eviction${query}`, {
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, ...more },
    });

  it("delete a pod that nobody protects, with a reason in its conditions", async () => {
    cluster.pods.program("a", { stopDelay: "5s" });
    await pod("a");
    const answer = await evict("a");
    expect([answer.status, answer.body.status]).toEqual([201, "Success"]);
    await cluster.settle();
    const going = (await call(cluster, "GET", `${CORE}/pods/a`)).body;
    expect(going.metadata.deletionTimestamp).toBeDefined();
    expect(going.status.conditions).toContainEqual(
      expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }),
    );
    await clock.advance(5_000);
    await cluster.settle();
    expect((await call(cluster, "GET", `${CORE}/pods/a`)).status).toBe(404);
  });

  it("spend the pod's disruption budget, and are refused when it is spent", async () => {
    await pod("a");
    await pod("b");
    await budget({ minAvailable: 1 });
    expect(await read()).toMatchObject({
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
      observedGeneration: 1,
      conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods" }],
    });
    expect((await evict("a")).status).toBe(201);
    expect(await read()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 1, expectedPods: 1 });
    const refused = await evict("b");
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" },
        ],
      },
    });
    await pod("c");
    expect((await evict("b")).status).toBe(201);
  });

  it("count by the scale of controllers where the budget is a share", async () => {
    const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const selector = { matchLabels: { app: "web" } };
    const set = await call(cluster, "POST", "/apis/apps/v1/namespaces/default/replicasets", {
      body: { metadata: { name: "rs" }, spec: { replicas: 3, selector, template } },
    });
    const owner = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: "rs",
      uid: set.body.metadata.uid,
      controller: true,
    };
    for (const name of ["a", "b", "c"]) {
      const metadata = { name, labels: { app: "web" }, ownerReferences: [owner] };
      await call(cluster, "POST", `${CORE}/pods`, { body: { metadata, spec: template.spec } });
    }
    await budget({ maxUnavailable: "34%" });
    expect(await read()).toMatchObject({ expectedPods: 3, desiredHealthy: 1, disruptionsAllowed: 2 });
  });

  it("let pods go that are not ready, as far as the budget's policy says", async () => {
    cluster.pods.program("sick", { ready: false });
    await pod("sick");
    await budget({ minAvailable: 1 });
    expect((await evict("sick")).status).toBe(429);
    await call(cluster, "PATCH", `${BUDGETS}/b`, {
      type: MERGE,
      body: { spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } },
    });
    await cluster.settle();
    expect((await evict("sick")).status).toBe(201);
  });

  it("change nothing when they are only tried", async () => {
    await pod("a");
    await budget({ minAvailable: 0 });
    expect((await evict("a", {}, "?dryRun=All")).status).toBe(201);
    expect((await evict("a", { deleteOptions: { dryRun: ["All"] } })).status).toBe(201);
    await cluster.settle();
    expect((await call(cluster, "GET", `${CORE}/pods/a`)).body.metadata).not.toHaveProperty("deletionTimestamp");
    expect(await read()).toMatchObject({ disruptionsAllowed: 1 });
  });

  it("are refused when two budgets want to be asked, or the name is another one", async () => {
    await pod("a");
    await budget({ minAvailable: 0 });
    await budget({ minAvailable: 0 }, "b2");
    expect((await evict("a")).status).toBe(500);
    const wrong = await evict("a", { metadata: { name: "z" } });
    expect([wrong.status, wrong.body.message]).toEqual([400, "name in URL does not match name in Eviction object"]);
    expect((await evict("nobody")).status).toBe(404);
  });

  it("forget a pod that was let go and stays", async () => {
    await pod("a");
    await budget({ minAvailable: 0 });
    await call(cluster, "PATCH", `${BUDGETS}/b/status`, {
      type: MERGE,
      body: { status: { disruptedPods: { a: new Date(clock.now()).toISOString().replace(".000", "") } } },
    });
    expect(await read()).toMatchObject({ currentHealthy: 0, disruptedPods: { a: expect.any(String) } });
    await clock.advance(121_000);
    const later = await read();
    expect(later.currentHealthy).toBe(1);
    expect(later).not.toHaveProperty("disruptedPods");
  });

  it("refuse what is no eviction of this pod, and change nothing", async () => {
    await pod("a");
    const wrong = async (more: object, query = "") => {
      const { status, body } = await evict("a", more, query);
      return `${status} ${body.message}`;
    };
    expect(await wrong({ metadata: { name: "b" } })).toBe("400 name in URL does not match name in Eviction object");
    expect(await wrong({ kind: "Pod" })).toMatch(/^400 /);
    expect(await wrong({ apiVersion: "apps/v1" })).toMatch(/^400 /);
    expect(await wrong({ deleteOptions: "now" })).toMatch(/^400 /);
    expect(await wrong({ deleteOptions: { ignoreStoreReadErrorWithClusterBreakingPotential: true } })).toMatch(
      /^422 .*can not be set for pod eviction/,
    );
    expect(await wrong({ deleteOptions: { dryRun: ["Some"] } })).toMatch(/^422 .*dryRun: Unsupported value/);
    expect(await wrong({ deleteOptions: { dryRun: ["All", "All"] } }, "?dryRun=All")).toBe(
      "500 Non-matching dry-run options in request and content: [All] and [All All]",
    );
    expect(await wrong({ deleteOptions: { preconditions: { uid: "other" } } })).toMatch(
      /^409 Operation cannot be fulfilled on Pod "a": the UID in the precondition \(other\) does not match/,
    );
    expect(await wrong({ deleteOptions: { preconditions: { resourceVersion: "1" } } })).toMatch(
      /^409 .*the ResourceVersion in the precondition \(1\) does not match/,
    );
    const { metadata, status } = (await call(cluster, "GET", `${CORE}/pods/a`)).body;
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect(status.conditions.map(({ type }: { type: string }) => type)).not.toContain("DisruptionTarget");
  });

  it("take the version that was read, and the older version of their kind", async () => {
    await pod("a");
    const { resourceVersion } = (await call(cluster, "GET", `${CORE}/pods/a`)).body.metadata;
    const older = await evict("a", { apiVersion: "policy/v1beta1" }, "?dryRun=All");
    expect(older.status).toBe(201);
    expect((await evict("a", { deleteOptions: { preconditions: { resourceVersion } } })).status).toBe(201);
  });
});
