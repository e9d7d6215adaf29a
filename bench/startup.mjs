// Time to start: how long `lotse cluster` takes from its process start to the first 200 on /readyz, and what importing
// the client and the framework costs. Both on what is published (dist), in fresh processes.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { root, scratch } from "../scripts/workspace.mjs";
import { interleave, sample, summarize } from "./measure.mjs";

const launcher = path.join(root, "packages", "lotse", "bin", "lotse.js");

/** The bars of the design; a measurement above one is a regression. */
export const bars = { "lotse cluster": { ms: 500 }, "lotse/client": { ms: 40, mb: 15 }, lotse: { ms: 80 } };

/** Import cost of each specifier: milliseconds of the import alone, memory against a process that imports nothing. */
export async function measureImports(specifiers, count) {
  const code = (specifier) => `
    const since = performance.now();
    ${specifier ? `const module = await import(${JSON.stringify(specifier)});` : ""}
    const ms = performance.now() - since;
    const { rss } = process.memoryUsage();
    (await import("node:v8")).setFlagsFromString("--expose-gc");
    (await import("node:vm")).runInNewContext("gc")();
    process.stdout.write(JSON.stringify({ ms, rss: rss / 2 ** 20, heap: process.memoryUsage().heapUsed / 2 ** 20 }));`;
  // Somewhere below the root, from where all packages are found by name, as in a user's project.
  const folder = path.join(scratch, "bench");
  mkdirSync(folder, { recursive: true });
  const samplers = {};
  for (const [index, specifier] of ["", ...specifiers].entries()) {
    const file = path.join(folder, `import-${index}.mjs`);
    writeFileSync(file, code(specifier));
    samplers[specifier] = () => sample(file);
  }
  await interleave(1, samplers); // the file cache warms up
  const rounds = await interleave(count, samplers);
  return specifiers.map((name) => {
    const over = (field) => summarize(rounds.map((round) => round[name][field] - round[""][field]));
    return { name, ms: over("ms"), rss: over("rss"), heap: over("heap") };
  });
}

/** Milliseconds from the start of `lotse cluster` to the first 200 on /readyz. */
export async function measureCluster(count) {
  const times = [];
  for (let round = 0; round <= count; round++) {
    const ms = await startCluster();
    if (round > 0) times.push(ms); // the first one warms the file cache
  }
  return { name: "lotse cluster", ms: summarize(times) };
}

async function startCluster() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-bench-"));
  const kubeconfig = path.join(folder, "kubeconfig");
  const port = await freePort();
  const since = performance.now();
  const args = ["cluster", "--port", String(port), "--kubeconfig", kubeconfig];
  const child = spawn(process.execPath, [launcher, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  let ended = false;
  const end = new Promise((resolve) => {
    child.once("close", () => {
      ended = true;
      resolve();
    });
  });
  try {
    while (!(await isReady(port))) {
      if (ended) throw new Error(`\`lotse cluster\` ended before it was ready:\n${output}`);
      if (performance.now() - since > 20_000) throw new Error(`\`lotse cluster\` is not ready after 20 s:\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const ms = performance.now() - since;
    // Stopped too early it would count as one that broke down.
    while (!existsSync(kubeconfig) && !ended) await new Promise((resolve) => setTimeout(resolve, 5));
    if (ended) throw new Error(`\`lotse cluster\` ended by itself:\n${output}`);
    return ms;
  } finally {
    if (!ended) child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
    await end;
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

// Whose certificate it is does not matter for the time, and the authority is only known once the server is up.
function isReady(port) {
  return new Promise((resolve) => {
    const options = {
      host: "127.0.0.1",
      port,
      path: "/readyz",
      agent: false,
      rejectUnauthorized: false,
      timeout: 1000,
    };
    const call = request(options, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode === 200));
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(false));
    call.end();
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
