import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectSettings } from "./settings.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lotse-project-"));
  mkdirSync(path.join(folder, "src"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const settings = (packageJson: string) => {
  writeFileSync(path.join(folder, "package.json"), packageJson);
  return projectSettings(path.join(folder, "src", "operator.ts"));
};

describe("a project", () => {
  it("says in its package.json how pods run", () => {
    expect(settings('{"lotse":{"kubelet":"process"}}')).toEqual({ kubelet: "process" });
  });

  it.each(["{}", '{"lotse":{}}', "not JSON"])("may say nothing: %s", (text) => {
    expect(settings(text)).toEqual({});
  });

  it("is told when it says something else", () => {
    expect(() => settings('{"lotse":{"kubelet":"docker"}}')).toThrow(/package\.json: lotse\.kubelet is "docker"/);
  });

  it("ends at the first package.json above its file", () => {
    writeFileSync(path.join(folder, "src", "package.json"), '{"type":"module"}');
    expect(settings('{"lotse":{"kubelet":"process"}}')).toEqual({});
  });
});
