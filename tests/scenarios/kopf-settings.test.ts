import { type Client, ConfigMap, type KubeBody, Namespace } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const Knot = resource({
  group: "knots.example.com",
  version: "v1",
  kind: "Knot",
  spec: z.object({ loops: z.number().optional(), colour: z.string().optional() }),
  status: z.object({ tied: z.number().optional() }),
});

/** A kind that is not there when the operator starts. */
const Rope = resource({ group: "knots.example.com", version: "v1", kind: "Rope", spec: z.object({}) });

describeOn(clustersUnderTest(), "settings", (cluster) => {
  const stage = useStage(cluster, "settings");
  const { start, eventually, quiet, logs, running } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function knot(name: string, spec: { loops?: number; colour?: string } = {}) {
    return client.create(new Knot({ metadata: { name }, spec }));
  }
  const said = (message: string) => logs.filter((line) => line.message === message);

  it("that a startup handler changes take effect, and stay as they are from then on", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { execution: { backoff: "1h" } } });
    const seen: unknown[] = [];
    operator.on.startup(async function configure({ settings }) {
      seen.push(settings.execution.backoff);
      settings.execution.backoff = "20s";
      settings.persistence.finalizer = "knots.example.com/hold";
    });
    operator.on.create(Knot, function tie({ retry, settings }) {
      seen.push([retry, settings.execution.backoff]);
      expect(() => Object.assign(settings.execution, { backoff: "5s" })).toThrow(TypeError);
      if (retry === 0) throw new Error("slipped");
    });
    operator.on.delete(Knot, function untie() {});
    await start(operator, { clock });
    await knot("one");
    await eventually(() => expect(said("handler failed, will be tried again")).toHaveLength(1));
    expect((await client.get(Knot, "one")).metadata.finalizers).toEqual(["knots.example.com/hold"]);
    await quiet();
    await clock.advance(20_000);
    await eventually(() => expect(seen).toEqual(["1h", [0, "20s"], [1, "20s"]]));
  });

  it("that do not exist or make no sense are refused at the start, by name", async () => {
    const refused = (settings: object) => () => new Operator({ name: "op", settings }).start({ client, log: () => {} });
    expect(refused({ qeueing: {} })).toThrow(/there are no settings "qeueing"/);
    expect(refused({ queueing: { concurency: 3 } })).toThrow(/settings\.queueing\.concurency: is no setting/);
    expect(refused({ queueing: { concurrency: 0 } })).toThrow(/settings\.queueing\.concurrency: 0 is not/);
    expect(refused({ process: { graceful: "soon" } })).toThrow(/settings\.process\.graceful/);
    const late = new Operator({ name: "op" });
    late.on.startup(({ settings }) => {
      settings.watching.inactivity = "never" as "1s";
    });
    await expect(late.start({ client, log: () => {} }).stopped).rejects.toThrow(/settings\.watching\.inactivity/);
  });

  it("name fields whose changes do not matter", async () => {
    const operator = new Operator({ name: "op", settings: { persistence: { ignore: ["spec.colour"] } } });
    const seen: string[] = [];
    operator.on.update(Knot, function retie({ diff }) {
      seen.push(diff.map(({ path }) => path.join(".")).join());
    });
    await start(operator);
    const object = await knot("one", { loops: 1, colour: "red" });
    await quiet();
    await object.patch({ spec: { colour: "blue" } });
    await quiet();
    expect(seen).toEqual([]);
    await object.patch({ spec: { loops: 2, colour: "green" } });
    await eventually(() => expect(seen).toEqual(["spec.loops"]));
  });

  it.each([
    ["inOrder", ["a0", "b0", "c0", "a1"], 2],
    ["fewestAttempts", ["a0", "b0", "c0", "a1"], 2],
    ["oneByOne", ["a0", "b0", "c0", "a1"], 4],
    [(due: readonly { id: string; attempts: number }[]) => [...due].reverse(), ["c0", "b0", "a0", "a1"], 2],
  ] as const)("choose the order of an object's handlers (%s)", async (lifecycle, expected, writes) => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { execution: { lifecycle, backoff: "10s" } } });
    const seen: string[] = [];
    for (const id of ["a", "b", "c"]) {
      operator.on.create(Knot, { id }, ({ retry }) => {
        seen.push(`${id}${retry}`);
        if (id === "a" && retry === 0) throw new Error("slipped");
      });
    }
    await start(operator, { clock });
    await knot("one");
    await eventually(() => expect(seen).toHaveLength(3));
    await quiet();
    await clock.advance(10_000);
    await eventually(() => expect(seen).toEqual(expected));
    await quiet();
    const patches = (await cluster().writes()).filter(
      ({ verb, namespace, resource: kind }) =>
        verb === "patch" && namespace === stage.namespace && kind.startsWith("knots"),
    );
    expect(patches).toHaveLength(writes);
  });

  it("shuffle an object's handlers where that is asked for", async () => {
    const operator = new Operator({ name: "op", settings: { execution: { lifecycle: "shuffled" } } });
    const seen: string[] = [];
    for (const id of ["a", "b", "c", "d"]) operator.on.create(Knot, { id }, () => void seen.push(id));
    await start(operator, { random: () => 0 });
    await knot("one");
    await eventually(() => expect(seen).toHaveLength(4));
    expect([...seen].sort()).toEqual(["a", "b", "c", "d"]);
    expect(seen).not.toEqual(["a", "b", "c", "d"]);
  });

  it("stop the search for kinds and namespaces that come after the start", async () => {
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op", settings: { scanning: { disabled: true } } });
    const seen: string[] = [];
    operator.on.create("ropes.knots.example.com", function never() {
      seen.push("rope");
    });
    operator.on.create(ConfigMap, { id: "found", labels: { mine: "yes" } }, ({ namespace }) => {
      seen.push(String(namespace));
    });
    const put = async (namespace: string) => {
      await client.create(Namespace.gen({ name: namespace }));
      await client.create(ConfigMap.gen({ name: "one", namespace, labels: { mine: "yes" } }));
    };
    await put("scan-a");
    await start(operator, { client: wire.client, namespaces: ["scan-*"], crds: "wait" });
    await eventually(() => expect(seen).toEqual(["scan-a"]));
    await client.create(Rope.crd() as KubeBody);
    await put("scan-b");
    await quiet();
    expect(wire.count("watch", "customresourcedefinitions")).toBe(0);
    expect(wire.calls.filter(({ verb, path }) => verb === "watch" && path === "/api/v1/namespaces")).toEqual([]);
    expect(seen).toEqual(["scan-a"]);
  });

  it("of namespaces may be regular expressions, which have to match the whole name", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(ConfigMap, { id: "found", labels: { mine: "yes" } }, ({ namespace }) => {
      seen.push(String(namespace));
    });
    for (const namespace of ["regex-1", "regex-12", "regex-x"]) {
      await client.create(Namespace.gen({ name: namespace }));
      await client.create(ConfigMap.gen({ name: "one", namespace, labels: { mine: "yes" } }));
    }
    await start(operator, { namespaces: [/regex-\d/] });
    await eventually(() => expect(seen).toEqual(["regex-1"]));
    await quiet();
    expect(seen).toEqual(["regex-1"]);
  });

  it("limit how long an operator may take to stop, and whoever waits for it is told", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { process: { killAfter: "5m", graceful: "1h" } } });
    let begun = false;
    operator.on.create(Knot, async function tie() {
      begun = true;
      await new Promise(() => {});
    });
    const one = await start(operator, { clock });
    running.length = 0;
    await knot("one");
    await eventually(() => expect(begun).toBe(true));
    let ended: unknown;
    one.stop().catch((error: unknown) => {
      ended = error;
    });
    await clock.advance(299_999);
    expect(ended).toBeUndefined();
    await clock.advance(1);
    await eventually(() =>
      expect(ended).toMatchObject({ message: expect.stringContaining("settings.process.killAfter") }),
    );
  });

  it("turn log lines about objects into Events, from a level up", async () => {
    const operator = new Operator({
      name: "op",
      events: "all",
      settings: { posting: { logs: "warn", component: "knots" } },
    });
    operator.on.create(Knot, function tie({ logger }) {
      logger.info("all is well");
      logger.warn("the rope is thin", { millimetres: 3 });
    });
    await start(operator);
    await knot("one");
    const posted = async () =>
      (await client.list("events").toArray())
        .filter(({ body }) => body.reason === "Logging")
        .map(({ body }) => [body.type, body.message, body.reportingComponent]);
    await eventually(async () => expect(await posted()).toEqual([["Warning", "the rope is thin", "knots"]]));
  });

  it("of watching say how long a stream may be silent, and how long to wait before it is tried again", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op", settings: { watching: { inactivity: "20s", reconnect: "3s" } } });
    const seen: string[] = [];
    operator.on.event(ConfigMap, { id: "found", labels: { mine: "yes" } }, ({ name }) => void seen.push(name));
    await start(operator, { client: wire.client, clock, crds: "wait" });
    const watches = () => wire.count("watch", "configmaps");
    await eventually(() => expect(watches()).toBe(1));
    await client.create(ConfigMap.gen({ name: "one", labels: { mine: "yes" } }));
    await eventually(() => expect(seen).toEqual(["one"]));
    wire.stall();
    await clock.advance(19_999);
    await quiet();
    expect(watches()).toBe(1);
    wire.fault = ({ verb, path }) => (verb === "watch" && path.includes("configmaps") ? { type: "reset" } : undefined);
    await clock.advance(1);
    await eventually(() => expect(watches()).toBe(2));
    await quiet();
    await clock.advance(2_999);
    await quiet();
    expect(watches()).toBe(2);
    await clock.advance(1);
    await eventually(() => expect(watches()).toBe(3));
  });
});
