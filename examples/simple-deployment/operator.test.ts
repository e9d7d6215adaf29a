import { Cluster } from "@lotse/cluster";
import { startHarness } from "@lotse/testing";
import { Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import operator from "./operator.ts";
import { createSample, scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("a simple deployment whose pod really runs", () => {
  it("has it say how useful it is", { timeout: 300_000 }, async () => {
    await using cluster = await Cluster.start({ kubelet: "process" });
    await using client = await cluster.connect();
    await using running = operator.start({ client, log: () => {} });
    await running.ready;
    const deployment = await createSample(client);
    await deployment.wait(({ status }) => status?.createPod !== undefined, { timeout: "170s" });
    const pod = await client.get(Pod, "example-01");
    await pod.waitReady({ timeout: "170s" });
    for await (const line of pod.logs({ follow: true })) {
      expect(line).toBe("I'm so very useful!");
      break;
    }
  });
});
