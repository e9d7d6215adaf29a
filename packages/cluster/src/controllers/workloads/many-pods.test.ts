import { describe, expect, it } from "vitest";
import { call } from "../../test-requests.ts";
import { Stage, workload } from "./test-stage.ts";

/** Enough to be looked at together instead of one by one; `bench/cluster` has thousands. */
const REPLICAS = 140;

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a Deployment of many pods", () => {
  it("lets requests in while its pods come, and writes its status a few times instead of for each pod", async () => {
    await using stage = await Stage.start({ history: true });
    await stage.create("services", {
      metadata: { name: "web" },
      spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
    });
    let answers = 0;
    let over = false;
    const asking = (async () => {
      while (!over) {
        const { status } = await call(stage.cluster, "GET", "/version");
        expect(status).toBe(200);
        answers++;
        for (let at = 0; at < 4; at++) await turn();
      }
    })();
    await stage.create("deployments", workload("web", { replicas: REPLICAS }));
    await stage.pass(5_000);
    over = true;
    await asking;
    const deployment = await stage.get("deployments", "web");
    expect(deployment.status).toMatchObject({ replicas: REPLICAS, readyReplicas: REPLICAS });
    // Each pod is written several times; an answer comes between any few of these writes.
    expect(answers).toBeGreaterThan(REPLICAS / 10);
    const [set] = await stage.names("replicasets");
    const versions = stage.cluster.history("replicasets", "default", set as string);
    expect(versions.length).toBeLessThan(REPLICAS / 2);
    const [slice] = await stage.names("endpointslices");
    expect(stage.cluster.history("endpointslices", "default", slice as string).length).toBeLessThan(REPLICAS / 2);
  }, 240_000);

  it("is gone, with all that it owned, when it is deleted", async () => {
    await using stage = await Stage.start();
    await stage.create("deployments", workload("web", { replicas: REPLICAS / 2 }));
    await stage.remove("deployments", "web", "Foreground");
    await stage.pass(60_000);
    expect(await stage.names("pods")).toEqual([]);
    expect(await stage.names("replicasets")).toEqual([]);
    expect(await stage.names("deployments")).toEqual([]);
  }, 240_000);
});
