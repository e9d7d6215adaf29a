import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { ConfigMap, Namespace } from "@lotse/client";
import { Operator, parseRecording, resource, rule, TemporaryError } from "lotse";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { startHarness, VirtualClock } from "./index.ts";

const Thing = resource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional(), ticks: z.number().optional() }),
});

const thing = (name: string, size = 1, namespace = "default") =>
  new Thing({ metadata: { name, namespace }, spec: { size } });

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An operator that copies the size into the status, as slowly as asked. */
function sizer(delayMs = 0) {
  const operator = new Operator({ name: "sizer" });
  operator.on(["create", "update"], Thing, async function measure({ spec, patch, logger }) {
    if (delayMs > 0) await later(delayMs);
    patch.status.size = spec.size;
    logger.info("measured", { size: spec.size });
  });
  return operator;
}

test("a created object is handled with one write", async () => {
  await using harness = await startHarness(sizer());
  await harness.client.create(thing("one", 7));
  await harness.settle();
  expect((await harness.client.get(Thing, "one")).status?.size).toBe(7);
  expect(harness.writes()).toMatchObject([
    { verb: "patch", resource: "things.example.com", subresource: "status", namespace: "default", name: "one" },
  ]);
  expect(harness.writes()[0]?.body).toMatchObject({ status: { size: 7 } });
});

test("a kind whose rules no server would take is refused with the server's words", async () => {
  const spec = rule(z.object({ min: z.int(), max: z.int() }), "self.min <= self.maxx");
  const Range = resource({ group: "example.com", version: "v1", kind: "Range", spec });
  const operator = new Operator({ name: "ranges" });
  operator.on.create(Range, function look() {});
  await expect(startHarness(operator)).rejects.toThrow(
    /x-kubernetes-validations\[0\]\.rule: .*undefined field 'maxx'/s,
  );
});

test("settling waits for handlers that take their time", async () => {
  await using harness = await startHarness(sizer(50));
  await harness.client.create(thing("one", 7));
  await harness.settle();
  expect((await harness.client.get(Thing, "one")).status?.size).toBe(7);
});

test("settling waits until the streams have shown everything, over many objects", async () => {
  await using harness = await startHarness(sizer());
  for (let round = 1; round <= 5; round++) {
    const things = Array.from({ length: 40 }, (_, n) => thing(`thing-${round}-${n}`, round));
    await harness.client.create(things);
    await harness.settle();
    expect(harness.logs.find({ message: "measured" }).length).toBe(40 * round);
  }
  expect(harness.writes()).toHaveLength(200);
});

test("what handlers ask for is recorded once, however many tests run, with all that an apply needs", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-record-"));
  vi.stubEnv("LOTSE_RECORD", path.join(folder, "seen.jsonl"));
  try {
    for (let run = 0; run < 2; run++) {
      const operator = new Operator({ name: "recorded" });
      operator.on.startup(async function open({ client }) {
        await client.list(Namespace).first();
      });
      operator.on.create(Thing, async function settings({ client, name }) {
        await client.apply(ConfigMap.gen({ name }));
      });
      await using harness = await startHarness(operator);
      await harness.client.create(thing("one"));
      await harness.settle();
    }
    const recorded = parseRecording(readFileSync(path.join(folder, "seen.jsonl"), "utf8"));
    expect(recorded.map(({ handler, method, path: asked }) => `${handler} ${method} ${asked}`)).toEqual([
      "open GET /api/v1/namespaces",
      "settings PATCH /api/v1/namespaces/default/configmaps/one",
      "settings POST /api/v1/namespaces/default/configmaps",
    ]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a restart writes nothing", async () => {
  await using harness = await startHarness(sizer());
  await harness.client.create([thing("one"), thing("two")]);
  await harness.settle();
  harness.cluster.requests.clear();
  await harness.restart();
  expect(harness.writes()).toEqual([]);
  expect(harness.logs.messages({ message: "measured" })).toHaveLength(2);
});

test("what happens while the operator is stopped is found when it starts", async () => {
  await using harness = await startHarness(sizer());
  const one = await harness.client.create(thing("one", 1));
  await harness.settle();
  await harness.stopOperator();
  await one.patch({ spec: { size: 2 } });
  await harness.startOperator();
  await harness.settle();
  expect((await harness.client.get(Thing, "one")).status?.size).toBe(2);
});

test("objects can be there before the operator", async () => {
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: "default" } };
  await using harness = await startHarness(sizer(), { objects: [manifest, thing("one", 3)] });
  await harness.settle();
  expect((await harness.client.get(Thing, "one")).status?.size).toBe(3);
  expect(await harness.client.get(ConfigMap, "settings")).toBeDefined();
  expect(harness.writes().map(({ resource }) => resource)).toEqual(["things.example.com"]);
});

test("the operator sees its own namespaces only", async () => {
  await using harness = await startHarness(sizer(), { namespaces: ["team-a"] });
  await harness.client.create([thing("mine", 1, "team-a"), thing("foreign", 1, "default")]);
  await harness.settle();
  expect(harness.writes().map(({ name }) => name)).toEqual(["mine"]);
});

/** An operator with a timer each hour and a creation that succeeds at its second try. */
function ticker() {
  const operator = new Operator({ name: "ticker" });
  operator.timer(Thing, { interval: "1h" }, function tick({ patch, status }) {
    patch.status.ticks = (status.ticks ?? 0) + 1;
  });
  operator.on.create(Thing, function stubborn({ retry, logger }) {
    if (retry === 0) throw new TemporaryError("not yet", { delay: "10m" });
    logger.info("finally");
  });
  return operator;
}

test("with a virtual clock timers and retries come when the test says so", async () => {
  await using harness = await startHarness(ticker(), { clock: new VirtualClock() });
  const ticks = async () => (await harness.client.get(Thing, "one")).status?.ticks;
  await harness.client.create(thing("one"));
  await harness.settle();
  expect(await ticks()).toBe(1);
  // A handler that says how long to wait is not in trouble: that is told, and is no warning.
  expect(harness.logs.find({ level: "info", object: "one", handler: "stubborn" })).toHaveLength(1);
  expect(harness.logs.find({ level: "warn" })).toEqual([]);
  await harness.advance("9m59s");
  expect(harness.logs.messages({ message: "finally" })).toEqual([]);
  await harness.advance("1s");
  expect(harness.logs.messages({ message: "finally" })).toEqual(["finally"]);
  expect(await ticks()).toBe(1);
  await harness.advance("4h50m");
  expect(await ticks()).toBe(6);
});

test("streams live on after time has jumped", async () => {
  const clock = new VirtualClock();
  await using harness = await startHarness(sizer(), { clock });
  for (const jump of [1, 89, 91, 3_600, 86_400]) {
    await clock.advance(jump * 1_000);
    await harness.client.create(thing(`after-${jump}`, jump));
    await harness.settle();
    expect((await harness.client.get(Thing, `after-${jump}`)).status?.size).toBe(jump);
  }
  expect(harness.logs.messages({ level: "warn" })).toEqual([]);
  expect(harness.cluster.requests.filter({ verb: "watch", resource: "things.example.com" })).toHaveLength(1);
});

test("the cluster shares the virtual clock", async () => {
  const clock = new VirtualClock(Date.parse("2030-01-01T00:00:00Z"));
  await using harness = await startHarness(sizer(), { clock });
  await harness.advance("1h");
  const { metadata } = await harness.client.create(thing("one"));
  expect(metadata.creationTimestamp).toBe("2030-01-01T01:00:00Z");
});

test("real time cannot be advanced", async () => {
  await using harness = await startHarness(sizer());
  await expect(harness.advance("1h")).rejects.toThrow("real time cannot be advanced");
});

test("an operator that never becomes quiet is told", async () => {
  const operator = new Operator({ name: "restless" });
  operator.on.create(Thing, async function hang({ signal }) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  await using harness = await startHarness(operator);
  await harness.client.create(thing("one"));
  await expect(harness.settle({ timeout: 200 })).rejects.toThrow("the operator was not quiet within 200 ms");
});

test("an operator that cannot start leaves nothing behind", async () => {
  const operator = new Operator({ name: "broken" });
  operator.on.startup({ errors: "permanent" }, () => {
    throw new Error("no coffee");
  });
  await expect(startHarness(operator)).rejects.toThrow("no coffee");
});
