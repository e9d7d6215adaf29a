// Whether the memory of an embedded cluster levels off while objects come, change and go: its heap after garbage
// collection and its resident memory, over time. It is judged from when everything is full that has a bound. An hour of the cluster lasts two minutes, so that what is kept for an
// hour (Events) or for minutes (history) is let go many times in one run.
//
//   node bench/cluster/soak.mjs
//     --seconds N   how long (560)       --hour N      seconds that an hour lasts (120)
//     --short       90 s, hours of 20 s  --json        for programs      --strict      exit code 1 when it does not
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { leaveResults, main, say } from "../../scripts/process.mjs";
import { Api } from "../engine/api.mjs";
import { drawTable, median } from "../measure.mjs";
import { flag, readArguments, text } from "./options.mjs";
import { startServer } from "./server-process.mjs";

const SAMPLES = 30;
/** The last third against the one before it. */
const BAR = { share: 1.1, bytes: 2e6 };
/** So many requests fill the log of requests, and bring more history than is kept. */
const FILLED = 10_000;
const MB = 1e6;

const configMaps = "/api/v1/namespaces/default/configmaps";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const jobs = "/apis/batch/v1/namespaces/default/jobs";
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Objects of several kinds come, change and go, a bounded number at a time; `slow` multiplies the pauses. */
async function churn(api, isOver, prefix, slow) {
  const template = (app, more = {}, labels = {}) => ({
    metadata: { labels: { app, ...labels } },
    spec: { containers: [{ name: "c", image: "i" }], ...more },
  });
  const lanes = [
    async (round) => {
      const name = `${prefix}-map-${round % 200}`;
      await api.send("DELETE", `${configMaps}/${name}`).catch(() => {});
      const data = { text: "x".repeat(2_000), round: String(round) };
      await api.send("POST", configMaps, { metadata: { name }, data });
      for (let change = 0; change < 5; change++) await api.merge(`${configMaps}/${name}`, { data: { n: `${change}` } });
      await pause(200 * slow);
    },
    async (round) => {
      const name = `${prefix}-web-${round % 5}`;
      const spec = { replicas: 3, selector: { matchLabels: { app: name } }, template: template(name) };
      await api.send("POST", deployments, { metadata: { name }, spec }).catch(() => {});
      await api.merge(`${deployments}/${name}`, { spec: { replicas: 1 + (round % 7) } });
      if (round % 10 === 9) await api.send("DELETE", `${deployments}/${name}`);
      await pause(500 * slow);
    },
    async (round) => {
      const spec = {
        ttlSecondsAfterFinished: 60,
        template: template("job", { restartPolicy: "Never" }, { ends: "soon" }),
      };
      await api.send("POST", jobs, { metadata: { name: `${prefix}-job-${round}` }, spec });
      await pause(500 * slow);
    },
    async () => {
      await api.get("/api/v1/pods");
      const end = api.lines(
        "/api/v1/pods?watch=1",
        () => {},
        () => {},
      );
      await pause(300 * slow);
      end();
    },
  ];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let round = 0; !isOver(); round++) await lane(round);
    }),
  );
}

/** What is bounded by number or bytes is full before anything is judged: the same work, ten times as fast. */
async function fill(server, api) {
  let full = false;
  const filling = churn(api, () => full, "full", 0.1);
  while (!full) {
    await pause(500);
    const { requests } = await server.tell("memory");
    full = requests >= FILLED;
  }
  await filling;
}

async function run({ seconds, hour }) {
  const server = await startServer(new URL("soak-server.mjs", import.meta.url), {
    args: [String(3_600 / hour)],
    execArgv: ["--expose-gc"],
  });
  const api = new Api(server.kubeconfig, 8);
  await fill(server, api);
  const since = performance.now();
  const passed = () => (performance.now() - since) / 1_000;
  const churning = churn(api, () => passed() >= seconds, "soak", 1);
  const samples = [];
  for (let at = 1; at <= SAMPLES; at++) {
    await Promise.race([churning, pause(Math.max(0, (seconds * at * 1_000) / SAMPLES - (performance.now() - since)))]);
    samples.push({ seconds: passed(), ...(await server.tell("memory")) });
  }
  await churning;
  await server.end();
  return samples;
}

/** The median heap of each third of the run. */
function thirds(samples) {
  const size = samples.length / 3;
  return [0, 1, 2].map((third) =>
    median(samples.slice(third * size, (third + 1) * size).map(({ heapUsed }) => heapUsed)),
  );
}

function readOptions() {
  const { values, number } = readArguments({ seconds: text, hour: text, short: flag, json: flag, strict: flag });
  const { short, json, strict } = values;
  return { json, strict, seconds: number("seconds", short ? 90 : 560), hour: number("hour", short ? 20 : 120) };
}

await main(async () => {
  const options = readOptions();
  await ensureInstalled();
  await build({ types: false });
  const samples = await run(options);
  const [first, second, third] = thirds(samples);
  const level = third <= second * BAR.share + BAR.bytes;
  if (options.json) say(JSON.stringify({ samples, first, second, third, level }));
  else {
    const rows = samples
      .filter((_, at) => at % 3 === 2)
      .map((one) => [one.seconds.toFixed(0), one.objects, (one.heapUsed / MB).toFixed(1), (one.rss / MB).toFixed(0)]);
    say(drawTable(["seconds", "objects", "heap MB", "RSS MB"], rows));
    const told = [first, second, third].map((bytes) => (bytes / MB).toFixed(1)).join(", ");
    say(`median heap of each third: ${told} MB; it ${level ? "levels" : "DOES NOT level"} off`);
  }
  leaveResults(level ? 1 : 0, level ? 0 : 1);
  return options.strict && !level ? 1 : 0;
});
