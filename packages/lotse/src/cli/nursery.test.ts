import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { nurseryFlag, type Started } from "./nursery.ts";

const started = (o: Partial<Started> = {}): Started => ({
  argv: ["run", "operator.ts"],
  execArgv: [],
  env: {},
  version: "20.19.0",
  ...o,
});

describe("the nursery of an operator's process", () => {
  it("stays as small as it begins", () => {
    expect(nurseryFlag(started())).toBe("--semi-space-growth-factor=1");
  });

  it.each([
    ["another command", { argv: ["dev"] }],
    ["no command", { argv: [] }],
    ["a version that was not measured", { version: "31.0.0" }],
    ["a size that was given to Node.js", { execArgv: ["--max-semi-space-size=64"] }],
    ["a size in NODE_OPTIONS", { env: { NODE_OPTIONS: "--trace-warnings --max-semi-space-size=64" } }],
    ["a size in V8's own spelling", { execArgv: ["--min_semi_space_size=16"] }],
  ] as const)("is left alone for %s", (_what, o) => {
    expect(nurseryFlag(started(o))).toBeUndefined();
  });

  it("is a word that this Node.js knows", () => {
    const flag = nurseryFlag(started({ version: process.versions.node })) ?? "--semi-space-growth-factor=1";
    const code = `require("node:v8").setFlagsFromString(${JSON.stringify(flag)})`;
    const { status, stderr } = spawnSync(process.execPath, ["-e", code], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});
