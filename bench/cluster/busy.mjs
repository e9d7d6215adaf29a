// Whether an embedded cluster keeps answering while its own controllers have much to do: `GET /version` every 5 ms from
// another process while a Deployment gets its pods, Jobs run to their end, and a full namespace is deleted.
//
//   node bench/cluster/busy.mjs
//     --pods N      of the Deployment (5,000)      --jobs N      (1,000)      --objects N   in the namespace (10,000)
//     --json        for programs                   --strict      exit code 1 above a bar
import { fork } from "node:child_process";
import { request } from "node:https";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { inParallel } from "../engine/api.mjs";
import { percentile } from "../engine/workload.mjs";
import { drawTable } from "../measure.mjs";

const BARS = { p99: 50 };
const pauseMs = 5;

/** The process that asks: this file once more, told where by its first message; it tells what it saw at the second. */
function ask() {
  const times = [];
  let stopped = false;
  const once = ({ port, ca, token }) =>
    new Promise((resolve, reject) => {
      const since = performance.now();
      const call = request(
        { host: "127.0.0.1", port, path: "/version", ca, headers: { authorization: `Bearer ${token}` } },
        (response) => {
          response.resume();
          response.on("end", () => {
            times.push(performance.now() - since);
            resolve();
          });
        },
      );
      call.on("error", reject);
      call.end();
    });
  process.on("message", async (place) => {
    if (place === "stop") {
      stopped = true;
      return;
    }
    while (!stopped) {
      await once(place);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    process.send(times, () => process.disconnect());
  });
}

async function measured(name, place, work) {
  const child = fork(fileURLToPath(import.meta.url), ["--ask"]);
  child.send(place);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const [since, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const seconds = (performance.now() - since) / 1_000;
  const used = process.cpuUsage(cpu);
  loop.disable();
  const times = await new Promise((resolve, reject) => {
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Failure(`the process that asks ended with ${code}`, 1)));
    child.send("stop");
  });
  return {
    name,
    seconds,
    cpuSeconds: (used.user + used.system) / 1e6,
    answers: times.length,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    longest: Math.max(...times),
    block: loop.max / 1e6,
  };
}

async function untilTrue(check) {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function run({ pods, jobs, objects }) {
  const { Cluster } = await import("@lotse/cluster");
  const { ConfigMap, Deployment, Job, Namespace, NotFoundError } = await import("@lotse/client");
  const cluster = await Cluster.start({ kubelet: "simulate" });
  const client = await cluster.connect();
  const place = { port: Number(new URL(cluster.url).port), ca: cluster.caPem, token: cluster.token };
  const results = [];
  const labels = { app: "many" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  results.push(
    await measured(`${pods} pods of a Deployment, running`, place, async () => {
      await client.create(
        new Deployment({
          metadata: { name: "many" },
          spec: { replicas: pods, selector: { matchLabels: labels }, template },
        }),
      );
      await untilTrue(async () => (await client.get(Deployment, "many")).status?.readyReplicas === pods);
    }),
  );
  results.push(
    await measured(`${jobs} Jobs, complete`, place, async () => {
      cluster.pods.program({ labels: "app=job" }, { exit: [{ code: 0 }] });
      const spec = {
        template: { metadata: { labels: { app: "job" } }, spec: { ...template.spec, restartPolicy: "Never" } },
      };
      await inParallel(jobs, 20, (i) => client.create(new Job({ metadata: { name: `job-${i}` }, spec })));
      await untilTrue(async () => {
        let done = 0;
        for await (const job of client.list(Job)) done += job.status?.succeeded ?? 0;
        return done === jobs;
      });
    }),
  );
  await client.create(new Namespace({ metadata: { name: "full" } }));
  const data = { text: "x".repeat(100) };
  await inParallel(objects, 20, (i) =>
    client.create(new ConfigMap({ metadata: { name: `one-${i}`, namespace: "full" }, data })),
  );
  results.push(
    await measured(`a namespace with ${objects} objects, deleted`, place, async () => {
      await client.delete(Namespace, "full");
      await untilTrue(() =>
        client.get(Namespace, "full").then(
          () => false,
          (error) => {
            if (error instanceof NotFoundError) return true;
            throw error;
          },
        ),
      );
    }),
  );
  await client.close();
  await cluster.stop();
  return results;
}

function readOptions() {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  let values;
  try {
    ({ values } = parseArgs({ options: { pods: text, jobs: text, objects: text, json: flag, strict: flag } }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const number = (name, usual) => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Failure(`--${name} takes a number from 1 up.`, 2);
    return value;
  };
  const { json, strict } = values;
  return { json, strict, pods: number("pods", 5_000), jobs: number("jobs", 1_000), objects: number("objects", 10_000) };
}

if (process.argv[2] === "--ask") ask();
else
  await main(async () => {
    const options = readOptions();
    await ensureInstalled();
    await build({ types: false });
    const results = await run(options);
    if (options.json) say(JSON.stringify(results));
    else {
      const columns = [
        "work",
        "seconds",
        "of CPU",
        "answers",
        "p50 ms",
        "p99 ms",
        "longest ms",
        "longest block ms",
        "held",
      ];
      const rows = results.map((one) => [
        one.name,
        ...[one.seconds, one.cpuSeconds].map((value) => value.toFixed(1)),
        one.answers,
        ...[one.p50, one.p99, one.longest, one.block].map((value) => value.toFixed(1)),
        one.p99 <= BARS.p99 ? "yes" : "NO",
      ]);
      say(drawTable(columns, rows));
    }
    const failed = results.filter(({ p99 }) => p99 > BARS.p99).length;
    leaveResults(results.length - failed, failed);
    return options.strict && failed > 0 ? 1 : 0;
  });
