// The workload, the same for everybody: start, creations, changes, restart with everything settled, deletion.
import { contest } from "../contest.mjs";
import { inParallel } from "./api.mjs";
import { configMapsIn, widget, widgetsIn } from "./bed.mjs";
import { Contestant } from "./contestant.mjs";
import { Watcher } from "./watcher.mjs";

/** How many connections create and delete. */
export const connections = 20;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const nameOf = (index) => `widget-${index}`;
/** The object that tells when a contestant has begun to work: there before it, and with something to do about it. */
const canary = "canary";
/** The object that somebody changes all the time. */
const hot = "hot";

/** The value below which `share` of the values lie. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/**
 * One run of one contestant in a namespace of its own. Returns its figures, flat: `create.ms`, `change.p50`, …
 *
 * @param {import("./bed.mjs").Bed} bed
 * @param {{ name: string, namespace: string, child: boolean, objects: number, rate: number, seconds: number,
 *   hot: boolean, program?: string, profile?: string, stages?: string }} options
 */
export function runOnce(bed, options) {
  return contest(bed, options, () => new Run(bed, options), [
    (run) => run.start(),
    (run) => run.create(),
    (run) => run.change(),
    ...(options.hot ? [(run) => run.changeBesideHot()] : []),
    (run) => run.restart(),
    (run) => run.delete(),
  ]);
}

class Run {
  figures = {};
  #bed;
  #options;
  #widgets;
  #watcher;
  #contestant;
  #size = 1;

  constructor(bed, options) {
    this.#bed = bed;
    this.#options = options;
    this.#widgets = widgetsIn(options.namespace);
    this.#watcher = new Watcher(bed.api, this.#widgets);
  }

  get output() {
    return this.#contestant?.output;
  }

  /** How many writes one change needs at least: the status, and the child where there is one. */
  get #writesEach() {
    return this.#options.child ? 2 : 1;
  }

  /** From the start of the process to the first status. */
  async start() {
    await this.#bed.api.send("POST", this.#widgets, widget(canary, this.#size));
    this.figures["start.ms"] = await this.#launch();
    await this.#watcher.quiet();
    this.figures["start.mb"] = this.#contestant.memory().now;
    this.#bed.takeWrites();
  }

  async #launch(more = {}) {
    const { name, namespace, child, program, profile, stages } = this.#options;
    const kubeconfig = this.#bed.kubeconfigFile;
    this.#contestant = new Contestant(name, { namespace, kubeconfig, child, program, profile, stages, ...more });
    const size = this.#size;
    const settled = () => this.#watcher.isSettled(canary, size);
    return (
      (await this.#watcher.until(settled, "the first status", 60_000, this.#contestant.alive)) -
      this.#contestant.startedAt
    );
  }

  async create() {
    const { objects } = this.#options;
    const cpu = this.#contestant.cpu();
    const since = performance.now();
    const settled = this.#settled(objects + 1);
    await inParallel(objects, connections, (index) =>
      this.#bed.api.send("POST", this.#widgets, widget(nameOf(index), this.#size)),
    );
    this.figures["create.sentMs"] = performance.now() - since;
    this.figures["create.ms"] = (await settled) - since;
    await this.#watcher.quiet();
    this.#cost("create", cpu, objects);
  }

  async change() {
    const cpu = this.#contestant.cpu();
    const changes = await this.#changes("change");
    this.#cost("change", cpu, changes);
    this.figures["change.mb"] = this.#contestant.memory().now;
    await this.#checkChildren();
  }

  /** The same changes, while one object is changed as often as the server can do, up to 1,000 times a second. */
  async changeBesideHot() {
    const { api } = this.#bed;
    await api.send("POST", this.#widgets, widget(hot, this.#size));
    await this.#settled(this.#options.objects + 2);
    let [stopped, sent] = [false, 0];
    const since = performance.now();
    // One after another: writers of one object only keep each other waiting in the server.
    const writer = (async () => {
      while (!stopped) {
        const early = since + sent - performance.now();
        if (early > 0) await sleep(early);
        await api.merge(`${this.#widgets}/${hot}`, { spec: { size: this.#size + ++sent } });
      }
    })();
    await this.#changes("hot", async () => {
      stopped = true;
      this.figures["hot.rate"] = (sent * 1000) / (performance.now() - since);
      await writer;
    });
    this.#size += sent + 1;
    await api.send("DELETE", `${this.#widgets}/${hot}`);
    await this.#settled(this.#options.objects + 1);
    this.#bed.takeWrites();
  }

  /** So many changes a second, sent when it is their time, whether or not those before have been answered. */
  async #changes(phase, end = async () => {}) {
    const { rate, seconds, objects } = this.#options;
    const count = rate * seconds;
    this.#watcher.begin();
    const since = performance.now();
    const requests = [];
    for (let index = 0; index < count; index++) {
      const early = since + (index * 1000) / rate - performance.now();
      if (early > 0) await sleep(early);
      const name = nameOf(index % objects);
      const size = this.#size + 1 + Math.floor(index / objects);
      this.#watcher.sending(name, size);
      requests.push(this.#bed.api.merge(`${this.#widgets}/${name}`, { spec: { size } }));
    }
    await Promise.all(requests);
    await end();
    await this.#settled(this.#watcher.size);
    await this.#watcher.quiet();
    this.#size += 1 + Math.ceil(count / objects);
    const samples = this.#watcher.samples.filter(({ sent }) => sent !== undefined);
    for (const of of ["seen", "sent"]) {
      const values = samples.map((sample) => sample[of]);
      this.figures[`${phase}.${of}.p50`] = percentile(values, 0.5);
      this.figures[`${phase}.${of}.p99`] = percentile(values, 0.99);
    }
    return count;
  }

  /** Stopped and started again, with one object to do and all others done. */
  async restart() {
    const { api } = this.#bed;
    const { name, objects } = this.#options;
    await this.#contestant.stop();
    await api.merge(`${this.#widgets}/${canary}`, { spec: { size: ++this.#size } });
    this.#bed.takeWrites();
    this.figures["restart.ms"] = await this.#launch();
    await this.#watcher.quiet();
    await sleep(1500); // what is done for each settled object, though nobody can see it, is done by now
    this.figures["restart.cpu"] = this.#contestant.cpu();
    this.figures["restart.mb"] = this.#contestant.memory().now;
    this.figures["restart.writes"] = this.#bed.takeWrites().done - this.#writesEach;
    if (name === "floor") await this.#measureStore();
    if (this.#watcher.size !== objects + 1)
      throw new Error(`${this.#watcher.size} objects are there, not ${objects + 1}`);
  }

  /** What it costs to keep all objects: the same process, once more, with a map of them. */
  async #measureStore() {
    await this.#contestant.stop();
    await this.#bed.api.merge(`${this.#widgets}/${canary}`, { spec: { size: ++this.#size } });
    await this.#launch({ keep: true, profile: undefined });
    await this.#watcher.quiet();
    await sleep(1500);
    this.figures["store.mb"] = Math.max(0, this.#contestant.memory().now - this.figures["restart.mb"]);
    this.#bed.takeWrites();
  }

  async delete() {
    const { api } = this.#bed;
    const { objects, child, namespace } = this.#options;
    const cpu = this.#contestant.cpu();
    const since = performance.now();
    const gone = this.#watcher.until(() => this.#watcher.size === 0, "deletion", this.#limit, this.#contestant.alive);
    await inParallel(objects + 1, connections, (index) =>
      api.send("DELETE", `${this.#widgets}/${index === objects ? canary : nameOf(index)}`),
    );
    this.figures["delete.ms"] = (await gone) - since;
    await this.#watcher.quiet(1000);
    this.#contestant.alive();
    this.#cost("delete", cpu, objects + 1);
    this.figures["delete.mb"] = this.#contestant.memory().now;
    this.figures["peak.mb"] = this.#contestant.memory().peak;
    // Without the garbage collector nobody else does it.
    if (child) await api.send("DELETE", configMapsIn(namespace));
  }

  /** A contestant that is fast because it does not do its job must not pass. */
  async #checkChildren() {
    const { namespace, child, objects } = this.#options;
    if (!child) return;
    const [{ items: parents }, { items: children }] = await Promise.all([
      this.#bed.api.get(this.#widgets),
      this.#bed.api.get(configMapsIn(namespace)),
    ]);
    const owned = new Map(children.map(({ metadata, data }) => [metadata.ownerReferences?.[0]?.uid, data.size]));
    const wrong = parents.filter(({ metadata, spec }) => owned.get(metadata.uid) !== String(spec.size));
    if (wrong.length > 0 || parents.length !== objects + 1) {
      throw new Error(`${wrong.length} of ${parents.length} objects have no ConfigMap of the right size`);
    }
  }

  get #limit() {
    return 60_000 + this.#options.objects * 20;
  }

  #settled(count) {
    const settled = this.#watcher.settled(count, this.#limit, this.#contestant.alive);
    settled.catch(() => {}); // awaited later than it may fail
    return settled;
  }

  #cost(phase, cpuBefore, count) {
    const { done, refused } = this.#bed.takeWrites();
    this.figures[`${phase}.cpu`] = (this.#contestant.cpu() - cpuBefore) / count;
    this.figures[`${phase}.writes`] = done / count;
    this.figures[`${phase}.refused`] = refused;
  }

  async close() {
    this.#watcher.close();
    await this.#contestant?.stop();
  }
}
