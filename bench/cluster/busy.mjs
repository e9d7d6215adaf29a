// Whether an embedded cluster keeps answering while its own controllers have much to do: `GET /version` every 5 ms from
// another process while a Deployment gets its pods, Jobs run to their end, and a full namespace is deleted. The cluster
// has a process for itself, which is measured turn by turn of its event loop.
//
//   node bench/cluster/busy.mjs
//     --pods N      of the Deployment (5,000)      --jobs N      (1,000)      --objects N   in the namespace (10,000)
//     --json        for programs                   --strict      exit code 1 above a bar
import { Agent, request } from "node:https";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { Api, inParallel } from "../engine/api.mjs";
import { percentile } from "../engine/workload.mjs";
import { drawTable } from "../measure.mjs";
import { flag, readArguments, text } from "./options.mjs";
import { count, gone, until } from "./scenarios.mjs";
import { startProcess, startServer } from "./server-process.mjs";

const BARS = { p99: 50 };
const pauseMs = 5;
/** As often a connection of its own is opened for one request. */
const connectMs = 250;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The process that asks: this file once more, told where by its first message. It says when it has its connection, and
 * at the second message what it saw: requests on this connection, and those for which another one had to be opened.
 */
function ask() {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const once = async ({ port, ca, token }, agent) => {
    const since = performance.now();
    await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const call = request({ host: "127.0.0.1", port, path: "/version", ca, agent, headers }, (response) => {
        response.resume();
        response.on("end", resolve);
      });
      call.on("error", reject);
      call.end();
    });
    return performance.now() - since;
  };
  let stopped = false;
  const repeat = async (times, pause, act) => {
    while (!stopped) {
      times.push(await act());
      await sleep(pause);
    }
    return times;
  };
  process.on("message", async (place) => {
    if (place === "stop") {
      stopped = true;
      return;
    }
    await once(place, kept);
    process.send({ ready: true });
    const [times, connects] = await Promise.all([
      repeat([], pauseMs, () => once(place, kept)),
      repeat([], connectMs, () => once(place, new Agent({ maxCachedSessions: 0 }))),
    ]);
    process.send({ times, connects }, () => process.exit(0));
  });
}

async function measured(name, server, place, work) {
  const asking = startProcess(new URL(import.meta.url), { args: ["--ask"] });
  await asking.tell(place);
  await server.tell("start");
  const since = performance.now();
  await work();
  const seconds = (performance.now() - since) / 1_000;
  const { loop } = await server.tell("stop");
  const { times, connects } = await asking.tell("stop");
  return {
    name,
    seconds,
    answers: times.length,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    longest: Math.max(...times),
    connect: Math.max(...connects),
    block: loop.longest,
    own: loop.own,
  };
}

const namespaced = (group, plural, namespace = "default") => `${group}/namespaces/${namespace}/${plural}`;

/** The version of the cluster as a whole. */
const revision = async (api) => Number((await api.get("/api/v1/namespaces?limit=1")).metadata.resourceVersion);

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
  const full = namespaced("/api/v1", "configmaps", "full");
  await api.send("POST", "/api/v1/namespaces", { metadata: { name: "full" } });
  const data = { text: "x".repeat(100) };
  await inParallel(objects, 20, (i) => api.send("POST", full, { metadata: { name: `one-${i}` }, data }));
  const there = await count(api, full);
  if (there < objects) throw new Failure(`the namespace has ${there} objects instead of ${objects}`, 1);
  const before = await revision(api);
  results.push(
    await measured(`a namespace with ${objects} objects, deleted`, server, place, async () => {
      await api.send("DELETE", "/api/v1/namespaces/full");
      await until(() => gone(api, "/api/v1/namespaces/full"));
    }),
  );
  // Each object that goes is a change of its own.
  const changes = (await revision(api)) - before;
  if (changes < objects) throw new Failure(`the namespace went with ${changes} changes instead of ${objects}`, 1);
  api.close();
  await server.end();
  return results;
}

function readOptions() {
  const { values, number } = readArguments({ pods: text, jobs: text, objects: text, json: flag, strict: flag });
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
        "longest with a new connection ms",
        "longest turn ms",
        "without GC ms",
        "held",
      ];
      const rows = results.map((one) => [
        one.name,
        one.seconds.toFixed(1),
        one.answers,
        ...[one.p50, one.p99, one.longest, one.connect, one.block, one.own].map((value) => value.toFixed(1)),
        one.p99 <= BARS.p99 ? "yes" : "NO",
      ]);
      say(drawTable(columns, rows));
    }
    const failed = results.filter(({ p99 }) => p99 > BARS.p99).length;
    leaveResults(results.length - failed, failed);
    return options.strict && failed > 0 ? 1 : 0;
  });
