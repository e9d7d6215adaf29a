import { describe, expect, it } from "vitest";
import { importCluster, importConsole, importTesting } from "./optional-packages.ts";

const notFound = (message: string) => () =>
  Promise.reject(Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" }));

describe("importCluster", () => {
  it("says how to install the cluster when it is missing", async () => {
    const load = notFound("Cannot find package '@lotse/cluster' imported from /project/node_modules/lotse/dist/cli.js");
    await expect(importCluster(load)).rejects.toMatchObject({
      what: "the embedded cluster is not installed",
      todo: "npm install --save-dev @lotse/cluster",
    });
  });

  it("does not hide that something else is missing", async () => {
    const message = "Cannot find package 'ws' imported from /project/node_modules/@lotse/cluster/dist/index.js";
    await expect(importCluster(notFound(message))).rejects.toThrow(message);
  });
});

describe("importConsole", () => {
  it("is undefined when the console is not installed or has nothing to start", async () => {
    expect(await importConsole(notFound("Cannot find package '@lotse/console' imported from x"))).toBeUndefined();
    expect(await importConsole(async () => ({}))).toBeUndefined();
  });

  it("is the package when it is there", async () => {
    const found = { startConsole: () => {} };
    expect(await importConsole(async () => found)).toBe(found);
  });
});

describe("importTesting", () => {
  it("says how to install the testing kit when it is missing", async () => {
    const load = notFound("Cannot find package '@lotse/testing' imported from /project/node_modules/lotse/dist/cli.js");
    await expect(importTesting(load)).rejects.toMatchObject({
      what: "the testing kit is not installed",
      todo: "npm install --save-dev @lotse/testing",
    });
  });
});
