/** The template is a project of its own: it has to compile, its own tests have to pass, and its versions to be current. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const template = (file: string) => fileURLToPath(new URL(`../../../templates/${file}`, import.meta.url));
const readJson = async (file: string) => JSON.parse(await readFile(file, "utf8"));

describe("the template's own tests", async () => {
  // Registers them here: what a new project's `npm test` runs.
  const file = template("test.ts");
  await import(file);
});

test("the template compiles", { timeout: 300_000 }, async () => {
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const args = [tsc, "-p", template("tsconfig.json"), "--customConditions", "@lotse/source", "--pretty", "false"];
  const output = await promisify(execFile)(process.execPath, args, { cwd: template(".") }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
  // Here the framework is compiled along from its sources; only what the project has written counts.
  const own = output.split("\n").filter((line) => /^(operator|test)\.ts\(/.test(line) || line.startsWith("error"));
  expect(own).toEqual([]);
});

test("the template asks for the versions that this repository is tested with", async () => {
  const { dependencies, devDependencies } = await readJson(template("package.json"));
  const root = await readJson(fileURLToPath(new URL("../../../../../package.json", import.meta.url)));
  const own = await readJson(fileURLToPath(new URL("../../../package.json", import.meta.url)));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    const expected = /^(lotse$|@lotse\/)/.test(name) ? own.version : root.devDependencies[name];
    expect(version, name).toBe(`^${expected}`);
  }
});
