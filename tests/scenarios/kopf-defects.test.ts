/** Where Kopf does something else than it says, each with what is right: handlers, timers, daemons, indexes. */
import { type Client, NotFoundError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { aborted, gate, patchesOf, Sample, sample } from "./sample.ts";
import { useStage } from "./stage.ts";

const MINUTE = 60_000;

describeOn(clustersUnderTest(), "Kopf's defects of handlers", (cluster) => {
  const stage = useStage(cluster, "kopf-defects");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const isGone = (name: string) => eventually(() => expect(client.get(Sample, name)).rejects.toThrow(NotFoundError));

  it("defect 1: a permanent error stops a timer, for the object that it was about", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const runs = { good: 0, bad: 0 };
    operator.timer(Sample, { interval: "1m" }, function tick({ name }) {
      runs[name as keyof typeof runs]++;
      if (name === "bad") throw new PermanentError("never again");
    });
    await start(operator, { clock });
    const bad = await sample(client, "bad");
    await sample(client, "good");
    for (let minute = 1; minute <= 4; minute++) {
      await eventually(() => expect(runs.good).toBe(minute));
      await quiet();
      await clock.advance(MINUTE);
    }
    expect(runs.bad).toBe(1);
    // What is permanent is not healed by waiting; another wish of somebody is another matter.
    await bad.patch({ spec: { size: 2 } });
    await eventually(() => expect(runs.bad).toBe(2));
    await quiet();
    await clock.advance(MINUTE);
    await quiet();
    expect(runs.bad).toBe(2);
    expect(logs.filter(({ message }) => message === "timer failed for good")).toHaveLength(2);
  });

  it("defect 2: a timer for quiet times alone runs once for each, and ends with its object", async () => {
    const clock = new VirtualClock();
    // An hour of silence is no reason to take the stream for dead here: only time passes, nothing else.
    const operator = new Operator({ name: "op", settings: { watching: { inactivity: "1d" } } });
    const runs: string[] = [];
    operator.timer(Sample, { idle: "10m" }, function rest({ name }) {
      runs.push(name);
    });
    // The deletion waits for the operator: a timer that does not let go would keep the object for ever.
    operator.on.delete(Sample, function hold() {});
    const one = await start(operator, { clock });
    const object = await sample(client, "first");
    await quiet();
    await clock.advance(10 * MINUTE);
    await eventually(() => expect(runs).toEqual(["first"]));
    await quiet();
    await clock.advance(60 * MINUTE);
    await quiet();
    expect(runs).toEqual(["first"]);
    await object.patch({ spec: { size: 2 } });
    await quiet();
    await clock.advance(10 * MINUTE);
    await eventually(() => expect(runs).toEqual(["first", "first"]));
    await object.delete();
    await isGone("first");
    await sample(client, "second");
    await quiet();
    await clock.advance(10 * MINUTE);
    await eventually(() => expect(runs).toEqual(["first", "first", "second"]));
    await one.stop();
    expect(clock.pending).toBe(0);
  });

  it("defect 3: a timeout interrupts the handler that is running", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const why: string[] = [];
    operator.on.create(Sample, { timeout: "10s" }, async function stuck({ signal }) {
      why.push("begun");
      why.push(await aborted(signal));
      throw signal.reason;
    });
    operator.on.create(Sample, function other({ patch }) {
      patch.status.done = true;
    });
    await start(operator, { clock });
    await sample(client, "one");
    await eventually(() => expect(why).toEqual(["begun"]));
    await clock.advance(9_999);
    expect(why).toEqual(["begun"]);
    await clock.advance(1);
    await eventually(() => expect(why).toEqual(["begun", "timeout"]));
    await eventually(async () => expect((await client.get(Sample, "one")).status).toMatchObject({ done: true }));
    expect(logs.find(({ message }) => message === "handler failed for good")?.fields).toMatchObject({
      handler: "stuck",
      error: "timed out",
    });
    await clock.advance(10 * MINUTE);
    await quiet();
    expect(why).toHaveLength(2);
    expect((await client.get(Sample, "one")).status).not.toHaveProperty("lotse.op.open");
  });

  it("defect 4: a field handler hears of its field at creation, at each change, and when deletion overtakes one", async () => {
    const seen: unknown[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on.field(Sample, { field: "spec.note" }, function note({ reason, old, new: now }) {
        seen.push([reason, old, now]);
      });
      operator.on.delete(Sample, function hold() {});
      return operator;
    };
    const first = await start(declare());
    const without = await sample(client, "without", { size: 1 });
    const object = await sample(client, "with", { note: "a" });
    await eventually(() => expect(seen).toEqual([["create", undefined, "a"]]));
    await object.patch({ spec: { note: "b" } });
    await eventually(() => expect(seen[1]).toEqual(["update", "a", "b"]));
    await object.patch({ spec: { size: 7 } });
    await without.delete();
    await isGone("without");
    await quiet();
    expect(seen).toHaveLength(2);
    await first.stop();
    await object.patch({ spec: { note: "c" } });
    await object.delete();
    await start(declare());
    await isGone("with");
    expect(seen.slice(2)).toEqual([["delete", "b", "c"]]);
  });

  it("defect 5: a filter's function gets undefined for what is not there, be it a field, a label or an annotation", async () => {
    const operator = new Operator({ name: "op" });
    const asked: unknown[] = [];
    const called: string[] = [];
    const isMissing = (value: unknown) => {
      asked.push(value);
      return value === undefined;
    };
    operator.on.create(Sample, { field: "spec.note", value: isMissing }, function byField({ name }) {
      called.push(`field ${name}`);
    });
    operator.on.create(Sample, { labels: { note: isMissing } }, function byLabel({ name }) {
      called.push(`label ${name}`);
    });
    operator.on.create(Sample, { annotations: { note: isMissing } }, function byAnnotation({ name }) {
      called.push(`annotation ${name}`);
    });
    operator.timer(Sample, { interval: "1h", field: "spec.note", value: isMissing }, function tick({ name }) {
      called.push(`timer ${name}`);
    });
    await start(operator);
    await sample(client, "bare");
    await eventually(() => expect(called).toEqual(["field bare", "label bare", "annotation bare", "timer bare"]));
    expect(new Set(asked)).toEqual(new Set([undefined]));
    await sample(client, "full", { note: "a" }, { labels: { note: "b" }, annotations: { note: "c" } });
    await quiet();
    expect(called).toHaveLength(4);
    expect(new Set(asked)).toEqual(new Set([undefined, "a", "b", "c"]));
  });

  it("defect 6: only a change of what somebody wants resets idling, with and without handlers of changes", async () => {
    const clock = new VirtualClock();
    const runs = { alone: 0, beside: 0 };
    for (const name of ["alone", "beside"] as const) {
      const operator = new Operator({ name });
      operator.timer(Sample, { interval: "1m", idle: "10m" }, function rest() {
        runs[name]++;
      });
      if (name === "beside") operator.on(["create", "update"], Sample, function note() {});
      await start(operator, { clock });
    }
    const object = await sample(client, "one");
    await quiet();
    await clock.advance(6 * MINUTE);
    await object.patchStatus({ count: 5 });
    await quiet();
    await clock.advance(4 * MINUTE - 1);
    await quiet();
    expect(runs).toEqual({ alone: 0, beside: 0 });
    await clock.advance(1);
    await eventually(() => expect(runs).toEqual({ alone: 1, beside: 1 }));
    await object.patch({ spec: { size: 2 } });
    await quiet();
    await clock.advance(10 * MINUTE - 1);
    await quiet();
    expect(runs).toEqual({ alone: 1, beside: 1 });
    await clock.advance(1);
    await eventually(() => expect(runs).toEqual({ alone: 2, beside: 2 }));
  });

  it("defect 7: an optional delete handler is called when nothing else holds the object", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.delete(Sample, { optional: true }, function farewell({ name, spec, reason }) {
      seen.push(`${reason} ${name} ${spec.size}`);
    });
    await start(operator);
    const object = await sample(client, "one", { size: 1 });
    await quiet();
    await object.patch({ spec: { size: 2 } });
    await quiet();
    expect((await client.get(Sample, "one")).metadata.finalizers).toBeUndefined();
    await object.delete();
    await eventually(() => expect(seen).toEqual(["delete one 2"]));
    await quiet();
    expect(seen).toHaveLength(1);
  });

  it("defect 8: a delete handler runs once, however long daemons take to end and however often the object changes", async () => {
    const operator = new Operator({ name: "op" });
    const slow = gate();
    const seen: string[] = [];
    operator.daemon(Sample, { grace: "1m" }, async function poll({ signal }) {
      seen.push(`daemon is told: ${await aborted(signal)}`);
      await slow.passed;
      seen.push("daemon ends");
    });
    operator.on.delete(Sample, function farewell() {
      seen.push("delete");
    });
    await start(operator);
    const object = await sample(client, "one", {}, { finalizers: ["example.com/foreign"] });
    await quiet();
    await object.delete();
    await eventually(() => expect([...seen].sort()).toEqual(["daemon is told: deletion", "delete"]));
    for (const round of ["1", "2", "3"]) {
      await client.patch(Sample, "one", { metadata: { annotations: { round } } });
      await quiet();
    }
    slow.open();
    await eventually(() => expect(seen).toContain("daemon ends"));
    await client.patch(Sample, "one", { metadata: { finalizers: null } } as never);
    await isGone("one");
    await quiet();
    expect(seen.filter((word) => word === "delete")).toHaveLength(1);
  });

  it("defect 9: steps and their attempts do not use up their handler's limits", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Sample, { retries: 2 }, async function build({ step, patch, retry }) {
      for (const name of ["a", "b", "c", "d"]) {
        await step(name, () => {
          const again = seen.includes(`${name} fails`);
          seen.push(again ? `${name} works` : `${name} fails`);
          if (!again) throw new TemporaryError("not yet", { delay: "10s" });
        });
      }
      patch.status.done = retry;
    });
    await start(operator, { clock });
    await sample(client, "one");
    for (const step of ["a", "b", "c", "d"]) {
      await eventually(() => expect(seen.at(-1)).toBe(`${step} fails`));
      await quiet();
      await clock.advance(10_000);
    }
    await eventually(async () => expect((await client.get(Sample, "one")).status?.done).toBe(0));
    expect(seen).toEqual(["a", "b", "c", "d"].flatMap((step) => [`${step} fails`, `${step} works`]));
  });

  it("defect 10: only what is made to be a map gives an index its keys; an object is one value", async () => {
    const operator = new Operator({ name: "op" });
    class Pair {
      readonly name: string;
      readonly size: number;
      constructor(name: string, size: number) {
        this.name = name;
        this.size = size;
      }
    }
    operator.index(Sample, { id: "byPlain" }, ({ name, spec }) => ({ [name]: spec.size }));
    operator.index(Sample, { id: "byMap" }, ({ name, spec }) => new Map([[spec.size, name]]));
    operator.index(Sample, { id: "instances" }, ({ name, spec }) => new Pair(name, spec.size));
    operator.index(Sample, { id: "bodies" }, ({ body }) => body);
    let found: Record<string, unknown> | undefined;
    operator.on.create(Sample, function ask({ indexes }) {
      const entries = (id: string) => [...(indexes[id] ?? [])];
      found = {
        byPlain: entries("byPlain"),
        byMap: entries("byMap"),
        instances: entries("instances"),
        bodies: entries("bodies").map(([key, bodies]) => [
          key,
          bodies.map((body) => (body as Pair & Body).metadata?.name),
        ]),
      };
    });
    interface Body {
      readonly metadata?: { readonly name?: string };
    }
    await start(operator);
    await sample(client, "one", { size: 3 });
    await eventually(() => expect(found).toBeDefined());
    expect(found).toEqual({
      byPlain: [["one", [3]]],
      byMap: [[3, ["one"]]],
      instances: [[null, [new Pair("one", 3)]]],
      bodies: [[null, ["one"]]],
    });
  });

  it("defect 15: resuming is never mixed into a creation, also of an object that was there before the operator", async () => {
    const seen: string[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on.create(Sample, function created({ name }) {
        seen.push(`created ${name}`);
      });
      operator.on.resume(Sample, function resumed({ name, reason }) {
        seen.push(`resumed ${name} (${reason})`);
      });
      operator.on(["create", "resume"], Sample, function either({ name, reason }) {
        seen.push(`either ${name} (${reason})`);
      });
      return operator;
    };
    await (await start(declare())).stop();
    await sample(client, "early");
    const first = await start(declare());
    const creation = ["created early", "either early (create)"];
    await eventually(() => expect(seen).toEqual(creation));
    await quiet();
    expect(seen).toEqual(creation);
    await first.stop();
    await start(declare());
    await eventually(() => expect(seen.slice(2)).toEqual(["resumed early (resume)", "either early (resume)"]));
    await quiet();
    expect(seen).toHaveLength(4);
  });

  it("defect 24: a handler that is finished hears of a change that arrives before the others are", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.update(Sample, function first({ old, new: now }) {
      seen.push(`first ${old?.spec?.size} to ${now?.spec?.size}`);
    });
    operator.on.update(Sample, function second({ old, new: now, retry }) {
      seen.push(`second ${old?.spec?.size} to ${now?.spec?.size}`);
      if (retry === 0 && now?.spec?.size === 2) throw new TemporaryError("not yet", { delay: "10s" });
    });
    await start(operator, { clock });
    const object = await sample(client, "one", { size: 1 });
    await quiet();
    await object.patch({ spec: { size: 2 } });
    await eventually(() => expect(seen).toEqual(["first 1 to 2", "second 1 to 2"]));
    await quiet();
    await object.patch({ spec: { size: 3 } });
    await quiet();
    await clock.advance(10_000);
    await eventually(() => expect(seen.slice(2)).toEqual(["second 1 to 3", "first 2 to 3"]));
    await quiet();
    expect(seen).toHaveLength(4);
    // Two turns for the first change, one for each of what was left: nobody touched the object to be woken.
    expect(
      (await patchesOf(cluster(), stage.namespace, "samples")).filter((path) => path === "one/status"),
    ).toHaveLength(4);
  });
});
