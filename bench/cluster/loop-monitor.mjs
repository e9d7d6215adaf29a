// Measures how long a process keeps its event loop to itself: the time from one turn of the loop to the next, as far as
// the process had a core to work on. While it measures, the loop never sleeps.
import { closeSync, openSync, readSync } from "node:fs";
import { Session } from "node:inspector";
import { PerformanceObserver } from "node:perf_hooks";

/** Turns that last longer are looked at one by one. */
const NOTED_MS = 10;

/**
 * Milliseconds for which this thread was ready and another had the core; 0 where the kernel does not tell.
 */
function createRunDelay() {
  let file;
  try {
    file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  } catch {
    return { read: () => 0, close: () => {} };
  }
  const bytes = Buffer.alloc(64);
  return {
    read: () => Number(bytes.toString("latin1", 0, readSync(file, bytes, 0, 64, 0)).split(" ")[1]) / 1e6,
    close: () => closeSync(file),
  };
}

/** Milliseconds of CPU that this process has used, those of V8's and libuv's threads included. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

/** From `start` to `stop` of this process; with `profile` every long turn says in which functions it went by. */
export class LoopMonitor {
  #session;
  #delay = createRunDelay();
  #collections = [];
  #observer = new PerformanceObserver((list) => this.#collect(list));
  #turns = [];
  #count = 0;
  #longest = 0;
  #over = false;

  async start({ profile = false } = {}) {
    this.#observer.observe({ entryTypes: ["gc"] });
    if (profile) {
      this.#session = new Session();
      this.#session.connect();
      await this.#post("Profiler.enable");
      await this.#post("Profiler.setSamplingInterval", { interval: 500 });
      await this.#post("Profiler.start");
    }
    let before = this.#times();
    const turn = () => {
      const now = this.#times();
      this.#count++;
      // A busy machine makes both of them too long, each in a way of its own.
      const ms = Math.min(now.at - before.at - (now.delay - before.delay), now.cpu - before.cpu);
      this.#longest = Math.max(this.#longest, ms);
      if (ms > NOTED_MS) this.#turns.push({ from: before.at, to: now.at, ms });
      before = now;
      if (this.#over) this.#delay.close();
      else setImmediate(turn);
    };
    setImmediate(turn);
  }

  async stop() {
    this.#over = true;
    this.#collect({ getEntries: () => this.#observer.takeRecords() });
    this.#observer.disconnect();
    const profile = this.#session && (await this.#post("Profiler.stop")).profile;
    this.#session?.disconnect();
    const turns = this.#turns.map((turn) => ({
      ms: turn.ms,
      collecting: this.#collections.reduce((sum, one) => sum + overlap(turn, one), 0),
      ...(profile ? { stacks: stacksIn(profile, turn) } : {}),
    }));
    turns.sort((a, b) => b.ms - a.ms);
    const longest = this.#longest;
    // Turns that were not noted are short enough as they are.
    const own =
      turns.length === 0 ? longest : Math.max(...turns.map(({ ms, collecting }) => Math.max(0, ms - collecting)));
    return { count: this.#count, longest, own, turns };
  }

  #times() {
    return { at: performance.now(), delay: this.#delay.read(), cpu: cpuMs() };
  }

  #collect(list) {
    for (const { startTime, duration } of list.getEntries()) {
      this.#collections.push({ from: startTime, to: startTime + duration });
    }
  }

  #post(method, params) {
    return new Promise((resolve, reject) =>
      this.#session.post(method, params, (error, result) => (error ? reject(error) : resolve(result))),
    );
  }
}

const overlap = (a, b) => Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from));

/** The functions that were on the stack in a turn, with the milliseconds for which each was. */
function stacksIn({ nodes, samples, timeDeltas, startTime }, { from, to }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const child of node.children ?? []) byId.get(child).parent = node;
  const totals = new Map();
  // The profiler's clock and performance.now() differ in where they begin.
  const origin = Number(process.hrtime.bigint() / 1_000n) / 1_000 - performance.now();
  let at = startTime / 1_000;
  for (const [index, id] of samples.entries()) {
    const ms = timeDeltas[index] / 1_000;
    at += ms;
    if (at - origin < from || at - origin > to) continue;
    const seen = new Set();
    for (let node = byId.get(id); node; node = node.parent) {
      const { functionName, url, lineNumber } = node.callFrame;
      const name = `${functionName || "(anonymous)"} ${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`;
      if (seen.has(name)) continue;
      seen.add(name);
      totals.set(name, (totals.get(name) ?? 0) + ms);
    }
  }
  return [...totals].sort((a, b) => b[1] - a[1]).slice(0, 24);
}
