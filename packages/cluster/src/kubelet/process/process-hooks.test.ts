import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../cluster.ts";
import { freePort } from "../../test-port.ts";
import { call, MERGE } from "../../test-requests.ts";

const CORE = "/api/v1/namespaces/default";
const sh = (script: string) => ["sh", "-c", script];
const runs = (script: string) => ({ exec: { command: sh(script) } });

describe("a hook of a container that is a process", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false, kubelet: { mode: "process" } });
  });

  afterAll(() => cluster.stop());

  async function create(name: string, lifecycle: object, script: string, spec: object = {}) {
    const containers = [{ name: "c", image: "i", command: sh(script), lifecycle }];
    const answer = await call(cluster, "POST", `${CORE}/pods`, {
      body: { metadata: { name }, spec: { containers, ...spec } },
    });
    expect(answer.status, answer.text).toBe(201);
  }

  const read = async (name: string) => (await call(cluster, "GET", `${CORE}/pods/${name}`)).body;
  const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 170_000, interval: 20 });
  const phase = (name: string, wanted: string) =>
    until(async () => expect((await read(name)).status.phase).toBe(wanted));
  const gone = (name: string) =>
    until(async () => expect((await call(cluster, "GET", `${CORE}/pods/${name}`)).status).toBe(404));

  const told = async (name: string): Promise<string[]> =>
    (await call(cluster, "GET", `${CORE}/events?fieldSelector=involvedObject.name=${name}`)).body.items
      .filter(({ reason }: { reason: string }) => /Hook|Killing/.test(reason))
      .map(
        (event: { type: string; reason: string; message: string }) => `${event.type} ${event.reason}: ${event.message}`,
      );

  it("that fails at the start is told, and ends the container", async () => {
    await create("bad-start", { postStart: runs("exit 3") }, "exec sleep 1000", { restartPolicy: "Never" });
    await phase("bad-start", "Failed");
    expect(await told("bad-start")).toEqual([
      "Warning FailedPostStartHook: PostStartHook failed",
      "Normal Killing: FailedPostStartHook",
    ]);
  });

  it("that cannot be run at all has failed", async () => {
    const postStart = { exec: { command: ["no-such-program-anywhere"] } };
    await create("no-start", { postStart }, "exec sleep 1000", { restartPolicy: "Never" });
    await phase("no-start", "Failed");
    expect(await told("no-start")).toContain("Warning FailedPostStartHook: PostStartHook failed");
  });

  it("that reaches no server has failed", async () => {
    const postStart = { httpGet: { port: await freePort(), path: "/" } };
    await create("no-server", { postStart }, "exec sleep 1000", { restartPolicy: "Never" });
    await phase("no-server", "Failed");
  });

  it("that goes well lets it run", async () => {
    await create("good-start", { postStart: runs("echo warm > warm") }, "exec sleep 1000");
    await phase("good-start", "Running");
    expect(await told("good-start")).toEqual([]);
    await call(cluster, "DELETE", `${CORE}/pods/good-start?gracePeriodSeconds=0`);
  });

  it("that fails before the end is told, and the container is asked to end all the same", async () => {
    await create("bad-end", { preStop: runs("exit 1") }, "exec sleep 1000");
    await phase("bad-end", "Running");
    await call(cluster, "DELETE", `${CORE}/pods/bad-end`);
    await gone("bad-end");
    expect(await told("bad-end")).toEqual([
      "Normal Killing: Stopping container c",
      "Warning FailedPreStopHook: PreStopHook failed",
    ]);
  });

  it("that uses up the grace period leaves the container a moment to end by itself", async () => {
    const spec = { terminationGracePeriodSeconds: 1 };
    const script = "trap 'exit 7' TERM; while true; do sleep 0.1; done";
    await create("late-end", { preStop: runs("sleep 1000") }, script, spec);
    await phase("late-end", "Running");
    // Held back, so that the end of its container can be read.
    const hold = { metadata: { finalizers: ["example.com/hold"] } };
    const path = `${CORE}/pods/late-end`;
    await call(cluster, "PATCH", path, { type: MERGE, body: hold });
    await call(cluster, "DELETE", path);
    await until(async () => {
      const [container] = (await read("late-end")).status.containerStatuses;
      expect(container.state.terminated).toMatchObject({ exitCode: 7 });
    });
    const release = { metadata: { finalizers: null } };
    await call(cluster, "PATCH", path, { type: MERGE, body: release });
    await gone("late-end");
  });
});
