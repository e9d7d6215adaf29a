import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { tapePlanOf } from "./tape.ts";

const cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-tape-flags-"));
afterAll(() => rmSync(cwd, { recursive: true }));

describe("the flags of a recording", () => {
  it("are a file, an object and a size", () => {
    const flags = { record: "a.jsonl", recordOnly: "shop/default/corner", recordSize: "1Mi" };
    const only = { kind: "shop", namespace: "default", name: "corner" };
    expect(tapePlanOf(flags, { cwd })).toEqual({ file: path.join(cwd, "a.jsonl"), only, limitBytes: 2 ** 20 });
    expect(tapePlanOf({ record: "a.jsonl", recordOnly: "team/a" }, { cwd })).toMatchObject({
      only: { kind: "team", namespace: "", name: "a" },
      limitBytes: 100 * 2 ** 20,
    });
    expect(tapePlanOf({}, { cwd })).toBeUndefined();
  });

  it.each([
    [{ recordOnly: "shop/default/corner" }, "--record-only needs --record FILE"],
    [{ recordSize: "1Mi" }, "--record-size needs --record FILE"],
    [{ record: "a.jsonl", recordOnly: "corner" }, "--record-only corner names no object"],
    [{ record: "a.jsonl", recordSize: "much" }, "--record-size much is no size"],
    [{ record: "a.jsonl", recordSize: "5" }, "--record-size 5 is no size"],
    [{ record: "a.jsonl", shadow: true }, "--record and --shadow exclude each other"],
  ])("that make no sense are refused: %j", (flags, message) => {
    expect(() => tapePlanOf(flags, { cwd })).toThrow(message);
  });

  it("name no file that holds something else", () => {
    writeFileSync(path.join(cwd, "operator.ts"), "export default 1;\n");
    expect(() => tapePlanOf({ record: "operator.ts" }, { cwd })).toThrow("is no recording of an operator");
    const head = { tape: "lotse", version: 1, operator: "a", now: 0, seed: 1, server: "", namespace: "", start: {} };
    writeFileSync(path.join(cwd, "old.jsonl"), `${JSON.stringify(head)}\n{"k":"st`);
    expect(tapePlanOf({ record: "old.jsonl" }, { cwd })).toBeDefined();
  });
});
