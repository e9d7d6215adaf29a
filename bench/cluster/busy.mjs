// Whether an embedded cluster keeps answering while its own controllers have much to do: `GET /version` every 5 ms from
// another process while a Deployment gets its pods, Jobs run to their end, and a full namespace is deleted. The cluster
// has a process for itself, which is measured turn by turn of its event loop.
//
//   node bench/cluster/busy.mjs
//     --pods N      of the Deployment (5,000)      --jobs N      (1,000)      --objects N   in the namespace (10,000)
//     --json        for programs                   --strict      exit code 1 above a bar
import { fork } from "node:child_process";
import { request } from "node:https";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { Api, inParallel } from "../engine/api.mjs";
import { percentile } from "../engine/workload.mjs";
import { drawTable } from "../measure.mjs";
import { startServer } from "./loop-process.mjs";
import { gone, until } from "./scenarios.mjs";

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

async function measured(name, server, place, work) {
  const child = fork(fileURLToPath(import.meta.url), ["--ask"]);
  child.send(place);
  await server.tell("start");
  const since = performance.now();
  await work();
  const seconds = (performance.now() - since) / 1_000;
  const { loop } = await server.tell("stop");
  const times = await new Promise((resolve, reject) => {
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Failure(`the process that asks ended with ${code}`, 1)));
    child.send("stop");
  });
  return {
    name,
    seconds,
    answers: times.length,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    longest: Math.max(...times),
    block: loop.longest,
    own: loop.own,
  };
}

const namespaced = (group, plural, namespace = "default") => `${group}/namespaces/${namespace}/${plural}`;

async function run({ pods, jobs, objects }) {
  const server = await startServer();
  const { kubeconfig } = server;
  const [{ cluster }] = kubeconfig.clusters;
  const place = {
    port: Number(new URL(cluster.server).port),
    ca: Buffer.from(cluster["certificate-authority-data"], "base64").toString(),
    token: kubeconfig.users[0].user.token,
  };
  const api = new Api(kubeconfig, 20);
  const results = [];
  const labels = { app: "many" };
  const spec = { containers: [{ name: "c", image: "i" }] };
  results.push(
    await measured(`${pods} pods of a Deployment, running`, server, place, async () => {
      const path = namespaced("/apis/apps/v1", "deployments");
      const template = { metadata: { labels }, spec };
      const body = {
        metadata: { name: "many" },
        spec: { replicas: pods, selector: { matchLabels: labels }, template },
      };
      await api.send("POST", path, body);
      await until(async () => (await api.get(`${path}/many`)).status?.readyReplicas === pods);
    }),
  );
  results.push(
    await measured(`${jobs} Jobs, complete`, server, place, async () => {
      const path = namespaced("/apis/batch/v1", "jobs");
      const template = { metadata: { labels: { ends: "soon" } }, spec: { ...spec, restartPolicy: "Never" } };
      await inParallel(jobs, 20, (i) => api.send("POST", path, { metadata: { name: `job-${i}` }, spec: { template } }));
      for (let i = 0; i < jobs; i++) {
        await until(async () => (await api.get(`${path}/job-${i}`)).status?.succeeded === 1);
      }
    }),
  );
  await api.send("POST", "/api/v1/namespaces", { metadata: { name: "full" } });
  const data = { text: "x".repeat(100) };
  await inParallel(objects, 20, (i) =>
    api.send("POST", namespaced("/api/v1", "configmaps", "full"), { metadata: { name: `one-${i}` }, data }),
  );
  results.push(
    await measured(`a namespace with ${objects} objects, deleted`, server, place, async () => {
      await api.send("DELETE", "/api/v1/namespaces/full");
      await until(() => gone(api, "/api/v1/namespaces/full"));
    }),
  );
  api.close();
  await server.end();
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
        "answers",
        "p50 ms",
        "p99 ms",
        "longest ms",
        "longest turn ms",
        "without GC ms",
        "held",
      ];
      const rows = results.map((one) => [
        one.name,
        one.seconds.toFixed(1),
        one.answers,
        ...[one.p50, one.p99, one.longest, one.block, one.own].map((value) => value.toFixed(1)),
        one.p99 <= BARS.p99 ? "yes" : "NO",
      ]);
      say(drawTable(columns, rows));
    }
    const failed = results.filter(({ p99 }) => p99 > BARS.p99).length;
    leaveResults(results.length - failed, failed);
    return options.strict && failed > 0 ? 1 : 0;
  });
