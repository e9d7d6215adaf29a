import { get } from "node:https";
import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import { CONFIG_MAPS, call, MERGE, openWatch } from "./test-requests.ts";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const map = (name: string) => ({ metadata: { name } });

/** A watch of which the test sees how it ends. */
function rawWatch(cluster: Cluster): Promise<{ event: Promise<string>; ended: Promise<"whole" | "broken"> }> {
  return new Promise((resolve, reject) => {
    const options = { port: cluster.port, ca: cluster.caPem, headers: { authorization: `Bearer ${cluster.token}` } };
    const path = `${CONFIG_MAPS}?watch=1&resourceVersion=0`;
    const request = get({ host: "127.0.0.1", path, ...options }, (response) => {
      const event = new Promise<string>((first) => response.once("data", (chunk: Buffer) => first(String(chunk))));
      const ended = new Promise<"whole" | "broken">((end) => {
        response.on("error", () => {});
        response.on("close", () => end(response.complete ? "whole" : "broken"));
      });
      resolve({ event, ended });
    });
    request.on("error", reject);
  });
}

describe("cluster.faults", () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await Cluster.start();
  });

  afterEach(() => cluster.stop());

  it("refuses as many requests as it is told, and nothing else", async () => {
    const fault = cluster.faults.add({ match: { verb: "create", resource: "configmaps", count: 2 }, status: 503 });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await call(cluster, "POST", CONFIG_MAPS, { body: map("a") })).status);
    expect(statuses).toEqual([503, 503, 201]);
    expect(fault.hits).toBe(2);
    expect(cluster.requests.filter({ status: 503 })).toHaveLength(2);
  });

  it("tells when to come again", async () => {
    using _ = cluster.faults.add({ status: 429, retryAfter: 7 });
    const answer = await call(cluster, "GET", CONFIG_MAPS);
    expect(answer.status).toBe(429);
    expect(answer.headers["retry-after"]).toBe("7");
    expect(answer.body.reason).toBe("TooManyRequests");
  });

  it("ends with its handle", async () => {
    {
      using _ = cluster.faults.add({ status: 500 });
      expect((await call(cluster, "GET", CONFIG_MAPS)).status).toBe(500);
    }
    expect((await call(cluster, "GET", CONFIG_MAPS)).status).toBe(200);
    cluster.faults.add({ status: 500 });
    cluster.faults.clear();
    expect((await call(cluster, "GET", CONFIG_MAPS)).status).toBe(200);
  });

  it("breaks connections before anything happened, or after", async () => {
    const before = cluster.faults.add({ match: { verb: "create", count: 1 }, reset: "before" });
    await expect(call(cluster, "POST", CONFIG_MAPS, { body: map("before") })).rejects.toThrow();
    before.remove();
    expect((await call(cluster, "GET", `${CONFIG_MAPS}/before`)).status).toBe(404);
    cluster.faults.add({ match: { verb: "create", count: 1 }, reset: "after" });
    await expect(call(cluster, "POST", CONFIG_MAPS, { body: map("after") })).rejects.toThrow();
    expect((await call(cluster, "GET", `${CONFIG_MAPS}/after`)).status).toBe(200);
  });

  it("breaks watches off: open ones at once, new ones after some events", async () => {
    const open = await rawWatch(cluster);
    expect(await open.event).toContain("ADDED");
    cluster.faults.add({ match: { verb: "watch", count: 1 }, dropWatch: true });
    expect(await open.ended).toBe("broken");
    cluster.faults.add({ match: { resource: "configmaps" }, dropWatch: 1 });
    const next = await rawWatch(cluster);
    expect(await next.event).toContain("ADDED");
    expect(await next.ended).toBe("broken");
    // A list is no watch.
    expect((await call(cluster, "GET", CONFIG_MAPS)).status).toBe(200);
  });

  it("makes watches silent for a while, and loses nothing", async () => {
    const { metadata } = (await call(cluster, "GET", CONFIG_MAPS)).body;
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    const stall = cluster.faults.add({ match: { verb: "watch" }, stallWatch: true });
    await call(cluster, "POST", CONFIG_MAPS, { body: map("a") });
    await call(cluster, "POST", CONFIG_MAPS, { body: map("b") });
    let seen = 0;
    const first = watch.next().then((event) => {
      seen++;
      return event;
    });
    await call(cluster, "GET", CONFIG_MAPS);
    expect(seen).toBe(0);
    stall.remove();
    expect((await first).object.metadata.name).toBe("a");
    expect((await watch.next()).object.metadata.name).toBe("b");
    watch.close();
  });

  it("forgets history before a request", async () => {
    const { metadata } = (await call(cluster, "POST", CONFIG_MAPS, { body: map("a") })).body;
    await call(cluster, "POST", CONFIG_MAPS, { body: map("b") });
    using _ = cluster.faults.add({ match: { verb: "watch", count: 1 }, compact: true });
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  it("steals a lease under its holder's hands", async () => {
    const spec = { holderIdentity: "me", leaseDurationSeconds: 15, leaseTransitions: 1 };
    const lease = (await call(cluster, "POST", LEASES, { body: { metadata: { name: "leader" }, spec } })).body;
    using fault = cluster.faults.add({ match: { verb: "update", count: 1 }, stealLease: "rival" });
    const renewed = await call(cluster, "PUT", `${LEASES}/leader`, { body: lease });
    expect(renewed.status).toBe(409);
    const now = (await call(cluster, "GET", `${LEASES}/leader`)).body;
    expect(now.spec).toMatchObject({ holderIdentity: "rival", leaseTransitions: 2 });
    expect(fault.hits).toBe(1);
    // The theft is of Leases only: other objects stay.
    expect((await call(cluster, "GET", CONFIG_MAPS)).status).toBe(200);
  });

  it("delays on the cluster's clock", async () => {
    const clock = new VirtualClock();
    await using slow = await Cluster.start({ clock });
    slow.faults.add({ match: { verb: "patch" }, delay: "10m" });
    await call(slow, "POST", CONFIG_MAPS, { body: map("a") });
    let done = false;
    const patched = call(slow, "PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { data: { k: "v" } } }).then(
      (answer) => {
        done = true;
        return answer;
      },
    );
    await expect.poll(() => clock.pending).toBeGreaterThan(0);
    await call(slow, "GET", CONFIG_MAPS);
    expect(done).toBe(false);
    await clock.advance(600_000);
    expect((await patched).status).toBe(200);
  });
});
