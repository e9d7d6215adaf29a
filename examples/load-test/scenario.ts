/** What becomes of a LoadTest and its pods, on any cluster: no container runs here, and the scenario plays the kubelet. */
import { VirtualClock } from "@lotse/testing";
import { Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import type { Bench, StartBench } from "../bench.ts";
import { LoadTest } from "./operator.ts";

const shop = ({ client }: Bench, replicas = 2) => {
  const test = { method: "GET" as const, serviceName: "shop", path: "/", repeat: 5 };
  return client.create(new LoadTest({ metadata: { name: "shop" }, spec: { replicas, test } }));
};

const podNames = async ({ client }: Bench) => (await client.list(Pod).toArray()).map(({ name }) => name).sort();

/** What a kubelet writes when the containers of these pods have come so far. */
async function come({ client }: Bench, phase: "Running" | "Failed", ...names: string[]): Promise<void> {
  for (const name of names) await client.patch(Pod, name, { status: { phase } }, { subresource: "status" });
}

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("the pods of a load test", () => {
    it("belong to it, know what to do, and are waited for", async () => {
      await using bench = await start(new VirtualClock());
      const test = await shop(bench);
      await bench.settle();
      expect((await test.refresh()).status).toMatchObject({ state: "pending", run: "1" });
      const pods = await bench.client.list(Pod).toArray();
      expect(pods.map(({ name }) => name).sort()).toEqual(["shop-1-0", "shop-1-1"]);
      for (const pod of pods) {
        expect(pod.metadata.ownerReferences).toMatchObject([{ kind: "LoadTest", uid: test.uid }]);
        expect(pod.spec.containers[0]?.env).toContainEqual({ name: "URL", value: "http://shop/" });
      }
      await come(bench, "Running", "shop-1-0");
      await bench.advance("2s");
      expect((await test.refresh()).status?.state).toBe("pending");
      await come(bench, "Running", "shop-1-1");
      await bench.advance("2s");
      expect((await test.refresh()).status?.state).toBe("executing");
    });

    it("make the test fail when one of them does", async () => {
      await using bench = await start(new VirtualClock());
      const test = await shop(bench);
      await bench.settle();
      await come(bench, "Running", "shop-1-0");
      await come(bench, "Failed", "shop-1-1");
      await bench.advance("2s");
      expect((await test.refresh()).status).toMatchObject({ state: "failed", message: "the pod shop-1-1 failed" });
    });

    it("are removed and begun anew when the test is changed", async () => {
      await using bench = await start(new VirtualClock());
      const test = await shop(bench);
      await bench.settle();
      await test.patch({ spec: { replicas: 1 } });
      await bench.advance("2s");
      expect(await podNames(bench)).toEqual(["shop-2-0"]);
      expect((await test.refresh()).status).toMatchObject({ state: "pending", run: "2" });
    });

    it("go when the test goes", async () => {
      await using bench = await start(new VirtualClock());
      const test = await shop(bench);
      await bench.settle();
      expect(await podNames(bench)).toHaveLength(2);
      await test.delete({ wait: true });
      expect(await podNames(bench)).toEqual([]);
    });
  });
}
