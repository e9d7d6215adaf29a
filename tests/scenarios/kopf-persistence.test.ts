import { type Client, ConfigMap, CustomResourceDefinition } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { annotationStorage, kopf, migrateStorage, Operator, type RecordStorage, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Chart = resource({
  group: "charts.example.com",
  version: "v1",
  kind: "Chart",
  spec: z.object({ scale: z.number().optional(), title: z.string().optional() }),
  status: z.object({ drawn: z.number().optional() }),
});

/** A kind whose status takes anything, such as what Kopf leaves there. */
const Sketch = resource({ group: "charts.example.com", version: "v1", kind: "Sketch", spec: z.object({}) });

const NOTE = "notes.example.com/record";

/** What a user may write: the record in an annotation of a name of its own. */
const notes: RecordStorage = {
  read(body) {
    const text = body.metadata?.annotations?.[NOTE];
    return text === undefined ? { type: "absent" } : { type: "found", record: JSON.parse(text) };
  },
  write(body, record) {
    const { [NOTE]: _old, ...others } = body.metadata?.annotations ?? {};
    const annotations = record ? { ...others, [NOTE]: JSON.stringify(record) } : others;
    return { ...body, metadata: { ...body.metadata, annotations } };
  },
  clear(essence) {
    const metadata = essence.metadata as { annotations?: Record<string, string> } | undefined;
    if (metadata?.annotations?.[NOTE] === undefined) return essence;
    const { [NOTE]: _own, ...annotations } = metadata.annotations;
    const { annotations: _all, ...rest } = metadata;
    const kept = Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest;
    const { metadata: _metadata, ...others } = essence;
    return Object.keys(kept).length > 0 ? { ...others, metadata: kept } : others;
  },
  finalizer: "notes.example.com/finalizer",
  place: "annotation",
};

describeOn(clustersUnderTest(), "what an operator remembers", (cluster) => {
  const stage = useStage(cluster, "persistence");
  const { start, eventually, quiet } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function chart(name: string, spec: { scale?: number; title?: string } = {}) {
    return client.create(new Chart({ metadata: { name }, spec }));
  }

  /** The record in the status. */
  async function record(name: string): Promise<Record<string, unknown> | undefined> {
    const status = (await client.get(Chart, name)).status as { lotse?: { op?: Record<string, unknown> } } | undefined;
    return status?.lotse?.op;
  }

  it("may lie wherever a storage of one's own puts it", async () => {
    const seen: string[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op", persistence: notes });
      operator.on(["create", "update", "delete"], Chart, { id: "draw" }, ({ reason, diff }) => {
        seen.push(`${reason} ${diff.length}`);
      });
      return operator;
    };
    const first = await start(declare());
    const object = await chart("one", { scale: 1 });
    await eventually(() => expect(seen).toEqual(["create 1"]));
    await quiet();
    const { body } = await client.get(Chart, "one");
    expect(body.metadata?.annotations).toHaveProperty([NOTE]);
    expect(body.metadata?.finalizers).toEqual(["notes.example.com/finalizer"]);
    expect(body.status).toBeUndefined();
    await first.stop();
    await object.patch({ spec: { scale: 2 } });
    await start(declare());
    await eventually(() => expect(seen).toEqual(["create 1", "update 1"]));
    await quiet();
    await object.delete();
    await eventually(async () => expect(await object.exists()).toBe(false));
    expect(seen).toEqual(["create 1", "update 1", "delete 0"]);
  });

  it("has a finalizer and a place of its own for each operator, so that two on one object end it together", async () => {
    const seen: string[] = [];
    for (const name of ["left", "right"]) {
      const finalizer = `${name}.example.com/hold`;
      const operator = new Operator({ name, persistence: { ...annotationStorage(name), finalizer } });
      operator.on(["create", "update", "delete"], Chart, { id: "draw" }, ({ reason }) => {
        seen.push(`${name} ${reason}`);
      });
      await start(operator);
    }
    const object = await chart("one");
    await eventually(() => expect([...seen].sort()).toEqual(["left create", "right create"]));
    await quiet();
    const { metadata } = await client.get(Chart, "one");
    expect([...(metadata.finalizers ?? [])].sort()).toEqual(["left.example.com/hold", "right.example.com/hold"]);
    expect(Object.keys(metadata.annotations ?? {}).sort()).toEqual(["left.lotse.dev/state", "right.lotse.dev/state"]);
    await object.delete();
    await eventually(async () => expect(await object.exists()).toBe(false));
    expect(seen.slice(2).sort()).toEqual(["left delete", "right delete"]);
  });

  it("moves on with changes that no handler asked for", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on.field(Chart, { id: "rescale", field: "spec.scale" }, ({ old, new: now }) => void seen.push([old, now]));
    await start(operator);
    const object = await chart("one", { scale: 1, title: "Harbour" });
    await eventually(async () => expect(await record("one")).toHaveProperty("handled"));
    const before = (await record("one"))?.handled;
    await object.patch({ spec: { title: "Port" } });
    await eventually(async () => expect((await record("one"))?.handled).not.toBe(before));
    await quiet();
    expect(seen).toEqual([[undefined, 1]]);
  });

  it("includes attempts and deadlines, so that a new process waits for the rest", async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const declare = (process: string) => {
      const operator = new Operator({ name: "op" });
      operator.on.create(Chart, { id: "draw", retries: 3 }, ({ retry, runtime }) => {
        seen.push(`${process} ${retry} after ${runtime}`);
        throw new TemporaryError("no ink", { delay: "1h" });
      });
      return operator;
    };
    const first = await start(declare("first"), { clock });
    await chart("one");
    await eventually(async () => expect(await record("one")).toHaveProperty("runs.draw.attempts", 1));
    await first.stop();
    await clock.advance(600_000);
    await start(declare("second"), { clock });
    await quiet();
    await clock.advance(2_999_000);
    await quiet();
    expect(seen).toEqual(["first 0 after 0"]);
    await clock.advance(1_000);
    await eventually(() => expect(seen).toEqual(["first 0 after 0", "second 1 after 3600000"]));
    await eventually(async () => expect(await record("one")).toHaveProperty("runs.draw.attempts", 2));
    await quiet();
    await clock.advance(3_600_000);
    // The limit of three counts the calls of both.
    await eventually(() => expect(seen[2]).toBe("second 2 after 7200000"));
    await eventually(async () => expect(await record("one")).not.toHaveProperty("runs"));
  });

  it("holds no live object longer than needed: a finalizer goes with the handler that wanted it", async () => {
    const old = new Operator({ name: "op" });
    old.on.create(Chart, function draw() {});
    old.on.delete(Chart, function shred() {});
    const first = await start(old);
    const object = await chart("one");
    const finalizers = async () => (await client.get(Chart, "one")).metadata.finalizers;
    await eventually(async () => expect(await finalizers()).toEqual(["op.lotse.dev/finalizer"]));
    await quiet();
    await client.patch(Chart, "one", { metadata: { finalizers: ["op.lotse.dev/finalizer", "others.example.com/x"] } });
    await quiet();
    await first.stop();
    const next = new Operator({ name: "op" });
    next.on.create(Chart, function draw() {});
    await start(next);
    await eventually(async () => expect(await finalizers()).toEqual(["others.example.com/x"]));
    await client.patch(Chart, "one", { metadata: { finalizers: null } });
    await object.delete();
  });

  it("is not disturbed by what Kopf operators keep on the same object", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on(["create", "update"], ConfigMap, { id: "look", labels: { mine: "yes" } }, ({ diff }) => {
      seen.push(diff.map(({ path }) => path.at(-1) ?? "new").join());
    });
    await start(operator);
    const object = await client.create(ConfigMap.gen({ name: "one", labels: { mine: "yes" } }));
    await eventually(() => expect(seen).toEqual(["new"]));
    await quiet();
    await object.annotate({ "kopf.zalando.org/last-handled-configuration": "{}" });
    await object.annotate({ "shop.kopf.zalando.org/touch-dummy": "1" });
    await object.annotate({ "shop.example.com/kopf-managed": "yes", "shop.example.com/publish": "{}" });
    await quiet();
    expect(seen).toEqual(["new"]);
    await object.annotate({ "other.example.com/publish": "{}" });
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen[1]).not.toContain("shop.example.com");
  });

  it("is taken from the status where an old Kopf has left it, goes on in annotations, and is cleaned up", async () => {
    const definition = await client.create(new CustomResourceDefinition(Sketch.crd()));
    await definition.wait("condition=Established");
    const object = await client.create(new Sketch({ metadata: { name: "old" }, spec: {} }));
    const progress = { draw: { started: "2026-01-01T00:00:00+00:00", purpose: "create", retries: 3 } };
    await object.patchStatus({ kopf: { progress } });
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", persistence: kopf() });
    const retries: number[] = [];
    operator.on.create(Sketch, async function draw({ retry }) {
      retries.push(retry);
      if (retries.length === 1) throw new TemporaryError("no ink", { delay: "30s" });
    });
    await start(operator, { clock });
    const key = "kopf.zalando.org/draw";
    await eventually(async () => {
      const { annotations } = await object.refresh();
      expect(JSON.parse(annotations[key] ?? "{}")).toMatchObject({ retries: 4, message: "no ink" });
    });
    await clock.advance(30_000);
    await eventually(async () => {
      const { annotations, status } = await object.refresh();
      expect(annotations).toHaveProperty(["kopf.zalando.org/last-handled-configuration"]);
      expect(annotations).not.toHaveProperty([key]);
      expect((status as { kopf?: { progress?: object } } | undefined)?.kopf?.progress ?? {}).toEqual({});
    });
    expect(retries).toEqual([3, 4]);
  });

  it("moves from one storage to another object by object, and nothing is handled again", async () => {
    const seen: string[] = [];
    const declare = (persistence: RecordStorage) => {
      const operator = new Operator({ name: "op", persistence });
      operator.on(["create", "update", "delete"], Chart, { id: "draw" }, ({ reason, diff }) => {
        seen.push(`${reason} ${diff.length}`);
      });
      return operator;
    };
    const first = await start(declare(kopf()));
    const object = await chart("one", { scale: 1 });
    await eventually(() => expect(seen).toEqual(["create 1"]));
    await quiet();
    const marks = async () => {
      const { annotations = {}, finalizers } = (await client.get(Chart, "one")).metadata;
      return { annotations: Object.keys(annotations), finalizers };
    };
    expect(await marks()).toEqual({
      annotations: ["kopf.zalando.org/last-handled-configuration"],
      finalizers: ["kopf.zalando.org/KopfFinalizerMarker"],
    });
    await first.stop();

    const second = await start(declare(migrateStorage(kopf(), annotationStorage("op"))));
    await quiet();
    expect(seen).toEqual(["create 1"]);
    for (const scale of [2, 3]) {
      await object.patch({ spec: { scale } });
      await eventually(() => expect(seen).toHaveLength(scale));
      await quiet();
    }
    expect(seen).toEqual(["create 1", "update 1", "update 1"]);
    expect(await marks()).toEqual({ annotations: ["op.lotse.dev/state"], finalizers: ["op.lotse.dev/finalizer"] });
    await second.stop();

    await start(declare(annotationStorage("op")));
    await quiet();
    await object.delete();
    await eventually(async () => expect(await object.exists()).toBe(false));
    expect(seen).toEqual(["create 1", "update 1", "update 1", "delete 0"]);
  });
});
