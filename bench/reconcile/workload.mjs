// The workload, the same for everybody: start, creations, changes, children that are deleted, restart when all is settled.
import { contest } from "../contest.mjs";
import { inParallel } from "../engine/api.mjs";
import { configMapsIn, widget, widgetsIn } from "../engine/bed.mjs";
import { Contestant } from "../engine/contestant.mjs";
import { connections, percentile } from "../engine/workload.mjs";
import { Witness } from "./witness.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const nameOf = (index) => `widget-${index}`;
/** The parent that tells when a contestant has begun to work: there before it, and with something to do about it. */
const canary = "canary";

/**
 * One run of one contestant in a namespace of its own. Returns its figures, flat: `create.ms`, `change.child.p50`, …
 *
 * @param {import("../engine/bed.mjs").Bed} bed
 * @param {{ name: string, command: (namespace: string) => [string, string[]], namespace: string, parents: number,
 *   rate: number, seconds: number, profile?: string }} options
 */
export function runOnce(bed, options) {
  return contest(bed, options, () => new Run(bed, options), [
    (run) => run.start(),
    (run) => run.create(),
    (run) => run.change(),
    (run) => run.repair(),
    (run) => run.restart(),
  ]);
}

class Run {
  figures = {};
  #bed;
  #options;
  #widgets;
  #witness;
  #contestant;
  #size = 1;

  constructor(bed, options) {
    this.#bed = bed;
    this.#options = options;
    this.#widgets = widgetsIn(options.namespace);
    this.#witness = new Witness(bed.api, options.namespace);
  }

  get output() {
    return this.#contestant?.output;
  }

  async start() {
    await this.#bed.api.send("POST", this.#widgets, widget(canary, this.#size));
    this.figures["start.ms"] = await this.#launch();
    await this.#witness.quiet();
    this.figures["start.mb"] = this.#contestant.memory().now;
    this.#bed.takeWrites();
  }

  async #launch() {
    const { name, command, namespace, profile } = this.#options;
    const kubeconfig = this.#bed.kubeconfigFile;
    this.#contestant = new Contestant(name, { namespace, kubeconfig, profile, command: command(namespace) });
    const size = this.#size;
    const settled = () => this.#witness.isSettled(canary, size);
    const at = await this.#witness.until(settled, "the first parent", 60_000, this.#contestant.alive);
    return at - this.#contestant.startedAt;
  }

  async create() {
    const { parents } = this.#options;
    const cpu = this.#contestant.cpu();
    const since = performance.now();
    const settled = this.#settled(parents + 1);
    await inParallel(parents, connections, (index) =>
      this.#bed.api.send("POST", this.#widgets, widget(nameOf(index), this.#size)),
    );
    const ms = (await settled) - since;
    this.figures["create.ms"] = ms;
    this.figures["create.rate"] = (parents * 1000) / ms;
    await this.#witness.quiet();
    this.#cost("create", cpu, parents);
  }

  /** So many changes a second, sent when it is their time, whether or not those before have been answered. */
  async change() {
    const { rate, seconds, parents } = this.#options;
    const count = rate * seconds;
    const cpu = this.#contestant.cpu();
    this.#witness.begin();
    const requests = [];
    await this.#paced(count, rate, (index) => {
      const name = nameOf(index % parents);
      const size = this.#size + 1 + Math.floor(index / parents);
      this.#witness.sending(name, size);
      requests.push(this.#bed.api.merge(`${this.#widgets}/${name}`, { spec: { size } }));
    });
    await Promise.all(requests);
    await this.#settled(parents + 1);
    await this.#witness.quiet();
    this.#size += 1 + Math.ceil(count / parents);
    const { child, status } = this.#witness.samples;
    for (const [what, values] of Object.entries({ child, status })) {
      this.figures[`change.${what}.p50`] = percentile(values, 0.5);
      this.figures[`change.${what}.p99`] = percentile(values, 0.99);
    }
    this.#cost("change", cpu, count);
    this.figures["change.mb"] = this.#contestant.memory().now;
  }

  /** Somebody deletes children: how long each is away. */
  async repair() {
    const { parents, namespace } = this.#options;
    const count = Math.min(200, parents);
    const cpu = this.#contestant.cpu();
    this.#witness.begin();
    const requests = [];
    await this.#paced(count, 20, (index) => {
      requests.push(this.#bed.api.send("DELETE", `${configMapsIn(namespace)}/${nameOf(index)}-rules`));
    });
    await Promise.all(requests);
    const back = () => this.#witness.samples.repair.length === count;
    await this.#witness.until(back, `${count} children back`, this.#limit, this.#contestant.alive);
    await this.#witness.quiet();
    const { repair } = this.#witness.samples;
    this.figures["repair.p50"] = percentile(repair, 0.5);
    this.figures["repair.p99"] = percentile(repair, 0.99);
    this.#cost("repair", cpu, count);
    this.figures["peak.mb"] = this.#contestant.memory().peak;
  }

  /** Stopped and started again, with one parent to do and all others done. */
  async restart() {
    await this.#contestant.stop();
    await this.#bed.api.merge(`${this.#widgets}/${canary}`, { spec: { size: ++this.#size } });
    this.#bed.takeWrites();
    this.figures["restart.ms"] = await this.#launch();
    await this.#witness.quiet();
    await sleep(1500); // what is done for each settled parent, though nobody can see it, is done by now
    this.figures["restart.cpu"] = this.#contestant.cpu();
    this.figures["restart.mb"] = this.#contestant.memory().now;
    // The settings and the status of the canary.
    this.figures["restart.writes"] = this.#bed.takeWrites().done - 2;
  }

  /** Calls `send` `count` times, `rate` times a second. */
  async #paced(count, rate, send) {
    const since = performance.now();
    for (let index = 0; index < count; index++) {
      const early = since + (index * 1000) / rate - performance.now();
      if (early > 0) await sleep(early);
      send(index);
    }
  }

  get #limit() {
    return 60_000 + this.#options.parents * 100;
  }

  #settled(count) {
    const settled = this.#witness.settled(count, this.#limit, this.#contestant.alive);
    settled.catch(() => {}); // awaited later than it may fail
    return settled;
  }

  #cost(phase, cpuBefore, count) {
    const { done, refused } = this.#bed.takeWrites();
    this.figures[`${phase}.cpu`] = (this.#contestant.cpu() - cpuBefore) / count;
    this.figures[`${phase}.writes`] = done / count;
    this.figures[`${phase}.refused`] = refused;
  }

  /** Nobody after this one shall find the server full: without the garbage collector nobody else empties it. */
  async close() {
    await this.#contestant?.stop();
    this.#witness.close();
    await this.#bed.api.send("DELETE", this.#widgets);
    await this.#bed.api.send("DELETE", configMapsIn(this.#options.namespace));
    this.#bed.takeWrites();
  }
}
