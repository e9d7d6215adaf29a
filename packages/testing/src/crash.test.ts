import { ConfigMap } from "@lotse/client";
import { Operator, resource, TemporaryError } from "lotse";
import { expect, test } from "vitest";
import { z } from "zod";
import { openHarness } from "./harness.ts";
import { startHarness, VirtualClock } from "./index.ts";
import type { Interference } from "./world/index.ts";

const Thing = resource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional() }),
});

const thing = (name = "one", size = 1) => new Thing({ metadata: { name }, spec: { size } });

/** Makes two ConfigMaps for a Thing, and notes what becomes of each call. */
function maker(notes: string[]) {
  const operator = new Operator({ name: "maker" });
  operator.on.create(Thing, async function make({ name, client, patch, spec }) {
    try {
      for (const part of ["a", "b"]) {
        await client.apply(ConfigMap.gen({ name: `${name}-${part}` }));
        notes.push(`made ${part}`);
      }
    } catch (error) {
      notes.push(`caught ${(error as Error).name}`);
      throw error;
    } finally {
      notes.push("ended");
    }
    patch.status.size = spec.size;
  });
  return operator;
}

test("a crash at a write leaves the operator without an answer, and its next life does the work", async () => {
  const notes: string[] = [];
  const interference: Interference = {
    after: ({ name }) => (name === "one-a" && !notes.includes("made a") ? "crash" : "deliver"),
  };
  await using harness = await openHarness(maker(notes), { clock: new VirtualClock() }, { interference });
  await harness.client.create(thing());
  await harness.settle();
  expect(harness.incarnation).toBeUndefined();
  await harness.advance("10m");
  expect(notes).toEqual([]);
  expect((await harness.client.list(ConfigMap, { labelSelector: "!x" }).toArray()).map(({ name }) => name)).toContain(
    "one-a",
  );
  notes.push("made a");
  await harness.startOperator();
  await harness.settle();
  expect(notes).toEqual(["made a", "made a", "made b", "ended"]);
  expect((await harness.client.get(Thing, "one")).status?.size).toBe(1);
});

test("a crash before a write is sent keeps it from the cluster, unless it was on its way", async () => {
  const notes: string[] = [];
  let arrive = () => {};
  const arrives = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let fate: "crash" | { arrives: Promise<void> } | "send" = { arrives };
  const interference: Interference = { before: ({ name }) => (name === "one-a" ? fate : "send") };
  await using harness = await openHarness(maker(notes), { clock: new VirtualClock() }, { interference });
  await harness.client.create(thing());
  await harness.settle();
  const find = () => harness.client.get(ConfigMap, "one-a").catch(() => undefined);
  expect(await find()).toBeUndefined();
  arrive();
  await harness.settle();
  expect((await find())?.name).toBe("one-a");
  expect(notes).toEqual([]);
  fate = "send";
  await harness.restart();
  expect(notes).toEqual(["made a", "made b", "ended"]);
});

test("an answer can be lost, which the handler hears of as a connection that broke", async () => {
  const notes: string[] = [];
  let left = 1;
  const interference: Interference = { after: ({ name }) => (name === "one-b" && left-- > 0 ? "lose" : "deliver") };
  await using harness = await openHarness(maker(notes), { clock: new VirtualClock() }, { interference });
  await harness.client.create(thing());
  await harness.advance("10s");
  expect(notes).toEqual(["made a", "caught ConnectionError", "ended", "made a", "made b", "ended"]);
});

test("timers of a crashed operator never fire, and the next life has its own", async () => {
  const operator = new Operator({ name: "ticker" });
  let ticks = 0;
  operator.timer(Thing, { interval: "10s" }, function tick() {
    ticks++;
  });
  const clock = new VirtualClock();
  await using harness = await startHarness(operator, { clock });
  await harness.client.create(thing());
  await harness.advance("25s");
  const before = ticks;
  expect(before).toBeGreaterThan(0);
  await harness.crash();
  await harness.advance("1h");
  expect(ticks).toBe(before);
  await harness.startOperator();
  await harness.advance("25s");
  expect(ticks).toBeGreaterThan(before);
});

test("a crashed operator answers the API server no more, and its port is free", async () => {
  const operator = new Operator({ name: "judge" });
  operator.on.validate(Thing, function judge() {});
  operator.on.event(Thing, function see() {});
  await using harness = await startHarness(operator);
  await harness.client.create(thing("first"));
  await harness.crash();
  await expect(harness.client.create(thing("second"))).rejects.toThrow(/webhook/);
  await harness.startOperator();
  await harness.client.create(thing("third"));
});

test("events can be held until the operator is quiet, merged with the next one of their object, and repeated", async () => {
  const operator = new Operator({ name: "watcher" });
  const seen: string[] = [];
  operator.on.event(Thing, function see({ type, spec, name }) {
    seen.push(`${type} ${name} ${spec.size}`);
  });
  let fate: "deliver" | "hold" | "coalesce" | "repeat" = "coalesce";
  const interference: Interference = { line: ({ object }) => (object.metadata?.name === "one" ? fate : "deliver") };
  await using harness = await openHarness(operator, { clock: new VirtualClock() }, { interference });
  const one = await harness.client.create(thing("one", 1));
  await harness.client.create(thing("two", 1));
  await harness.settle();
  expect(seen).toEqual(["ADDED two 1"]);
  fate = "deliver";
  await one.patch({ spec: { size: 2 } });
  await harness.settle();
  expect(seen).toEqual(["ADDED two 1", "ADDED one 2"].map((text) => text.replace("ADDED one", "MODIFIED one")));
  fate = "hold";
  await one.patch({ spec: { size: 3 } });
  await harness.client.create(thing("three", 1));
  await harness.settle();
  expect(seen).toHaveLength(2);
  harness.incarnation?.relay.release();
  await harness.settle();
  expect(seen.slice(2)).toEqual(["MODIFIED one 3", "ADDED three 1"]);
});

test("a list that fills a cache can show the past, while a handler's own list shows the present", async () => {
  const operator = new Operator({ name: "reader" });
  const seen: string[][] = [];
  operator.reconcile(Thing, async function read({ list, client }) {
    const cached = await list(ConfigMap, { labelSelector: "app=x" });
    const live = await client.list(ConfigMap, { labelSelector: "app=x" }).toArray();
    seen.push([cached.length, live.length].map(String));
  });
  let past: string | undefined;
  const interference: Interference = {
    list: ({ resource }) => (resource === "configmaps" ? past : undefined),
    line: ({ request }) => (request.resource === "configmaps" && past !== undefined ? "hold" : "deliver"),
  };
  await using harness = await openHarness(operator, { clock: new VirtualClock() }, { interference });
  const created = await harness.client.create(thing());
  await harness.settle();
  past = created.metadata.resourceVersion;
  await harness.crash();
  await harness.client.create(ConfigMap.gen({ name: "late", labels: { app: "x" } }));
  await harness.startOperator();
  await harness.settle();
  expect(seen.at(-1)).toEqual(["0", "1"]);
  harness.incarnation?.relay.release();
  await harness.settle();
  expect(seen.at(-1)).toEqual(["1", "1"]);
});

test("an operator that fails and waits for its retry when it is killed goes on in its next life", async () => {
  let attempts = 0;
  const operator = new Operator({ name: "patient" });
  operator.on.create(Thing, function wait() {
    if (++attempts < 2) throw new TemporaryError("not yet", { delay: "5s" });
  });
  await using harness = await startHarness(operator, { clock: new VirtualClock() });
  await harness.client.create(thing());
  await harness.settle();
  await harness.crash();
  await harness.advance("1m");
  expect(attempts).toBe(1);
  await harness.restart();
  await harness.advance("1m");
  expect(attempts).toBe(2);
});
