/** What Kopf's users complain about, each with what they get here instead: records, memory, load, status, types. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Client, ConfigMap, CustomResourceDefinition, InvalidError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, TemporaryError } from "lotse";
import { beforeEach, expect, expectTypeOf, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { patchesOf, Sample, sample } from "./sample.ts";
import { useStage } from "./stage.ts";

const MINUTE = 60_000;

/** A kind of somebody else's, whose status keeps what its schema names and nothing more. */
const strictKind = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "stricts.kopf.example.com" },
  spec: {
    group: "kopf.example.com",
    scope: "Namespaced",
    names: { kind: "Strict", listKind: "StrictList", plural: "stricts", singular: "strict" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              status: { type: "object", properties: { phase: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
} as const;

describeOn(clustersUnderTest(), "complaints about Kopf's records and load", (cluster) => {
  const stage = useStage(cluster, "kopf-complaints-records");
  const { start, eventually, quiet, running, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const patches = (plural: string) => patchesOf(cluster(), stage.namespace, plural);

  it("complaint 9: an object too large to be remembered as a whole is handled all the same, and this is said once", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    const labels = { mine: "yes" };
    operator.on(["create", "update"], ConfigMap, { labels }, function store({ reason, old, diff }) {
      seen.push([reason, old, diff]);
    });
    await start(operator);
    // Random, so that no compression helps: more than all annotations of an object may hold together.
    let state = 1;
    const letter = () => {
      state = (state * 48_271) % 2_147_483_647;
      return String.fromCharCode(33 + (state % 90));
    };
    const payload = Array.from({ length: 400_000 }, letter).join("");
    const object = await client.create(ConfigMap.gen({ name: "large", labels, data: { payload } }));
    const record = async () => (await client.get(ConfigMap, "large")).annotations["op.lotse.dev/state"];
    await eventually(async () => expect(await record()).toContain("handled"));
    await quiet();
    for (const round of ["1", "2"]) {
      const before = await record();
      await object.patch({ data: { round } });
      await eventually(async () => expect(await record()).not.toBe(before));
      await quiet();
    }
    expect(seen).toEqual([
      ["create", undefined, expect.anything()],
      ["update", undefined, []],
      ["update", undefined, []],
    ]);
    expect((await record())?.length).toBeLessThan(1_000);
    const said = logs.filter(
      ({ level, object: about }) => level !== "debug" && level !== "info" && about?.name === "large",
    );
    expect(said.map(({ level }) => level)).toEqual(["warn"]);
  });

  it("complaint 10: nothing is written that the status does not keep, and what a handler loses is named", async () => {
    const operator = new Operator({ name: "op" });
    const crd = await client.create(new CustomResourceDefinition(strictKind as never));
    await crd.wait("condition=Established");
    operator.on.create("stricts.kopf.example.com", function measure({ patch, name }) {
      patch.status.phase = "Ready";
      if (name === "hasty") patch.status.bogus = 1;
      return { metres: 3 };
    });
    operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function result() {
      return { metres: 3 };
    });
    await start(operator);
    const strict = (name: string) =>
      client.create({ apiVersion: "kopf.example.com/v1", kind: "Strict", metadata: { name }, spec: {} });
    const warnings = () => logs.filter(({ level }) => level === "warn" || level === "error");
    const complaints = () => warnings().filter(({ message }) => !/has no field for it$/.test(message));
    await strict("one");
    await client.create(ConfigMap.gen({ name: "plain", labels: { mine: "yes" } }));
    await eventually(async () => {
      const { body } = await client.get("stricts.kopf.example.com", "one");
      expect(body.status).toEqual({ phase: "Ready" });
      expect(body.metadata?.annotations).toHaveProperty(["op.lotse.dev/state"]);
    });
    await eventually(async () => expect(await patches("configmaps")).toEqual(["plain"]));
    await quiet();
    expect(complaints()).toEqual([]);
    // What is returned and has no room is named at the start, and when it is lost, once for each handler.
    expect(
      warnings()
        .map(({ fields }) => fields.handler)
        .sort(),
    ).toEqual(["measure", "measure", "result", "result"]);
    await strict("hasty");
    await eventually(() => expect(complaints()).toHaveLength(1));
    expect(complaints()[0]).toMatchObject({
      message: "the server did not keep some fields of the patch",
      fields: { fields: "status.bogus" },
      object: { name: "hasty" },
    });
    await quiet();
    expect(complaints()).toHaveLength(1);
  });

  it("complaint 11: a record that was copied from another object is none", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const labels = { mine: "yes" };
    operator.on(["create", "update"], ConfigMap, { labels }, function store({ reason, name, old }) {
      seen.push(`${reason} ${name} ${old === undefined}`);
    });
    await start(operator);
    await client.create(ConfigMap.gen({ name: "original", labels, data: { a: "b" } }));
    await eventually(async () =>
      expect((await client.get(ConfigMap, "original")).annotations).toHaveProperty(["op.lotse.dev/state"]),
    );
    const { annotations, body } = await client.get(ConfigMap, "original");
    await client.create(ConfigMap.gen({ name: "copy", labels, annotations, data: { ...body.data } }));
    await eventually(() => expect(seen).toEqual(["create original true", "create copy true"]));
    await eventually(async () => {
      const copy = await client.get(ConfigMap, "copy");
      const { uid } = copy.metadata;
      expect(copy.annotations[`op.lotse.dev/state-${uid}`]).toContain(uid);
    });
    await quiet();
    expect(seen).toHaveLength(2);
  });

  it("complaint 16: what is kept in memory is small, is the same for any number of timers, and goes with the object", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const memos: WeakRef<object>[] = [];
    const bodies: WeakRef<object>[] = [];
    let managed = 0;
    operator.on.create(Sample, function remember({ memo, body, meta }) {
      memo.load = new Array(1_000).fill("x");
      memos.push(new WeakRef(memo));
      bodies.push(new WeakRef(body));
      if ("managedFields" in meta) managed++;
    });
    operator.timer(Sample, { interval: "1h" }, function tick() {});
    await start(operator, { clock });
    await sample(client, "first");
    await eventually(() => expect(memos).toHaveLength(1));
    await quiet();
    const { pending } = clock;
    const names = Array.from({ length: 20 }, (_, index) => `more-${index}`);
    for (const name of names) await sample(client, name);
    await eventually(() => expect(memos).toHaveLength(21));
    await quiet();
    expect(clock.pending).toBe(pending);
    expect(managed).toBe(0);
    for (const name of ["first", ...names]) await client.delete(Sample, name);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    await eventually(() => {
      collect();
      expect([...memos, ...bodies].filter((reference) => reference.deref() !== undefined)).toHaveLength(0);
    });
  });

  it("complaint 17: handlers that are ready share one write, and waiting for a retry costs none", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    let calls = 0;
    for (const id of ["one", "two", "three"]) operator.on.create(Sample, { id }, () => void calls++);
    operator.on.create(Sample, function flaky({ patch, retry }) {
      calls++;
      if (retry === 0) throw new TemporaryError("not yet", { delay: "30m" });
      patch.status.done = true;
    });
    await start(operator, { clock });
    await sample(client, "object");
    await eventually(() => expect(calls).toBe(4));
    await quiet();
    expect(await patches("samples")).toEqual(["object/status"]);
    for (let minute = 1; minute < 30; minute++) await clock.advance(MINUTE);
    await quiet();
    expect(await patches("samples")).toEqual(["object/status"]);
    await clock.advance(MINUTE);
    await eventually(async () => expect((await client.get(Sample, "object")).status?.done).toBe(true));
    await quiet();
    expect(calls).toBe(5);
    expect(await patches("samples")).toEqual(["object/status", "object/status"]);
  });

  it("complaint 18: a limit of concurrency and indexes do not wait for each other", async () => {
    const operator = new Operator({ name: "op", concurrency: 1 });
    operator.index(Sample, { id: "sizes" }, ({ name, spec }) => ({ [name]: spec.size }));
    const seen: number[] = [];
    let busy = 0;
    let busiest = 0;
    operator.on.create(Sample, async function ask({ indexes }) {
      busiest = Math.max(busiest, ++busy);
      seen.push(indexes.sizes?.size ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 1));
      busy--;
    });
    await (await start(operator)).stop();
    for (const name of ["a", "b", "c", "d", "e"]) await sample(client, name);
    await start(operator);
    await eventually(() => expect(seen).toEqual([5, 5, 5, 5, 5]));
    expect(busiest).toBe(1);
  });

  it("complaint 19: equal Events are one Event with a count, and one object cannot flood the cluster", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Sample, function chatty({ warn, name }) {
      for (let word = 0; word < 200; word++) warn("Chatty", name === "same" ? "again" : `word ${word}`);
    });
    await start(operator);
    await sample(client, "same");
    await sample(client, "flood");
    const events = async (name: string) =>
      (await client.list("events").toArray())
        .map(({ body }) => body as { involvedObject?: { name?: string }; count?: number })
        .filter(({ involvedObject }) => involvedObject?.name === name);
    await eventually(async () => {
      expect((await events("same")).map(({ count }) => count)).toEqual([200]);
      expect((await events("flood")).length).toBeGreaterThan(0);
    });
    await Promise.all(running.splice(0).map((one) => one.stop()));
    expect(await events("same")).toHaveLength(1);
    expect((await events("flood")).length).toBeLessThanOrEqual(25);
  });

  it("complaint 21: conditions have the time of their transition and the generation that they speak of", async () => {
    const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
    const operator = new Operator({ name: "op" });
    operator.on(["create", "update"], Sample, function judge({ conditions, spec }) {
      conditions.set("Ready", spec.size < 5, spec.size < 5 ? "Small" : "Large", `the size is ${spec.size}`);
    });
    await start(operator, { clock });
    const object = await sample(client, "one", { size: 1 });
    const ready = async () => {
      const { status } = (await client.get(Sample, "one")).body as { status?: { conditions?: unknown[] } };
      return status?.conditions;
    };
    const condition = (status: string, reason: string, size: number, generation: number, time: string) => [
      {
        type: "Ready",
        status,
        reason,
        message: `the size is ${size}`,
        observedGeneration: generation,
        lastTransitionTime: `2026-01-01T${time}Z`,
      },
    ];
    await eventually(async () => expect(await ready()).toEqual(condition("True", "Small", 1, 1, "00:00:00")));
    await clock.advance(MINUTE);
    await object.patch({ spec: { size: 2 } });
    await eventually(async () => expect(await ready()).toEqual(condition("True", "Small", 2, 2, "00:00:00")));
    await clock.advance(MINUTE);
    await object.patch({ spec: { size: 9 } });
    await eventually(async () => expect(await ready()).toEqual(condition("False", "Large", 9, 3, "00:02:00")));
  });

  it("complaint 22: one schema makes the types, the CRD and the server's validation", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on.create(Sample, function typed({ spec, patch, old, new: now }) {
      expectTypeOf(spec.size).toEqualTypeOf<number>();
      expectTypeOf(spec.note).toEqualTypeOf<string | undefined>();
      expectTypeOf(spec).not.toHaveProperty("wrong");
      expectTypeOf(patch.status).toHaveProperty("count");
      expectTypeOf(patch.status).not.toHaveProperty("wrong");
      expectTypeOf(old?.spec?.size).toEqualTypeOf<number | undefined>();
      expectTypeOf(now?.spec?.size).toEqualTypeOf<number | undefined>();
      patch.status.count = spec.size;
      seen.push(spec);
    });
    await start(operator);
    await expect(sample(client, "wrong", { size: "large" } as never)).rejects.toThrow(InvalidError);
    await sample(client, "right");
    await eventually(async () => expect((await client.get(Sample, "right")).status?.count).toBe(1));
    // The default comes from the schema as well.
    expect(seen).toEqual([{ size: 1 }]);
  });
});
