import { describe, expect, it } from "vitest";
import { complete, platformOf } from "./lock.mjs";

describe("platformOf", () => {
  it.each([
    ["@biomejs/cli-darwin-arm64", { os: ["darwin"], cpu: ["arm64"] }],
    ["@biomejs/cli-linux-x64-musl", { os: ["linux"], cpu: ["x64"], libc: ["musl"] }],
    ["@rollup/rollup-linux-arm-gnueabihf", { os: ["linux"], cpu: ["arm"], libc: ["glibc"] }],
    ["@rollup/rollup-win32-x64-gnu", { os: ["win32"], cpu: ["x64"] }],
    ["@rolldown/binding-wasm32-wasi", { cpu: ["wasm32"] }],
    ["fsevents", undefined],
  ])("reads the platform of %s from its name", (name, platform) => {
    expect(platformOf(name)).toEqual(platform);
  });
});

describe("complete", () => {
  const lock = () => ({
    packages: {
      "": {},
      "node_modules/b": {
        version: "1.0.0",
        dev: true,
        optionalDependencies: { "b-linux-x64": "1.0.0", "b-darwin-x64": "1.0.0", fsevents: "~2.3.3" },
      },
      "node_modules/b-linux-x64": { version: "1.0.0", integrity: "sha512-x" },
    },
  });

  it("adds native packages of other platforms, in npm's order", () => {
    const changed = lock();
    expect(complete(changed)).toEqual(["b-darwin-x64"]);
    expect(Object.keys(changed.packages)).toEqual([
      "",
      "node_modules/b",
      "node_modules/b-darwin-x64",
      "node_modules/b-linux-x64",
    ]);
    expect(changed.packages["node_modules/b-darwin-x64"]).toEqual({
      version: "1.0.0",
      cpu: ["x64"],
      dev: true,
      optional: true,
      os: ["darwin"],
    });
    expect(changed.packages["node_modules/b-linux-x64"]).toEqual({ version: "1.0.0", integrity: "sha512-x" });
  });

  it("has nothing to add the second time", () => {
    const changed = lock();
    complete(changed);
    expect(complete(changed)).toEqual([]);
  });
});
