/** The template is a project of its own: it has to compile, its own tests have to pass, and its versions to be current. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { TestProject } from "../terminal/test-project.ts";

const template = (file: string) => fileURLToPath(new URL(`../../../templates/${file}`, import.meta.url));
const readJson = async (file: string) => JSON.parse(await readFile(file, "utf8"));

describe("the template's own tests", async () => {
  // Registers them here: what a new project's `npm test` runs.
  const file = template("test.ts");
  await import(file);
});

test("the template compiles", { timeout: 300_000 }, async () => {
  const project = new TestProject();
  try {
    for (const name of ["operator.ts", "test.ts", "tsconfig.json"])
      project.write(name, await readFile(template(name), "utf8"));
    const tsc = path.join(project.folder, "node_modules/typescript/bin/tsc");
    const output = await promisify(execFile)(process.execPath, [tsc, "-p", project.folder, "--pretty", "false"]).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    expect(output).toBe("");
  } finally {
    project.remove();
  }
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
