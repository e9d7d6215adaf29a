// 10,000 parents with three children each on the embedded cluster; the operator is a process of its own.
//
//   node bench/reconcile/embedded.mjs
//     --parents N       how many (10,000)                --trials N              of each disturbance (200)
//     --profile DIR     where the time of a cold start and of the changes goes (slows them down)
//     --json            for programs                     --strict                exit code 1 above a bar
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { inParallel } from "../engine/api.mjs";
import { topFunctions } from "../engine/profile.mjs";
import { percentile } from "../engine/workload.mjs";
import { drawTable } from "../measure.mjs";

const readsEach = 10;
const note = (line) => process.stderr.write(`${line}\n`);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const nameOf = (index) => `widget-${index}`;

function readOptions() {
  const flag = { type: "boolean", default: false };
  const text = { type: "string" };
  let values;
  try {
    ({ values } = parseArgs({ options: { json: flag, strict: flag, parents: text, trials: text, profile: text } }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const number = (name, usual) => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Failure(`--${name} takes a number from 1 up.`, 2);
    return value;
  };
  const { json, strict, profile } = values;
  return {
    ...{ json, strict, profile: profile && path.resolve(profile) },
    ...{ parents: number("parents", 10_000), trials: number("trials", 200) },
  };
}

/** The operator of a file, in a process of its own. */
class OperatorProcess {
  #child;
  #open = new Map();
  #next = 1;
  startedAt = performance.now();

  static async start(contestant, kubeconfig, env = {}) {
    const one = new OperatorProcess();
    one.#child = fork(here("embedded-operator.mjs"), [here(`contestants/${contestant}.mjs`)], {
      execArgv: ["--expose-gc"],
      env: { ...process.env, KUBECONFIG: kubeconfig, ...env },
    });
    const began = new Promise((resolve, reject) => one.#open.set(0, { resolve, reject }));
    one.#child.on("message", ({ id, answer, problem }) => {
      const { resolve, reject } = one.#open.get(id);
      one.#open.delete(id);
      if (problem === undefined) resolve(answer);
      else reject(new Error(problem));
    });
    one.#child.on("exit", (code) => {
      for (const { reject } of one.#open.values()) reject(new Error(`the operator ended with exit code ${code}`));
    });
    await began;
    return one;
  }

  ask(question, argument) {
    const id = this.#next++;
    this.#child.send({ id, question, argument });
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }

  async stop() {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    await this.ask("stop");
    await ended;
  }
}

class Bench {
  figures = {};
  #options;
  #parts;
  #folder = mkdtempSync(path.join(os.tmpdir(), "lotse-bench-"));
  #cluster;
  #client;
  #waiting = new Map();
  #stream;

  constructor(options, parts) {
    this.#options = options;
    this.#parts = parts;
  }

  get #kubeconfig() {
    return path.join(this.#folder, "kubeconfig");
  }

  async open() {
    const { Cluster } = this.#parts;
    this.#cluster = await Cluster.start();
    await this.#cluster.writeKubeconfig(this.#kubeconfig);
    this.#client = await this.#cluster.connect();
  }

  async close() {
    await this.#stream?.return?.();
    await this.#client?.close();
    await this.#cluster?.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Successful requests of the operator that changed something, since the log was last cleared. */
  #writes() {
    const verbs = new Set(["create", "update", "patch", "delete", "deletecollection"]);
    return this.#cluster.requests.filter(
      ({ verb, resource, status }) => verbs.has(verb) && /^(widgets\.|configmaps)/.test(resource ?? "") && status < 400,
    ).length;
  }

  /** All parents, and by an operator that has never seen them all children. */
  async fill() {
    const { parents } = this.#options;
    const { Widget } = this.#parts;
    const operator = await OperatorProcess.start("children", this.#kubeconfig, { BENCH_INSTALL: "1" });
    await operator.ask("start");
    const since = performance.now();
    await inParallel(parents, 20, (index) =>
      this.#client.create(new Widget({ metadata: { name: nameOf(index) }, spec: { size: 1 } })),
    );
    const last = nameOf(parents - 1);
    for (let done = 0; done < parents; ) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      await operator.ask("figures");
      done = 0;
      for await (const { status } of this.#client.list(Widget).raw()) done += status?.size === 1 ? 1 : 0;
      if (performance.now() - since > 600_000) throw new Error(`${last} is not settled after ten minutes`);
    }
    this.figures["fill.rate"] = (parents * 1000) / (performance.now() - since);
    await operator.stop();
  }

  /** An operator starts, and everything is as it shall be. Left running for what comes next. */
  async coldStart() {
    const { parents, profile } = this.#options;
    this.#cluster.requests.clear();
    const operator = await OperatorProcess.start("children", this.#kubeconfig);
    if (profile) await operator.ask("profile");
    const { readyMs, idleMs, cpuMs } = await operator.ask("start");
    if (profile) await operator.ask("profiled", path.join(this.#profileOf("cold-start"), "operator.cpuprofile"));
    const { runs } = await operator.ask("figures");
    if (runs !== parents) throw new Error(`${runs} runs for ${parents} parents`);
    const { rss, heapUsed } = await operator.ask("memory");
    Object.assign(this.figures, {
      "cold.readyMs": readyMs,
      "cold.idleMs": idleMs,
      "cold.cpuMs": cpuMs,
      "cold.writes": this.#writes(),
      "cold.rssMb": rss / 2 ** 20,
      "cold.heapMb": heapUsed / 2 ** 20,
    });
    return operator;
  }

  #profileOf(name) {
    const folder = path.join(this.#options.profile, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Tells of each event of a ConfigMap: `#seen("name", condition)` resolves when it holds. */
  async watch() {
    const { ConfigMap } = this.#parts;
    this.#stream = this.#client.watch(ConfigMap)[Symbol.asyncIterator]();
    let opened;
    const open = new Promise((resolve) => (opened = resolve));
    (async () => {
      for (;;) {
        const { done, value } = await this.#stream.next();
        if (done) return;
        opened();
        const { type, object } = value;
        const waits = this.#waiting.get(object.name);
        if (waits?.condition(type, object)) waits.resolve(performance.now());
      }
    })().catch((error) => {
      for (const { reject } of this.#waiting.values()) reject(error);
    });
    await open;
  }

  async #seen(name, condition) {
    try {
      return await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`nothing happens to ${name}`)), 30_000);
        this.#waiting.set(name, {
          condition,
          reject,
          resolve: (at) => {
            clearTimeout(timer);
            resolve(at);
          },
        });
      });
    } finally {
      this.#waiting.delete(name);
    }
  }

  /** One child after another is deleted: how long until the next one with its name is there. */
  async repairs(operator) {
    const { ConfigMap } = this.#parts;
    const before = await operator.ask("figures");
    this.#cluster.requests.clear();
    const ms = await this.#trials(async (name) => {
      const child = `${name}-rules`;
      const since = performance.now();
      const back = this.#seen(child, (type) => type === "ADDED");
      await this.#client.delete(ConfigMap, child);
      return (await back) - since;
    });
    const after = await operator.ask("figures");
    this.#disturbed("repair", ms, after.runs - before.runs);
  }

  /** One parent after another is changed: how long until its child is. */
  async changes(operator) {
    const { Widget } = this.#parts;
    const { profile } = this.#options;
    const before = await operator.ask("figures");
    this.#cluster.requests.clear();
    if (profile) await operator.ask("profile");
    const ms = await this.#trials(async (name) => {
      const since = performance.now();
      const changed = this.#seen(`${name}-settings`, (_type, { data }) => data?.size === "2");
      await this.#client.patch(Widget, name, { spec: { size: 2 } });
      return (await changed) - since;
    });
    const after = await operator.ask("figures");
    if (profile) await operator.ask("profiled", path.join(this.#profileOf("changes"), "operator.cpuprofile"));
    this.#disturbed("change", ms, after.runs - before.runs);
  }

  async #trials(trial) {
    const { trials, parents } = this.#options;
    const ms = [];
    // Far from each other in the order of their creation.
    for (let at = 0; at < trials; at++) ms.push(await trial(nameOf(Math.floor((at * parents) / trials))));
    return ms;
  }

  #disturbed(what, ms, runs) {
    const { trials } = this.#options;
    // The disturbances themselves are writes too.
    const writes = this.#writes() - trials;
    Object.assign(this.figures, {
      [`${what}.p50`]: percentile(ms, 0.5),
      [`${what}.p99`]: percentile(ms, 0.99),
      [`${what}.runs`]: runs / trials,
      [`${what}.writes`]: writes / trials,
    });
  }

  /** The same reconciler without reads and with ten for each parent: what the heap has more. */
  async memoryOfReads() {
    const { parents } = this.#options;
    const heapWith = async (reads) => {
      const operator = await OperatorProcess.start("reads", this.#kubeconfig, { BENCH_READS: String(reads) });
      await operator.ask("start");
      const { runs } = await operator.ask("figures");
      if (runs !== parents) throw new Error(`${runs} runs for ${parents} parents`);
      const { heapUsed } = await operator.ask("memory");
      await operator.stop();
      return heapUsed;
    };
    const without = await heapWith(0);
    this.figures["reads.bytes"] = ((await heapWith(readsEach)) - without) / (readsEach * parents);
  }
}

const rows = [
  ["fill.rate", "parents settled a second, from nothing", 0],
  ["cold.readyMs", "cold start: process start → all objects known (ms)", 0],
  ["cold.idleMs", "cold start: process start → all parents looked at (ms)", 0],
  ["cold.cpuMs", "CPU of it (ms)", 0],
  ["cold.writes", "writes of it", 0, 0],
  ["cold.rssMb", "memory of the operator afterwards (MiB)", 0],
  ["cold.heapMb", "heap of it (MiB)", 0],
  ["repair.p50", "child deleted → back, p50 (ms)", 1],
  ["repair.p99", "child deleted → back, p99 (ms)", 1, 50],
  ["repair.runs", "runs for each deleted child", 2, 1],
  ["repair.writes", "writes for each deleted child", 2, 1],
  ["change.p50", "parent changed → child updated, p50 (ms)", 1],
  ["change.p99", "parent changed → child updated, p99 (ms)", 1],
  ["change.runs", "runs for each changed parent", 2, 1],
  ["change.writes", "writes for each changed parent", 2, 2],
  ["reads.bytes", "heap for each remembered read (bytes)", 0, 200],
];

await main(async () => {
  const options = readOptions();
  await ensureInstalled();
  const { write } = process.stdout;
  process.stdout.write = (...args) => process.stderr.write(...args);
  await build({ types: false });
  process.stdout.write = write;
  const { Cluster } = await import("@lotse/cluster");
  const { ConfigMap } = await import("lotse/client");
  const { Widget } = await import("./contestants/widget.mjs");
  const load = os.loadavg()[0].toFixed(1);

  const bench = new Bench(options, { Cluster, ConfigMap, Widget });
  try {
    await bench.open();
    note(`${options.parents} parents are filled`);
    await bench.fill();
    note("cold start");
    const operator = await bench.coldStart();
    await bench.watch();
    note("children are deleted, then parents changed");
    await bench.repairs(operator);
    await bench.changes(operator);
    await operator.stop();
    note("memory of reads");
    await bench.memoryOfReads();
  } finally {
    await bench.close();
  }

  const { figures } = bench;
  const broken = rows.filter(([key, , , bar]) => bar !== undefined && figures[key] > bar * 1.01);
  const cells = rows.map(([key, what, digits, bar]) => [
    what,
    figures[key].toFixed(digits),
    bar === undefined ? "" : `≤ ${bar}`,
    bar === undefined ? "" : figures[key] > bar * 1.01 ? "NO" : "yes",
  ]);
  if (options.json) say(JSON.stringify({ options, figures, broken: broken.map(([, what]) => what) }, null, 2));
  else {
    say(`Node.js ${process.versions.node}, ${os.availableParallelism()} cores, load ${load}\n`);
    say(drawTable([`${options.parents} parents, ${options.trials} trials`, "value", "bar", "holds"], cells));
    if (options.profile) for (const phase of ["cold-start", "changes"]) printProfile(options.profile, phase);
  }
  leaveResults(rows.length, 0);
  return options.strict && broken.length > 0 ? 1 : 0;
});

function printProfile(folder, phase) {
  const { total, self, charged } = topFunctions(path.join(folder, phase));
  for (const [title, top] of Object.entries({ "by themselves": self, "with what they call of Node.js": charged })) {
    say(`\n${phase}: ${total.toFixed(0)} ms of work; functions ${title}`);
    for (const { what, ms, share } of top) {
      say(`${ms.toFixed(0).padStart(7)} ms ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
    }
  }
}
