/** What becomes of a SimpleDeployment, on any cluster. */
import { type Client, loadManifests, Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import { PATIENCE, type StartBench } from "../bench.ts";
import { SimpleDeployment } from "./operator.ts";

/** The sample, as it stands in its file. */
export async function createSample(client: Client): Promise<InstanceType<typeof SimpleDeployment>> {
  for (const object of await loadManifests(new URL("manifests/example-01.yaml", import.meta.url))) {
    await client.create(object);
  }
  return client.get(SimpleDeployment, "example-01");
}

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a simple deployment", () => {
    it("gets one Pod that belongs to it, and tells its uid in its status", async () => {
      await using bench = await start();
      const deployment = await createSample(bench.client);
      await bench.settle();
      const [pod, ...others] = await bench.client.list(Pod).toArray();
      expect(others).toEqual([]);
      expect(pod?.labels).toMatchObject({ app: "simple-app" });
      expect(pod?.spec.containers).toMatchObject([{ name: "simple", args: [expect.stringMatching(/ sleep 120$/)] }]);
      expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: "SimpleDeployment", uid: deployment.uid }]);
      expect((await deployment.refresh()).status?.createPod).toEqual({ children: [pod?.uid] });
    });

    it("gets no second Pod when the operator starts again", async () => {
      await using bench = await start();
      await createSample(bench.client);
      await bench.settle();
      await bench.restart();
      expect(await bench.client.list(Pod).toArray()).toHaveLength(1);
    });

    it("takes its Pod along when it is deleted", async () => {
      await using bench = await start();
      const deployment = await createSample(bench.client);
      await bench.settle();
      const pod = await bench.client.get(Pod, "example-01");
      await deployment.delete({ wait: true });
      await pod.wait("delete", { timeout: PATIENCE });
    });

    it("shows its children in a column, and goes by its short names", async () => {
      await using bench = await start();
      await createSample(bench.client);
      await bench.settle();
      const { uid } = await bench.client.get(Pod, "example-01");
      const { columns, rows } = await bench.client.table(SimpleDeployment);
      expect(columns.map(({ name }) => name)).toEqual(["Name", "Children", "Age"]);
      expect(rows.map(({ cells }) => cells[1])).toEqual([JSON.stringify([uid])]);
      for (const short of ["simdep", "sd"]) {
        expect(await bench.client.list(short).toArray(), short).toHaveLength(1);
      }
    });

    it("is refused by the cluster when its time is no number of seconds", async () => {
      await using bench = await start();
      const spec = { sleepytime: "120; reboot" };
      const refused = bench.client.create(new SimpleDeployment({ metadata: { name: "harm" }, spec }));
      await expect(refused).rejects.toMatchObject({ status: 422 });
    });
  });
}
