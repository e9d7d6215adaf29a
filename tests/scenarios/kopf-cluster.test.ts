import { type Client, ConfigMap, CustomResourceDefinition, type KubeBody, Namespace } from "@lotse/client";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

const Harbour = resource({
  group: "harbours.example.com",
  version: "v1",
  kind: "Harbour",
  scope: "Cluster",
  spec: z.object({ berths: z.number().optional() }),
});

const Berth = resource({
  group: "harbours.example.com",
  version: "v1",
  kind: "Berth",
  spec: z.object({ depth: z.number().optional() }),
});

const Dock = resource({ group: "harbours.example.com", version: "v1", kind: "Dock", spec: z.object({}) });

describeOn(clustersUnderTest(), "the kinds and namespaces of an operator", (cluster) => {
  const stage = useStage(cluster, "cluster");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  /** An operator that tells of every ConfigMap with the label `mine`. */
  function watcher(seen: string[]) {
    const operator = new Operator({ name: "op" });
    operator.on.create(ConfigMap, { id: "found", labels: { mine: "yes" } }, ({ namespace, name }) => {
      seen.push(`${namespace}/${name}`);
    });
    return operator;
  }

  async function put(namespace: string, name = "one") {
    return client.create(ConfigMap.gen({ name, namespace, labels: { mine: "yes" } }));
  }

  it("are all namespaces where none is named, with one stream for each kind", async () => {
    const wire = await Wire.to(client);
    const seen: string[] = [];
    for (const name of ["wide-a", "wide-b"]) await client.create(Namespace.gen({ name }));
    await put("wide-a");
    const running = watcher(seen).start({ client: wire.client, log: () => {} });
    onTestFinished(() => running.stop());
    await running.ready;
    await put("wide-b");
    await eventually(() => expect(seen.filter((one) => one.startsWith("wide-"))).toEqual(["wide-a/one", "wide-b/one"]));
    const watched = wire.calls.filter(({ verb }) => verb === "watch").map(({ path }) => path);
    expect(watched).toEqual(["/api/v1/configmaps"]);
  });

  it("include kinds of the whole cluster where namespaces are named", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Harbour, function opened({ name, namespace }) {
      seen.push(`${name} in ${namespace}`);
    });
    await start(operator);
    const object = await client.create(new Harbour({ metadata: { name: `h-${stage.namespace}` }, spec: {} }));
    await eventually(() => expect(seen).toEqual([`h-${stage.namespace} in undefined`]));
    await object.delete();
  });

  it("lose a namespace with its objects when it is deleted, and get it back when it is made again", async () => {
    const seen: string[] = [];
    const operator = watcher(seen);
    operator.on.delete(ConfigMap, { id: "lost", labels: { mine: "yes" } }, ({ namespace }) => {
      seen.push(`${namespace} is cleared`);
    });
    await client.create(Namespace.gen({ name: "tide-a" }));
    await start(operator, { namespaces: ["tide-*"] });
    await put("tide-a");
    await eventually(() => expect(seen).toEqual(["tide-a/one"]));
    await quiet();
    await client.delete(Namespace, "tide-a");
    await eventually(() => expect(seen).toEqual(["tide-a/one", "tide-a is cleared"]));
    await client.wait(Namespace, "tide-a", "delete");
    await client.create(Namespace.gen({ name: "tide-a" }));
    await eventually(() => put("tide-a", "two"));
    await eventually(() => expect(seen).toEqual(["tide-a/one", "tide-a is cleared", "tide-a/two"]));
  });

  it("are those that are named in full where namespaces cannot be listed, which is told once", async () => {
    const wire = await Wire.to(client);
    wire.fault = ({ path }) => (path === "/api/v1/namespaces" ? { type: "answer", status: 403 } : undefined);
    const seen: string[] = [];
    for (const name of ["named-a", "other-a"]) await client.create(Namespace.gen({ name }));
    await put("named-a");
    await put("other-a");
    await start(watcher(seen), { client: wire.client, namespaces: ["named-a", "other-*"], crds: "wait" });
    await eventually(() => expect(seen).toEqual(["named-a/one"]));
    await quiet();
    expect(seen).toEqual(["named-a/one"]);
    const told = logs.filter(({ message }) => message.startsWith("namespaces cannot be listed"));
    expect(told).toMatchObject([{ level: "warn", fields: { namespaces: "named-a" } }]);
  });

  it("follow a custom resource definition that is removed and installed again", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create("berths.harbours.example.com", function dredge({ name }) {
      seen.push(name);
    });
    const install = () => client.create(Berth.crd() as KubeBody);
    const berth = (name: string) => client.create(new Berth({ metadata: { name }, spec: {} }));
    await install();
    await start(operator);
    await eventually(() => berth("one"));
    await eventually(() => expect(seen).toEqual(["one"]));
    await client.delete(CustomResourceDefinition, "berths.harbours.example.com", { wait: true });
    await install();
    await eventually(() => berth("two"));
    await eventually(() => expect(seen).toEqual(["one", "two"]));
  });

  it("follow a custom resource definition to another version when theirs is served no more", async () => {
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create("docks.harbours.example.com", function fill({ name, body }) {
      seen.push(`${name} ${body.apiVersion}`);
    });
    const versioned = (version: string, served: boolean, storage: boolean) => ({
      ...Dock.crd().spec?.versions[0],
      name: version,
      served,
      storage,
    });
    const crd = Dock.crd();
    await client.create({ ...crd, spec: { ...crd.spec, versions: [versioned("v1", true, true)] } } as KubeBody);
    await start(operator, { client: wire.client, crds: "wait" });
    const dock = (name: string, version: string) =>
      client.create({ apiVersion: `harbours.example.com/${version}`, kind: "Dock", metadata: { name }, spec: {} });
    await eventually(() => dock("one", "v1"));
    await eventually(() => expect(seen).toEqual(["one harbours.example.com/v1"]));
    await client.patch(CustomResourceDefinition, "docks.harbours.example.com", {
      spec: { versions: [versioned("v1", false, true), versioned("v2", true, false)] },
    });
    // A server may go on with a stream of the old version for a while.
    await eventually(() => expect(wire.count("watch", "/apis/harbours.example.com/v2/")).toBe(1));
    await eventually(() => dock("two", "v2"));
    await eventually(() => expect(seen).toHaveLength(2));
    await quiet();
    expect(seen).toEqual(["one harbours.example.com/v1", "two harbours.example.com/v2"]);
  });

  it("are left in order when the operator stops: handlers, daemons, and at last what was declared for cleanup", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const aborted = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    operator.daemon(ConfigMap, { id: "beside", labels: { mine: "yes" } }, async ({ signal }) => {
      seen.push("daemon begins");
      await aborted(signal);
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen.push("daemon ends");
    });
    operator.on.update(ConfigMap, { id: "slow", labels: { mine: "yes" } }, async ({ signal }) => {
      seen.push("handler begins");
      await aborted(signal);
      seen.push("handler ends");
    });
    operator.on.cleanup(() => void seen.push("cleanup"));
    const running = await start(operator);
    const object = await put(stage.namespace);
    await eventually(() => expect(seen).toEqual(["daemon begins"]));
    await quiet();
    await object.patch({ data: { a: "b" } });
    await eventually(() => expect(seen).toEqual(["daemon begins", "handler begins"]));
    await running.stop();
    expect(seen.slice(2)).toEqual(["handler ends", "daemon ends", "cleanup"]);
  });

  it("may have objects without a uid, which are told apart by their names", async () => {
    const wire = await Wire.to(client);
    const bare = (list: { items: { metadata: { uid?: string } }[] }) => ({
      ...list,
      items: list.items.map(({ metadata: { uid: _uid, ...metadata }, ...item }) => ({ ...item, metadata })),
    });
    wire.fault = ({ verb, path }) =>
      verb === "list" && path.endsWith("/configmaps")
        ? { type: "change", json: (answer) => bare(answer as never) }
        : undefined;
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.event(ConfigMap, { id: "look", labels: { mine: "yes" } }, ({ name, uid, memo }) => {
      memo.calls = ((memo.calls as number | undefined) ?? 0) + 1;
      seen.push(`${name} "${uid}" ${memo.calls}`);
    });
    await put(stage.namespace, "one");
    await put(stage.namespace, "two");
    await start(operator, { client: wire.client, crds: "wait" });
    await eventually(() => expect([...seen].sort()).toEqual(['one "" 1', 'two "" 1']));
  });
});
