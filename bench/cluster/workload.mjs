// What both servers have to do, and how long it takes them.
import { inParallel } from "../engine/api.mjs";
import { median } from "../measure.mjs";
import { group, widgetCrd, widgetsIn } from "../widgets.mjs";
import { cpuOf, memoryOf } from "./servers.mjs";
import { Connection } from "./wire.mjs";

const WIDGETS = widgetsIn("default");
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = { type: "application/merge-patch+json" };
const APPLY = { type: "application/apply-patch+yaml" };
const CONNECTIONS = 16;
const LISTED = 5_000;

const crd = widgetCrd(
  {
    type: "object",
    required: ["size"],
    properties: {
      size: { type: "integer", minimum: 0 },
      mode: { type: "string", enum: ["Fast", "Slow"], default: "Fast" },
      image: { type: "string", maxLength: 200 },
      ports: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" }, port: { type: "integer" } } },
      },
    },
  },
  { type: "object", properties: { phase: { type: "string" }, size: { type: "integer" } } },
);

const widget = (name, size) => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name, labels: { app: "bench", tier: `t${size % 10}` }, annotations: { note: "one of many" } },
  spec: {
    size,
    image: "registry.example.com/widgets/widget:1.2.3",
    ports: [
      { name: "http", port: 8080 },
      { name: "metrics", port: 9090 },
    ],
  },
});

const configMap = (name, index) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { app: "bench" } },
  data: { index: String(index), text: "some lines of a configuration file\n".repeat(5) },
});

/** Runs everything on one server; returns figures by name. */
export async function runWorkload(server, { quick }) {
  const scale = quick ? 0.1 : 1;
  const of = (count) => Math.max(50, Math.round(count * scale));
  const lanes = await openAll(server, CONNECTIONS);
  const perSecond = async (count, job) => {
    const free = [...lanes];
    const since = performance.now();
    const used = cpuOf(server.pids);
    await inParallel(count, lanes.length, async (index) => {
      const lane = free.pop();
      await job(lane, index);
      free.push(lane);
    });
    const rate = count / ((performance.now() - since) / 1000);
    return { rate, cpu: (cpuOf(server.pids) - used) / count };
  };
  const figures = { startMs: server.startMs };
  const measure = async (name, count, job) => {
    const { rate, cpu } = await perSecond(count, job);
    figures[name] = rate;
    figures[`${name}Cpu`] = cpu;
  };
  try {
    const [first] = lanes;
    await installKind(first);
    // The first requests of a kind cost more than all others: nobody shall pay for them.
    await perSecond(of(1_000), async (lane, index) => {
      await lane.send("POST", WIDGETS, widget(`warm-${index}`, index));
      await lane.send("PATCH", `${WIDGETS}/warm-${index}`, { spec: { size: 1 } }, MERGE);
      await lane.send("DELETE", `${WIDGETS}/warm-${index}`);
      await lane.send("POST", CONFIG_MAPS, configMap(`warm-${index}`, index));
      await lane.send("DELETE", `${CONFIG_MAPS}/warm-${index}`);
    });
    await measure("create", of(LISTED), (lane, index) => lane.send("POST", WIDGETS, widget(`w-${index}`, index)));
    await measure("createBuiltIn", of(3_000), (lane, index) =>
      lane.send("POST", CONFIG_MAPS, configMap(`c-${index}`, index)),
    );
    await measure("patch", of(5_000), (lane, index) =>
      lane.send("PATCH", `${WIDGETS}/w-${index % of(LISTED)}`, { spec: { size: index + 7 } }, MERGE),
    );
    await measure("apply", of(2_000), (lane, index) => {
      const name = `w-${index}`;
      const body = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name }, spec: { size: index + 9 } };
      return lane.send("PATCH", `${WIDGETS}/${name}?fieldManager=bench&force=true`, body, APPLY);
    });
    const before = cpuOf(server.pids);
    figures.list = await listMs(first, quick ? 5 : 15);
    figures.listCpu = (cpuOf(server.pids) - before) / (quick ? 7 : 17);
    const idle = cpuOf(server.pids);
    figures.fanOut = await fanOut(server, lanes, of(500), quick ? 20 : 100);
    figures.fanOutCpu = (cpuOf(server.pids) - idle) / of(500);
    await perSecond(of(10_000) - of(LISTED), (lane, index) => lane.send("POST", WIDGETS, widget(`v-${index}`, index)));
    await new Promise((resolve) => setTimeout(resolve, quick ? 1_000 : 10_000));
    figures.memory = memoryOf(server.pids);
    return figures;
  } finally {
    for (const lane of lanes) lane.close();
  }
}

const openAll = (server, count) => Promise.all(Array.from({ length: count }, () => Connection.open(server.access)));

async function installKind(lane) {
  await lane.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  for (let tries = 0; ; tries++) {
    try {
      await lane.send("GET", WIDGETS);
      return;
    } catch (error) {
      if (tries === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function listMs(lane, rounds) {
  const times = [];
  for (let round = 0; round < rounds + 2; round++) {
    const since = performance.now();
    await lane.send("GET", WIDGETS);
    if (round >= 2) times.push(performance.now() - since);
  }
  return median(times);
}

/** Events a second that reach watchers, all of them together. */
async function fanOut(server, lanes, changes, count) {
  const watchers = await openAll(server, count);
  try {
    const { metadata } = JSON.parse(await lanes[0].send("GET", `${WIDGETS}?limit=1`, undefined, { keep: true }));
    let left = changes * count;
    let done;
    const all = new Promise((resolve) => {
      done = resolve;
    });
    for (const watcher of watchers) {
      await watcher.watch(`${WIDGETS}?watch=1&resourceVersion=${metadata.resourceVersion}`, (events) => {
        left -= events;
        if (left <= 0) done();
      });
    }
    const since = performance.now();
    const free = [...lanes];
    await inParallel(changes, lanes.length, async (index) => {
      const lane = free.pop();
      await lane.send("PATCH", `${WIDGETS}/w-${index % 50}`, { spec: { size: 1_000_000 + index } }, MERGE);
      free.push(lane);
    });
    await all;
    return (changes * count) / ((performance.now() - since) / 1000);
  } finally {
    for (const watcher of watchers) watcher.close();
  }
}
