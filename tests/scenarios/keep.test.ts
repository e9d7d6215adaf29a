import { type Client, ConfigMap, type KubeBody, Reflector, Secret } from "@lotse/client";
import { objectKeyOf } from "@lotse/client/meta";
import { Operator, type RunningOperator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Shelf = resource({
  group: "keep.example.com",
  version: "v1",
  kind: "Shelf",
  spec: z.object({ field: z.string().default("wanted") }),
  status: z.object({ found: z.string().optional(), count: z.number().optional() }),
});

/** What an operator keeps of a kind. */
function keptOf(running: RunningOperator, kind: string): string {
  const found = running.memory().kinds.find((one) => one.kind === kind);
  return found ? (found.keep?.join(" ") ?? "all") : "nothing";
}

describeOn(clustersUnderTest(), "a kind that is only read is kept as far as its readers need it", (cluster) => {
  const stage = useStage(cluster, "keep");
  const { start, eventually } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const map = (name: string, data: Record<string, string>) =>
    client.create(ConfigMap.gen({ name, labels: { shelf: "one" }, data }));
  const shelf = (field = "wanted") => client.create(new Shelf({ metadata: { name: "one" }, spec: { field } }));
  const found = async () => (await client.get(Shelf, "one")).status?.found;

  it("what a reconciler names in `watches` is there, wakes it, and what it does not name refuses to be read", async () => {
    const operator = new Operator({ name: "op" });
    const errors: string[] = [];
    operator.reconcile(
      Shelf,
      { watches: [[ConfigMap, ({ labels }) => labels.shelf, { keep: ["data.wanted"] }]] },
      async function read({ spec, list, patch }) {
        const maps = await list(ConfigMap, { labelSelector: "shelf" });
        try {
          patch.status.found = maps.map(({ body }) => body.data?.[spec.field]).join(" ");
        } catch (error) {
          errors.push((error as Error).message);
          patch.status.found = "refused";
        }
      },
    );
    await map("a", { wanted: "first", other: "x" });
    const running = await start(operator);
    await shelf();
    await eventually(async () => expect(await found()).toBe("first"));
    await client.patch(ConfigMap, "a", { data: { wanted: "second" } });
    await eventually(async () => expect(await found()).toBe("second"));
    expect(keptOf(running, "ConfigMap")).toBe("data.wanted");
    expect(keptOf(running, "Shelf")).toBe("all");
    await client.patch(Shelf, "one", { spec: { field: "other" } });
    await eventually(async () => expect(await found()).toBe("refused"));
    expect(errors[0]).toBe('data.other of ConfigMap is not kept: keep: ["data.wanted"] leaves it out');
  });

  it("an index over metadata has nothing else in memory, and `exists` needs no more", async () => {
    const operator = new Operator({ name: "op" });
    const byShelf = operator.index(Secret, { id: "byShelf", keep: [] }, ({ labels, name }) => ({
      [labels.shelf ?? ""]: name,
    }));
    operator.reconcile(Shelf, async function read({ name, list, exists, patch }) {
      patch.status.found = `${(await list(byShelf, name)).join(" ")} ${await exists(ConfigMap, "a")}`;
    });
    await client.create(Secret.gen({ name: "s", labels: { shelf: "one" }, stringData: { password: "x".repeat(500) } }));
    const running = await start(operator);
    await shelf();
    await eventually(async () => expect(await found()).toBe("s false"));
    await map("a", {});
    await client.create(Secret.gen({ name: "t", labels: { shelf: "one" }, stringData: { password: "x".repeat(500) } }));
    await eventually(async () => expect(await found()).toBe("s t true"));
    expect([keptOf(running, "Secret"), keptOf(running, "ConfigMap")]).toEqual(["", ""]);
    const secrets = running.memory().kinds.find(({ kind }) => kind === "Secret");
    expect(secrets?.readers).toEqual([{ as: "index", id: "byShelf", keep: [] }]);
    expect(secrets?.bytesPerObject).toBeLessThan(500);
  });

  it("a reader that needs more than was kept gets it, after the kind was listed anew", async () => {
    const operator = new Operator({ name: "op" });
    const read: string[] = [];
    operator.index(ConfigMap, { id: "names", keep: [] }, ({ name }) => name);
    operator.on.create(Shelf, async function look({ get, list }) {
      const some = await get(ConfigMap, "a", { keep: ["data.wanted"] });
      read.push(`${some?.body.data?.wanted}`);
      const chosen = await list(ConfigMap, { keep: [], fieldSelector: "data.other=x" });
      read.push(chosen.map(({ name }) => name).join(" "));
      read.push(JSON.stringify((await list(ConfigMap, { labelSelector: "shelf" })).map(({ body }) => body.data)));
    });
    await map("a", { wanted: "first", other: "x", third: "y" });
    const running = await start(operator);
    expect(keptOf(running, "ConfigMap")).toBe("");
    await shelf();
    await eventually(() => expect(read).toEqual(["first", "a", '[{"other":"x","third":"y","wanted":"first"}]']));
    expect(keptOf(running, "ConfigMap")).toBe("all");
  });

  it("all is kept as soon as a handler works for the objects", async () => {
    const operator = new Operator({ name: "op" });
    const data: unknown[] = [];
    operator.index(ConfigMap, { id: "names", keep: [] }, ({ name }) => name);
    operator.on.event(ConfigMap, { labels: { shelf: "one" } }, ({ body }) => void data.push(body.data));
    await map("a", { wanted: "first" });
    const running = await start(operator);
    await eventually(() => expect(data).toEqual([{ wanted: "first" }]));
    expect(keptOf(running, "ConfigMap")).toBe("all");
  });

  it("metadata alone are what the server sends when nothing else is asked for", async () => {
    await map("a", { wanted: "first" });
    const stop = new AbortController();
    const namespace = stage.namespace;
    const reflector = new Reflector<KubeBody>(
      client,
      { namespace, metadataOnly: () => true },
      { changed: () => {}, gone: () => {} },
    );
    const run = reflector.run(stop.signal, ConfigMap.description);
    const known = (name: string) => reflector.get(objectKeyOf(namespace, name));
    await eventually(() => expect(known("a")).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" }));
    await map("b", { wanted: "second" });
    await eventually(() => expect(known("b")).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" }));
    for (const name of ["a", "b"])
      expect(Object.keys(known(name) ?? {}).sort()).toEqual(["apiVersion", "kind", "metadata"]);
    stop.abort();
    await run;
  });
});
