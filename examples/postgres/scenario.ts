/** What becomes of a Postgres, on any cluster: nothing runs here, and the scenario plays whoever would run it. */
import { VirtualClock } from "@lotse/testing";
import { type Client, Job, loadManifests, Secret, Service, StatefulSet } from "lotse/client";
import { describe, expect, it } from "vitest";
import { type Bench, PATIENCE, type StartBench } from "../bench.ts";
import { Postgres } from "./operator.ts";
import { versionOf } from "./parts.ts";

type Shop = InstanceType<typeof Postgres>;

/** The sample, as it stands in its file. */
export async function createSample(client: Client): Promise<Shop> {
  for (const object of await loadManifests(new URL("manifests/shop.yaml", import.meta.url))) {
    await client.create(object);
  }
  return client.get(Postgres, "shop");
}

export function conditionOf({ status }: Shop, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Who brings Jobs to their end and StatefulSets to their feet. */
export interface Play {
  ends(bench: Bench, job: string, how: "Complete" | "Failed"): Promise<void>;
  rolls(bench: Bench, name: string): Promise<void>;
}

/** What the controllers of a cluster would write, for one that has none. */
const controllersPlayed: Play = {
  async ends({ client }, name, how) {
    const [first, count] = how === "Complete" ? ["SuccessCriteriaMet", "succeeded"] : ["FailureTarget", "failed"];
    const now = new Date().toISOString().replace(/\.\d+/, "");
    const conditions = [first, how].map((type) => ({ type, status: "True" as const, lastTransitionTime: now }));
    const times = { startTime: now, ...(how === "Complete" && { completionTime: now }) };
    const status = { ...times, [count as string]: 1, conditions };
    await client.patch(Job, name, { status }, { subresource: "status" });
  },
  async rolls({ client }, name) {
    const { metadata } = await client.get(StatefulSet, name);
    const counts = { replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1, currentReplicas: 1 };
    const status = { observedGeneration: metadata.generation ?? 1, ...counts };
    await client.patch(StatefulSet, name, { status }, { subresource: "status" });
  },
};

/** Declares the tests. */
export function scenario(start: StartBench, play: Play = controllersPlayed): void {
  describe("a database", { timeout: 300_000 }, () => {
    /** The sample, at work. */
    async function running(bench: Bench): Promise<Shop> {
      const shop = await createSample(bench.client);
      await bench.settle();
      await play.rolls(bench, "shop");
      await bench.settle();
      return shop.refresh();
    }
    async function played(test: (bench: Bench) => Promise<void>): Promise<void> {
      await using bench = await start(new VirtualClock());
      try {
        await test(bench);
      } finally {
        // It holds on to its data: where its operator is gone it would stay for ever.
        for (const shop of await bench.client.list(Postgres).toArray()) {
          await shop.patch({ spec: { deletionPolicy: "Discard" } });
          await shop.delete();
          await shop.wait("delete", { timeout: PATIENCE });
        }
      }
    }

    const image = async ({ client }: Bench) => versionOf(await client.get(StatefulSet, "shop"));

    it("is ready when it runs, and has a Service and a password", () =>
      played(async (bench) => {
        const shop = await createSample(bench.client);
        await bench.settle();
        expect(conditionOf(await shop.refresh(), "Ready")?.status).toBe("False");
        await play.rolls(bench, "shop");
        await bench.settle();
        expect(conditionOf(await shop.refresh(), "Ready")?.status).toBe("True");
        expect(shop.status?.version).toBe("16.4");
        expect((await bench.client.get(Service, "shop")).spec.selector).toMatchObject({ database: "shop" });
        expect((await bench.client.get(Secret, "shop-password")).decoded.password).toMatch(/^[\w-]{32}$/);
        const before = await bench.writes();
        await bench.restart();
        expect((await bench.writes()).slice(before.length)).toEqual([]);
      }));

    it("is repaired when somebody changes it", () =>
      played(async (bench) => {
        await running(bench);
        const set = await bench.client.get(StatefulSet, "shop");
        await set.patch({ spec: { replicas: 3 } });
        await bench.client.delete(Service, "shop");
        await bench.settle();
        expect((await set.refresh()).spec.replicas).toBe(1);
        expect((await bench.client.get(Service, "shop")).spec.ports).toMatchObject([{ port: 5432 }]);
      }));

    it("is upgraded after a backup, and goes on with it after a restart", () =>
      played(async (bench) => {
        const shop = await running(bench);
        await shop.patch({ spec: { version: "16.5" } });
        await bench.settle();
        expect(await image(bench)).toBe("16.4");
        expect(conditionOf(await shop.refresh(), "Reconciling")?.status).toBe("True");
        await bench.restart();
        await play.ends(bench, "shop-before-16-5", "Complete");
        await bench.settle();
        expect([await image(bench), (await shop.refresh()).status?.version]).toEqual(["16.5", "16.4"]);
        await bench.restart();
        await play.rolls(bench, "shop");
        await bench.settle();
        expect((await shop.refresh()).status?.version).toBe("16.5");
        expect(conditionOf(shop, "Ready")?.status).toBe("True");
        expect(await bench.client.list(Job).toArray()).toEqual([]);
      }));

    it("stalls where it is when the backup before an upgrade fails", () =>
      played(async (bench) => {
        const shop = await running(bench);
        await shop.patch({ spec: { version: "16.5" } });
        await bench.settle();
        await play.ends(bench, "shop-before-16-5", "Failed");
        await bench.settle();
        expect(conditionOf(await shop.refresh(), "Stalled")).toMatchObject({ status: "True", reason: "ChildFailed" });
        expect(conditionOf(shop, "Ready")?.status).toBe("False");
        expect(await image(bench)).toBe("16.4");
      }));

    it("goes when its last backup is made, and not before", () =>
      played(async (bench) => {
        const shop = await running(bench);
        await shop.delete();
        await bench.settle();
        await bench.advance("30s");
        expect((await shop.refresh()).metadata.deletionTimestamp).toBeDefined();
        await play.ends(bench, "shop-last-backup", "Complete");
        await bench.advance("10s");
        await shop.wait("delete", { timeout: "60s" });
      }));
  });
}
