/** A project that the published command creates: its template has to be in the package. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Project } from "./project.ts";

let project: Project;

beforeAll(() => {
  project = new Project();
}, 300_000);

afterAll(() => project.remove());

it("has everything that a new operator needs, and its definitions can be generated at once", async () => {
  expect(await project.lotse(["init", "rates"])).toEqual({
    code: 0,
    out: "Created 8 files in rates. Next:\n\n  cd rates\n  npm install\n  npm run dev\n",
    err: "",
  });
  expect(readdirSync(path.join(project.folder, "rates")).sort()).toEqual([
    ".dockerignore",
    ".gitignore",
    "README.md",
    "greeting.yaml",
    "operator.test.ts",
    "operator.ts",
    "package.json",
    "tsconfig.json",
  ]);
  expect(readFileSync(path.join(project.folder, "rates/package.json"), "utf8")).toContain('"name": "rates"');
  const { code, out } = await project.lotse(["generate", "crd", "rates/operator.ts"]);
  expect(code).toBe(0);
  expect(out).toContain("name: greetings.rates.example.com\n");
});
