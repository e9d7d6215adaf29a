import { type Client, ConfigMap, Lease } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource, TemporaryError, type WokenObject } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { gate } from "./sample.ts";
import { useStage } from "./stage.ts";

const Door = resource({
  group: "outside.example.com",
  version: "v1",
  kind: "Door",
  spec: z.object({ colour: z.string().default("blue") }),
  status: z.object({ rings: z.number().optional() }),
});

/** What happens outside, for a source to tell. */
function bell() {
  const waiting: WokenObject[] = [];
  let heard = gate();
  return {
    ring(object: WokenObject) {
      waiting.push(object);
      heard.open();
    },
    async *rings(signal: AbortSignal) {
      signal.addEventListener("abort", () => heard.open(), { once: true });
      while (!signal.aborted) {
        await heard.passed;
        heard = gate();
        yield* waiting.splice(0);
      }
    },
  };
}

describeOn(clustersUnderTest(), "what happens outside of the cluster", (cluster) => {
  const stage = useStage(cluster, "outside");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const door = (name: string) => client.create(new Door({ metadata: { name }, spec: {} }));
  const said = (message: string) => logs.filter((line) => line.message === message);

  it("wakes the reconcilers of an object that a source speaks of, and explain says why", async () => {
    const clock = new VirtualClock();
    const { ring, rings } = bell();
    const operator = new Operator({ name: "op" });
    operator.source("doorbell", ({ signal }) => rings(signal));
    const ran: string[] = [];
    operator.reconcile(Door, function answer({ name }) {
      ran.push(name);
    });
    const running = await start(operator, { clock });
    await door("front");
    await door("back");
    await eventually(() => expect(ran.toSorted()).toEqual(["back", "front"]));
    await quiet();
    const { namespace } = stage;
    ring({ kind: Door, namespace, name: "front", why: "the postman" });
    await eventually(() => expect(ran.slice(2)).toEqual(["front"]));
    await quiet();
    expect(running.explain({ kind: "Door", namespace, name: "front" })?.turns.at(-1)).toMatchObject({
      woke: [{ by: "outside", what: "source doorbell: the postman" }],
      ran: [{ handler: "answer", outcome: "succeeded" }],
      wrote: [],
    });
    expect(running.metrics()).toMatch(/lotse_source_events_total\{.*source="doorbell",result="woken"\} 1/);
  });

  it("lets timers run and what waits be tried, but nothing that has failed for good or goes by the clock", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const ran: string[] = [];
    operator.on.create(Door, function hang({ retry }) {
      ran.push(`hang ${retry}`);
      if (retry === 0) throw new TemporaryError("the screws are missing", { delay: "1h" });
    });
    operator.on.create(Door, function paint() {
      ran.push("paint");
      throw new PermanentError("no such colour");
    });
    operator.timer(Door, { interval: "1d" }, function oil() {
      ran.push("oil");
    });
    operator.timer(Door, { schedule: "0 3 * * *" }, function lock() {
      ran.push("lock");
    });
    const running = await start(operator, { clock });
    await door("front");
    await eventually(() => expect(ran.toSorted()).toEqual(["hang 0", "oil", "paint"]));
    await quiet();
    ran.length = 0;
    const { namespace } = stage;
    expect(running.wake(Door, { namespace, name: "front" }, "the screws have come")).toBe(true);
    await eventually(() => expect(ran.toSorted()).toEqual(["hang 1", "oil"]));
    await quiet();
    // Nothing waits any more: the next failure waits out its own time.
    expect(running.wake("doors.outside.example.com", { namespace, name: "front" })).toBe(true);
    await eventually(() => expect(ran.toSorted()).toEqual(["hang 1", "oil", "oil"]));
    await quiet();
    expect(ran).toHaveLength(3);
  });

  it("is told to nobody when the object is not there, and to all who are asked for by a wrong name", async () => {
    const operator = new Operator({ name: "op" });
    operator.reconcile(Door, function answer() {});
    const running = await start(operator);
    expect(running.wake(Door, { namespace: stage.namespace, name: "none" })).toBe(false);
    expect(running.wake(ConfigMap, { namespace: stage.namespace, name: "none" })).toBe(false);
    expect(() => running.wake("no/such/kind/at/all", { name: "none" })).toThrow(/no\/such\/kind/);
  });

  it("is heard again after the source has failed, and what it fails with is told", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    let begun = 0;
    const { ring, rings } = bell();
    operator.source("doorbell", { backoff: "10s" }, async function* ({ signal }) {
      if (++begun === 1) throw new Error("the wire is cut");
      if (begun === 2) yield { name: "front" } as never;
      yield* rings(signal);
    });
    let ran = 0;
    operator.reconcile(Door, function answer() {
      ran++;
    });
    await start(operator, { clock });
    await door("front");
    await eventually(() => expect(ran).toBe(1));
    await eventually(() => expect(said("source failed, it is begun again")).toHaveLength(1));
    expect(said("source failed, it is begun again")[0]).toMatchObject({
      level: "warn",
      fields: {
        source: "doorbell",
        error: "the wire is cut",
        retryIn: "10s",
        at: expect.stringMatching(/outside.test/),
      },
    });
    await stage.inTime(clock, () => expect(begun).toBe(2));
    await eventually(() => expect(said("source failed, it is begun again")).toHaveLength(2));
    expect(said("source failed, it is begun again")[1]?.fields.error).toContain("which is no object");
    await stage.inTime(clock, () => expect(begun).toBe(3));
    ring({ kind: "doors", namespace: stage.namespace, name: "front" });
    await eventually(() => expect(ran).toBe(2));
  });

  it("ends with the operator, and a source that ignores its signal holds nobody up", async () => {
    const operator = new Operator({ name: "op", graceful: "100ms" });
    let ended = false;
    operator.source("good", async function* ({ sleep }) {
      try {
        for (;;) {
          yield { kind: Door, name: "front" };
          await sleep("1h");
        }
      } finally {
        ended = true;
      }
    });
    operator.source("deaf", async function* () {
      await new Promise(() => {});
      yield { kind: Door, name: "front" };
    });
    operator.reconcile(Door, function answer() {});
    const running = await start(operator);
    await running.stop();
    expect(ended).toBe(true);
    expect(said("source did not end when the operator stopped, it is abandoned")).toMatchObject([
      { level: "warn", fields: { source: "deaf" } },
    ]);
  });

  it("happens by the clock: the operator's own functions run at their times, and failures are tried again", async () => {
    const clock = new VirtualClock(Date.parse("2026-03-01T02:59:00Z"));
    const operator = new Operator({ name: "op" });
    const ran: string[] = [];
    operator.schedule("nightly", { schedule: "0 3 * * *", backoff: "30s" }, async function report(context) {
      ran.push(`${context.scheduled.toISOString()} ${context.retry}`);
      if (context.retry === 0) throw new Error("no paper");
      await context.client.apply(new ConfigMap({ metadata: { name: "report" }, data: { doors: "2" } }));
    });
    const running = await start(operator, { clock });
    await stage.inTime(clock, () => expect(ran).toHaveLength(2));
    expect(ran).toEqual(["2026-03-01T03:00:00.000Z 0", "2026-03-01T03:00:00.000Z 1"]);
    await eventually(() => expect(said("scheduled run succeeded")).toHaveLength(1));
    expect(said("scheduled run failed, will be tried again")).toMatchObject([
      { level: "warn", fields: { schedule: "nightly", error: "no paper", retryIn: "30s" } },
    ]);
    expect((await client.get(ConfigMap, "report")).body.data).toEqual({ doors: "2" });
    expect(running.metrics()).toMatch(/lotse_scheduled_runs_total\{.*schedule="nightly",result="succeeded"\} 1/);
  });

  it("is made up for once when the operator was away, and not made up for where nobody wants it", async () => {
    const times: string[] = [];
    const make = () => {
      const operator = new Operator({ name: "op" });
      operator.schedule("hourly", { schedule: "0 * * * *", missed: "once" }, ({ scheduled }) => {
        times.push(`hourly ${scheduled.toISOString()}`);
      });
      operator.schedule("skipping", "0 * * * *", ({ scheduled }) => {
        times.push(`skipping ${scheduled.toISOString()}`);
      });
      return operator;
    };
    const first = new VirtualClock(Date.parse("2026-03-01T00:59:50Z"));
    const running = await start(make(), { clock: first });
    await stage.inTime(first, () => expect(times).toHaveLength(2));
    await eventually(async () => {
      const { spec } = await client.get(Lease, "op-hourly");
      expect(spec?.renewTime).toMatch(/^2026-03-01T01:00:0\d/);
    });
    await running.stop();
    times.length = 0;
    const second = new VirtualClock(Date.parse("2026-03-01T05:30:00Z"));
    await start(make(), { clock: second });
    await eventually(() => expect(times).toEqual(["hourly 2026-03-01T02:00:00.000Z"]));
    await second.advance(20 * 60_000);
    await quiet();
    expect(times).toHaveLength(1);
  });
});
