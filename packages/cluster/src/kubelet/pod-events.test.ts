import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, MERGE } from "../test-requests.ts";

const PODS = "/api/v1/namespaces/default/pods";
const STRATEGIC = "application/strategic-merge-patch+json";

let clock: VirtualClock;
let cluster: Cluster;

beforeEach(async () => {
  clock = new VirtualClock();
  cluster = await Cluster.start({
    clock,
    tls: false,
    kubelet: "simulate",
    controllers: { workloads: false },
  });
});

afterEach(() => cluster.stop());

async function create(name: string, spec: object = {}) {
  const body = { metadata: { name }, spec: { containers: [{ name: "c", image: "app:1" }], ...spec } };
  const answer = await call(cluster, "POST", PODS, { body });
  expect(answer.status, answer.text).toBe(201);
  await pass(100);
  return answer.body;
}

async function pass(ms: number) {
  await clock.advance(ms);
  await cluster.settle();
}

// biome-ignore lint/suspicious/noExplicitAny: events of every shape
async function eventsOf(name: string): Promise<any[]> {
  await cluster.settle();
  const query = `?fieldSelector=involvedObject.name=${name}`;
  return (await call(cluster, "GET", `/api/v1/namespaces/default/events${query}`)).body.items;
}

/** As `kubectl describe` shows them, in the order in which they were written. */
async function told(name: string): Promise<string[]> {
  const events = await eventsOf(name);
  events.sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  return events.map(({ type, reason, reportingComponent, message, count = 1 }) => {
    const times = count > 1 ? ` (x${count})` : "";
    return `${type} ${reason}${times} ${reportingComponent} ${message}`;
  });
}

describe("people are told about a pod", () => {
  it("how it got to run, and how it ended", async () => {
    await create("web");
    expect(await told("web")).toEqual([
      "Normal Scheduled default-scheduler Successfully assigned default/web to lotse-node",
      'Normal Pulling kubelet Pulling image "app:1"',
      'Normal Pulled kubelet Successfully pulled image "app:1" in 0s (0s including waiting). Image size: 0 bytes.',
      "Normal Created kubelet Container created",
      "Normal Started kubelet Container started",
    ]);
    await call(cluster, "DELETE", `${PODS}/web`);
    await pass(1_000);
    expect((await told("web")).slice(5)).toEqual(["Normal Killing kubelet Stopping container c"]);
  });

  it("by whom, and about which container", async () => {
    const { metadata } = await create("web");
    const events = await eventsOf("web");
    const started = events.find(({ reason }) => reason === "Started");
    expect(started).toMatchObject({
      involvedObject: { kind: "Pod", name: "web", uid: metadata.uid, fieldPath: "spec.containers{c}" },
      source: { component: "kubelet", host: "lotse-node" },
      reportingComponent: "kubelet",
      reportingInstance: "lotse-node",
      count: 1,
    });
    const scheduled = events.find(({ reason }) => reason === "Scheduled");
    expect(scheduled).toMatchObject({
      action: "Binding",
      source: {},
      firstTimestamp: null,
      reportingComponent: "default-scheduler",
      reportingInstance: "default-scheduler-lotse-node",
    });
    expect(scheduled.eventTime).toMatch(/\.\d{6}Z$/);
  });

  it("that its image is there already, unless it is always fetched", async () => {
    await create("first");
    await create("second");
    await create("third", { containers: [{ name: "c", image: "app:1", imagePullPolicy: "Always" }] });
    const reasons = async (name: string) => (await told(name)).map((line) => line.split(" ")[1]);
    expect(await told("second")).toContain(
      'Normal Pulled kubelet Container image "app:1" already present on machine and can be accessed by the pod',
    );
    expect(await reasons("second")).toEqual(["Scheduled", "Pulled", "Created", "Started"]);
    expect(await reasons("third")).toEqual(["Scheduled", "Pulling", "Pulled", "Created", "Started"]);
  });

  it("that no node takes it, once for each reason", async () => {
    await create("picky", { nodeSelector: { disk: "ssd" } });
    const node = "/api/v1/nodes/lotse-node";
    await call(cluster, "PATCH", node, { type: MERGE, body: { metadata: { labels: { colour: "red" } } } });
    const lines = await told("picky");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Warning FailedScheduling default-scheduler 0\/1 nodes are available: /);
  });

  it("that its image cannot be fetched", async () => {
    cluster.pods.program("broken", { pullError: "not found" });
    await create("broken");
    await pass(20_000);
    // Counted on, an event is written last: only what is said counts here.
    expect((await told("broken")).slice(1).sort()).toEqual(
      [
        'Normal Pulling (x2) kubelet Pulling image "app:1"',
        'Warning Failed (x2) kubelet Failed to pull image "app:1": not found',
        "Warning Failed kubelet Error: ErrImagePull",
        'Normal BackOff kubelet Back-off pulling image "app:1"',
        "Warning Failed kubelet Error: ImagePullBackOff",
      ].sort(),
    );
  });

  it("that a container cannot be created", async () => {
    cluster.pods.program("misconfigured", { createError: 'CreateContainerConfigError: secret "s" not found' });
    await create("misconfigured");
    expect((await told("misconfigured")).at(-1)).toBe('Warning Failed kubelet Error: secret "s" not found');
  });

  it("that a container crashes again and again", async () => {
    cluster.pods.program("crashing", { exit: { code: 1 } });
    const { metadata } = await create("crashing");
    await pass(30_000);
    const lines = await told("crashing");
    expect(lines.some((line) => /^Normal Started \(x[2-9]\) kubelet Container started$/.test(line))).toBe(true);
    expect(lines.find((line) => line.startsWith("Warning BackOff"))).toMatch(
      new RegExp(`Back-off restarting failed container c in pod crashing_default\\(${metadata.uid}\\)$`),
    );
  });
});

describe("containers that come later", () => {
  const debug = (name: string, container: object) =>
    call(cluster, "PATCH", `${PODS}/${name}/ephemeralcontainers`, {
      type: STRATEGIC,
      body: { spec: { ephemeralContainers: [container] } },
    });

  const statusOf = async (name: string) => (await call(cluster, "GET", `${PODS}/${name}`)).body.status;

  it("run beside the others, whose pod does not depend on them", async () => {
    await create("web");
    const before = await statusOf("web");
    expect((await debug("web", { name: "debugger", image: "busybox" })).status).toBe(200);
    await cluster.settle();
    const after = await statusOf("web");
    expect(after.ephemeralContainerStatuses).toMatchObject([
      { name: "debugger", image: "busybox", ready: false, restartCount: 0, state: { running: {} } },
    ]);
    expect(after.ephemeralContainerStatuses[0]).not.toHaveProperty("started");
    expect(after.phase).toBe("Running");
    expect(after.conditions.map(summary)).toEqual(before.conditions.map(summary));
    const paths = (await eventsOf("web")).map(({ involvedObject }) => involvedObject.fieldPath);
    expect(paths).toContain("spec.ephemeralContainers{debugger}");
  });

  it("run once, even if they fail", async () => {
    cluster.pods.program("web", { containers: { debugger: { exit: { code: 3 } } } });
    await create("web");
    await debug("web", { name: "debugger", image: "busybox" });
    await pass(60_000);
    const { phase, ephemeralContainerStatuses } = await statusOf("web");
    expect(phase).toBe("Running");
    expect(ephemeralContainerStatuses).toMatchObject([
      { name: "debugger", restartCount: 0, state: { terminated: { exitCode: 3 } } },
    ]);
  });

  it("end with their pod", async () => {
    await create("web");
    await debug("web", { name: "debugger", image: "busybox" });
    await cluster.settle();
    await call(cluster, "DELETE", `${PODS}/web`);
    await pass(31_000);
    expect((await call(cluster, "GET", `${PODS}/web`)).status).toBe(404);
    expect((await told("web")).filter((line) => line.includes("Killing"))).toEqual([
      "Normal Killing kubelet Stopping container c",
      "Normal Killing kubelet Stopping container debugger",
    ]);
  });
});

const summary = ({ type, status }: { type: string; status: string }) => `${type}=${status}`;
