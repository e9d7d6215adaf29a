import { expect, it } from "vitest";
import { Cluster } from "./cluster.ts";
import { loadPacked } from "./packed.ts";

it("where there is no pack the cluster is loaded as ever, and nothing is kept", async () => {
  const packed = await loadPacked({});
  expect(packed.Cluster).toBe(Cluster);
  expect(packed.keep()).toBe(false);
});
