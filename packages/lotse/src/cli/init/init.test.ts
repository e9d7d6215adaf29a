import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { testIo } from "../terminal/test-io.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-init-"));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function init(...argv: string[]) {
  const io = testIo({ cwd });
  const code = await main(["init", ...argv], io);
  return { code, out: io.out(), err: io.err().replaceAll(cwd, "HERE") };
}

describe("lotse init", () => {
  it("creates a project in a folder and tells what comes next", async () => {
    expect(await init("rates")).toEqual({
      code: 0,
      out: "Created 8 files in rates. Next:\n\n  cd rates\n  npm install\n  npm run dev\n",
      err: "",
    });
    expect(readFileSync(path.join(cwd, "rates", "operator.ts"), "utf8")).toContain('new Operator({ name: "rates" })');
  });

  it("takes the current folder unless told otherwise", async () => {
    expect((await init("--name", "rates")).out).toBe(
      "Created 8 files in this folder. Next:\n\n  npm install\n  npm run dev\n",
    );
    expect(readdirSync(cwd)).toContain("operator.ts");
  });

  it("overwrites nothing, unless it is forced", async () => {
    mkdirSync(path.join(cwd, "rates"));
    writeFileSync(path.join(cwd, "rates", "operator.ts"), "mine");
    expect(await init("rates")).toEqual({
      code: 1,
      out: "",
      err: "Error: the folder HERE/rates is not empty: it has operator.ts\nDo:    choose another folder, or overwrite the files of the same names with --force\n",
    });
    expect(readdirSync(path.join(cwd, "rates"))).toEqual(["operator.ts"]);
    expect((await init("rates", "--force")).code).toBe(0);
    expect(readFileSync(path.join(cwd, "rates", "operator.ts"), "utf8")).toContain("new Operator");
  });

  it("offers a better name", async () => {
    expect((await init("My_Rates")).err).toBe(
      'Error: "My_Rates" is not a name for an operator\nDo:    use lower case letters, digits and dashes: --name my-rates\n',
    );
  });

  it("says where it cannot write", async () => {
    writeFileSync(path.join(cwd, "file"), "");
    for (const folder of ["file", "file/rates"]) {
      expect((await init(folder)).err).toBe(
        `Error: HERE/${folder} is a file, or lies in one\nDo:    choose another folder\n`,
      );
    }
  });
});
