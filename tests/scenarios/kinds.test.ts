import { type Client, ConfigMap, type KubeBody, Namespace } from "@lotse/client";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Rack = resource({
  group: "racks.example.com",
  version: "v1",
  kind: "Rack",
  spec: z.object({ room: z.string() }),
});

describeOn(clustersUnderTest(), "kinds and indexes", (cluster) => {
  const stage = useStage(cluster, "kinds");
  const { start, eventually, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  it("are selected by name, and handled once however often they are named", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create("cm", { labels: { mine: "yes" } }, function byShortName({ resource: kind }) {
      seen.push(`short name: ${kind.kind}`);
    });
    operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function byClass() {
      seen.push("class");
    });
    await start(operator);
    await client.create(ConfigMap.gen({ name: "one", labels: { mine: "yes" } }));
    await eventually(() => expect(seen).toEqual(["short name: ConfigMap", "class"]));
  });

  it("cannot have two handlers of one id under two names", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create("cm", function same() {});
    operator.on.update(ConfigMap, function same() {});
    await expect(start(operator)).rejects.toThrow(/"same" is used twice for ConfigMap/);
    stage.running.length = 0;
  });

  it("leave nobody waiting for an operator that is stopped before it is ready", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create("nobodys.example.com", function never() {});
    operator.on.startup(({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
    const starting = start(operator);
    starting.catch(() => {});
    await stage.running[0]?.stop();
    await expect(starting).rejects.toThrow("stopped before it was ready");
  });

  it("are handled as soon as they appear", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create("racks.racks.example.com", function found({ name }) {
      seen.push(name);
    });
    await start(operator);
    expect(logs.map(({ message }) => message)).toContain("waiting for a kind that the cluster does not have");
    await client.create(Rack.crd() as KubeBody);
    await eventually(() => client.create(new Rack({ metadata: { name: "one" }, spec: { room: "a" } })));
    await eventually(() => expect(seen).toEqual(["one"]));
  });

  it("are handled in the namespaces that patterns mean, also in those that come later", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function found({ namespace: where, name }) {
      seen.push(`${where}/${name}`);
    });
    const put = async (where: string) => {
      await client.create(Namespace.gen({ name: where }));
      await client.create(ConfigMap.gen({ name: "one", namespace: where, labels: { mine: "yes" } }));
    };
    await put("glob-a");
    await put("other-a");
    await start(operator, { namespaces: ["glob-*, !glob-x"] });
    await eventually(() => expect(seen).toEqual(["glob-a/one"]));
    await put("glob-x");
    await put("glob-b");
    await eventually(() => expect(seen).toEqual(["glob-a/one", "glob-b/one"]));
  });

  it("fill an index before any handler runs, and keep it up to date", async () => {
    const operator = new Operator({ name: "op" });
    const byRoom = operator.index(Rack, { id: "byRoom" }, ({ spec, name }) => ({ [spec.room]: name }));
    const seen: (readonly string[])[] = [];
    operator.on.create(ConfigMap, { labels: { ask: "yes" } }, function ask({ indexes }) {
      seen.push([...indexes(byRoom).get("blue")].sort());
    });
    const rack = (name: string, room: string) => client.create(new Rack({ metadata: { name }, spec: { room } }));
    const ask = (name: string) => client.create(ConfigMap.gen({ name, labels: { ask: "yes" } }));

    await start(new Operator({ name: "installer" }));
    const installing = new Operator({ name: "crds", crds: "install" });
    installing.on.create(Rack, function none() {});
    await (await start(installing)).stop();
    await rack("a", "blue");
    await rack("b", "blue");
    await rack("c", "red");
    await ask("first");
    await start(operator);
    await eventually(() => expect(seen).toEqual([["a", "b"]]));

    await client.patch(Rack, "b", { spec: { room: "red" } });
    await client.delete(Rack, "a");
    await rack("d", "blue");
    await eventually(async () => {
      await ask(`again-${Math.random().toString(36).slice(2, 8)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(seen.at(-1)).toEqual(["d"]);
    });
  });
});
