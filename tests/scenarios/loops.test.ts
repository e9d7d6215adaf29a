import { type Client, Event } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Lever = resource({
  group: "loops.example.com",
  version: "v1",
  kind: "Lever",
  spec: z.object({ position: z.enum(["up", "down"]).default("down"), height: z.number().default(0) }),
  status: z.object({ events: z.number().optional(), position: z.string().optional() }),
});

describeOn(clustersUnderTest(), "loops without an end are slowed down", (cluster) => {
  const stage = useStage(cluster, "loops");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const lever = (name: string) =>
    client.create(new Lever({ metadata: { name }, spec: { position: "down", height: 0 } }));
  const hotLoop = async (name: string) => {
    const { status } = await client.get(Lever, name);
    return status?.conditions?.find(({ type }) => type === "HotLoop");
  };
  const warnings = () => logs.filter(({ level }) => level === "warn").map(({ message }) => message);
  const reasons = async () => (await client.list(Event).toArray()).map(({ body }) => body.reason);

  it("of an event handler that changes its object at each event", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { queueing: { hotLoop: 5 } } });
    let calls = 0;
    operator.on.event(Lever, function count({ patch }) {
      calls++;
      patch.status.events = calls;
    });
    await start(operator, { clock });
    await lever("one");
    await eventually(() => expect(calls).toBe(7));
    await quiet();
    expect(calls).toBe(7);
    expect(warnings()).toEqual(["an event handler is called by its own changes again and again, it is slowed down"]);
    expect(await hotLoop("one")).toMatchObject({ status: "True", reason: "OwnWrites" });
    await eventually(async () => expect(await reasons()).toContain("HotLoop"));
    // One more after a second, the next after two, and so on.
    await clock.advance(1_000);
    await eventually(() => expect(calls).toBe(8));
    await quiet();
    await clock.advance(1_000);
    await quiet();
    expect(calls).toBe(8);
  });

  it("of an event handler only where it is its own doing: many changes by others are many events", async () => {
    const operator = new Operator({ name: "op", settings: { queueing: { hotLoop: 3 } } });
    const seen: number[] = [];
    operator.on.event(Lever, function look({ spec, patch }) {
      seen.push(spec.height);
      patch.status.position = spec.position;
    });
    await start(operator, { clock: new VirtualClock() });
    const one = await lever("one");
    for (let height = 1; height <= 20; height++) {
      await one.patch({ spec: { height } });
      await eventually(() => expect(seen).toContain(height));
    }
    expect(warnings()).toEqual([]);
  });

  it("of two writers who undo each other's work, whoever of them is quicker", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { queueing: { hotLoop: 5 } } });
    let calls = 0;
    operator.on.update(Lever, function pushDown({ spec, patch }) {
      if (spec.position !== "up") return;
      calls++;
      patch.spec.position = "down";
    });
    await start(operator, { clock });
    const one = await lever("one");
    await quiet();
    const pull = () => one.patch({ spec: { position: "up" } });
    const isDown = async () => expect((await client.get(Lever, "one")).spec?.position).toBe("down");
    for (let round = 0; round < 6; round++) {
      await pull();
      await eventually(isDown);
      await quiet();
    }
    expect(warnings()).toEqual(["somebody undoes what the operator writes, again and again, it is slowed down"]);
    await pull();
    await quiet();
    expect((await client.get(Lever, "one")).spec?.position).toBe("up");
    expect(calls).toBe(6);
    expect(await hotLoop("one")).toMatchObject({ status: "True", reason: "Fight" });
    await clock.advance(1_000);
    await eventually(isDown);
    await quiet();
    await eventually(async () => expect(await reasons()).toContain("HotLoop"));
    // Nobody pulls any more: a while later all is well, and the object says so.
    await clock.advance(62_000);
    await eventually(async () => expect(await hotLoop("one")).toMatchObject({ status: "False", reason: "Calm" }));
    await pull();
    await eventually(isDown);
  });

  it("and nobody's change is lost by it: what the operator wrote and somebody took back at once is told again", async () => {
    const operator = new Operator({ name: "op" });
    const seen: (string | undefined)[] = [];
    let pulled: Promise<unknown> | undefined;
    operator.on.update(Lever, async function pushDown({ spec, patch }) {
      seen.push(spec.position);
      if (spec.position !== "up") return;
      patch.spec.position = "down";
      // Somebody who is quicker than the operator's next look at its own change.
      pulled ??= pullBack();
    });
    const pullBack = async () => {
      for await (const { object } of client.watch(Lever, { fieldSelector: "metadata.name=one" })) {
        if (object.spec?.position === "down") return object.patch({ spec: { position: "up" } });
      }
    };
    await start(operator);
    const one = await lever("one");
    await quiet();
    await one.patch({ spec: { position: "up" } });
    await eventually(() => expect(pulled).toBeDefined());
    await pulled;
    await eventually(async () => expect((await client.get(Lever, "one")).spec?.position).toBe("down"));
    expect(seen.filter((position) => position === "up")).toHaveLength(2);
  });

  it("of a reconciler that fights with somebody over the status", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { queueing: { hotLoop: 5 } } });
    let runs = 0;
    operator.reconcile(Lever, async function tell({ spec, patch }) {
      runs++;
      patch.status.position = spec.position;
    });
    await start(operator, { clock });
    const one = await lever("one");
    const lie = () => one.patch({ status: { position: "sideways" } }, { subresource: "status" });
    const told = async () => expect((await client.get(Lever, "one")).status?.position).toBe("down");
    await eventually(told);
    for (let round = 0; round < 6; round++) {
      await lie();
      await eventually(told);
      await quiet();
    }
    expect(warnings()).toEqual(["somebody undoes what the operator writes, again and again, it is slowed down"]);
    const before = runs;
    await lie();
    await quiet();
    expect(runs).toBe(before);
    await stage.inTime(clock, told);
  });
});
