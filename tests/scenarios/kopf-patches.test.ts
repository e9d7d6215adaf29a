import { type Client, ConfigMap, type KubeBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const Pier = resource({
  group: "piers.example.com",
  version: "v1",
  kind: "Pier",
  spec: z.object({ length: z.number().optional(), bollards: z.array(z.string()).optional() }),
  status: z.object({ built: z.number().optional(), tries: z.number().optional() }),
});

describeOn(clustersUnderTest(), "patches", (cluster) => {
  const stage = useStage(cluster, "patches");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function pier(
    name: string,
    spec: { length?: number; bollards?: string[] } = {},
    metadata: KubeBody["metadata"] = {},
  ) {
    return client.create(new Pier({ metadata: { name, ...metadata }, spec }));
  }

  async function patchesOf(plural: string): Promise<string[]> {
    const writes = await cluster().writes();
    return writes
      .filter(
        ({ verb, resource: kind, namespace }) =>
          verb === "patch" && kind.split(".")[0] === plural && namespace === stage.namespace,
      )
      .map(({ name, subresource }) => [name, subresource].filter(Boolean).join("/"));
  }

  it("change labels, annotations, spec and status together: null removes, lists are replaced", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Pier, function build({ patch }) {
      patch.metadata.labels.built = "yes";
      patch.metadata.labels.planned = null;
      patch.metadata.annotations.by = "me";
      patch.spec.length = null;
      patch.spec.bollards = ["c"];
      patch.status.built = 1;
    });
    await start(operator);
    await pier("one", { length: 5, bollards: ["a", "b"] }, { labels: { planned: "yes", kept: "yes" } });
    await eventually(async () => {
      const { body } = await client.get(Pier, "one");
      expect(body.metadata?.labels).toEqual({ kept: "yes", built: "yes" });
      expect(body.metadata?.annotations).toMatchObject({ by: "me" });
      expect(body.spec).toEqual({ bollards: ["c"] });
      expect(body.status).toMatchObject({ built: 1 });
    });
    await quiet();
    expect(await patchesOf("piers")).toEqual(["one", "one/status"]);
  });

  it("go to the object alone where the kind has no status apart", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(ConfigMap, { id: "fill", labels: { mine: "yes" } }, ({ patch }) => {
      patch.data = { hello: "world" };
      patch.metadata.labels.filled = "yes";
    });
    await start(operator);
    await client.create(ConfigMap.gen({ name: "one", labels: { mine: "yes" } }));
    await eventually(async () => expect((await client.get(ConfigMap, "one")).labels).toMatchObject({ filled: "yes" }));
    await quiet();
    expect(await patchesOf("configmaps")).toEqual(["one"]);
  });

  it("go to the object and to its status where the kind has it apart, each with its own part", async () => {
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    operator.on.create(Pier, function build({ patch }) {
      patch.metadata.labels.built = "yes";
      patch.spec.length = 7;
      patch.status.built = 1;
    });
    await start(operator, { client: wire.client });
    await pier("one");
    await eventually(async () => expect((await client.get(Pier, "one")).status).toMatchObject({ built: 1 }));
    await quiet();
    const sent = wire.calls.filter(({ verb, path }) => verb === "write" && path.includes("/piers/one"));
    expect(sent.map(({ path }) => path.split("/piers/")[1])).toEqual(["one", "one/status"]);
    expect(sent[0]?.body).toMatchObject({ metadata: { labels: { built: "yes" } }, spec: { length: 7 } });
    expect(sent[0]?.body).not.toHaveProperty("status");
    expect(sent[1]?.body).toMatchObject({ status: { built: 1 } });
    expect(sent[1]?.body).not.toHaveProperty("spec");
  });

  it("go to the object alone, its status included, where the kind has a status that is not apart", async () => {
    const wire = await Wire.to(client);
    const crd = Pier.crd();
    const names = { kind: "Jetty", listKind: "JettyList", plural: "jetties", singular: "jetty" };
    const [version] = crd.spec?.versions ?? [];
    const { subresources: _none, ...together } = version ?? {};
    const definition = await client.create({
      ...crd,
      metadata: { name: "jetties.piers.example.com" },
      spec: { ...crd.spec, names, versions: [together] },
    } as KubeBody);
    await definition.wait("condition=Established");
    const operator = new Operator({ name: "op" });
    operator.on.create("jetties.piers.example.com", { id: "build" }, ({ patch }) => {
      patch.metadata.labels.built = "yes";
      patch.spec.length = 7;
      patch.status.built = 1;
    });
    await start(operator, { client: wire.client });
    const metadata = { name: "one" };
    await eventually(() => client.create({ apiVersion: "piers.example.com/v1", kind: "Jetty", metadata, spec: {} }));
    await eventually(async () => {
      const { body } = await client.get("jetties.piers.example.com", "one");
      expect(body).toMatchObject({ metadata: { labels: { built: "yes" } }, spec: { length: 7 }, status: { built: 1 } });
    });
    await quiet();
    const sent = wire.calls.filter(({ verb, path }) => verb === "write" && path.includes("/jetties/"));
    expect(sent.map(({ path }) => path.split("/jetties/")[1])).toEqual(["one"]);
  });

  it("by a function that come too late are made anew at once, though no event tells of the newer state", async () => {
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    let begun = false;
    let release: () => void = () => {};
    const bases: unknown[] = [];
    operator.on.create(Pier, async function build({ patch }) {
      begun = true;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      patch.transform((body) => {
        const { bollards = [] } = body.spec;
        bases.push(bollards);
        if (!bollards.includes("mine")) body.spec.bollards = [...bollards, "mine"];
      });
    });
    await start(operator, { client: wire.client });
    const object = await pier("one", { bollards: ["a"] });
    await eventually(() => expect(begun).toBe(true));
    wire.hold();
    await object.patch({ spec: { bollards: ["a", "theirs"] } });
    const before = wire.calls.length;
    release();
    await eventually(async () =>
      expect((await client.get(Pier, "one")).spec.bollards).toEqual(["a", "theirs", "mine"]),
    );
    // Refused once, for it was made from what is no longer there; then read, made anew and sent again.
    const about = wire.calls.slice(before).filter(({ path }) => path.includes("/piers/one"));
    expect(about.map(({ verb }) => verb).slice(0, 3)).toEqual(["write", "get", "write"]);
    expect(bases[0]).toEqual(["a"]);
    expect(bases).toContainEqual(["a", "theirs"]);
    wire.release();
    await quiet();
    expect((await client.get(Pier, "one")).spec.bollards).toEqual(["a", "theirs", "mine"]);
  });

  it("for an object that is gone are dropped without a word", async () => {
    const operator = new Operator({ name: "op" });
    let begun = false;
    let release: () => void = () => {};
    operator.on.create(Pier, async function build({ patch }) {
      begun = true;
      // Ignores its signal, as somebody does who is nearly finished.
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      patch.status.built = 1;
    });
    await start(operator);
    const object = await pier("one");
    await eventually(() => expect(begun).toBe(true));
    await object.delete();
    await eventually(async () => expect(await object.exists()).toBe(false));
    release();
    await quiet();
    expect(logs.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
    expect(await object.exists()).toBe(false);
  });

  it("that the server does not keep are told, with the fields, and not sent again", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Pier, function build({ patch }) {
      patch.status.built = 1;
      (patch.status as Record<string, unknown>).colour = "grey";
    });
    await start(operator);
    await pier("one");
    const told = () => logs.filter(({ message }) => message === "the server did not keep some fields of the patch");
    await eventually(() => expect(told()).toMatchObject([{ level: "warn", fields: { fields: "status.colour" } }]));
    await quiet();
    expect(told()).toHaveLength(1);
    expect((await client.get(Pier, "one")).status).toMatchObject({ built: 1 });
    expect(await patchesOf("piers")).toEqual(["one/status"]);
  });

  it.each(["daemon", "timer"] as const)(
    "of a %s are sent after each attempt, also after one that failed",
    async (kind) => {
      const clock = new VirtualClock();
      const operator = new Operator({ name: "op" });
      const attempt = ({ retry, patch }: { retry: number; patch: { status: { tries?: unknown } } }) => {
        patch.status.tries = retry + 1;
        if (retry < 2) throw new TemporaryError("not yet", { delay: "10s" });
      };
      if (kind === "daemon") operator.daemon(Pier, { id: "tend" }, attempt as never);
      else operator.timer(Pier, { id: "tend", interval: "1h" }, attempt as never);
      await start(operator, { clock });
      await pier("one");
      for (const tries of [1, 2, 3]) {
        await eventually(async () => expect((await client.get(Pier, "one")).status?.tries).toBe(tries));
        await quiet();
        await clock.advance(10_000);
      }
      expect(await patchesOf("piers")).toHaveLength(3);
    },
  );

  it("by a function see what others have written meanwhile, and leave it alone", async () => {
    const operator = new Operator({ name: "op" });
    let begun = false;
    let release: () => void = () => {};
    operator.on.create(Pier, async function build({ patch }) {
      begun = true;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      patch.transform((body) => {
        body.spec.bollards = [...(body.spec.bollards ?? []).filter((one) => one !== "mine"), "mine"];
      });
    });
    await start(operator);
    const object = await pier("one", { bollards: ["a"] });
    await eventually(() => expect(begun).toBe(true));
    await object.patch({ spec: { bollards: ["a", "theirs"] } });
    release();
    await eventually(async () =>
      expect((await client.get(Pier, "one")).body.spec.bollards).toEqual(["a", "theirs", "mine"]),
    );
  });
});
