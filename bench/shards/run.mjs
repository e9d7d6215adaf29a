// What a member of a sharded operator costs beside one that works alone, on a real kube-apiserver.
//
//   node bench/shards/run.mjs             20,000 objects on 1, 2 and 4 members, with and without shardSelector
//     --quick           500 objects, ten seconds of changes: shows that it works, measures nothing
//     --objects N, --seconds N, --rate N  how many, how long, and changes a second
//     --members 1,2,4                     --selector on,off: whether the server knows of shards
//     --json            for programs
//
// Needs Go for the first run: it builds the servers, see tests/real.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { Failure, main, say } from "../../scripts/process.mjs";
import { inParallel } from "../engine/api.mjs";
import { Bed, widget, widgetsIn } from "../engine/bed.mjs";
import { Watcher } from "../engine/watcher.mjs";
import { percentile } from "../engine/workload.mjs";
import { drawTable } from "../measure.mjs";

const CONNECTIONS = 20;
const NAMESPACE = "shards";
const LIMIT_MS = 600_000;
const program = fileURLToPath(new URL("member.mjs", import.meta.url));
const gate = "--feature-gates=ShardedListAndWatch=true";

const note = (line) => process.stderr.write(`${line}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const sum = (values) => values.reduce((total, value) => total + value, 0);
const nameOf = (index) => `widget-${index}`;

function readOptions() {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const options = { quick: flag, json: flag, objects: text, seconds: text, rate: text, members: text, selector: text };
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const number = (name, usual) => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Failure(`--${name} takes a number from 1 up.`, 2);
    return value;
  };
  return {
    json: values.json,
    objects: number("objects", values.quick ? 500 : 20_000),
    seconds: number("seconds", values.quick ? 10 : 30),
    rate: number("rate", values.quick ? 20 : 50),
    members: (values.members ?? "1,2,4").split(",").map(Number),
    selectors: (values.selector ?? "off,on").split(","),
  };
}

/** A process, and what it answers. */
class Member {
  #child;
  startedAt = performance.now();

  constructor(kubeconfig, shared) {
    const env = {
      ...process.env,
      KUBECONFIG: kubeconfig,
      BENCH_NAMESPACE: NAMESPACE,
      BENCH_SHARDS: shared ? "1" : "0",
    };
    this.#child = fork(program, { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  }

  async ask(what = "figures") {
    const over = new AbortController();
    const { signal } = over;
    const gone = once(this.#child, "exit", { signal }).then(() => {
      throw new Error("a member is gone");
    });
    gone.catch(() => {});
    const answer = once(this.#child, "message", { signal });
    this.#child.send(what);
    try {
      return (await Promise.race([answer, gone]))[0];
    } finally {
      over.abort();
    }
  }

  async stop() {
    const ended = once(this.#child, "exit");
    this.#child.send("stop");
    await ended;
  }
}

const askAll = (members, what) => Promise.all(members.map((member) => member.ask(what)));

/** All are ready, know each other, and have all objects between them. */
async function settled(members, objects) {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const figures = await askAll(members);
    const known = figures.every(({ ready, members: count }) => ready && count === members.length);
    if (known && sum(figures.map(({ owned }) => owned)) === objects) return;
    if (performance.now() > deadline) throw new Error(`not settled: ${JSON.stringify(figures)}`);
    await sleep(20);
  }
}

/** So many changes a second, sent when it is their time. */
async function change(bed, watcher, { objects, rate, seconds }, size) {
  watcher.begin();
  const since = performance.now();
  const requests = [];
  for (let index = 0; index < rate * seconds; index++) {
    const early = since + (index * 1000) / rate - performance.now();
    if (early > 0) await sleep(early);
    const name = nameOf((index * 7919) % objects);
    const wanted = size + 1 + Math.floor(index / objects);
    watcher.sending(name, wanted);
    requests.push(bed.api.merge(`${widgetsIn(NAMESPACE)}/${name}`, { spec: { size: wanted } }));
  }
  await Promise.all(requests);
  await watcher.settled(objects, LIMIT_MS, () => {});
  const times = watcher.samples.flatMap(({ sent }) => (sent === undefined ? [] : [sent]));
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

/** So many members: how long they take to start, and what each costs. */
async function measure(bed, watcher, count, options, size) {
  const since = performance.now();
  const members = Array.from({ length: count }, () => new Member(bed.kubeconfigFile, count > 1));
  try {
    await settled(members, options.objects);
    const startMs = performance.now() - since;
    await sleep(2_000);
    const before = await askAll(members, "memory");
    const begun = performance.now();
    const latency = await change(bed, watcher, options, size);
    const seconds = (performance.now() - begun) / 1_000;
    const after = await askAll(members, "memory");
    const each = after.map((figures, index) => ({
      share: figures.share,
      owned: figures.owned,
      heap: figures.heap,
      rss: figures.rss,
      startCpuMs: before[index].cpuMs,
      cpuPercent: (figures.cpuMs - before[index].cpuMs) / (seconds * 10),
      leaseRequestsPerSecond: (figures.leaseRequests - before[index].leaseRequests) / seconds,
    }));
    return { members: count, startMs, ...latency, each };
  } finally {
    await Promise.all(members.map((member) => member.stop().catch(() => undefined)));
  }
}

async function round(options, selector) {
  const bed = await Bed.start(CONNECTIONS, note, selector === "on" ? [gate] : []);
  let watcher;
  try {
    await bed.createNamespace(NAMESPACE);
    const path = widgetsIn(NAMESPACE);
    note(`shardSelector ${selector}: makes ${options.objects} objects`);
    await inParallel(options.objects, CONNECTIONS, (index) => bed.api.send("POST", path, widget(nameOf(index), 1)));
    watcher = new Watcher(bed.api, path);
    const rows = [];
    let size = 1;
    for (const count of options.members) {
      // What the first ones have to handle is nobody's figure.
      if (rows.length === 0) await handleAll(bed, watcher, options);
      rows.push({ selector, ...(await measure(bed, watcher, count, options, size)) });
      size += 1 + Math.ceil((options.rate * options.seconds) / options.objects);
      note(`shardSelector ${selector}, ${count} members: done`);
    }
    return rows;
  } finally {
    watcher?.close();
    await bed.stop();
  }
}

async function handleAll(bed, watcher, { objects }) {
  const member = new Member(bed.kubeconfigFile, false);
  await watcher.settled(objects, LIMIT_MS, () => {});
  await member.stop();
}

function table(rows) {
  const range = (values, digits) => {
    const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
    return low === high ? low : `${low} to ${high}`;
  };
  const header = [
    "shardSelector",
    "members",
    "start ms",
    "p50 ms",
    "p99 ms",
    "objects",
    "heap MB",
    "RSS MB",
    "CPU to start ms",
    "CPU %",
    "Lease requests/s",
  ];
  return drawTable(
    header,
    rows.map(({ selector, members, startMs, p50, p99, each }) => [
      selector,
      members,
      startMs.toFixed(0),
      p50.toFixed(1),
      p99.toFixed(1),
      range(
        each.map(({ owned }) => owned),
        0,
      ),
      range(
        each.map(({ heap }) => heap),
        1,
      ),
      range(
        each.map(({ rss }) => rss),
        0,
      ),
      range(
        each.map(({ startCpuMs }) => startCpuMs),
        0,
      ),
      range(
        each.map(({ cpuPercent }) => cpuPercent),
        1,
      ),
      range(
        each.map(({ leaseRequestsPerSecond }) => leaseRequestsPerSecond),
        2,
      ),
    ]),
  );
}

await main(async () => {
  const options = readOptions();
  const { write } = process.stdout;
  // The build tells its progress on standard output, which is for the result alone.
  process.stdout.write = (...args) => process.stderr.write(...args);
  try {
    await build({ types: false });
  } finally {
    process.stdout.write = write;
  }
  const rows = [];
  for (const selector of options.selectors) rows.push(...(await round(options, selector)));
  say(options.json ? JSON.stringify(rows, null, 2) : table(rows));
});
