/** What becomes of a Pod on any cluster, also on one without nodes: what needs a container that runs is in the test. */
import { VirtualClock } from "@lotse/testing";
import { Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import type { Bench, StartBench } from "../bench.ts";

const NOT_READY = { error: "the pod is not ready yet", retryIn: "10s", reason: "create" };

const retries = ({ logs }: Bench) => {
  return logs.find({ message: "handler failed, will be tried again" }).map(({ fields }) => fields);
};

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a pod that is not ready", () => {
    it("is looked at again after ten seconds, and no label is written", async () => {
      await using bench = await start(new VirtualClock());
      const pod = await bench.client.create(Pod.gen({ name: "late", image: "busybox" }));
      await bench.settle();
      expect(retries(bench)).toMatchObject([{ ...NOT_READY, attempt: 1 }]);
      await bench.advance("9.9s");
      expect(retries(bench)).toHaveLength(1);
      await bench.advance("0.1s");
      expect(retries(bench)).toMatchObject([{ attempt: 1 }, { ...NOT_READY, attempt: 2 }]);
      expect((await pod.refresh()).labels).toEqual({});
    });
  });
}
