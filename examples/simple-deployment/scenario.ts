/** What becomes of a SimpleDeployment, on any cluster. */
import { Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import { PATIENCE, type StartBench } from "../bench.ts";
import { SimpleDeployment } from "./operator.ts";

const nap = () => new SimpleDeployment({ metadata: { name: "nap" }, spec: { sleepytime: 30 } });

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a simple deployment", () => {
    it("gets one Pod that belongs to it, and tells its uid in its status", async () => {
      await using bench = await start();
      const deployment = await bench.client.create(nap());
      await bench.settle();
      const [pod, ...others] = await bench.client.list(Pod).toArray();
      expect(others).toEqual([]);
      expect(pod?.spec.containers[0]?.command).toEqual(["sleep", "30"]);
      expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: "SimpleDeployment", uid: deployment.uid }]);
      expect((await deployment.refresh()).status?.createPod).toEqual({ children: [pod?.uid] });
    });

    it("gets no second Pod when the operator starts again", async () => {
      await using bench = await start();
      await bench.client.create(nap());
      await bench.settle();
      await bench.restart();
      expect(await bench.client.list(Pod).toArray()).toHaveLength(1);
    });

    it("takes its Pod along when it is deleted", async () => {
      await using bench = await start();
      const deployment = await bench.client.create(nap());
      await bench.settle();
      const pod = await bench.client.get(Pod, "nap-pod");
      await deployment.delete({ wait: true });
      await pod.wait("delete", { timeout: PATIENCE });
    });

    it("shows its children in a column", async () => {
      await using bench = await start();
      await bench.client.create(nap());
      await bench.settle();
      const { uid } = await bench.client.get(Pod, "nap-pod");
      const { columns, rows } = await bench.client.table(SimpleDeployment);
      const at = columns.findIndex(({ name }) => name === "Children");
      expect(rows.map(({ cells }) => cells[at])).toEqual([JSON.stringify([uid])]);
    });
  });
}
