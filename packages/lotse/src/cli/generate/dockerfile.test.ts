import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DOCKERIGNORE } from "../../generate/index.ts";
import { Operator } from "../../operator/index.ts";
import { testIo } from "../terminal/test-io.ts";
import { makeDockerfile } from "./dockerfile.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-dockerfile-"));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function make(options: { output?: string; pin?: string[] } = {}) {
  const io = testIo({ cwd });
  const made = makeDockerfile({ file: "operator.ts", operator: new Operator({ name: "rates" }) }, options, io);
  return { files: made.map(({ name }) => name), text: made[0]?.text ?? "", err: io.err() };
}

const lock = (packages: object) => writeFileSync(path.join(cwd, "package-lock.json"), JSON.stringify({ packages }));
const DIGEST = `sha256:${"ab".repeat(32)}`;

describe("lotse generate dockerfile", () => {
  it("says when the lock does not bring what the build needs", () => {
    expect(make().err).toMatch(/^Warning: there is no package-lock\.json.*\nDo: {6}npm install --save-dev esbuild/);
    lock({ "": {} });
    expect(make().err).toMatch(/^Warning: esbuild, .* is not in package-lock\.json.*\nDo: {6}npm install --save-dev/);
    lock({ "node_modules/esbuild": { version: "0.28.2" } });
    expect(make().err).toBe("");
  });

  it("brings a .dockerignore into a folder that has none, and leaves the one that is there", () => {
    expect(make().files).toEqual(["Dockerfile"]);
    expect(make({ output: "." }).files).toEqual(["Dockerfile", ".dockerignore"]);
    writeFileSync(path.join(cwd, ".dockerignore"), "mine\n");
    expect(make({ output: "." }).files).toEqual(["Dockerfile"]);
    expect(existsSync(path.join(cwd, "Dockerfile"))).toBe(false);
  });

  it("takes digests of its images, and refuses others", () => {
    expect(make({ pin: [`node:22-alpine@${DIGEST}`] }).text).toContain(`ARG BUILD_IMAGE=node:22-alpine@${DIGEST}\n`);
    for (const wrong of [`node:20@${DIGEST}`, "node:22-alpine", "node:22-alpine@sha256:abc"]) {
      expect(() => make({ pin: [wrong] })).toThrow(`--pin ${wrong} pins no image of the Dockerfile`);
    }
  });
});

it("a new project ignores for its image what `generate dockerfile` ignores, and has the bundler", () => {
  const template = (name: string) => readFileSync(new URL(`../../../templates/${name}`, import.meta.url), "utf8");
  expect(template("dockerignore")).toBe(DOCKERIGNORE);
  expect(DOCKERIGNORE.split("\n")).toEqual(expect.arrayContaining([".lotse", ".env*", "node_modules", ".git"]));
  expect(JSON.parse(template("package.json")).devDependencies).toHaveProperty("esbuild");
});
