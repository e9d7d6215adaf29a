// One measurement of one contestant in a process of its own: `node sample.mjs MEASURE '{ options }'`. It lies beside
// `contestant.mjs` in a folder in which only that contestant's package is installed, and prints one line of JSON.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import * as contestant from "./contestant.mjs";

/** Milliseconds of wall time and of CPU, on all threads, since it was started. */
function stopwatch() {
  const since = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { ms: performance.now() - since, cpuMs: (user + system) / 1000 };
  };
}

function expect(truth, what) {
  if (!truth) throw new Error(`not what was asked for: ${what}`);
}

/** Asks for one small object again and again, `width` at a time, until the time is over. Returns how often. */
async function ask(client, width, ms) {
  const end = performance.now() + ms;
  let count = 0;
  const lane = async () => {
    while (performance.now() < end) {
      const object = await contestant.get(client, "default", "small");
      expect(object.metadata.name === "small", "the small object");
      count++;
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return count;
}

const measures = {
  async requests({ width, warmUpMs, ms }) {
    const client = await contestant.connect();
    await ask(client, width, warmUpMs);
    const stop = stopwatch();
    const count = await ask(client, width, ms);
    const took = stop();
    return { perSecond: (count * 1000) / took.ms, cpuUs: (took.cpuMs * 1000) / count };
  },

  /** From the first change to the last, with every one of them handled. */
  async watch({ events, firstVersion, size }) {
    const client = await contestant.connect();
    let [count, sum, stop, opened] = [0, 0, undefined, undefined];
    const { took, name } = await new Promise((resolve, reject) => {
      const onChange = ({ metadata }) => {
        count++;
        sum += Number(metadata.resourceVersion) - firstVersion;
        if (count === 1) stop = stopwatch();
        if (count === events) resolve({ took: stop(), name: metadata.name });
      };
      opened = contestant.watch(client, "busy", onChange);
      opened.catch(reject);
    });
    // Each version once; not in their order, which not everybody keeps.
    expect(sum === (events * (events + 1)) / 2, "every change, once");
    const cache = await opened;
    if (cache !== undefined) {
      expect(cache.size() === size, "the size of the cache");
      expect(cache.newest(name).metadata.resourceVersion === String(firstVersion + events), "the newest version");
    }
    return { perSecond: ((events - 1) * 1000) / took.ms, cpuUs: (took.cpuMs * 1000) / (events - 1) };
  },

  async list({ size }) {
    const client = await contestant.connect();
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    await sleep(20);
    delays.reset();
    const stop = stopwatch();
    const pods = await contestant.list(client, "many");
    const { ms, cpuMs } = stop();
    // The last block counts when the loop has turned once more.
    await sleep(5);
    delays.disable();
    expect(pods.length === size && pods[size - 1].spec.containers.length === 2, "the list");
    return { ms, cpuMs, blockMs: delays.max / 1e6, peakMb: process.resourceUsage().maxRSS / 1024 };
  },
};

const [measure, options] = process.argv.slice(2);
const result = await measures[measure](JSON.parse(options));
// Streams, timers and kept connections would keep the process alive.
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
