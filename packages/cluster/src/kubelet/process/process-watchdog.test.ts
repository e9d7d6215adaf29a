import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call } from "../../test-requests.ts";
import { POD_VARIABLE } from "./process-owners.ts";
import { Watchdog } from "./process-watchdog.ts";

const PATIENCE = { timeout: 170_000, interval: 20 };
const PODS = "/api/v1/namespaces/default/pods";

let root: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "lotse-watchdog-"));
});

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await rm(root, { recursive: true, force: true });
});

/** One that its parent has not waited for yet has ended all the same. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

const ended = (...pids: number[]) => vi.waitFor(() => expect(pids.filter((pid) => isAlive(pid))).toEqual([]), PATIENCE);

/**
 * A container that starts another process in its group and, where it can be found again, one that leaves group and
 * parent; it says where it is and who they are.
 */
const FAMILY = [
  process.execPath,
  "-e",
  `const { spawn } = require("node:child_process");
   const near = spawn("sleep", ["1000"], { stdio: "ignore" });
   const far = process.platform === "linux" ? spawn("sleep", ["1000"], { stdio: "inherit", detached: true }) : near;
   console.log(JSON.stringify({ folder: process.cwd(), pids: [process.pid, near.pid, far.pid] }));
   setInterval(() => {}, 1000);`,
];

interface Family {
  readonly folder: string;
  readonly pids: number[];
}

async function startFamily(cluster: Pick<Cluster, "url" | "token">, name: string): Promise<Family> {
  const headers = { authorization: `Bearer ${cluster.token}`, "content-type": "application/json" };
  const containers = [{ name: "c", image: "i", command: FAMILY }];
  const body = JSON.stringify({ metadata: { name }, spec: { containers, terminationGracePeriodSeconds: 1 } });
  const created = await fetch(`${cluster.url}${PODS}`, { method: "POST", headers, body });
  expect(created.status).toBe(201);
  return vi.waitFor(async () => {
    const answer = await fetch(`${cluster.url}${PODS}/${name}/log`, { headers });
    expect(answer.status).toBe(200);
    return JSON.parse(await answer.text()) as Family;
  }, PATIENCE);
}

const podsFolder = (folder: string) => /^.*lotse-pods-[^/]+/.exec(folder)?.[0] as string;

describe("a cluster whose pods are processes", { timeout: 300_000 }, () => {
  it("takes them and their folders with it when it is killed with kill -9", async () => {
    const program = path.join(root, "server.mjs");
    const { build } = await import("esbuild");
    await build({
      entryPoints: [fileURLToPath(new URL("../../test-process-server.ts", import.meta.url))],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      conditions: ["@lotse/source"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      logLevel: "silent",
    });
    const server = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(server);
    const [line] = (await once(server.stdout.setEncoding("utf8"), "data")) as [string];
    const { port, token } = JSON.parse(line) as { port: number; token: string };
    const at = { url: `http://127.0.0.1:${port}`, token };
    const families = await Promise.all([startFamily(at, "one"), startFamily(at, "two")]);
    const pids = families.flatMap((one) => one.pids);
    expect(pids.filter((pid) => isAlive(pid))).toEqual(pids);
    const folder = podsFolder(families[0].folder);
    expect(existsSync(folder)).toBe(true);

    server.kill("SIGKILL");
    await once(server, "exit");
    await ended(...pids);
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), PATIENCE);
  });

  it("leaves nothing behind either when it is stopped, or when a pod is deleted", async () => {
    const cluster = await Cluster.start({ tls: false, kubelet: "process" });
    const [deleted, stopped] = await Promise.all([startFamily(cluster, "deleted"), startFamily(cluster, "stopped")]);
    await call(cluster, "DELETE", `${PODS}/deleted`);
    await ended(...deleted.pids);
    await vi.waitFor(() => expect(existsSync(deleted.folder)).toBe(false), PATIENCE);
    expect(stopped.pids.filter((pid) => isAlive(pid))).toEqual(stopped.pids);
    await cluster.stop();
    await ended(...stopped.pids);
    expect(existsSync(podsFolder(stopped.folder))).toBe(false);
  });
});

describe("the watchdog", { timeout: 300_000 }, () => {
  const sleeper = (env: Record<string, string> = {}) => {
    const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore", env: { ...process.env, ...env } });
    children.push(child);
    return child.pid as number;
  };

  it("goes in peace when it is sent away, and touches nothing", async () => {
    const folder = path.join(root, "peace");
    await mkdir(folder);
    const pid = sleeper();
    const watchdog = new Watchdog(folder);
    watchdog.add(pid);
    await watchdog.close();
    expect({ alive: isAlive(pid), there: existsSync(folder) }).toEqual({ alive: true, there: true });
  });

  it("ends only whom it was told of, and those who carry the mark of its folder", async () => {
    const folder = path.join(root, "war's end");
    await mkdir(folder);
    const told = [sleeper(), sleeper(), sleeper()] as [number, number, number];
    const marked = sleeper({ [POD_VARIABLE]: path.join(folder, "pod") });
    const strange = sleeper({ [POD_VARIABLE]: `${folder}-of-another/pod` });
    await holdAndDie(folder, told, told[1]);
    await ended(told[0], told[2], ...(process.platform === "linux" ? [marked] : []));
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), PATIENCE);
    expect([isAlive(told[1]), isAlive(strange)]).toEqual([true, true]);
  });

  /** A process that has a watchdog, tells it of some and takes one back, and is killed. */
  async function holdAndDie(folder: string, add: readonly number[], drop: number) {
    const program = path.join(root, "holder.mjs");
    const { build } = await import("esbuild");
    await build({
      stdin: {
        contents: `import { Watchdog } from "./process-watchdog.ts";
          const [folder, add, drop] = process.argv.slice(2);
          const watchdog = new Watchdog(folder);
          for (const pid of add.split(",")) watchdog.add(Number(pid));
          watchdog.delete(Number(drop));
          console.log(process.pid);
          setInterval(() => {}, 1000);`,
        resolveDir: fileURLToPath(new URL(".", import.meta.url)),
        loader: "ts",
      },
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    const child = spawn(process.execPath, [program, folder, add.join(","), String(drop)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
