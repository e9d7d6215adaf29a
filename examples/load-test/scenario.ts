/** What becomes of a LoadTest and its pods, on any cluster: no container runs here, and the scenario plays the kubelet. */
import { type Client, loadManifests, Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import { type Bench, PATIENCE, type StartBench } from "../bench.ts";
import { LoadTest } from "./operator.ts";

/** The sample, as it stands in its file. */
export async function createSample(client: Client): Promise<InstanceType<typeof LoadTest>> {
  for (const object of await loadManifests(new URL("manifests/example-02.yaml", import.meta.url))) {
    await client.create(object);
  }
  return client.get(LoadTest, "example-02");
}

const podNames = async ({ client }: Bench) => (await client.list(Pod).toArray()).map(({ name }) => name).sort();

const children = (tested: number, replicas: number) =>
  Array.from({ length: replicas }, (_, i) => `example-02-${tested}-${i}`);

/** What a kubelet writes when the containers of these pods have come so far. */
async function come({ client }: Bench, phase: "Running" | "Failed", names: readonly string[]): Promise<void> {
  for (const name of names) await client.patch(Pod, name, { status: { phase } }, { subresource: "status" });
}

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("the pods of a load test", () => {
    it("belong to it and know what to do", async () => {
      await using bench = await start();
      const test = await createSample(bench.client);
      await bench.settle();
      const pods = await bench.client.list(Pod).toArray();
      expect(pods).toHaveLength(5);
      for (const pod of pods) {
        expect(pod.metadata.ownerReferences).toMatchObject([{ kind: "LoadTest", uid: test.uid }]);
        expect(pod.labels).toMatchObject({ app: "loadtest" });
        expect(pod.spec.containers[0]?.env).toContainEqual({ name: "URL", value: "http://nginx/" });
      }
    });

    it("decide its state: pending until all have started, executing until all have ended", async () => {
      await using bench = await start();
      const test = await createSample(bench.client);
      await bench.settle();
      const [first = "", ...others] = children(1, 5);
      const { columns, rows } = await bench.client.table(LoadTest);
      expect(columns.filter(({ priority }) => !priority).map(({ name }) => name)).toEqual([
        "Name",
        "Children",
        "State",
        "Age",
      ]);
      expect(rows[0]?.cells.slice(0, 3)).toEqual(["example-02", JSON.stringify([first, ...others]), "pending"]);
      await come(bench, "Running", [first]);
      await bench.settle();
      expect((await test.refresh()).status?.state).toBe("pending");
      await come(bench, "Running", others);
      await bench.settle();
      expect((await test.refresh()).status?.state).toBe("executing");
      expect(bench.logs.messages({ level: "warn" })).toEqual([]);
    });

    it("make the test fail when one of them does", async () => {
      await using bench = await start();
      const test = await createSample(bench.client);
      await bench.settle();
      await come(bench, "Running", children(1, 4));
      await come(bench, "Failed", ["example-02-1-4"]);
      await bench.settle();
      const message = "example-02-1-4 failed: kubectl logs example-02-1-4";
      expect((await test.refresh()).status).toMatchObject({ state: "failed", message });
    });

    it("are removed and begun anew when the test is changed, also after it has failed", async () => {
      await using bench = await start();
      const test = await createSample(bench.client);
      await bench.settle();
      await come(bench, "Failed", children(1, 5));
      await bench.settle();
      await test.patch({ spec: { replicas: 2 } });
      await bench.settle();
      expect(await podNames(bench)).toEqual(children(2, 2));
      const { status } = await test.refresh();
      expect(status).toMatchObject({ state: "pending", children: children(2, 2) });
      expect(status).not.toHaveProperty("message");
    });

    it("are there once, whatever happens to the operator", async () => {
      await using bench = await start();
      await createSample(bench.client);
      await bench.settle();
      const before = await bench.writes();
      await bench.restart();
      expect(await podNames(bench)).toEqual(children(1, 5));
      expect((await bench.writes()).slice(before.length).filter(({ resource }) => resource === "pods")).toEqual([]);
    });

    it("go when the test goes", async () => {
      await using bench = await start();
      const test = await createSample(bench.client);
      await bench.settle();
      const pods = await bench.client.list(Pod).toArray();
      expect(pods).toHaveLength(5);
      await test.delete({ wait: true });
      for (const pod of pods) await pod.wait("delete", { timeout: PATIENCE });
    });
  });
}
