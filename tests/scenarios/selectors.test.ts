import { type Client, ConfigMap } from "@lotse/client";
import { Operator, resource, type SettingsInput } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const Buoy = resource({
  group: "selectors.example.com",
  version: "v1",
  kind: "Buoy",
  spec: z.object({ light: z.string().optional() }),
  status: z.object({ seen: z.number().optional() }),
  selectableFields: [".spec.light"],
});

describeOn(clustersUnderTest(), "the server is asked for less", (cluster) => {
  const stage = useStage(cluster, "selectors");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;
  let wire: Wire;

  beforeEach(async () => {
    ({ client } = stage);
    wire = await Wire.to(client);
  });

  const operatorWith = (watching: SettingsInput["watching"] & object) =>
    new Operator({ name: "op", settings: { watching } });
  const buoy = (name: string, labels: Record<string, string> = {}, light?: string) =>
    client.create(new Buoy({ metadata: { name, labels }, spec: light === undefined ? {} : { light } }));
  const map = (name: string, labels: Record<string, string>) => client.create(ConfigMap.gen({ name, labels }));
  /** What streams of a kind have asked for, in the order of the first time. */
  const asked = (plural: string) => [
    ...new Set(
      wire.calls
        .filter(({ verb, path }) => (verb === "list" || verb === "watch") && path.endsWith(`/${plural}`))
        .map(({ verb, query }) => `${verb} ${query?.labelSelector ?? query?.fieldSelector ?? "all"}`),
    ),
  ];

  it("with selectors of the settings by label, for lists and watches of the kinds that they name", async () => {
    const operator = operatorWith({ labelSelectors: { buoys: "sea=north", misspelt: "a=b" } });
    const seen: string[] = [];
    operator.on.create(Buoy, function light({ name }) {
      seen.push(name);
    });
    await client.create(Buoy.crd() as never).catch(() => undefined);
    await start(operator, { client: wire.client });
    await buoy("one", { sea: "north" });
    await buoy("two", { sea: "south" });
    const three = await buoy("three");
    await eventually(() => expect(seen).toEqual(["one"]));
    await three.label({ sea: "north" });
    await eventually(() => expect(seen).toEqual(["one", "three"]));
    await quiet();
    expect(asked("buoys")).toEqual(["list sea=north", "watch sea=north"]);
    expect((await client.get(Buoy, "two")).body.metadata).not.toHaveProperty("annotations");
    const message = "a selector is for no kind that the operator follows by now";
    expect(logs.filter((one) => one.message === message)).toMatchObject([
      { level: "warn", fields: { kind: "misspelt" } },
    ]);
  });

  it("with selectors of the settings by field, where the server knows the field", async () => {
    const operator = operatorWith({ fieldSelectors: [[Buoy, { "spec.light": "red" }]] });
    const seen: string[] = [];
    operator.on.create(Buoy, function light({ name }) {
      seen.push(name);
    });
    await start(operator, { client: wire.client });
    await buoy("green", {}, "green");
    await buoy("red", {}, "red");
    await eventually(() => expect(seen).toEqual(["red"]));
    expect(asked("buoys")).toEqual(["list spec.light=red", "watch spec.light=red"]);
  });

  it("and an object that leaves the selection keeps its finalizer, is not taken for deleted, and may come back", async () => {
    const operator = operatorWith({ labelSelectors: { buoys: "sea=north" } });
    const seen: string[] = [];
    operator.on.delete(Buoy, { labels: { moored: "yes" } }, function moor({ name }) {
      seen.push(`deleted ${name}`);
    });
    operator.on.delete(Buoy, { optional: true }, function forget({ name }) {
      seen.push(`gone ${name}`);
    });
    await start(operator, { client: wire.client });
    const one = await buoy("one", { sea: "north", moored: "yes" });
    const two = await buoy("two", { sea: "north" });
    const held = async () => (await client.get(Buoy, "one")).metadata.finalizers;
    await eventually(async () => expect(await held()).toHaveLength(1));
    await one.label({ sea: "south" });
    await two.label({ sea: "south" });
    await eventually(() =>
      expect(logs.filter(({ message }) => message.startsWith("the object has left what"))).toHaveLength(2),
    );
    await one.delete();
    await quiet();
    expect([seen, await held()]).toEqual([[], ["op.lotse.dev/finalizer"]]);
    await two.label({ sea: "north" });
    await one.label({ sea: "north" });
    await eventually(async () => expect(await client.get(Buoy, "one").catch(() => "gone")).toBe("gone"));
    await two.delete();
    await eventually(() => expect(seen).toEqual(expect.arrayContaining(["deleted one", "gone two"])));
    expect(seen.filter((line) => line.endsWith("two"))).toEqual(["gone two"]);
  });

  it("and what a handler makes outside of the selection is nobody's to handle", async () => {
    const operator = operatorWith({ labelSelectors: { buoys: "sea=north" } });
    const seen: string[] = [];
    operator.on.create(Buoy, async function light({ name, client: own }) {
      seen.push(name);
      if (name === "one") await own.create(new Buoy({ metadata: { name: "child" }, spec: {} }));
    });
    await start(operator, { client: wire.client });
    await buoy("one", { sea: "north" });
    await eventually(async () => expect((await client.get(Buoy, "child")).name).toBe("child"));
    await quiet();
    expect(seen).toEqual(["one"]);
  });

  it("by the labels that all indexes of a kind ask for, until somebody reads the kind", async () => {
    const operator = operatorWith({});
    const byPort = operator.index(ConfigMap, { id: "byPort", labels: { app: "harbour" } }, ({ name }) => ({
      [name]: 1,
    }));
    operator.index(ConfigMap, { id: "berths", labels: { app: "harbour", berth: /./ } }, ({ name }) => ({ [name]: 1 }));
    const seen: string[] = [];
    operator.on.create(Buoy, async function look({ name, indexes, list }) {
      const all =
        name === "reader" ? (await list(ConfigMap)).map((one) => one.name).filter((one) => /^m/.test(one)) : [];
      seen.push(`${name}: ${[...indexes(byPort).keys()].sort().join()} / ${all.sort().join()}`);
    });
    await map("m1", { app: "harbour" });
    const other = await map("m2", { app: "other" });
    await start(operator, { client: wire.client });
    expect(asked("configmaps")).toEqual(["list app in (harbour)", "watch app in (harbour)"]);
    await buoy("first");
    await eventually(() => expect(seen).toEqual(["first: m1 / "]));
    await other.label({ app: "harbour" });
    await (await client.get(ConfigMap, "m1")).label({ app: "left" });
    await quiet();
    await buoy("second");
    await eventually(() => expect(seen.slice(1)).toEqual(["second: m2 / "]));
    await buoy("reader");
    await eventually(() => expect(seen.slice(2)).toEqual(["reader: m2 / m1,m2"]));
    expect(asked("configmaps").slice(2)).toEqual(["list all", "watch all"]);
  });

  it("but not by the labels of handlers, which must see an object that stops matching", async () => {
    const operator = operatorWith({});
    operator.on.create(ConfigMap, { labels: { app: "harbour" } }, function never() {});
    operator.index(ConfigMap, { id: "maps", labels: { app: "harbour" } }, ({ name }) => ({ [name]: 1 }));
    await start(operator, { client: wire.client });
    expect(asked("configmaps")).toEqual(["list all", "watch all"]);
  });

  it("for one watch that begins with all objects, instead of a list, and after a cut for what has changed since", async () => {
    const operator = operatorWith({ initialStreaming: "auto" });
    const seen: string[] = [];
    operator.on.create(Buoy, function light({ name }) {
      seen.push(name);
    });
    operator.on.delete(Buoy, { optional: true }, function forget({ name }) {
      seen.push(`gone ${name}`);
    });
    await client.create(Buoy.crd() as never).catch(() => undefined);
    await eventually(() => buoy("one"));
    await start(operator, { client: wire.client });
    await eventually(() => expect(seen).toEqual(["one"]));
    await buoy("two");
    await eventually(() => expect(seen).toEqual(["one", "two"]));
    wire.cut();
    await client.delete(Buoy, "one");
    await eventually(() => expect(seen).toEqual(["one", "two", "gone one"]));
    expect(wire.count("list", "/buoys")).toBe(0);
    const queries = wire.calls.filter(({ path }) => path.endsWith("/buoys")).map(({ query }) => query);
    expect(queries[0]).toMatchObject({ watch: true, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
    expect(logs.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  it("but for lists where the server refuses to begin a watch with all objects, which the log says", async () => {
    const operator = operatorWith({ initialStreaming: "auto" });
    const seen: string[] = [];
    operator.on.create(Buoy, function light({ name }) {
      seen.push(name);
    });
    wire.fault = ({ query }) => (query?.sendInitialEvents ? { type: "answer", status: 422 } : undefined);
    await start(operator, { client: wire.client });
    await buoy("one");
    await eventually(() => expect(seen).toEqual(["one"]));
    expect(wire.count("list", "/buoys")).toBe(1);
    expect(logs.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "the server does not begin a watch with all objects, they are listed instead",
    ]);
  });
});
