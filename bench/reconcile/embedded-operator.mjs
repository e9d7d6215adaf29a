// An operator as a process of its own, which answers questions about itself. Started by embedded.mjs, with --expose-gc.
import { writeFileSync } from "node:fs";
import inspector from "node:inspector/promises";
import { Client } from "lotse/client";

const [file] = process.argv.slice(2);
const { default: operator } = await import(file);

const session = new inspector.Session();
session.connect();
await session.post("Profiler.enable");

const client = await Client.connect();
let running;

const answers = {
  /** Starts the operator. Resolves when it has looked at everything; the times are since the process began. */
  async start() {
    const { crds } = process.env.BENCH_INSTALL ? { crds: "install" } : {};
    running = operator.start({ client, log: () => {}, ...(crds && { crds }) });
    await running.ready;
    const readyMs = performance.now();
    await running.idle();
    const { user, system } = process.cpuUsage();
    return { readyMs, idleMs: performance.now(), cpuMs: (user + system) / 1000 };
  },
  /** How often its functions were called, and how many objects it knows. */
  async figures() {
    await running.idle();
    const value = (name) => {
      const lines = running.metrics().split("\n");
      return lines
        .filter((line) => line.startsWith(name))
        .reduce((sum, line) => sum + Number(line.split(" ").pop()), 0);
    };
    return { runs: value('lotse_handler_runs_total{kind="Widget"'), objects: value("lotse_objects") };
  },
  async memory() {
    for (let i = 0; i < 3; i++) globalThis.gc();
    const { heapUsed, rss } = process.memoryUsage();
    return { heapUsed, rss };
  },
  async profile() {
    await session.post("Profiler.start");
  },
  async profiled(target) {
    const { profile } = await session.post("Profiler.stop");
    writeFileSync(target, JSON.stringify(profile));
  },
  async stop() {
    await running.stop();
    await client.close();
    session.disconnect();
  },
};

process.on("message", async ({ id, question, argument }) => {
  try {
    process.send?.({ id, answer: (await answers[question](argument)) ?? null });
    if (question === "stop") process.disconnect();
  } catch (error) {
    process.send?.({ id, problem: String(error?.stack ?? error) });
  }
});
process.send?.({ id: 0, answer: null });
