import { describe, expect, it } from "vitest";
import { addChecksums, complete, platformOf, unexcused } from "./lock.mjs";
import { readJson, root } from "./workspace.mjs";

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

describe("the checksums", () => {
  const SUM = `sha512-${"A".repeat(86)}==`;
  const lock = () => ({
    packages: {
      "": { name: "workspace" },
      "packages/own": { version: "1.0.0" },
      "node_modules/own": { resolved: "packages/own", link: true },
      "node_modules/a": { version: "1.0.0", integrity: SUM },
      "node_modules/a-darwin-x64": { version: "1.0.0", cpu: ["x64"], optional: true, os: ["darwin"] },
      "node_modules/a/node_modules/@b/c": { version: "2.0.0", license: "MIT" },
      "node_modules/weak": { version: "1.0.0", integrity: "sha1-AAAA" },
      "node_modules/maybe": { version: "1.0.0", optional: true },
    },
  });

  it("are demanded of everything but native packages of platforms that a registry may not carry", () => {
    expect(unexcused(lock())).toEqual(["node_modules/a/node_modules/@b/c", "node_modules/weak", "node_modules/maybe"]);
  });

  it("are filled in where the registry knows them, and never made up", async () => {
    const changed = lock();
    const asked = [];
    const told = await addChecksums(changed, async (name, version) => {
      asked.push(`${name}@${version}`);
      return name === "maybe" ? undefined : SUM;
    });
    expect(asked).toEqual(["a-darwin-x64@1.0.0", "@b/c@2.0.0", "weak@1.0.0", "maybe@1.0.0"]);
    expect(told).toEqual(["a-darwin-x64", "@b/c", "weak"]);
    expect(Object.entries(changed.packages["node_modules/a/node_modules/@b/c"])).toEqual([
      ["version", "2.0.0"],
      ["integrity", SUM],
      ["license", "MIT"],
    ]);
    expect(unexcused(changed)).toEqual(["node_modules/maybe"]);
  });

  it("are all there in the lock of this repository", () => {
    expect(unexcused(readJson(`${root}/package-lock.json`))).toEqual([]);
  });
});
