// One member of a sharded operator, from what is published; answers what it costs. `BENCH_SHARDS`: whether it is alone.
import v8 from "node:v8";
import vm from "node:vm";
import { Operator, resource, shards } from "lotse";
import { Client } from "lotse/client";
import { z } from "zod";

const Widget = resource({
  group: "bench.example.com",
  version: "v1",
  kind: "Widget",
  spec: z.object({ size: z.number(), ballast: z.string().optional() }),
  status: z.object({ size: z.number().optional() }),
});

const operator = new Operator({ name: "bench" });
const size = ({ spec, patch }) => {
  patch.status.size = spec.size;
};
operator.on.create(Widget, { id: "created" }, size);
operator.on.update(Widget, { id: "updated" }, size);

let leaseRequests = 0;
const connected = await Client.connect({});
const client = connected.inNamespace(process.env.BENCH_NAMESPACE).with({
  onRequest: ({ path, watch }) => {
    if (!watch && /\/leases\b/.test(path)) leaseRequests++;
  },
});
const running = operator.start({
  client,
  namespaces: [process.env.BENCH_NAMESPACE],
  coordination: process.env.BENCH_SHARDS === "1" ? shards() : "alone",
  log: () => undefined,
});

v8.setFlagsFromString("--expose-gc");
const gc = vm.runInNewContext("gc");

process.on("message", async (what) => {
  if (what === "stop") {
    await running.stop();
    await connected.close();
    process.exit(0);
  }
  if (what === "memory") gc();
  const { coordination, phase } = running.health();
  const { user, system } = process.cpuUsage();
  const owned = /lotse_owned_objects\{kind="Widget"\} (\d+)/.exec(running.metrics());
  process.send({
    ready: phase === "ready",
    share: coordination?.share ?? 1,
    members: coordination?.members?.length ?? 1,
    owned: Number(owned?.[1] ?? 0),
    cpuMs: (user + system) / 1000,
    rss: process.memoryUsage().rss / 2 ** 20,
    heap: process.memoryUsage().heapUsed / 2 ** 20,
    leaseRequests,
  });
});
