import { describe, expect, it } from "vitest";
import { importAlone, importCluster } from "./optional-packages.ts";

describe("importAlone", () => {
  it("takes the cluster with its compiled code, and keeps what was compiled anew when it is told", async () => {
    const asked: string[] = [];
    let kept = 0;
    const found = { Cluster: { start: async () => ({}) }, keep: () => kept++ };
    const alone = importAlone(async (name) => {
      asked.push(name);
      return { loadPacked: async () => found };
    });
    alone.keep();
    expect((await importCluster(alone.load)).Cluster).toBe(found.Cluster);
    expect([asked, kept]).toEqual([["@lotse/cluster/packed"], 0]);
    alone.keep();
    expect(kept).toBe(1);
  });

  it("says how to install the cluster when it is missing", async () => {
    const message = "Cannot find package '@lotse/cluster' imported from /project/node_modules/lotse/dist/cli.js";
    const alone = importAlone(() =>
      Promise.reject(Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" })),
    );
    await expect(importCluster(alone.load)).rejects.toMatchObject({
      what: "the embedded cluster is not installed",
      todo: "npm install --save-dev @lotse/cluster",
    });
  });
});
