/** What Kopf's users complain about, each with what they get here instead: handlers, deletion, timers. */
import { type Client, ConfigMap, NotFoundError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { aborted, gate, patchesOf, Sample, sample } from "./sample.ts";
import { useStage } from "./stage.ts";

const MINUTE = 60_000;

describeOn(clustersUnderTest(), "complaints about Kopf's handlers", (cluster) => {
  const stage = useStage(cluster, "kopf-complaints");
  const { start, eventually, quiet, running, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const isGone = (name: string) => eventually(() => expect(client.get(Sample, name)).rejects.toThrow(NotFoundError));
  const patches = (plural: string) => patchesOf(cluster(), stage.namespace, plural);

  it("complaint 3: a change that arrives while handlers run is not lost, and a creation is not repeated for it", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Sample, function first({ spec }) {
      seen.push(`first creates ${spec.size}`);
    });
    operator.on.create(Sample, function second({ spec, retry }) {
      seen.push(`second creates ${spec.size}`);
      if (retry === 0) throw new TemporaryError("not yet", { delay: "10s" });
    });
    operator.on.update(Sample, function follow({ old, new: now }) {
      seen.push(`follow ${old?.spec?.size} to ${now?.spec?.size}`);
    });
    await start(operator, { clock });
    const object = await sample(client, "one", { size: 1 });
    await eventually(() => expect(seen).toEqual(["first creates 1", "second creates 1"]));
    await quiet();
    await object.patch({ spec: { size: 2 } });
    await quiet();
    await clock.advance(10_000);
    await eventually(() => expect(seen.slice(2)).toEqual(["second creates 2", "follow 1 to 2"]));
    await quiet();
    expect(seen).toHaveLength(4);
  });

  it("complaint 5: deletion is handled once and ends, though a timer runs and a daemon does not want to stop", async () => {
    const operator = new Operator({ name: "op" });
    const never = gate();
    const seen: string[] = [];
    operator.timer(Sample, { interval: "5ms" }, function tick() {});
    operator.daemon(Sample, { grace: "20ms" }, async function stubborn() {
      await never.passed;
    });
    operator.on.delete(Sample, function farewell({ retry }) {
      seen.push(`delete ${retry}`);
      if (retry === 0) throw new TemporaryError("not yet", { delay: 0 });
    });
    await start(operator);
    const object = await sample(client, "one");
    await quiet();
    await object.delete();
    await isGone("one");
    await eventually(() =>
      expect(logs.map(({ message }) => message)).toContain("daemon ignores its signal and was abandoned"),
    );
    await quiet();
    expect(seen).toEqual(["delete 0", "delete 1"]);
    never.open();
  });

  it("complaint 6: what was deleted while the operator was away is released when it is back, wanted or not", async () => {
    const seen: string[] = [];
    const declare = (guarded: boolean) => {
      const operator = new Operator({ name: "op" });
      operator.on.create(Sample, function build() {});
      if (guarded) {
        operator.on.delete(Sample, function farewell({ name, retry }) {
          seen.push(`delete ${name}`);
          if (name === "waits" && retry === 0) throw new TemporaryError("the bank is closed", { delay: "10s" });
        });
      }
      return operator;
    };
    const clock = new VirtualClock();
    const held = async (name: string) => (await client.get(Sample, name)).metadata.finalizers;
    const first = await start(declare(true));
    for (const name of ["waits", "dropped", "kept"]) {
      await sample(client, name);
      await eventually(async () => expect(await held(name)).toEqual(["op.lotse.dev/finalizer"]));
    }
    await quiet();
    await first.stop();
    await client.delete(Sample, "waits");

    // Back again: the deletion is made up for, and an object that has to wait says what for.
    const second = await start(declare(true), { clock });
    await eventually(() => expect(seen).toEqual(["delete waits"]));
    await eventually(async () => {
      const events = await client.list("events").toArray();
      expect(events.map(({ body }) => `${body.type}: ${body.message}`)).toContain(
        "Warning: farewell waits: the bank is closed, again in 10s",
      );
    });
    await quiet();
    await clock.advance(10_000);
    await isGone("waits");
    await second.stop();

    // A release of the operator that has nothing to do at deletion leaves nobody behind.
    await client.delete(Sample, "dropped");
    await start(declare(false));
    await isGone("dropped");
    await eventually(async () => expect(await held("kept")).toBeUndefined());
    expect(seen).toEqual(["delete waits", "delete waits"]);
  });

  it("complaint 7: timers and daemons neither hold foreign objects nor write to them", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const labels = { mine: "yes" };
    operator.timer(ConfigMap, { interval: "1h", labels }, function tick() {
      seen.push("tick");
    });
    operator.daemon(ConfigMap, { labels }, async function watch({ signal }) {
      seen.push("begins");
      seen.push(`ends: ${await aborted(signal)}`);
    });
    await start(operator);
    const object = await client.create(ConfigMap.gen({ name: "foreign", labels, data: { a: "b" } }));
    await eventually(() => expect([...seen].sort()).toEqual(["begins", "tick"]));
    await quiet();
    const { metadata } = (await client.get(ConfigMap, "foreign")).body;
    expect(metadata?.finalizers).toBeUndefined();
    expect(metadata?.annotations).toBeUndefined();
    await object.delete();
    await eventually(() => expect(seen.at(-1)).toBe("ends: deletion"));
    expect(await patches("configmaps")).toEqual([]);
  });

  it("complaint 8: an optional delete handler gets the last that was known of the object, beside other handlers too", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Sample, function build({ patch, spec }) {
      patch.status.size = spec.size;
    });
    operator.on.delete(Sample, { optional: true, labels: { told: "yes" } }, function farewell(context) {
      const { name, spec, status, labels } = context;
      seen.push(`${name} ${spec.size} ${status.size} ${labels.team}`);
    });
    await start(operator);
    const told = await sample(client, "told", { size: 3 }, { labels: { told: "yes", team: "a" } });
    const untold = await sample(client, "untold", { size: 4 });
    for (const name of ["told", "untold"]) {
      await eventually(async () => expect((await client.get(Sample, name)).status?.size).toBeDefined());
    }
    await told.label({ team: "b" });
    await quiet();
    expect((await client.get(Sample, "told")).metadata.finalizers).toBeUndefined();
    await untold.delete();
    await told.delete();
    await eventually(() => expect(seen).toEqual(["told 3 3 b"]));
    await quiet();
    expect(seen).toHaveLength(1);
  });

  it("complaint 25: a timer's filter is asked before each run, so that what depends on the time of day does not freeze", async () => {
    const clock = new VirtualClock(Date.parse("2026-01-01T07:30:00Z"));
    const operator = new Operator({ name: "op" });
    const runs: string[] = [];
    const isOpen = () => {
      const hour = new Date(clock.now()).getUTCHours();
      return hour >= 8 && hour < 10;
    };
    operator.timer(Sample, { interval: "30m", when: isOpen }, function sell() {
      runs.push(new Date(clock.now()).toISOString().slice(11, 16));
    });
    await start(operator, { clock });
    await sample(client, "shop");
    await quiet();
    for (let half = 0; half < 24 * 2; half++) {
      await clock.advance(30 * MINUTE);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await Promise.all(running.map((one) => one.idle()));
    }
    // Closed when the object appears, open for two hours without any event, closed again.
    expect(runs).toEqual(["08:00", "08:30", "09:00", "09:30"]);
  });
});
