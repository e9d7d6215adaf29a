import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { type Aborted, Operator, PermanentError, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Lamp = resource({
  group: "lamps.example.com",
  version: "v1",
  kind: "Lamp",
  spec: z.object({ watts: z.number().optional() }),
  status: z.object({ on: z.boolean().optional() }),
});

describeOn(clustersUnderTest(), "work beside an object", (cluster) => {
  const stage = useStage(cluster, "beside");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function lamp(name: string, spec: { watts?: number } = {}) {
    return client.create(new Lamp({ metadata: { name }, spec }));
  }

  it("ends at once with the object, whatever it waits for, and costs no write", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.daemon(Lamp, async function glow({ signal }) {
      seen.push("begins");
      try {
        await wait(3_600_000, undefined, { signal });
      } finally {
        seen.push(`ends: ${(signal.reason as { why: string }).why}`);
      }
    });
    operator.timer(Lamp, { interval: "1h" }, function blink() {
      seen.push("blinks");
    });
    await start(operator);
    const object = await lamp("one");
    await eventually(() => expect([...seen].sort()).toEqual(["begins", "blinks"]));
    await object.delete();
    await eventually(() => expect(seen).toContain("ends: deletion"));
    await quiet();
    const writes = await cluster().writes();
    expect(
      writes.filter(
        ({ verb, namespace, resource: kind }) =>
          verb === "patch" && namespace === stage.namespace && kind.startsWith("lamps"),
      ),
    ).toEqual([]);
    expect(logs.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  it("gets its signal, then its grace, and is then left behind with a warning", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    let told: string | undefined;
    operator.daemon(Lamp, { grace: "20s" }, async function glow({ signal }) {
      signal.addEventListener("abort", () => {
        told = (signal.reason as { why: string }).why;
      });
      await new Promise(() => {});
    });
    await start(operator, { clock });
    const object = await lamp("one");
    await eventually(() => expect(logs.map(({ message }) => message)).toContain("daemon begins"));
    await object.delete();
    await eventually(() => expect(told).toBe("deletion"));
    const abandoned = () => logs.filter(({ message }) => message === "daemon ignores its signal and was abandoned");
    await clock.advance(19_999);
    expect(abandoned()).toEqual([]);
    await clock.advance(1);
    await eventually(() => expect(abandoned()).toMatchObject([{ level: "warn", fields: { handler: "glow" } }]));
  });

  it("waits until nobody has changed the object for a while, and changes of the status do not count", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    let runs = 0;
    operator.timer(Lamp, { interval: "1h", idle: "30s" }, function rest() {
      runs++;
    });
    await start(operator, { clock });
    const object = await lamp("one", { watts: 1 });
    await quiet();
    await clock.advance(20_000);
    await object.patch({ spec: { watts: 2 } });
    await quiet();
    await clock.advance(20_000);
    await object.patchStatus({ on: true });
    await quiet();
    expect(runs).toBe(0);
    await clock.advance(10_000);
    await eventually(() => expect(runs).toBe(1));
  });

  it("keeps to a grid of its interval when it is sharp, and to the pause between runs when it is not", async () => {
    const clock = new VirtualClock();
    const begun = clock.now();
    const operator = new Operator({ name: "op" });
    const seen: Record<"sharp" | "plain", number[]> = { sharp: [], plain: [] };
    const work = (id: "sharp" | "plain") => async () => {
      seen[id].push(clock.now() - begun);
      await clock.advance(3_000);
    };
    operator.timer(Lamp, { id: "sharp", interval: "10s", sharp: true, labels: { kind: "sharp" } }, work("sharp"));
    operator.timer(Lamp, { id: "plain", interval: "10s", labels: { kind: "plain" } }, work("plain"));
    await start(operator, { clock });
    for (const id of ["sharp", "plain"] as const) {
      const from = clock.now() - begun;
      await client.create(new Lamp({ metadata: { name: id, labels: { kind: id } }, spec: {} }));
      await eventually(() => expect(seen[id]).toEqual([from]));
      await quiet();
      await clock.advance(id === "sharp" ? 7_000 : 10_000);
      await eventually(() => expect(seen[id]).toHaveLength(2));
      expect(seen[id][1]).toBe(from + (id === "sharp" ? 10_000 : 13_000));
      await quiet();
      await client.delete(Lamp, id);
      await quiet();
    }
  });

  it("that fails for good does not begin again before the object changes, and says so once", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.daemon(Lamp, function glow() {
      seen.push("daemon");
      throw new PermanentError("no bulb");
    });
    operator.timer(Lamp, { interval: "10s" }, function blink() {
      seen.push("timer");
      throw new PermanentError("no bulb");
    });
    await start(operator, { clock });
    const object = await lamp("one");
    await eventually(() => expect([...seen].sort()).toEqual(["daemon", "timer"]));
    await quiet();
    await clock.advance(60_000);
    await object.patch({ metadata: { finalizers: ["example.com/held"] } });
    await quiet();
    const errors = () => logs.filter(({ level }) => level === "error").map(({ message }) => message);
    expect(errors().sort()).toEqual(["daemon failed for good", "timer failed for good"]);
    await object.patch({ spec: { watts: 5 } });
    await eventually(() => expect([...seen].sort()).toEqual(["daemon", "daemon", "timer", "timer"]));
    await quiet();
    expect(errors()).toHaveLength(4);
    await object.patch({ metadata: { finalizers: null } });
  });

  it("sleeps by the operator's clock, and wakes by its signal", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.daemon(Lamp, async function glow({ sleep, signal }) {
      try {
        for (;;) {
          seen.push("on");
          await sleep("10s");
        }
      } catch (error) {
        seen.push(error === signal.reason ? (signal.reason as { why: string }).why : String(error));
        throw error;
      }
    });
    await start(operator, { clock });
    const object = await lamp("one");
    await eventually(() => expect(seen).toEqual(["on"]));
    await clock.advance(9_999);
    expect(seen).toEqual(["on"]);
    await clock.advance(1);
    await eventually(() => expect(seen).toEqual(["on", "on"]));
    await object.delete();
    await eventually(() => expect(seen).toEqual(["on", "on", "deletion"]));
  });

  it.each<{ why: string; end: (object: InstanceType<typeof Lamp>, clock: VirtualClock) => Promise<unknown> }>([
    { why: "deletion", end: (object) => object.delete() },
    { why: "mismatch", end: (object) => object.label({ lit: null }) },
    { why: "timeout", end: (_, clock) => clock.advance(60_000) },
    { why: "shutdown", end: async () => void stage.running[0]?.stop() },
  ])("is told why it shall stop: $why", async ({ why, end }) => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.daemon(Lamp, { labels: { lit: "yes" }, timeout: "1m" }, async function glow({ signal }) {
      seen.push(String(signal.aborted));
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      seen.push((signal.reason as Aborted).why);
    });
    await start(operator, { clock });
    const object = await client.create(Lamp.gen({ name: "one", labels: { lit: "yes" }, spec: {} }));
    await eventually(() => expect(seen).toEqual(["false"]));
    await end(object, clock);
    await eventually(() => expect(seen).toEqual(["false", why]));
  });

  it("keeps the first reason to stop, whatever happens while it ends", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    let release: () => void = () => {};
    operator.daemon(Lamp, { labels: { lit: "yes" }, grace: "1h" }, async function glow({ signal }) {
      signal.addEventListener("abort", () => seen.push((signal.reason as Aborted).why));
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      seen.push(`ends: ${(signal.reason as Aborted).why}`);
    });
    const one = await start(operator, { clock });
    const object = await client.create(Lamp.gen({ name: "one", labels: { lit: "yes" }, spec: {} }));
    await eventually(() => expect(logs.map(({ message }) => message)).toContain("daemon begins"));
    await object.label({ lit: null });
    await eventually(() => expect(seen).toEqual(["mismatch"]));
    await object.delete();
    await quiet();
    const stopped = one.stop();
    release();
    await stopped;
    expect(seen).toEqual(["mismatch", "ends: mismatch"]);
  });

  it("never runs twice for an object: what matches again waits for what still ends", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const releases: (() => void)[] = [];
    let [running, most] = [0, 0];
    operator.daemon(Lamp, { labels: { lit: "yes" }, grace: "1h" }, async function glow() {
      most = Math.max(most, ++running);
      // Takes its time to end, signal or not.
      await new Promise<void>((resolve) => releases.push(resolve));
      running--;
    });
    await start(operator, { clock });
    const object = await client.create(Lamp.gen({ name: "one", labels: { lit: "yes" }, spec: {} }));
    await eventually(() => expect(releases).toHaveLength(1));
    for (const round of [1, 2]) {
      await object.label({ lit: null });
      await quiet();
      await object.label({ lit: "yes" });
      await quiet();
      expect([releases.length, running]).toEqual([round, 1]);
      releases[round - 1]?.();
      await eventually(() => expect(releases).toHaveLength(round + 1));
    }
    expect(most).toBe(1);
    for (const release of releases) release();
  });

  it("that was left behind may not write any more when the next one begins", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const releases: (() => void)[] = [];
    const outcomes: string[] = [];
    operator.daemon(Lamp, { labels: { lit: "yes" }, grace: "20s" }, async function glow({ client: own, name }) {
      const number = releases.length + 1;
      await new Promise<void>((resolve) => releases.push(resolve));
      const written = own.patch(Lamp, name, { spec: { watts: number } });
      outcomes.push(
        await written.then(
          () => `${number} writes`,
          () => `${number} is refused`,
        ),
      );
    });
    await start(operator, { clock });
    const object = await client.create(Lamp.gen({ name: "one", labels: { lit: "yes" }, spec: {} }));
    await eventually(() => expect(releases).toHaveLength(1));
    await object.label({ lit: null });
    await quiet();
    await clock.advance(20_000);
    await object.label({ lit: "yes" });
    await eventually(() => expect(releases).toHaveLength(2));
    for (const release of releases) release();
    await eventually(() => expect(outcomes.sort()).toEqual(["1 is refused", "2 writes"]));
    expect((await object.refresh()).spec.watts).toBe(2);
  });
});
