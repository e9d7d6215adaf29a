/** Several functions of one operator that work for the same object, and read what the others write. */
import { ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource } from "lotse";
import { expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const Shop = resource({
  group: "mixed.example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({ size: z.number().int().default(1), colour: z.string().optional() }),
  status: z.object({
    v: z.string().optional(),
    a: z.number().optional(),
    b: z.number().optional(),
    price: z.object({ id: z.string() }).optional(),
  }),
});

const shop = (name: string, size = 1) => new Shop({ metadata: { name }, spec: { size } });

describeOn(clustersUnderTest(), "functions for one object", (cluster) => {
  const stage = useStage(cluster, "mixed");

  /** Keeps a ConfigMap that shows the status; tells how often it ran. */
  function showing(operator: Operator, shown: (status: Readonly<Record<string, unknown>>) => string) {
    const seen: string[] = [];
    operator.children(Shop, { id: "show", owns: [ConfigMap] }, ({ name, status }) => {
      seen.push(shown(status as Readonly<Record<string, unknown>>));
      return ConfigMap.gen({ name: `${name}-view`, data: { shows: seen.at(-1) ?? "" } });
    });
    return seen;
  }
  const shows = (name: string, text: string) =>
    stage.eventually(async () => expect((await stage.client.get(ConfigMap, `${name}-view`)).data?.shows).toBe(text));
  const v = (status: Readonly<Record<string, unknown>>) => String(status.v);

  it("children show what a handler wrote into the status, after create and after update", async () => {
    const operator = new Operator({ name: "mixed" });
    const seen = showing(operator, v);
    operator.on(["create", "update"], Shop, async function compute({ spec, patch }) {
      patch.status.v = `v${spec.size}`;
    });
    await stage.start(operator);
    await stage.client.create(shop("a", 1));
    await shows("a", "v1");
    await stage.client.patch(Shop, "a", { spec: { size: 2 } });
    await shows("a", "v2");
    await stage.quiet();
    // Once with the state before the handler's write, once with the one after it.
    expect(seen).toEqual(["undefined", "v1", "v1", "v2"]);
  });

  it("children show a handler's result, its conditions, its labels and what it transforms", async () => {
    const operator = new Operator({ name: "mixed" });
    operator.children(Shop, { id: "show", owns: [ConfigMap] }, ({ name, status, labels, spec }) => {
      const sold = status.conditions?.find(({ type }) => type === "Sold")?.reason;
      const price = (status as { price?: { id: string } }).price?.id;
      return ConfigMap.gen({
        name: `${name}-view`,
        data: { shows: [price, sold, labels.tier, spec.colour].join(" ") },
      });
    });
    operator.on.create(Shop, { id: "price" }, async ({ patch, conditions }) => {
      patch.metadata.labels.tier = "gold";
      patch.transform((body) => Object.assign(body.spec, { colour: "red" }));
      conditions.set("Sold", true, "Today");
      return { id: "p1" };
    });
    await stage.start(operator);
    await stage.client.create(shop("a"));
    await shows("a", "p1 Today gold red");
  });

  it("children show what a timer writes each time, and are never slowed down for it", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "mixed" });
    const seen = showing(operator, v);
    let ticks = 0;
    operator.timer(Shop, { interval: "10s" }, async function tick({ patch }) {
      patch.status.v = `t${++ticks}`;
    });
    await stage.start(operator, { clock });
    await stage.client.create(shop("a"));
    await shows("a", "t1");
    for (let tick = 2; tick <= 15; tick++) {
      await clock.advance(10_000);
      await shows("a", `t${tick}`);
    }
    expect(seen.at(-1)).toBe("t15");
    expect(stage.logs.filter(({ message }) => message.includes("again and again"))).toEqual([]);
  });

  it("children show what a daemon wrote at its end", async () => {
    const operator = new Operator({ name: "mixed" });
    showing(operator, v);
    operator.daemon(Shop, async function watch({ patch, spec }) {
      patch.status.v = `d${spec.size}`;
    });
    await stage.start(operator);
    await stage.client.create(shop("a"));
    await shows("a", "d1");
  });

  it("handlers of changes are told what a daemon changed", async () => {
    const operator = new Operator({ name: "mixed" });
    const told: unknown[] = [];
    operator.daemon(Shop, async function paint({ patch }) {
      patch.spec.colour = "blue";
    });
    operator.on.field(Shop, { field: "spec.colour", id: "hear" }, async ({ new: now }) => {
      told.push(now);
    });
    await stage.start(operator);
    await stage.client.create(shop("a"));
    await stage.eventually(() => expect(told).toEqual(["blue"]));
  });

  it("children show what an event handler wrote", async () => {
    const operator = new Operator({ name: "mixed" });
    showing(operator, v);
    operator.on.event(Shop, async function note({ spec, patch }) {
      patch.status.v = `e${spec.size}`;
    });
    await stage.start(operator);
    await stage.client.create(shop("a"));
    await shows("a", "e1");
    await stage.client.patch(Shop, "a", { spec: { size: 2 } });
    await shows("a", "e2");
  });

  it("a reconciler that writes something new each time is not woken by it, also in a write that it shares", async () => {
    const operator = new Operator({ name: "mixed" });
    let runs = 0;
    operator.reconcile(Shop, async function count({ patch, conditions }) {
      patch.status.a = ++runs;
      patch.transform((body) => Object.assign(body.spec, { colour: `c${runs}` }));
      conditions.set("Counted", true, `Run${runs}`);
      return { id: `r${runs}` };
    });
    operator.on.create(Shop, async function claim({ patch }) {
      patch.status.v = "claimed";
    });
    await stage.start(operator);
    await stage.client.create(shop("a"));
    await stage.eventually(() => expect(runs).toBe(2));
    await stage.quiet();
    expect(runs).toBe(2);
    await stage.client.patch(Shop, "a", { spec: { size: 2 } });
    await stage.eventually(() => expect(runs).toBe(3));
    await stage.quiet();
    expect(runs).toBe(3);
  });

  it("two reconcilers that read each other's status fields come to rest", async () => {
    const operator = new Operator({ name: "mixed" });
    const runs: string[] = [];
    operator.reconcile(Shop, async function first({ spec, patch }) {
      runs.push("first");
      patch.status.a = spec.size * 2;
    });
    operator.reconcile(Shop, async function second({ status, patch }) {
      runs.push("second");
      patch.status.b = (status.a ?? 0) + 1;
    });
    await stage.start(operator);
    const fields = async () => {
      const { status } = await stage.client.get(Shop, "a");
      return [status?.a, status?.b];
    };
    await stage.client.create(shop("a", 2));
    await stage.eventually(async () => expect(await fields()).toEqual([4, 5]));
    await stage.client.patch(Shop, "a", { spec: { size: 3 } });
    await stage.eventually(async () => expect(await fields()).toEqual([6, 7]));
    await stage.quiet();
    const before = runs.length;
    await stage.quiet();
    expect(runs).toHaveLength(before);
    expect(before).toBeLessThanOrEqual(12);
  });

  it("two reconcilers that wake each other without an end are slowed down, and said to be", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "mixed" });
    let runs = 0;
    operator.reconcile(Shop, async function ping({ status, patch }) {
      runs++;
      patch.status.a = (status.b ?? 0) + 1;
    });
    operator.reconcile(Shop, async function pong({ status, patch }) {
      runs++;
      patch.status.b = (status.a ?? 0) + 1;
    });
    await stage.start(operator, { clock });
    await stage.client.create(shop("a"));
    const said = "a reconciler is woken by its own writes again and again, it is slowed down";
    await stage.eventually(() => expect(stage.logs.map(({ message }) => message)).toContain(said));
    await stage.quiet();
    const before = runs;
    await stage.quiet();
    expect(runs).toBe(before);
    // Somebody else is served at once all the same.
    await stage.client.patch(Shop, "a", { spec: { size: 2 } });
    await stage.eventually(() => expect(runs).toBeGreaterThan(before));
  });

  it("a reconciler that lists its own kind and writes something new each time is slowed down as well", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "mixed" });
    let runs = 0;
    operator.reconcile(Shop, async function restless({ list, patch }) {
      await list(Shop);
      patch.status.a = ++runs;
    });
    await stage.start(operator, { clock });
    await stage.client.create(shop("a"));
    const said = "a reconciler is woken by its own writes again and again, it is slowed down";
    await stage.eventually(() => expect(stage.logs.map(({ message }) => message)).toContain(said));
    await stage.quiet();
    const before = runs;
    await stage.quiet();
    expect(runs).toBe(before);
  });

  it("a reconciler that asks for some changes only is not woken by others that a handler makes", async () => {
    const operator = new Operator({ name: "mixed" });
    const runs: string[] = [];
    operator.reconcile(Shop, { filter: "generation" }, async function look({ spec }) {
      runs.push(`${spec.size} ${spec.colour}`);
    });
    operator.on.create(Shop, async function status({ patch }) {
      patch.status.v = "done";
    });
    operator.on.field(Shop, { field: "spec.size", id: "paint" }, async ({ new: size, patch }) => {
      if (size === 2) patch.spec.colour = "red";
    });
    await stage.start(operator);
    await stage.client.create(shop("a"));
    await stage.eventually(async () => expect((await stage.client.get(Shop, "a")).status?.v).toBe("done"));
    await stage.quiet();
    expect(runs).toEqual(["1 undefined"]);
    await stage.client.patch(Shop, "a", { spec: { size: 2 } });
    await stage.eventually(() => expect(runs.at(-1)).toBe("2 red"));
    await stage.quiet();
    expect(runs).toEqual(["1 undefined", "2 undefined", "2 red"]);
  });

  it("a reconciler sees what somebody wrote in the middle of its turn's write", async () => {
    const wire = await Wire.to(stage.client);
    const operator = new Operator({ name: "mixed" });
    const seen: string[] = [];
    operator.reconcile(Shop, async function look({ spec, status, patch }) {
      seen.push(`${spec.size} ${status.v}`);
      patch.status.a = spec.size;
      if (seen.length > 1) return;
      // The streams are late, so that the turn's write meets a conflict and has to be made anew.
      wire.hold();
      await stage.client.patch(Shop, "a", { spec: { size: 7 } });
    });
    operator.on(["create", "update"], Shop, async function compute({ spec, patch }) {
      patch.status.v = `v${spec.size}`;
    });
    await stage.start(operator, { client: wire.client, crds: "wait" });
    await stage.client.create(shop("a"));
    await stage.eventually(async () => {
      const { status } = await stage.client.get(Shop, "a");
      expect([status?.a, status?.v]).toEqual([7, "v7"]);
    });
    await stage.eventually(() => expect(seen.at(-1)).toBe("7 v7"));
    wire.release();
    await stage.quiet();
    expect(seen[0]).toBe("1 undefined");
    expect(seen.at(-1)).toBe("7 v7");
  });

  it("tells who has written what it looks at again", async () => {
    const operator = new Operator({ name: "mixed" });
    showing(operator, v);
    operator.on.create(Shop, async function compute({ patch }) {
      patch.status.v = "one";
    });
    const running = await stage.start(operator);
    await stage.client.create(shop("a"));
    await shows("a", "one");
    // The child is there before the turn that made it has ended, and is told of.
    await stage.quiet();
    const { turns = [] } = running.explain({ kind: "Shop", namespace: stage.namespace, name: "a" }) ?? {};
    expect(turns.flatMap(({ woke }) => woke).map(({ what }) => what)).toContain(
      "status.v of the object itself, written by compute",
    );
  });
});
