import type { Client, KubeBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { absent, Operator, present, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Buoy = resource({
  group: "buoys.example.com",
  version: "v1",
  kind: "Buoy",
  spec: z.object({ colour: z.string().optional(), depth: z.number().optional() }),
  status: z.object({ lit: z.boolean().optional() }),
});

describeOn(clustersUnderTest(), "filters", (cluster) => {
  const stage = useStage(cluster, "filters");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function buoy(name: string, spec: { colour?: string; depth?: number } = {}, metadata: KubeBody["metadata"] = {}) {
    return client.create(new Buoy({ metadata: { name, ...metadata }, spec }));
  }

  it("of a value are for both sides of a change", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.update(Buoy, { id: "red", field: "spec.colour", value: "red" }, ({ old, new: now }) => {
      seen.push(`${old} to ${now}`);
    });
    await start(operator);
    const object = await buoy("one", { colour: "red" });
    await quiet();
    for (const colour of ["blue", "green", "red", null]) {
      await object.patch({ spec: { colour } });
      await quiet();
    }
    // While neither side is red the object is nobody's business: what was there before is what was handled last.
    expect(seen).toEqual(["red to blue", "blue to red", "red to undefined"]);
  });

  it("of a value look at the object itself where there is no change to look at", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const red = { field: "spec.colour", value: "red" };
    operator.on.event(Buoy, { id: "event", ...red }, ({ name }) => void seen.push(`event ${name}`));
    operator.timer(Buoy, { id: "timer", interval: "1h", ...red }, ({ name }) => void seen.push(`timer ${name}`));
    operator.daemon(Buoy, { id: "daemon", ...red }, ({ name }) => void seen.push(`daemon ${name}`));
    const reds = operator.index(Buoy, { id: "reds", ...red }, ({ name }) => name);
    operator.on.create(Buoy, { id: "asks", field: "spec.depth" }, async ({ indexes }) => {
      seen.push(`index ${indexes(reds).get(null).join()}`);
    });
    await start(operator);
    await buoy("red", { colour: "red" });
    await eventually(() => expect(seen).toHaveLength(3));
    await buoy("blue", { colour: "blue", depth: 3 });
    await eventually(() => expect(seen).toHaveLength(4));
    await quiet();
    expect([...seen].sort()).toEqual(["daemon red", "event red", "index red", "timer red"]);
  });

  it("of the old and the new value must both hold", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const declare = (id: string, old: unknown, now: unknown) =>
      operator.on.field(Buoy, { id, field: "spec.colour", old, new: now }, () => void seen.push(id));
    declare("painted", absent, present);
    declare("from red to blue", "red", "blue");
    declare("faded", present, absent);
    await start(operator);
    const object = await buoy("one");
    await quiet();
    for (const colour of ["red", "green", "blue", "red", "blue", null]) {
      await object.patch({ spec: { colour } });
      await quiet();
    }
    expect(seen).toEqual(["painted", "from red to blue", "faded"]);
  });

  it("name keys with dots in them by a list", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    const field = ["metadata", "annotations", "example.com/keeper"];
    operator.on.field(Buoy, { id: "kept", field }, ({ old, new: now }) => void seen.push([old, now]));
    await start(operator);
    const object = await buoy("one", {}, { annotations: { "example.com/keeper": "ann" } });
    await eventually(() => expect(seen).toEqual([[undefined, "ann"]]));
    await quiet();
    await object.annotate({ "example.com/other": "x" });
    await quiet();
    await object.annotate({ "example.com/keeper": "bob" });
    await eventually(() =>
      expect(seen).toEqual([
        [undefined, "ann"],
        ["ann", "bob"],
      ]),
    );
  });

  it("by a function are asked last, and may look at the cause", async () => {
    const operator = new Operator({ name: "op" });
    const asked: unknown[] = [];
    const seen: string[] = [];
    operator.on(
      ["create", "update"],
      Buoy,
      {
        id: "painted",
        labels: { lit: "yes" },
        param: "a param",
        when: ({ name, uid, reason, old, new: now, diff, memo, param }) => {
          asked.push([name, typeof uid, typeof memo, param]);
          const colour = (essence: object | undefined) => (essence as KubeBody | undefined)?.spec;
          if (reason === "create") return old === undefined && colour(now) !== undefined;
          return diff.some(({ path }) => path.join(".") === "spec.colour");
        },
      },
      ({ reason, spec }) => void seen.push(`${reason} ${spec.colour} ${spec.depth}`),
    );
    operator.on.event(Buoy, { id: "gone", when: ({ type }) => type === "DELETED" }, ({ type }) => {
      seen.push(String(type));
    });
    await start(operator);
    await buoy("dark", { colour: "red" });
    const object = await buoy("one", { colour: "red", depth: 1 }, { labels: { lit: "yes" } });
    await eventually(() => expect(seen).toEqual(["create red 1"]));
    await quiet();
    await object.patch({ spec: { depth: 2 } });
    await quiet();
    expect(seen).toHaveLength(1);
    await object.patch({ spec: { colour: "blue" } });
    await eventually(() => expect(seen).toEqual(["create red 1", "update blue 2"]));
    await object.delete();
    await eventually(() => expect(seen).toEqual(["create red 1", "update blue 2", "DELETED"]));
    expect(new Set(asked.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(["one", "string", "object", "a param"])]),
    );
  });

  it("that an object does not pass keep it out of the log, and its later match is its creation", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on(["create", "update"], Buoy, { id: "lit", labels: { lit: "yes" } }, ({ reason }) => {
      seen.push(reason);
    });
    operator.on.delete(Buoy, { id: "lifted", labels: { lit: "yes" } }, () => {});
    await start(operator);
    const object = await buoy("one", { colour: "red" });
    await object.patch({ spec: { colour: "blue" } });
    await quiet();
    const { body } = await client.get(Buoy, "one");
    expect(body.metadata?.finalizers).toBeUndefined();
    expect(body.status).toBeUndefined();
    expect(logs.filter((line) => line.object?.name === "one")).toEqual([]);
    expect(seen).toEqual([]);
    await object.label({ lit: "yes" });
    await eventually(() => expect(seen).toEqual(["create"]));
    await quiet();
    expect(seen).toEqual(["create"]);
  });

  it("that throw hold up their object alone, for longer each time, until they no longer do", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    let broken = true;
    operator.on(
      ["create", "update"],
      Buoy,
      {
        id: "lit",
        when: ({ name }) => {
          if (broken && name === "bad") throw new Error("cannot say");
          return true;
        },
      },
      ({ name, reason }) => void seen.push(`${reason} ${name}`),
    );
    await start(operator, { clock });
    const bad = await buoy("bad");
    await buoy("good");
    const pauses = () =>
      logs
        .filter(({ message }) => message.startsWith("could not work on the object"))
        .map((line) => line.fields.retryIn);
    await eventually(() => expect(seen).toEqual(["create good"]));
    await eventually(() => expect(pauses()).toEqual(["1s"]));
    for (const [ms, expected] of [
      [1_000, ["1s", "2s"]],
      [2_000, ["1s", "2s", "4s"]],
    ] as const) {
      await clock.advance(ms);
      await eventually(() => expect(pauses()).toEqual(expected));
    }
    expect(logs.find(({ level }) => level === "error")?.object?.name).toBe("bad");
    broken = false;
    await clock.advance(4_000);
    await eventually(() => expect(seen).toEqual(["create good", "create bad"]));
    await quiet();
    broken = true;
    await bad.patch({ spec: { depth: 9 } });
    // A success has reset the pauses.
    await eventually(() => expect(pauses()).toEqual(["1s", "2s", "4s", "1s"]));
  });
});
