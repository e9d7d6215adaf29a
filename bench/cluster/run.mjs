// The embedded cluster beside a real kube-apiserver with its etcd: `npm run bench -- cluster`.
//
//   --rounds N    medians of N interleaved rounds (three unless told)      --quick    shows that it works, measures nothing
//   --json        for programs                                            --strict   exit code 1 below a bar
//   --only NAME   embedded or real                                        --flags F  for Node.js: --flags=--cpu-prof
//
// The server has one core for itself, and whoever measures has the other. etcd runs without fsync, which is to its
// advantage: the embedded cluster keeps everything in memory here. Needs Go for the first run, see tests/real.
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, say } from "../../scripts/process.mjs";
import { scratch } from "../../scripts/workspace.mjs";
import { drawTable, median } from "../measure.mjs";
import { requireCores, startEmbedded, startReal } from "./servers.mjs";
import { runWorkload } from "./workload.mjs";

const note = (line) => process.stderr.write(`${line}\n`);

/** `least`: how many times as good as the real one; `more` is better unless `less`. */
const rows = [
  { key: "startMs", what: "process start → /readyz", unit: "ms", less: true, least: 20, digits: 0 },
  { key: "create", what: "creations of custom objects", unit: "/s", least: 1.5, digits: 0 },
  { key: "createBuiltIn", what: "creations of ConfigMaps", unit: "/s", least: 1.5, digits: 0 },
  { key: "patch", what: "merge patches", unit: "/s", least: 1.5, digits: 0 },
  { key: "apply", what: "server-side applies", unit: "/s", least: 1.5, digits: 0 },
  { key: "list", what: "list of 5,000 custom objects", unit: "ms", less: true, least: 1.5, digits: 1 },
  { key: "fanOut", what: "events to 100 watchers", unit: "/s", least: 1, digits: 0 },
  { key: "memory", what: "memory with 10,000 custom objects", unit: "MB", less: true, least: 2, digits: 0 },
];

const limits = [
  { key: "start", what: "`Cluster.start()` in a process, the first", unit: "ms", atMost: 30, digits: 1 },
  { key: "starts", what: "`Cluster.start()` in a process, the median of 30", unit: "ms", atMost: 30, digits: 1 },
  { key: "many", what: "a process with 100 clusters", unit: "MB", atMost: 300, digits: 0 },
];

function readOptions(args) {
  try {
    const flag = { type: "boolean", default: false };
    const text = { type: "string" };
    const options = { quick: flag, json: flag, strict: flag, rounds: text, only: text, flags: text };
    const { values } = parseArgs({ args, options });
    return { ...values, rounds: Number(values.rounds ?? (values.quick ? 1 : 3)) };
  } catch (error) {
    throw new Failure(error.message, 2);
  }
}

/** Runs in-process.mjs on the first core, from a place where packages are found as in a user's project. */
function inProcess(...args) {
  const folder = path.join(scratch, "bench");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "in-process.mjs");
  copyFileSync(fileURLToPath(new URL("./in-process.mjs", import.meta.url)), file);
  return new Promise((resolve, reject) => {
    const child = spawn("taskset", ["-c", "0", process.execPath, file, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
    child.on("close", (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`in-process: exit ${code}`)),
    );
  });
}

async function measureInProcess(rounds) {
  const firsts = [];
  const all = [];
  const many = [];
  for (let round = 0; round < rounds; round++) {
    const times = await inProcess("starts", "30");
    firsts.push(times[0]);
    all.push(...times);
    many.push(await inProcess("many", "100"));
  }
  return { start: median(firsts), starts: median(all), many: median(many) };
}

async function measureServers(options) {
  const flags = options.flags?.split(",") ?? [];
  const starters = { embedded: () => startEmbedded(flags), real: () => startReal(note) };
  const names = Object.keys(starters).filter((name) => !options.only || options.only === name);
  const runs = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const name of round % 2 ? [...names].reverse() : names) {
      const server = await starters[name]();
      try {
        const figures = await runWorkload(server, options);
        runs[name].push(figures);
        const told = Object.entries(figures).map(
          ([key, value]) => `${key} ${value.toFixed(key.endsWith("Cpu") ? 3 : 1)}`,
        );
        note(`${round + 1} ${name}: ${told.join(", ")}`);
      } finally {
        await server.stop();
      }
    }
  }
  return Object.fromEntries(names.map((name) => [name, mediansOf(runs[name])]));
}

function mediansOf(runs) {
  return Object.fromEntries(Object.keys(runs[0]).map((key) => [key, median(runs.map((run) => run[key]))]));
}

function judge({ key, less, least }, embedded, real) {
  const ratio = less ? real[key] / embedded[key] : embedded[key] / real[key];
  return { ratio, holds: ratio >= least };
}

/** Measures and prints; resolves to the exit code. */
export async function benchCluster(args) {
  const options = readOptions(args);
  requireCores();
  await ensureInstalled();
  const { write } = process.stdout;
  if (options.json) process.stdout.write = (...parts) => process.stderr.write(...parts);
  await build({ types: false });
  process.stdout.write = write;

  const load = os.loadavg()[0].toFixed(1);
  const { embedded, real } = await measureServers(options);
  const own = options.only === "real" ? undefined : await measureInProcess(options.quick ? 1 : options.rounds);
  const failed = [];
  const table = [];
  for (const row of rows) {
    const verdict = embedded && real ? judge(row, embedded, real) : undefined;
    if (verdict && !verdict.holds) failed.push(row.key);
    const show = (figures) => (figures ? figures[row.key].toFixed(row.digits) : "");
    const ratio = verdict ? `${verdict.ratio.toFixed(2)} ×` : "";
    const holds = verdict ? (verdict.holds ? "yes" : "NO") : "";
    table.push([`${row.what} (${row.unit})`, show(embedded), show(real), ratio, `≥ ${row.least} ×`, holds]);
  }
  for (const row of own ? limits : []) {
    const holds = own[row.key] <= row.atMost;
    if (!holds) failed.push(row.key);
    table.push([
      `${row.what} (${row.unit})`,
      own[row.key].toFixed(row.digits),
      "",
      "",
      `≤ ${row.atMost}`,
      holds ? "yes" : "NO",
    ]);
  }
  if (options.json) say(JSON.stringify({ node: process.versions.node, load, embedded, real, own, failed }, null, 2));
  else {
    say(
      `Node.js ${process.versions.node}, one core for the server and one to measure, load ${load} at the start, medians of ${options.rounds} rounds`,
    );
    say(drawTable(["what", "embedded", "kube-apiserver + etcd", "times as good", "bar", "holds"], table));
  }
  leaveResults(table.length, 0);
  return options.strict && failed.length > 0 ? 1 : 0;
}
