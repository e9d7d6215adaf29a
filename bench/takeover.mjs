// How long nobody works when the process that leads goes: from the signal to the first handler of another one. Three
// replicas in processes of their own, with the usual times of a Lease, on objects that change all the time.
//
//   node bench/takeover.mjs       on the embedded cluster, a process of its own
//     --real          on a real kube-apiserver (needs Go for its first build)
//     --rounds N      clean stops, and as many kill -9 (20)        --lease 15s/10s/2s    duration, renew and retry
//     --json          for programs                                 --strict              exit code 1 above a bar
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
// Lets this process import the repository's TypeScript files.
import "../scripts/typescript.mjs";
import { build } from "../scripts/build.mjs";
import { ensureInstalled } from "../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../scripts/process.mjs";
import { root } from "../scripts/workspace.mjs";
import { percentile } from "./engine/workload.mjs";
import { drawTable } from "./measure.mjs";

const demand = { objects: 100, changesPerSecond: 50 };
const namespace = "takeover";
const patienceMs = 120_000;
const standsBy = "the operator is ready and stands by";
const givenBack = "the Lease is given back";
const taken = "the Lease is taken, this process leads";
const note = (line) => process.stderr.write(`${line}\n`);

function readOptions() {
  const flag = { type: "boolean", default: false };
  const options = { real: flag, json: flag, strict: flag, rounds: { type: "string" }, lease: { type: "string" } };
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const rounds = Number(values.rounds ?? 20);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Failure("--rounds takes a number from 1 up.", 2);
  const lease = values.lease ?? "15s/10s/2s";
  const [, seconds] = /^(\d+)s\/[\d.]+m?s\/[\d.]+m?s$/.exec(lease) ?? [];
  if (!seconds) throw new Failure("--lease takes duration/renew/retry, the first in seconds: 15s/10s/2s", 2);
  return { ...values, rounds, lease, durationMs: Number(seconds) * 1_000 };
}

/** `lotse cluster`, as a user starts it. */
async function startEmbedded() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-bench-"));
  const file = path.join(folder, "kubeconfig");
  const launcher = path.join(root, "packages", "lotse", "bin", "lotse.js");
  const args = [launcher, "cluster", "--port", "0", "--kubeconfig", file, "-o", "json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  await Promise.race([
    once(child.stdout, "data"),
    ended.then(() => Promise.reject(new Failure("`lotse cluster` ended before it was ready"))),
  ]);
  const { load } = await import("js-yaml");
  const kubeconfig = load(readFileSync(file, "utf8"));
  return {
    url: kubeconfig.clusters[0].cluster.server,
    kubeconfig,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function startReal() {
  const { buildServers, GoMissingError } = await import("../tests/real/build.ts");
  const { RealCluster } = await import("../tests/real/cluster.ts");
  await buildServers(note).catch((error) => {
    throw error instanceof GoMissingError ? new Failure(error.message, 2) : error;
  });
  return RealCluster.start({ controllers: [] });
}

async function until(what, check) {
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await delay(5)) {
    const found = check();
    if (found) return found;
  }
  throw new Failure(`not within ${patienceMs / 1_000} s: ${what}`);
}

/** Goes through all rounds; milliseconds without a working process, of each. */
async function measure(crew, witness, rounds) {
  const leader = () =>
    until("a replica leads and works", () => {
      const replica = crew.find(witness.holder);
      return replica && witness.begun.at(-1)?.by === replica.identity ? replica : undefined;
    });
  const isWarm = ({ log }) => log.some(({ message }) => message === standsBy);
  const times = { SIGTERM: [], SIGKILL: [] };
  for (let round = 0; round < rounds; round++) {
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      await until("all replicas are warm", () => crew.replicas.every(isWarm));
      const old = await leader();
      // Not always at the same distance from the last renewal.
      await delay(Math.random() * 2_000);
      const at = performance.now();
      const wall = Date.now();
      const ended = crew.dismiss(old, signal);
      const next = await until("another replica works", () =>
        witness.times({ but: old.identity }).find((time) => time > at),
      );
      times[signal].push(next - at);
      await ended;
      const since = (replicas, message) =>
        Math.min(
          ...replicas
            .flatMap(({ log }) => log.filter((one) => one.message === message && one.time >= wall))
            .map(({ time }) => time),
        ) - wall;
      const way = [`given back after ${since([old], givenBack)}`, `taken after ${since(crew.replicas, taken)}`];
      note(`${signal} ${round + 1}/${rounds}: ${Math.round(next - at)} ms (${way.join(", ")})`);
      await crew.start();
    }
  }
  return times;
}

async function run(cluster, { rounds, lease }) {
  const { Client, CustomResourceDefinition, Namespace } = await import("@lotse/client");
  const { Crew } = await import("../tests/faults/coordination/crew.ts");
  const { Witness } = await import("../tests/faults/coordination/witness.ts");
  const { Order } = await import("../tests/faults/coordination/order.ts");
  const { changeOrders, placeOrders } = await import("../tests/faults/coordination/load.ts");
  const connected = await Client.connect({ kubeconfig: cluster.kubeconfig });
  const client = connected.inNamespace(namespace);
  const over = new AbortController();
  const ends = [() => connected.close()];
  try {
    await client.create(Namespace.gen({ name: namespace }));
    const crd = await client.create(new CustomResourceDefinition(Order.crd()));
    await crd.wait("condition=Established");
    const witness = await Witness.open(client);
    ends.unshift(() => witness[Symbol.asyncDispose]());
    const crew = await Crew.gather({ cluster, namespace, witness: witness.url, lease });
    ends.unshift(() => crew[Symbol.asyncDispose]());
    for (let i = 0; i < 3; i++) await crew.start();
    await placeOrders(client, demand);
    const changing = changeOrders(client, demand, over.signal);
    ends.unshift(() => changing);
    // A load that breaks down ends the measurement.
    return await Promise.race([measure(crew, witness, rounds), changing.then(() => new Promise(() => {}))]);
  } finally {
    over.abort();
    for (const end of ends) await end();
  }
}

/** One kind of end, beside its bar. */
function rowOf(name, values, { at, limitMs }) {
  const p50 = percentile(values, 0.5);
  const p99 = percentile(values, 0.99);
  const max = Math.max(...values);
  return {
    name,
    rounds: values.length,
    p50,
    p99,
    max,
    bar: { at, ms: limitMs },
    holds: (at === "p99" ? p99 : max) <= limitMs,
  };
}

await main(async () => {
  const options = readOptions();
  await ensureInstalled();
  await build({ types: false });
  const cluster = await (options.real ? startReal() : startEmbedded());
  try {
    const times = await run(cluster, options);
    const rows = [
      rowOf("clean stop", times.SIGTERM, { at: "p99", limitMs: 1_000 }),
      rowOf("kill -9", times.SIGKILL, { at: "max", limitMs: options.durationMs + 2_000 }),
    ];
    const broken = rows.filter(({ holds }) => !holds);
    const where = options.real ? "kube-apiserver" : "embedded cluster";
    if (options.json) say(JSON.stringify({ where, lease: options.lease, rows }));
    else {
      const ms = (value) => `${Math.round(value)} ms`;
      say(`${where}, Lease ${options.lease}, Node.js ${process.versions.node}, load ${os.loadavg()[0].toFixed(1)}`);
      say(
        drawTable(
          ["until another one works, after a", "rounds", "p50", "p99", "max", "bar", "holds"],
          rows.map(({ name, rounds, p50, p99, max, bar, holds }) => [
            ...[name, rounds, ms(p50), ms(p99), ms(max), `${bar.at} ≤ ${ms(bar.ms)}`, holds ? "yes" : "no"],
          ]),
        ),
      );
    }
    leaveResults(rows.length - broken.length, broken.length);
    return options.strict && broken.length > 0 ? 1 : 0;
  } finally {
    await cluster.stop();
  }
});
