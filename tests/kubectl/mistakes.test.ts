/** Mistakes that people make: each gets one clear error of at most three lines, an exit code, and no stack. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const LOTSE = path.join(root, "packages/lotse/bin/lotse.js");

const GOOD = `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "good" });
operator.on.create(ConfigMap, function publish() {});
export default operator;
`;

const FILES: Record<string, string> = {
  "good.ts": GOOD,
  "syntax.ts": "export default {;\n",
  "twice.ts": GOOD.replace("export default", "operator.on.update(ConfigMap, function publish() {});\nexport default"),
  "none.ts": "export const rate = 1;\n",
  "throws.ts": 'throw new Error("no such database");\n',
};

/** A kubeconfig of a cluster that nobody has started: port 1 is never listened on. */
const NOWHERE = {
  apiVersion: "v1",
  kind: "Config",
  "current-context": "nowhere",
  clusters: [{ name: "nowhere", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "me", user: { token: "x" } }],
  contexts: [{ name: "nowhere", context: { cluster: "nowhere", user: "me" } }],
};

describe("a mistake", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-mistakes-"));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(folder, name), text);
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(path.join(folder, "nowhere.json"), JSON.stringify(NOWHERE));
    symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const lotse = (...args: string[]) =>
    run(process.execPath, [LOTSE, ...args], { cwd: folder, env: { KUBECONFIG: path.join(folder, "nowhere.json") } });

  it.each<[string, string[], number, RegExp]>([
    ["a file that does not compile", ["run", "syntax.ts"], 1, /syntax\.ts does not compile[\s\S]*syntax\.ts:1/],
    ["a file that is not there", ["run", "god.ts"], 2, /no file god\.ts[\s\S]*good\.ts/],
    [
      "a cluster that is not there",
      ["run", "good.ts"],
      1,
      /cannot reach the cluster at https:\/\/127\.0\.0\.1:1[\s\S]*lotse cluster/,
    ],
    ["a handler id used twice", ["run", "twice.ts"], 1, /handler id "publish" is used twice[\s\S]*twice\.ts:6/],
    ["a file without an operator", ["run", "none.ts"], 1, /exports no operator/],
    ["a file that throws", ["run", "throws.ts"], 1, /no such database/],
    ["no file at all", ["run"], 2, /no file given/],
    ["a context that is not there", ["run", "good.ts", "--context", "prod"], 1, /prod[\s\S]*nowhere/],
    ["an option that is none", ["run", "good.ts", "--frobnicate"], 2, /unknown option/],
    ["a command that is none", ["frobnicate"], 2, /unknown command/],
    ["a port that is none", ["cluster", "--port", "http"], 2, /port/],
  ])("is explained: %s", async (_name, args, exitCode, message) => {
    const outcome = await lotse(...args);
    expect(outcome.exitCode, outcome.stderr).toBe(exitCode);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(3);
    expect(outcome.stderr).not.toMatch(/^\s+at /m);
  });

  it("shows the stack to whoever asks for it", async () => {
    expect((await lotse("run", "throws.ts", "--verbose")).stderr).toMatch(/^\s+at /m);
  });
});
