// The two servers, each started on the first core, while whoever measures moves to the second.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
// Lets this process import the repository's TypeScript files; what is measured runs from dist, in other processes.
import "../../scripts/typescript.mjs";
import { Failure } from "../../scripts/process.mjs";
import { root } from "../../scripts/workspace.mjs";

const launcher = path.join(root, "packages", "lotse", "bin", "lotse.js");

export function requireCores() {
  try {
    execFileSync("taskset", ["-V"], { stdio: "ignore" });
  } catch {
    throw new Failure("This benchmark pins programs to cores, which needs taskset (util-linux) on Linux.", 2);
  }
  if (os.cpus().length < 2) throw new Failure("This benchmark needs two cores: one for the server, one to measure.", 2);
}

const pin = (core) => execFileSync("taskset", ["-acp", String(core), String(process.pid)], { stdio: "ignore" });

/** What is started meanwhile stays on the first core. */
async function onServerCore(start) {
  pin(0);
  try {
    return await start();
  } finally {
    pin(1);
  }
}

/** Megabytes that processes hold. */
export function memoryOf(pids) {
  let total = 0;
  for (const pid of pids) {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    total += Number(kilobytes) / 1024;
  }
  return total;
}

const TICKS_PER_SECOND = 100;

/** Milliseconds of processor time that processes have used. */
export function cpuOf(pids) {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks * 1000) / TICKS_PER_SECOND;
}

/** `lotse cluster`, as a user starts it; `flags` are for Node.js. */
export async function startEmbedded(flags = []) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-bench-"));
  const kubeconfig = path.join(folder, "kubeconfig");
  const port = await freePort();
  const args = [...flags, launcher, "cluster", "--port", String(port), "--kubeconfig", kubeconfig, "-o", "json"];
  const since = performance.now();
  const child = await onServerCore(() => spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] }));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const written = new Promise((resolve) => child.stdout.once("data", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  await untilReady(port, () => child.exitCode !== null);
  const startMs = performance.now() - since;
  await written;
  const { load } = await import("js-yaml");
  const { clusters, users } = load(readFileSync(kubeconfig, "utf8"));
  return {
    startMs,
    stop,
    pids: [child.pid],
    access: {
      port,
      ca: Buffer.from(clusters[0].cluster["certificate-authority-data"], "base64"),
      token: users[0].user.token,
    },
  };
}

/** kube-apiserver and etcd, without audit and without controllers. */
export async function startReal(note) {
  const { buildServers, GoMissingError } = await import("../../tests/real/build.ts");
  const { RealCluster } = await import("../../tests/real/cluster.ts");
  await buildServers(note).catch((error) => {
    throw error instanceof GoMissingError ? new Failure(error.message, 2) : error;
  });
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-bench-"));
  const policy = path.join(folder, "audit-policy.json");
  const rules = [{ level: "None" }];
  writeFileSync(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  const since = performance.now();
  const cluster = await onServerCore(() =>
    RealCluster.start({ controllers: [], flags: [`--audit-policy-file=${policy}`] }),
  );
  const startMs = performance.now() - since;
  const { clusters, users } = cluster.kubeconfig;
  return {
    startMs,
    stop: async () => {
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    pids: cluster.pids,
    access: {
      port: Number(new URL(cluster.url).port),
      ca: Buffer.from(clusters[0].cluster["certificate-authority-data"], "base64"),
      token: users[0].user.token,
    },
  };
}

async function untilReady(port, isOver) {
  for (;;) {
    if (await isReady(port)) return;
    if (isOver()) throw new Error("`lotse cluster` ended before it was ready");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

// Whose certificate it is does not matter for the time, and the authority is only known once the server is up.
function isReady(port) {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, path: "/readyz", agent: false, rejectUnauthorized: false };
    const call = https.get(options, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode === 200));
    });
    call.on("error", () => resolve(false));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
