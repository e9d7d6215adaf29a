// What a turn costs without a network: the engine on a transport in memory that answers at once. Each line is a thousand
// creations, from a cold process to a warm one; the floor's whole work for one object on a real server is about 0.7 ms.
//
//   node bench/turn.mjs             10,000 creations
//     --thousands N                 how many lines
//     --changes N                   then so many changes, 200 a second: their CPU, and the time from the event to the PATCH
//   node --cpu-prof bench/turn.mjs  with a profile
import { Readable } from "node:stream";
import { parseArgs } from "node:util";
import { Operator, resource } from "lotse";
import { Client } from "lotse/client";
import { z } from "zod";

const { values } = parseArgs({
  options: { thousands: { type: "string", default: "10" }, changes: { type: "string", default: "0" } },
});
const thousands = Number(values.thousands);
const changes = Number(values.changes);

const Widget = resource({
  group: "bench.example.com",
  version: "v1",
  kind: "Widget",
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional() }),
});

/** An API server with one kind that does as little as possible. */
class Memory {
  #objects = new Map();
  #version = 100;
  #watch;
  #waiting = { left: 0, done: () => {} };
  #changedAt = new Map();
  /** From the event of a change to the PATCH that answers it, in milliseconds. */
  latencies = [];

  async request({ method, path, query, body }) {
    if (path.includes("customresourcedefinitions")) return answer(Widget.crd());
    if (query?.watch) {
      this.#watch = new Readable({ read() {} });
      return { status: 200, headers: {}, body: this.#watch };
    }
    if (method === "GET") return answer({ metadata: { resourceVersion: String(this.#version) }, items: [] });
    const before = this.#objects.get(path.split("/").at(-2));
    const changedAt = this.#changedAt.get(before.metadata.name);
    if (changedAt !== undefined) this.latencies.push(performance.now() - changedAt);
    this.#changedAt.delete(before.metadata.name);
    this.#put("MODIFIED", { ...before, status: merged(before.status, body.status) });
    if (--this.#waiting.left === 0) this.#waiting.done();
    return answer(this.#objects.get(before.metadata.name));
  }

  async close() {}

  create(name, spec) {
    const metadata = { name, namespace: "default", uid: `uid-of-${name}`, creationTimestamp: "2026-01-01T00:00:00Z" };
    this.#put("ADDED", { apiVersion: "bench.example.com/v1", kind: "Widget", metadata, spec });
  }

  change(name, spec) {
    this.#changedAt.set(name, performance.now());
    this.#put("MODIFIED", { ...this.#objects.get(name), spec });
  }

  /** Resolves after so many more writes. */
  writes(left) {
    return new Promise((done) => {
      this.#waiting = { left, done };
    });
  }

  #put(type, body) {
    const object = { ...body, metadata: { ...body.metadata, resourceVersion: String(++this.#version) } };
    this.#objects.set(object.metadata.name, object);
    this.#watch?.push(`${JSON.stringify({ type, object })}\n`);
  }
}

/** RFC 7396, as far as it is needed here: nothing is ever taken away. */
function merged(before = {}, patch = {}) {
  const result = { ...before };
  for (const key of Object.keys(patch)) {
    const part = patch[key];
    result[key] = typeof part === "object" && part !== null ? merged(before[key], part) : part;
  }
  return result;
}

function answer(value) {
  const text = JSON.stringify(value);
  return { status: 200, headers: {}, json: async () => JSON.parse(text), text: async () => text };
}

function size({ spec, patch }) {
  patch.status.size = spec.size;
}

const server = new Memory();
const operator = new Operator({ name: "bench" });
operator.on.create(Widget, { id: "created" }, size);
operator.on.update(Widget, { id: "updated" }, size);
const client = await Client.connect({ url: "https://memory", transport: server });
const running = operator.start({ client, log: () => {}, namespaces: ["default"] });
await running.ready;

for (let round = 0; round < thousands; round++) {
  const handled = server.writes(1000);
  const cpu = process.cpuUsage();
  for (let i = 0; i < 1000; i++) {
    server.create(`widget-${round * 1000 + i}`, { size: i });
    if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await handled;
  const { user, system } = process.cpuUsage(cpu);
  process.stdout.write(`${((user + system) / 1_000_000).toFixed(3)} ms of CPU for each creation\n`);
}
await running.idle();
if (changes > 0) {
  const handled = server.writes(changes);
  const cpu = process.cpuUsage();
  for (let i = 0; i < changes; i++) {
    server.change(`widget-${(i * 7919) % (thousands * 1000)}`, { size: -i - 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await handled;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = server.latencies.sort((a, b) => a - b);
  const [p50, p99, most] = [0.5, 0.99, 1].map((part) => sorted[Math.ceil(part * sorted.length) - 1].toFixed(2));
  process.stdout.write(`${((user + system) / 1_000 / changes).toFixed(3)} ms of CPU for each change\n`);
  process.stdout.write(`event to PATCH: p50 ${p50}, p99 ${p99}, at most ${most} ms\n`);
}
const { rss, heapUsed } = process.memoryUsage();
const mb = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
process.stdout.write(`${thousands * 1000} objects: ${mb(rss)} RSS, ${mb(heapUsed)} heap\n`);
await running.stop();
