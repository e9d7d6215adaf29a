/** What becomes of a Pod on any cluster, also on one without nodes: what needs a container that runs is in the test. */
import { VirtualClock } from "@lotse/testing";
import { Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import type { Bench, StartBench } from "../bench.ts";

/** How often the operator has told that it waits for a pod. */
const waits = ({ logs }: Bench, name: string) =>
  logs
    .find({ level: "info", handler: "labelPod" })
    .filter((record) => JSON.stringify(record).includes(`Pod ${name} is not ready yet`)).length;

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a pod that is not ready", () => {
    it("is looked at again after ten seconds, and no label is written", async () => {
      await using bench = await start(new VirtualClock());
      const pod = await bench.client.create(Pod.gen({ name: "late", image: "busybox" }));
      await bench.settle();
      expect(waits(bench, "late")).toBe(1);
      await bench.advance("9.9s");
      expect(waits(bench, "late")).toBe(1);
      await bench.advance("0.1s");
      expect(waits(bench, "late")).toBe(2);
      expect((await pod.refresh()).labels).toEqual({});
    });

    it("is forgotten when it is deleted while it is waited for", async () => {
      await using bench = await start(new VirtualClock());
      const pod = await bench.client.create(Pod.gen({ name: "short-lived", image: "busybox" }));
      await bench.settle();
      await pod.delete({ force: true, wait: true });
      await bench.advance("1m");
      expect(waits(bench, "short-lived")).toBe(1);
      expect(bench.logs.messages({ level: "error" })).toEqual([]);
    });
  });

  describe("a pod that is labelled already", () => {
    it("is left alone, whether it comes or was there before", async () => {
      await using bench = await start(new VirtualClock());
      const labels = { "os-release/id": "debian" };
      await bench.client.create(Pod.gen({ name: "known", labels, image: "busybox" }));
      await bench.settle();
      await bench.restart();
      await bench.advance("1m");
      expect(await bench.writes()).toEqual([]);
      expect(waits(bench, "known")).toBe(0);
    });
  });
}
