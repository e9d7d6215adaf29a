import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";

/** The operator's process, and what it has printed. */
interface Running {
  readonly process: ChildProcess;
  readonly lines: string[];
}

describeOn(clustersUnderTest(), "kill -9", (cluster) => {
  let folder: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "lotse-kill-"));
    await build({
      entryPoints: [fileURLToPath(new URL("kill-operator.ts", import.meta.url))],
      outfile: path.join(folder, "operator.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      conditions: ["@lotse/source"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      logLevel: "silent",
    });
  });

  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  function startOperator(env: Record<string, string>): Running {
    const child = spawn(process.execPath, [path.join(folder, "operator.mjs")], {
      env: { ...process.env, ...env, KUBECONFIG: cluster().kubeconfigPath },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const lines: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.trimEnd().split("\n")));
    return { process: child, lines };
  }

  const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 170_000, interval: 20 });

  it("loses nothing: what was finished is not run again, what was not is", async () => {
    const client = await cluster().connect();
    const kind = "jobs.kill.example.com";
    const job = (name: string) => ({
      apiVersion: "kill.example.com/v1",
      kind: "Job",
      metadata: { name, namespace: "default" },
      spec: {},
    });

    const first = startOperator({ STUCK_ON: "two" });
    await eventually(() => expect(first.lines).toContain("ready"));
    await client.create(job("one"));
    await eventually(async () => expect((await client.get(kind, "one")).status).toHaveProperty("lotse.killed.handled"));
    await client.create(job("two"));
    await eventually(() => expect(first.lines).toContain("begin two"));

    const exit = once(first.process, "exit");
    first.process.kill("SIGKILL");
    await exit;
    expect(first.lines).toEqual(["ready", "begin one", "done one", "begin two"]);

    const second = startOperator({});
    await eventually(async () => expect((await client.get(kind, "two")).status).toMatchObject({ done: true }));
    const stopped = once(second.process, "exit");
    second.process.kill("SIGTERM");
    expect(await stopped).toEqual([0, null]);
    expect(second.lines.filter((line) => line !== "ready")).toEqual(["begin two", "done two"]);
  });
});
