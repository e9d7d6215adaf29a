import { startHarness } from "@lotse/testing";
import { Pod } from "lotse/client";
import { describe, expect, it } from "vitest";
import operator, { SimpleDeployment } from "./operator.ts";
import { createSample, scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("a simple deployment whose pod really runs", () => {
  it("has it say how useful it is", { timeout: 300_000 }, async () => {
    await using harness = await startHarness(operator, { kubelet: "process" });
    await createSample(harness.client);
    await harness.until(SimpleDeployment, "example-01", ({ status }) => status?.createPod, { timeout: "170s" });
    const pod = await (await harness.client.get(Pod, "example-01")).waitReady({ timeout: "170s" });
    for await (const line of pod.logs({ follow: true })) {
      expect(line).toBe("I'm so very useful!");
      break;
    }
  });
});
