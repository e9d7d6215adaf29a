import { type Client, ConfigMap, CustomResourceDefinition, Event, type KubeBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { gate, patchesOf } from "./sample.ts";
import { useStage } from "./stage.ts";

const Lamp = resource({
  group: "attention.example.com",
  version: "v1",
  kind: "Lamp",
  spec: z.object({ watts: z.number().default(40) }),
  status: z.object({ load: z.number().optional() }),
});

/** The definition of Kopf's own example, as it has to be written today: the schema keeps everything. */
function kopfExample(group: string): KubeBody {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `kopfexamples.${group}` },
    spec: {
      scope: "Namespaced",
      group,
      names: { kind: "KopfExample", plural: "kopfexamples", singular: "kopfexample", shortNames: ["kex"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as never;
}

describeOn(clustersUnderTest(), "what people have to know", (cluster) => {
  const stage = useStage(cluster, "attention");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const lamp = (name: string) => client.create(new Lamp({ metadata: { name }, spec: { watts: 40 } }));
  const said = (message: string) => logs.filter((line) => line.message === message);
  const events = async () => (await client.list(Event).toArray()).map(({ body }) => `${body.reason}: ${body.message}`);

  it("a returned value is kept where the schema keeps everything at its root, and conditions are too", async () => {
    const group = `${stage.namespace}.kopf.example.com`;
    const crd = await client.create(new CustomResourceDefinition(kopfExample(group) as never));
    await crd.wait("condition=Established");
    const operator = new Operator({ name: "op" });
    operator.on.create(`kopfexamples.${group}`, function create_fn({ conditions }) {
      conditions.set("Greeted", true, "Politeness");
      return { message: "hello world" };
    });
    await start(operator);
    const body = { apiVersion: `${group}/v1`, kind: "KopfExample", metadata: { name: "kopf-example-1" } };
    const object = await client.create(client.object({ ...body, spec: { duration: "1m" } } as never));
    await eventually(async () => {
      await object.refresh();
      expect(object.body.status).toMatchObject({
        create_fn: { message: "hello world" },
        conditions: [{ type: "Greeted", status: "True" }],
      });
    });
    expect(logs.filter(({ level }) => level === "warn")).toEqual([]);
    await crd.delete();
  });

  it("a returned value that has no room is named at the start and on the object, once", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Lamp, function greet() {
      return { message: "hello world" };
    });
    operator.on.create(ConfigMap, { id: "label", labels: { lamp: "yes" } }, async ({ object }) =>
      object.label({ seen: "yes" }),
    );
    operator.on.event(Lamp, () => "nobody asks");
    await start(operator);
    const atStart = said("a handler returns something, and the kind's status has no field for it");
    expect(atStart.map(({ level, fields }) => [level, fields.handler, fields.kind])).toEqual([
      ["warn", "greet", "Lamp"],
    ]);
    await lamp("one");
    await lamp("two");
    await client.create(ConfigMap.gen({ name: "map", labels: { lamp: "yes" } }));
    const dropped = () => said("what the handler returns is not kept, the kind's status has no field for it");
    await eventually(() =>
      expect(
        dropped()
          .map(({ fields }) => fields.handler)
          .sort(),
      ).toEqual(["greet", "label"]),
    );
    await eventually(async () =>
      expect(await events()).toContain(
        'ResultNotKept: what greet returns is not kept: the status of Lamp has no field "greet"',
      ),
    );
    await quiet();
    expect(dropped()).toHaveLength(2);
  });

  it("a handler that never comes to its end is named after a while, in the log, an Event, explain and metrics", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    operator.on.create(Lamp, async function hang({ signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    operator.daemon(Lamp, async function glow({ signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    const running = await start(operator, { clock });
    await lamp("one");
    const question = { kind: "Lamp", namespace: stage.namespace, name: "one" };
    await eventually(() => expect(running.explain(question)?.running).toHaveLength(1));
    await clock.advance(119_000);
    const slow = () => said("a handler has not come to its end yet, its object waits for it");
    expect(slow()).toEqual([]);
    await clock.advance(1_000);
    expect(slow()[0]).toMatchObject({ level: "warn", object: { name: "one" }, fields: { handler: "hang", for: "2m" } });
    await clock.advance(120_000);
    expect(slow().map(({ fields }) => fields.for)).toEqual(["2m", "4m"]);
    expect(running.explain(question)?.running).toMatchObject([
      { handler: "hang", place: expect.stringContaining("attention.test.ts:"), forMs: 240_000 },
    ]);
    expect(running.metrics()).toMatch(/lotse_slow_handlers_total\{[^}]*handler="hang"[^}]*\} 2/);
    await eventually(async () => expect(await events()).toContain("HandlerSlow: hang has been running for 2m"));
  });

  it("a daemon is told at once that its object is going, whatever else is being done for it", async () => {
    const operator = new Operator({ name: "op" });
    const { passed, open } = gate();
    const told: string[] = [];
    operator.daemon(Lamp, async function glow({ signal }) {
      told.push("glows");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      told.push((signal.reason as { why: string }).why);
    });
    operator.on.update(Lamp, async function slow() {
      told.push("slow");
      // Takes its time, and listens to nobody.
      await passed;
    });
    await start(operator);
    const one = await lamp("one");
    await eventually(() => expect(told).toEqual(["glows"]));
    await one.patch({ spec: { watts: 60 } });
    await eventually(() => expect(told).toEqual(["glows", "slow"]));
    await one.delete();
    await eventually(() => expect(told).toEqual(["glows", "slow", "deletion"]));
    open();
  });

  it("a daemon can write while it runs, as often as it likes, and hears when that is refused", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const problems: string[] = [];
    operator.daemon(Lamp, async function poll({ patch, conditions, signal, sleep }) {
      const { status } = patch;
      for (let load = 1; !signal.aborted; load++) {
        status.load = load;
        conditions.set("Loaded", load > 1, "Measured");
        await patch.flush();
        await patch.flush();
        if (load === 2) {
          (status as { load: unknown }).load = "no number";
          await patch.flush().catch((error: Error) => problems.push(error.message));
          status.load = 3;
        }
        await sleep("10s");
      }
    });
    await start(operator, { clock });
    await lamp("one");
    const load = async () => (await client.get(Lamp, "one")).status?.load;
    for (const expected of [1, 2]) {
      await eventually(async () => expect(await load()).toBe(expected));
      await quiet();
      await eventually(() => expect(clock.pending).toBeGreaterThan(0));
      if (expected === 1) await clock.advance(10_000);
    }
    await eventually(() => expect(problems).toHaveLength(1));
    expect(problems[0]).toContain("status.load");
    // Nothing is written for a patch that is empty, and what was refused can be put right.
    expect(await patchesOf(cluster(), stage.namespace, "lamps")).toEqual(["one/status", "one/status"]);
    await eventually(async () => {
      await clock.advance(10_000);
      expect(await load()).toBeGreaterThanOrEqual(3);
    });
    const { status } = await client.get(Lamp, "one");
    expect(status?.conditions).toMatchObject([{ type: "Loaded", status: "True" }]);
  });

  it("an optional delete handler knows whether the object is gone already", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.delete(Lamp, { optional: true }, function dark({ name, gone }) {
      seen.push(`${name} ${gone}`);
    });
    await start(operator);
    const one = await lamp("one");
    const two = await client.create(
      new Lamp({ metadata: { name: "two", finalizers: ["example.com/held"] }, spec: { watts: 40 } }),
    );
    await quiet();
    await one.delete();
    await eventually(() => expect(seen).toEqual(["one true"]));
    await two.delete();
    await quiet();
    await two.patch({ metadata: { finalizers: null } });
    await eventually(() => expect(seen).toEqual(["one true", "two true"]));
  });

  it("a resume handler without one for updates is called for a resume, whatever changed meanwhile", async () => {
    const seen: string[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on(["create", "resume"], Lamp, function light({ reason, diff }) {
        seen.push(`${reason} ${diff.length}`);
      });
      return operator;
    };
    const first = await start(declare());
    const one = await lamp("one");
    await eventually(() => expect(seen).toHaveLength(1));
    await one.patch({ spec: { watts: 60 } });
    await quiet();
    await first.stop();
    await one.patch({ spec: { watts: 80 } });
    await start(declare());
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen[1]).toBe("resume 0");
  });
});
