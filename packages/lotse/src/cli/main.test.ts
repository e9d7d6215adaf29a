import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "./main.ts";
import { testIo } from "./terminal/test-io.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-main-"));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const OPERATOR = `export default { [Symbol.for("lotse.Operator")]: true, name: "one", resources: [], start() {} };`;

/** A kubeconfig that leads to a port where no server listens. */
const NOBODY = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "nobody",
  clusters: [{ name: "nobody", cluster: { server: "https://127.0.0.1:1" } }],
  contexts: [{ name: "nobody", context: { cluster: "nobody", user: "nobody" } }],
  users: [{ name: "nobody", user: {} }],
});

async function call(...argv: string[]) {
  const io = testIo({ cwd });
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

const lines = (text: string) => text.trimEnd().split("\n");

describe("wrong usage", () => {
  it.each([
    ["an unknown command", ["fly"]],
    ["a misspelt command", ["clutser"]],
    ["an unknown option", ["run", "operator.ts", "--fly"]],
    ["a misspelt option", ["run", "operator.ts", "--contxt", "a"]],
    ["an option without its value", ["run", "operator.ts", "--context"]],
    ["a port that is none", ["cluster", "--port", "many"]],
    ["a format that does not exist", ["cluster", "-o", "xml"]],
    ["a namespace that cannot be", ["run", "operator.ts", "-n", "Not_A_Namespace"]],
    ["no file", ["run"]],
    ["no file for dev", ["dev"]],
    ["a missing file", ["run", "operator.ts"]],
    ["too many files for dev", ["dev", "a.ts", "b.ts"]],
    ["too many arguments", ["cluster", "now"]],
    ["-n with -A", ["run", "operator.ts", "-A", "-n", "a"]],
    ["a package that is not installed", ["run", "-m", "not-installed-anywhere"]],
    ["a shell without completion", ["completion", "tcsh"]],
    ["explain without a name", ["explain", "pods"]],
  ])("exits with 2 and at most three lines for %s", async (_what, argv) => {
    const { code, out, err } = await call(...argv);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(lines(err).length).toBeLessThanOrEqual(3);
    expect(err).toMatch(/^Error: /);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it("suggests what was meant, and where to read more", async () => {
    expect((await call("run", "a.ts", "--contxt", "a")).err).toBe(
      "Error: unknown option '--contxt'\nDo:    did you mean --context? Else see `lotse run --help`\n",
    );
    expect((await call("clutser")).err).toContain("did you mean cluster?");
  });

  it("adds the stack with --verbose", async () => {
    expect((await call("run", "--verbose")).err).toMatch(/^\s+at /m);
  });
});

describe("help", () => {
  it.each([
    [[]],
    [["--help"]],
    [["run", "--help"]],
    [["dev", "-h"]],
    [["cluster", "--help"]],
    [["explain", "-h"]],
    [["uninstall", "-h"]],
    [["completion", "-h"]],
    [["help", "run"]],
  ])("exits with 0 and shows an example for %j", async (argv) => {
    const { code, out, err } = await call(...argv);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/Examples:\n {2}\$ lotse /);
  });

  it("prints the version of the package", async () => {
    expect(await call("--version")).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe("lotse run", () => {
  it("says in three lines that the cluster is not there, and exits with 1", async () => {
    writeFileSync(path.join(cwd, "operator.js"), OPERATOR);
    writeFileSync(path.join(cwd, "kubeconfig"), NOBODY);
    const { code, err } = await call("run", "operator.js", "--kubeconfig", "kubeconfig");
    expect(code).toBe(1);
    expect(lines(err)).toEqual([
      "Error: cannot reach the cluster at https://127.0.0.1:1",
      "Why:   connection refused",
      "Do:    start one with `npx lotse cluster`, or choose another with --context or --kubeconfig",
    ]);
  });

  it("says which kubeconfig is missing", async () => {
    writeFileSync(path.join(cwd, "operator.js"), OPERATOR);
    const { code, err } = await call("run", "operator.js", "--kubeconfig", "not-there");
    expect(code).toBe(1);
    expect(err).toContain(path.join(cwd, "not-there"));
    expect(lines(err).length).toBeLessThanOrEqual(3);
  });

  it("says where it looked for a kubeconfig", async () => {
    writeFileSync(path.join(cwd, "operator.js"), OPERATOR);
    const io = testIo({ cwd, env: { HOME: cwd } });
    expect(await main(["run", "operator.js"], io)).toBe(1);
    expect(lines(io.err())).toEqual([
      "Error: no cluster is configured",
      expect.stringContaining(`Why:   looked for ${path.join(cwd, ".kube", "config")}`),
      "Do:    start one with `npx lotse cluster`, or name a kubeconfig with --kubeconfig or $KUBECONFIG",
    ]);
  });

  it("exits with 1 when a file does not compile", async () => {
    writeFileSync(path.join(cwd, "operator.ts"), "export default const;\n");
    const { code, err } = await call("run", "operator.ts");
    expect(code).toBe(1);
    expect(lines(err)[0]).toBe("Error: operator.ts does not compile");
    expect(lines(err).length).toBeLessThanOrEqual(3);
  });
});
