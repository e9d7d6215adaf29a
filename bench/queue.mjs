// The work queue by itself, without a cluster: what adding, merging, handing out and delaying a key costs.
//
//   node bench/queue.mjs      medians of 5, every sample a fresh process
//     --quick    a tenth of the keys, one sample: shows that it works, measures nothing      --json    for programs
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { capture, Failure, main, say } from "../scripts/process.mjs";
import { root } from "../scripts/workspace.mjs";
import { drawTable, interleave, median, summarize } from "./measure.mjs";

const self = fileURLToPath(import.meta.url);

/** As many keys at the same time as an operator works on by default. */
const concurrency = 10;

/** Time that stands still until it is told to move; delays are the queue's own business. */
class StillClock {
  #time = 0;
  #timers = new Set();

  now = () => this.#time;
  monotonic = () => this.#time;

  after(ms, fn) {
    const timer = { at: this.#time + ms, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  moveTo(time) {
    this.#time = time;
    for (const timer of [...this.#timers]) {
      if (timer.at > time || !this.#timers.delete(timer)) continue;
      timer.fn();
    }
  }
}

/** Bytes in use, without garbage. */
function heap() {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

async function timed(count, body) {
  const since = performance.now();
  await body();
  return { perSecond: (count * 1000) / (performance.now() - since) };
}

/** Keys as the engine makes them, whole strings and not ropes, which would be flattened on the queue's account. */
const keysOf = (count, namespaceOf) =>
  Array.from({ length: count }, (_, index) => Buffer.from(`${namespaceOf(index)}/object-${index}`).toString("latin1"));

function newQueue({ WorkQueue }, work = async () => {}) {
  const clock = new StillClock();
  const groupOf = (key) => key.slice(0, key.indexOf("/"));
  return { clock, queue: new WorkQueue({ clock, concurrency, groupOf, work }) };
}

/** A million keys of a hundred namespaces: added, added again while they wait, run. */
async function plain(room, scale) {
  const keys = keysOf(1_000_000 * scale, (index) => `team-${index % 100}`);
  let runs = 0;
  const { queue } = newQueue(room, async () => {
    runs++;
  });
  const before = heap();
  const addAll = () => {
    for (const key of keys) queue.add(key, room.PRIORITY.live);
  };
  const add = await timed(keys.length, addAll);
  add.bytes = (heap() - before) / keys.length;
  const dedupe = await timed(keys.length, addAll);
  const run = await timed(keys.length, () => {
    queue.start();
    return queue.idle();
  });
  expectEqual(runs, keys.length, "runs");
  expectEqual(queue.size, 0, "keys left");
  return { add, "add again while it waits": dedupe, run };
}

/** A thousand namespaces with a tenth of the keys between them, one with all the others, which came first. */
async function fair(room, scale) {
  const count = 1_000_000 * scale;
  const noisy = keysOf(count * 0.9, () => "noisy");
  const quiet = keysOf(count * 0.1, (index) => `team-${index % 1000}`);
  let runs = 0;
  let lastQuiet = 0;
  const { queue } = newQueue(room, async (key) => {
    runs++;
    if (!key.startsWith("noisy/")) lastQuiet = runs;
  });
  for (const key of noisy) queue.add(key, room.PRIORITY.live);
  for (const key of quiet) queue.add(key, room.PRIORITY.live);
  const run = await timed(count, () => {
    queue.start();
    return queue.idle();
  });
  expectEqual(runs, count, "runs");
  return { "run, 1,000 namespaces beside a noisy one": { ...run, note: lastQuiet / quiet.length } };
}

/** A hundred thousand keys that wait for a time: set, set to an earlier one, due. */
async function delayed(room, scale) {
  const keys = keysOf(100_000 * scale, (index) => `team-${index % 100}`);
  // Times in no order, the same in every sample.
  const dueAt = keys.map((_, index) => 1_000_000 + ((index * 7919) % 600_000));
  let runs = 0;
  const { clock, queue } = newQueue(room, async () => {
    runs++;
  });
  queue.start();
  const before = heap();
  const setAll = (earlier) => {
    for (let index = 0; index < keys.length; index++) queue.addAt(keys[index], dueAt[index] - earlier);
  };
  const set = await timed(keys.length, () => setAll(0));
  set.bytes = (heap() - before) / keys.length;
  expectEqual(queue.delayed, keys.length, "delayed keys");
  const sooner = await timed(keys.length, () => setAll(900_000));
  expectEqual(runs, 0, "runs before their time");
  const due = await timed(keys.length, () => {
    clock.moveTo(2_000_000);
    return queue.idle();
  });
  expectEqual(runs, keys.length, "runs");
  return { addAt: set, "addAt, an earlier time": sooner, "due, and run": due };
}

const scenarios = { plain, fair, delayed };

/** A queue that is fast because it forgets is not fast. */
function expectEqual(found, expected, what) {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
}

/** The queue is no part of what `lotse` exports, so it is bundled from its room, as the build does it. */
async function bundleQueue(folder) {
  const { build } = await import("esbuild");
  const outfile = path.join(folder, "queue.mjs");
  const entry = path.join(root, "packages", "lotse", "src", "queue", "index.ts");
  await build({
    ...{ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", target: "node20" },
    logLevel: "silent",
  });
  return outfile;
}

async function takeSample(name, scale, bundle) {
  const args = [self, "--sample", name, String(scale), bundle];
  const { exitCode, stdout, stderr } = await capture(process.execPath, args);
  if (exitCode !== 0) throw new Failure(`The scenario "${name}" failed:\n${stderr || stdout}`);
  return JSON.parse(stdout);
}

/** Medians over the rounds, one result for each measured operation. */
function resultsOf(rounds) {
  return Object.keys(scenarios).flatMap((scenario) =>
    Object.keys(rounds[0][scenario]).map((name) => {
      const all = rounds.map((round) => round[scenario][name]);
      const { bytes, note } = all[0];
      return {
        name,
        perSecond: summarize(all.map((one) => one.perSecond)),
        ...(bytes !== undefined && { bytes: summarize(all.map((one) => one.bytes)) }),
        ...(note !== undefined && { runsUntilQuietAreServed: median(all.map((one) => one.note)) }),
      };
    }),
  );
}

function row({ name, perSecond, bytes, runsUntilQuietAreServed: served }) {
  const thousands = (value) => Math.round(value / 1000).toLocaleString("en-US");
  return [
    name,
    thousands(perSecond.median),
    `${thousands(perSecond.low)} to ${thousands(perSecond.high)}`,
    bytes ? Math.round(bytes.median) : "",
    served === undefined ? "" : `${served.toFixed(3)} runs for each quiet key until all of them are served`,
  ];
}

async function measure(flags) {
  const unknown = flags.find((flag) => !["--quick", "--json"].includes(flag));
  if (unknown !== undefined) throw new Failure(`Unknown option ${unknown}. There are --quick, --json.`, 2);
  const [quick, json] = [flags.includes("--quick"), flags.includes("--json")];
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-queue-"));
  try {
    const bundle = await bundleQueue(folder);
    const samplers = Object.fromEntries(
      Object.keys(scenarios).map((name) => [name, () => takeSample(name, quick ? 0.1 : 1, bundle)]),
    );
    const load = os.loadavg()[0].toFixed(1);
    const results = resultsOf(await interleave(quick ? 1 : 5, samplers));
    if (json) say(JSON.stringify({ node: process.versions.node, load, concurrency, results }, null, 2));
    else {
      say(`Node.js ${process.versions.node}, ${os.availableParallelism()} cores, load ${load}`);
      say(drawTable(["what", "1,000 keys a second", "middle half", "bytes for each key", ""], results.map(row)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(async () => {
  const [first, name, scale, bundle] = process.argv.slice(2);
  if (first !== "--sample") return measure(process.argv.slice(2));
  const room = await import(pathToFileURL(bundle).href);
  say(JSON.stringify(await scenarios[name](room, Number(scale))));
});
