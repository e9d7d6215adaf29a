import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, MERGE } from "../test-requests.ts";

const EVENTS = "/api/v1/namespaces/default/events";
const MINUTE = 60_000;

const newEvent = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: "Pod", namespace: "default", name: "web" },
  reason: "Tested",
  message: "moin",
  type: "Normal",
});

async function names(cluster: Cluster): Promise<string[]> {
  await cluster.settle();
  const { body } = await call(cluster, "GET", EVENTS);
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

describe("Events", () => {
  it("are gone an hour after they were written, or written again, and watches see them go", async () => {
    const clock = new VirtualClock();
    await using cluster = await Cluster.start({ clock, tls: false, controllers: false, history: true });
    await call(cluster, "POST", EVENTS, { body: newEvent("a") });
    await call(cluster, "POST", EVENTS, { body: newEvent("b") });
    await clock.advance(30 * MINUTE);
    await call(cluster, "PATCH", `${EVENTS}/b`, { body: { count: 2 }, type: MERGE });
    await call(cluster, "POST", EVENTS, { body: newEvent("c") });
    await clock.advance(30 * MINUTE - 1);
    expect(await names(cluster)).toEqual(["a", "b", "c"]);
    await clock.advance(1);
    expect(await names(cluster)).toEqual(["b", "c"]);
    const [, gone] = cluster.history("events", "default", "a");
    expect(gone?.type).toBe("deleted");
    await clock.advance(30 * MINUTE);
    expect(await names(cluster)).toEqual([]);
    await cluster.stop();
    expect(clock.pending).toBe(0);
  });

  it("come and go by the thousand without keeping others waiting", async () => {
    const clock = new VirtualClock();
    await using cluster = await Cluster.start({ clock, tls: false, controllers: false });
    for (let at = 0; at < 200; at++) await call(cluster, "POST", EVENTS, { body: newEvent(`e${at}`) });
    let turns = 0;
    let over = false;
    const counting = (async () => {
      for (; !over; turns++) await new Promise((resolve) => setImmediate(resolve));
    })();
    await clock.advance(60 * MINUTE);
    await cluster.settle();
    over = true;
    await counting;
    expect(await names(cluster)).toEqual([]);
    expect(turns).toBeGreaterThan(4);
  });

  it("of a cluster that was kept are as old as they say", async () => {
    const data = await mkdtemp(join(tmpdir(), "lotse-events-"));
    try {
      const clock = new VirtualClock();
      const first = await Cluster.start({ clock, tls: false, data, sync: false });
      await call(first, "POST", EVENTS, { body: newEvent("old") });
      await clock.advance(40 * MINUTE);
      await call(first, "POST", EVENTS, { body: newEvent("young") });
      await first.stop();
      await using second = await Cluster.start({ clock, tls: false, data, sync: false });
      expect(await names(second)).toEqual(["old", "young"]);
      await clock.advance(20 * MINUTE);
      expect(await names(second)).toEqual(["young"]);
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  });
});
