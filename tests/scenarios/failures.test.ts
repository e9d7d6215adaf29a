import { type Client, Event } from "@lotse/client";
import { type Clock, VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { gate } from "./sample.ts";
import { useStage } from "./stage.ts";

const Order = resource({
  group: "failures.example.com",
  version: "v1",
  kind: "Order",
  spec: z.object({ amount: z.number().default(1), note: z.string().optional() }),
  status: z.object({ paid: z.boolean().optional(), seen: z.number().optional(), ship: z.unknown().optional() }),
});

describeOn(clustersUnderTest(), "what goes wrong for an object", (cluster) => {
  const stage = useStage(cluster, "failures");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const order = (name: string, amount = 1) => client.create(new Order({ metadata: { name }, spec: { amount } }));
  const events = async () =>
    (await client.list(Event).toArray()).map(({ body }) => `${body.type} ${body.reason}: ${body.message}`);
  /** `Ready=True Published`. */
  const conditions = async (name: string) => {
    const { status } = await client.get(Order, name);
    return (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is} ${reason}`).sort();
  };
  const said = (message: string) => logs.filter((line) => line.message === message);
  const question = (name: string) => ({ kind: "Order", namespace: stage.namespace, name });

  it("in a step is told like any other failure: in the log with its place, as an Event, by explain and in metrics", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    let attempts = 0;
    operator.on.create(Order, async function handle({ step }) {
      await step("reserve", () => "reserved");
      await step("pay", () => {
        if (++attempts < 3) throw new Error("the bank does not answer");
      });
    });
    const running = await start(operator, { clock });
    await order("one");
    await eventually(() => expect(said("step failed, will be tried again")).toHaveLength(1));
    expect(said("step failed, will be tried again")[0]).toMatchObject({
      level: "warn",
      object: { name: "one" },
      fields: {
        handler: "handle",
        step: "pay",
        at: expect.stringContaining("failures.test.ts:"),
        error: "the bank does not answer",
        attempt: 1,
        retryIn: expect.any(String),
        stack: expect.any(String),
      },
    });
    await quiet();
    await eventually(async () =>
      expect(await events()).toContain(
        'Warning HandlerRetrying: handle, step "pay", failed, will be tried again: the bank does not answer',
      ),
    );
    expect(await conditions("one")).toEqual(["Reconciling=True HandlerRetrying"]);
    expect(running.explain(question("one"))?.open).toMatchObject([
      { handler: "handle", message: 'step "pay": the bank does not answer', steps: ["reserve"] },
    ]);
    expect(running.metrics()).toMatch(/outcome="waits for a step"/);
    await stage.inTime(clock, () => expect(attempts).toBe(3));
    await eventually(async () => expect(await conditions("one")).toEqual([]));
  });

  it("for good leaves its mark on the object until the object is corrected: then the handler is tried again", async () => {
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on.create(Order, function ship({ spec, patch, reason, old }) {
        if (spec.amount > 100) throw new PermanentError("nobody has so many");
        patch.status.seen = spec.amount;
        return { reason, isNew: old === undefined };
      });
      operator.on.update(Order, function note() {});
      return operator;
    };
    const first = await start(declare());
    const one = await order("one", 500);
    await eventually(async () => expect(await conditions("one")).toEqual(["Stalled=True HandlerFailed"]));
    await eventually(async () =>
      expect(await events()).toContain("Warning HandlerFailed: ship failed for good: nobody has so many"),
    );
    await one.patch({ spec: { amount: 400 } });
    await eventually(() => expect(said("handler failed for good")).toHaveLength(2));
    // A restart is no reason to hope.
    await quiet();
    await first.stop();
    await start(declare());
    await quiet();
    expect(said("handler failed for good")).toHaveLength(2);
    await one.patch({ spec: { amount: 3 } });
    await eventually(async () => expect((await client.get(Order, "one")).status?.seen).toBe(3));
    // It is called for what it was called for before.
    expect((await client.get(Order, "one")).status?.ship).toEqual({ reason: "create", isNew: true });
    expect(await conditions("one")).toEqual([]);
    await one.patch({ spec: { amount: 4 } });
    await quiet();
    expect((await client.get(Order, "one")).status?.seen).toBe(3);
  });

  it("takes back a Ready that handlers have said, for as long as it lasts", async () => {
    const operator = new Operator({ name: "op" });
    operator.on(["create", "update"], Order, function announce({ conditions: own, spec }) {
      if (spec.amount === 1) own.set("Ready", true, "Announced");
    });
    operator.on(["create", "update"], Order, function ship({ spec }) {
      if (spec.amount > 100) throw new PermanentError("nobody has so many");
    });
    await start(operator);
    const one = await order("one");
    await eventually(async () => expect(await conditions("one")).toEqual(["Ready=True Announced"]));
    await one.patch({ spec: { amount: 500 } });
    await eventually(async () =>
      expect(await conditions("one")).toEqual(["Ready=False HandlerFailed", "Stalled=True HandlerFailed"]),
    );
    await one.patch({ spec: { amount: 5 } });
    await eventually(async () => expect(await conditions("one")).toEqual(["Ready=True Recovered"]));
  });

  it("by a timer or a daemon is posted, and stands on the object", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const broken = { timer: true, daemon: true };
    operator.timer(Order, { interval: "1m" }, function tick() {
      if (broken.timer) throw new Error("no time");
    });
    operator.daemon(Order, async function guard({ signal }) {
      if (broken.daemon) throw new PermanentError("no guard");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    const running = await start(operator, { clock });
    const one = await order("one");
    await eventually(async () => expect(await conditions("one")).toEqual(["Stalled=True HandlerFailed"]));
    await eventually(async () =>
      expect(await events()).toEqual(
        expect.arrayContaining([
          "Warning HandlerRetrying: tick failed, will be tried again: no time",
          "Warning HandlerFailed: guard failed for good: no guard",
        ]),
      ),
    );
    expect(running.metrics()).toMatch(/handler="guard".*outcome="failed for good"/);
    const ran = running.explain(question("one"))?.turns.flatMap((turn) => turn.ran);
    expect(ran).toContainEqual(
      expect.objectContaining({ handler: "guard", reason: "daemon", outcome: "failed for good" }),
    );
    broken.daemon = false;
    await one.patch({ spec: { amount: 2 } });
    await eventually(async () => expect(await conditions("one")).toEqual(["Reconciling=True HandlerRetrying"]));
    broken.timer = false;
    await stage.inTime(clock, async () => expect(await conditions("one")).toEqual([]));
  });

  it("is told from waiting: a TemporaryError is one line at info, and no failure", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", events: "all" });
    operator.on.create(Order, function ship({ retry }) {
      if (retry < 2) throw new TemporaryError("the ship is not there yet", { delay: "5s" });
    });
    await start(operator, { clock });
    await order("one");
    await eventually(() => expect(said("waits")).toHaveLength(1));
    expect(said("waits")[0]).toMatchObject({
      level: "info",
      fields: { handler: "ship", why: "the ship is not there yet", retryIn: "5s" },
    });
    await quiet();
    expect(await conditions("one")).toEqual(["Reconciling=True Waiting"]);
    await eventually(async () =>
      expect(await events()).toContain("Normal Waiting: ship waits: the ship is not there yet, again in 5s"),
    );
    await stage.inTime(clock, () => expect(said("handler succeeded")).toHaveLength(1));
    expect(logs.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  it("is over when the object is no longer the handler's, and goes on when it is again", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    operator.on.create(Order, { when: ({ body }) => body.spec?.note !== "leave me" }, function ship({ retry }) {
      if (retry < 1) throw new TemporaryError("the ship is not there yet", { delay: "5s" });
    });
    await start(operator, { clock });
    const one = await order("one");
    await eventually(async () => expect(await conditions("one")).toEqual(["Reconciling=True Waiting"]));
    await one.patch({ spec: { note: "leave me" } });
    await eventually(async () => expect(await conditions("one")).toEqual([]));
    await clock.advance(60_000);
    await quiet();
    expect(said("handler succeeded")).toEqual([]);
    await one.patch({ spec: { note: "go on" } });
    await stage.inTime(clock, () => expect(said("handler succeeded")).toHaveLength(1));
    await eventually(async () => expect(await conditions("one")).toEqual([]));
  });

  it("is worth a warning when the waiting does not end", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    operator.on.create(Order, function ship() {
      throw new TemporaryError("the ship is not there yet", { delay: "5m" });
    });
    await start(operator, { clock });
    await order("one");
    for (let attempts = 1; attempts <= 4; attempts++) {
      await eventually(() => expect(said("waits").length + said("still waits").length).toBe(attempts));
      await quiet();
      await clock.advance(5 * 60_000);
    }
    expect(said("still waits")[0]).toMatchObject({ level: "warn", fields: { for: "15m" } });
    await eventually(async () =>
      expect(await events()).toContain("Warning Waiting: ship waits: the ship is not there yet, again in 5m"),
    );
  });

  it("can be tried again at once, by whoever has mended the cause", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const broken = { all: true };
    const fail = (error: Error) => {
      if (broken.all) throw error;
    };
    operator.on.create(Order, async function wait({ step }) {
      await step("inner", () => fail(new TemporaryError("not yet", { delay: "1h" })));
    });
    operator.on.create(Order, function giveUp() {
      fail(new PermanentError("never"));
    });
    operator.timer(Order, { interval: "1h", backoff: "1h" }, function tick() {
      fail(new Error("no time"));
    });
    operator.daemon(Order, { backoff: "1h" }, function guard() {
      fail(new Error("no guard"));
    });
    operator.reconcile(Order, { backoff: "1h" }, async function level() {
      fail(new Error("not level"));
    });
    const running = await start(operator, { clock });
    await order("one");
    await quiet();
    expect(running.retry(question("nobody"))).toBeUndefined();
    broken.all = false;
    const answer = running.retry(question("one"));
    expect(answer?.operator).toBe("op");
    expect([...(answer?.handlers ?? [])].sort()).toEqual(["giveUp", "guard", "level", "tick", "wait"]);
    await eventually(async () => expect(await conditions("one")).toEqual([]));
    await quiet();
    expect(clock.monotonic()).toBe(0);
    expect(running.retry(question("one"))?.handlers).toEqual([]);
  });

  it("is tried again at once where the operator starts to try", async () => {
    const clock = new VirtualClock();
    const declare = (broken: boolean) => {
      const operator = new Operator({ name: "op" });
      operator.on.create(Order, function wait({ patch }) {
        if (broken) throw new TemporaryError("not yet", { delay: "1h" });
        patch.status.paid = true;
      });
      operator.on.create(Order, function giveUp({ patch }) {
        if (broken) throw new PermanentError("never");
        patch.status.seen = 1;
      });
      return operator;
    };
    const first = await start(declare(true), { clock });
    await order("one");
    await eventually(() => expect(said("waits")).toHaveLength(1));
    await quiet();
    await first.stop();
    await start(declare(false), { clock, retryAtStart: true });
    await eventually(async () =>
      expect((await client.get(Order, "one")).status).toMatchObject({ paid: true, seen: 1 }),
    );
  });

  it("waits for its retry by a clock that nobody sets: an hour back changes nothing", async () => {
    const virtual = new VirtualClock();
    let offset = 0;
    const clock: Clock = {
      now: () => virtual.now() + offset,
      monotonic: () => virtual.monotonic(),
      after: (ms, fn) => virtual.after(ms, fn),
    };
    const operator = new Operator({ name: "op" });
    let attempts = 0;
    operator.on.create(Order, async function ship({ step, retry }) {
      await step("load", () => {
        if (++attempts === 1) throw new TemporaryError("not yet", { delay: "10s" });
      });
      if (retry === 0) throw new TemporaryError("once more", { delay: "10s" });
    });
    await start(operator, { clock });
    await order("one");
    await eventually(() => expect(attempts).toBe(1));
    await quiet();
    offset = -3_600_000;
    await virtual.advance(10_000);
    await eventually(() => expect(attempts).toBe(2));
    await quiet();
    offset = -7_200_000;
    await virtual.advance(10_000);
    await eventually(() => expect(said("handler succeeded")).toHaveLength(1));
  });

  it("because it came after the timeout does not count, whatever it was", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const { passed, open } = gate();
    let begun = false;
    operator.on.create(Order, { timeout: "10s" }, async function ship({ patch }) {
      begun = true;
      await passed;
      patch.status.paid = true;
      return { shipped: true };
    });
    await start(operator, { clock });
    await order("one");
    await eventually(() => expect(begun).toBe(true));
    await clock.advance(10_000);
    open();
    await eventually(() =>
      expect(said("handler ignored its timeout, what it has done since does not count")).toHaveLength(1),
    );
    await eventually(async () => expect(await conditions("one")).toEqual(["Stalled=True HandlerFailed"]));
    const { status } = await client.get(Order, "one");
    expect([status?.paid, status?.ship]).toEqual([undefined, undefined]);
  });
});
