/** What the client promises of objects, lists and waits; told to whichever cluster `connect` leads to. */
import { inspect } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { builtinClass, ConfigMap, CustomResourceDefinition, Deployment, Event, Pod, Secret } from "../builtin/index.ts";
import { type Client, loadManifests } from "../client/index.ts";
import type { KubeBody } from "../kinds/index.ts";
import { inFreshNamespace } from "../test-namespace.ts";
import { AlreadyExistsError, ConflictError, NotFoundError } from "../transport/index.ts";
import { defineKind } from "./define-kind.ts";
import { AmbiguousError, UnsupportedError } from "./errors.ts";
import { KubeObject } from "./object.ts";
import { WaitTimeoutError } from "./wait.ts";
import { allOf, anyOf, noneOf } from "./wait-condition.ts";

type GearBody = KubeBody & {
  spec: { size: number; nested?: { replicas?: number } };
  status?: { replicas?: number; turning?: boolean };
};
class Gear extends defineKind<GearBody>({
  group: "contract.example.com",
  version: "v1",
  kind: "Gear",
  shortNames: ["gr"],
  subresources: ["status", "scale"],
  scale: { specReplicasPath: ".spec.nested.replicas" },
}) {
  get double(): number {
    return this.spec.size * 2;
  }
}

const gearDefinition = () =>
  new CustomResourceDefinition({
    metadata: { name: "gears.contract.example.com" },
    spec: {
      group: "contract.example.com",
      scope: "Namespaced",
      names: { plural: "gears", singular: "gear", kind: "Gear", shortNames: ["gr"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.nested.replicas", statusReplicasPath: ".status.replicas" },
          },
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  });

/** Declares the suite. `connect` gives a client that may do everything. */
export function objectsContract(connect: () => Promise<Client>): void {
  describe("the client's objects", () => {
    let client: Client;
    beforeAll(async () => {
      client = await inFreshNamespace(await connect(), { generateName: "contract-" });
    });
    const map = (name: string, o: Omit<Parameters<typeof ConfigMap.gen>[0], "name"> = {}) =>
      client.create(ConfigMap.gen({ name, ...o }));

    it("are created with a name that the server makes, read, and deleted", async () => {
      const made = await client.create(ConfigMap.gen({ generateName: "rate-", data: { rate: "1.1" } }));
      expect(made.name).toMatch(/^rate-.+/);
      const read = await ConfigMap.get(made.name, { client });
      expect(read.data).toEqual({ rate: "1.1" });
      expect(read.is(made)).toBe(true);
      expect(inspect(read)).toBe(`ConfigMap ${client.namespace}/${made.name}`);
      expect(await client.get(`configmap/${made.name}`)).toBeInstanceOf(KubeObject);
      await made.delete({ wait: true });
      expect(await made.exists()).toBe(false);
      await expect(made.assertExists()).rejects.toBeInstanceOf(NotFoundError);
      await expect(made.refresh()).rejects.toBeInstanceOf(NotFoundError);
      await made.delete({ ignoreNotFound: true });
      await made.create();
      await expect(client.create(ConfigMap.gen({ name: made.name }))).rejects.toBeInstanceOf(AlreadyExistsError);
    });

    it("come from bodies, from names, and from objects of other libraries, and do the same", async () => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "by-body" }, data: { from: "a body" } };
      await client.create(new ConfigMap(body as ConfigMap["body"]));
      const known = client.object(body);
      expect(known).toBeInstanceOf(ConfigMap);
      const named = ConfigMap.ref("by-body", { client });
      expect(named.body).not.toHaveProperty("data");
      for (const object of [known as ConfigMap, named]) {
        expect(await object.exists()).toBe(true);
        expect((await object.refresh()).body.data).toEqual({ from: "a body" });
      }

      // As libraries have them that are generated from the API's description: classes, every field there, dates as dates.
      class V1ConfigMap {
        apiVersion = "v1";
        kind = "ConfigMap";
        metadata: object;
        data: Record<string, string>;
        binaryData = undefined;
        constructor(metadata: object, data: Record<string, string>) {
          this.metadata = metadata;
          this.data = data;
        }
      }
      const meta = { name: "theirs", namespace: undefined, labels: undefined };
      const theirs = new V1ConfigMap(meta, { from: "somebody else" });
      const ours = await client.create(new ConfigMap(theirs as unknown as ConfigMap["body"]));
      expect((await client.get(ConfigMap, "theirs")).body.data).toEqual({ from: "somebody else" });
      expect(theirs).toEqual(new V1ConfigMap(meta, { from: "somebody else" }));
      const { uid, creationTimestamp = "" } = ours.metadata;
      const born = { ...meta, namespace: client.namespace, uid, creationTimestamp: new Date(creationTimestamp) };
      const read = () => new ConfigMap(new V1ConfigMap(born, { from: "them" }) as unknown as ConfigMap["body"], client);
      await read().label({ seen: "yes" });
      await read().replace();
      await read().apply({ force: true });
      expect((await client.get(ConfigMap, "theirs")).body.data).toEqual({ from: "them" });
      await read().delete();
      expect(await read().exists()).toBe(false);
    });

    it("are waited for when somebody else makes them", async () => {
      const early = client.get(ConfigMap, "late", { waitUpTo: "10s" });
      await map("late", { data: { came: "yes" } });
      expect((await early).data).toEqual({ came: "yes" });
      await expect(client.get(ConfigMap, "never", { waitUpTo: 20 })).rejects.toBeInstanceOf(NotFoundError);
    });

    it("are found by what only one of them has", async () => {
      await map("one", { labels: { set: "find", role: "leader" } });
      await map("two", { labels: { set: "find" } });
      const labelSelector = { set: "find", role: "leader" };
      expect((await ConfigMap.find({ client, labelSelector })).name).toBe("one");
      await expect(ConfigMap.find({ client, labelSelector: "set=find" })).rejects.toBeInstanceOf(AmbiguousError);
      await expect(ConfigMap.find({ client, labelSelector: "set=none" })).rejects.toBeInstanceOf(NotFoundError);
    });

    it("are labelled and annotated, with removals of what may be absent", async () => {
      const object = await map("marks", { labels: { a: "1", b: "2" } });
      await object.label({ c: "3", a: null, "never-there": null });
      await object.label("d=4", "b-");
      await object.unlabel("c", "x");
      expect(object.labels).toEqual({ d: "4" });
      await object.annotate({ note: "x" });
      await object.annotate("note-", "other=y");
      expect(object.annotations).toEqual({ other: "y" });
    });

    it("are patched by merge, by operations, by lists with keys, and in their status", async () => {
      const pod = await client.create(Pod.gen({ name: "patched", image: "a", env: { A: "1" } }));
      await pod.patch({ metadata: { annotations: { x: "y" } } });
      await pod.patch([{ op: "test", path: "/metadata/name", value: "patched" }]);
      await pod.patch({ spec: { containers: [{ name: "patched", image: "b" }] } }, { type: "strategic" });
      expect(pod.spec.containers[0]).toMatchObject({ image: "b", env: [{ name: "A", value: "1" }] });
      await pod.patchStatus({ phase: "Running" });
      expect(pod.status?.phase).toBe("Running");
      expect(pod.at("/spec/containers/0/image")).toBe("b");
    });

    it("are updated through conflicts, and not at all when nothing changes", async () => {
      const object = await map("counter", { data: { count: "0" } });
      const count = (one: ConfigMap) =>
        one.update((body) => {
          body.data = { count: String(Number(body.data?.count) + 1) };
        });
      const others = await Promise.all([1, 2, 3].map(() => client.get(ConfigMap, "counter")));
      await Promise.all([object, ...others].map(count));
      expect((await client.get(ConfigMap, "counter")).data.count).toBe("4");
      await object.refresh();
      const { resourceVersion } = object.metadata;
      await object.update(() => undefined);
      expect((await object.refresh()).metadata.resourceVersion).toBe(resourceVersion);
    });

    it("are replaced only by who has seen the newest version", async () => {
      const object = await map("replaced");
      const stale = await client.get(ConfigMap, "replaced");
      await object.patch({ data: { a: "1" } });
      await expect(stale.replace()).rejects.toBeInstanceOf(ConflictError);
      stale.body = { ...object.body, data: { b: "2" } };
      await stale.replace();
      expect(stale.data).toEqual({ b: "2" });
    });

    it("are created or patched, whichever it takes", async () => {
      const set = (value: string) =>
        ConfigMap.ref("either", { client }).createOrPatch((body) => {
          body.data = { ...body.data, value };
        });
      expect((await set("1")).data).toEqual({ value: "1" });
      await client.patch(ConfigMap, "either", { data: { other: "kept" } });
      expect((await set("2")).data).toEqual({ value: "2", other: "kept" });
    });

    it("are applied; a conflict names the manager", async () => {
      const wanted = (color: string) => ConfigMap.gen({ name: "applied", data: { color } });
      await client.apply(wanted("blue"), { fieldManager: "painter" });
      const conflict = client.apply(wanted("red"), { fieldManager: "vandal" });
      await expect(conflict).rejects.toThrow(/painter/);
      await expect(client.apply(wanted("red"), { fieldManager: "vandal" })).rejects.toBeInstanceOf(ConflictError);
      const forced = await client.apply(wanted("red"), { fieldManager: "vandal", force: true });
      expect(forced.data.color).toBe("red");
    });

    it("are owned beside their other owners", async () => {
      const [first, second, child] = await Promise.all([map("first"), map("second"), map("owned")]);
      await child.setOwner(first);
      await second.adopt(child, { controller: false });
      expect(child.metadata.ownerReferences?.map(({ name }) => name)).toEqual(["first", "second"]);
      await expect(child.setOwner(second)).rejects.toThrow("is controlled by ConfigMap first already");
      await child.setOwner(second, { append: false });
      expect(child.metadata.ownerReferences?.map(({ name }) => name)).toEqual(["second"]);
    });

    it("are deleted only when it is the one that is meant", async () => {
      const object = await map("precise");
      await expect(object.delete({ preconditions: { uid: "another" } })).rejects.toBeInstanceOf(ConflictError);
      await object.delete({ preconditions: { uid: object.uid }, gracePeriodSeconds: 0 });
    });

    it("are checked and not stored by a dry run", async () => {
      const object = await client.create(ConfigMap.gen({ name: "dry" }), { dryRun: true });
      expect(await object.exists()).toBe(false);
    });

    it("are scaled by way of /scale, nested numbers of custom kinds, too", async () => {
      const web = await client.create(Deployment.gen({ name: "scaled", image: "a", replicas: 1 }));
      await web.scale(3);
      expect(web.replicas).toBe(3);
      const scaling = client.scale("deploy", "scaled", 5, { wait: "10s" });
      await web.wait((one) => one.replicas === 5);
      await web.patchStatus({ replicas: 5, observedGeneration: web.metadata.generation });
      expect((await scaling).spec).toMatchObject({ replicas: 5 });
      await expect(client.scale("configmaps", "x", 1)).rejects.toBeInstanceOf(UnsupportedError);
    });

    it("of custom kinds work like built-in ones, from the moment of their definition", async () => {
      const gear = new Gear({ metadata: { name: "g" }, spec: { size: 2, nested: { replicas: 1 } } });
      await client.create([gear, gearDefinition()]);
      expect(gear.double).toBe(4);
      await gear.scale(4);
      expect(gear.replicas).toBe(4);
      await gear.patchStatus({ turning: true });
      const listed = await client.list(Gear).toArray();
      expect(listed[0]).toBeInstanceOf(Gear);
      expect(listed[0]?.double).toBe(4);
      for (const name of [
        "gr",
        "gear",
        "gears",
        "Gear",
        "gears.contract.example.com",
        "contract.example.com/v1/gears",
      ]) {
        expect((await client.get(name, "g")).body).toMatchObject({ status: { turning: true } });
      }
      const typed = client.with({ kinds: [Gear] }).object<Gear>(listed[0]?.body ?? {});
      expect(typed.double).toBe(4);
      expect(client.classFor({ apiVersion: "contract.example.com/v1", kind: "Gear" })).toBeUndefined();
      expect(client.classFor({ apiVersion: "v1", kind: "Pod" })).toBe(Pod);
    });

    it("come page by page, raw, and one at a time", async () => {
      await Promise.all(["p1", "p2", "p3", "p4", "p5"].map((name) => map(name, { labels: { set: "pages" } })));
      const list = client.list(ConfigMap, { labelSelector: { set: ["pages", "other"] }, pageSize: 2 });
      const names: string[] = [];
      for await (const object of list) names.push(object.name);
      expect(names.sort()).toEqual(["p1", "p2", "p3", "p4", "p5"]);
      const sizes: number[] = [];
      for await (const { items } of list.pages()) sizes.push(items.length);
      expect(sizes).toEqual([2, 2, 1]);
      for await (const body of list.raw()) expect(body).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
      expect(await list.first()).toBeInstanceOf(ConfigMap);
      const fieldSelector = { "metadata.name": "p3" };
      expect((await client.list("cm", { fieldSelector }).toArray()).map(({ name }) => name)).toEqual(["p3"]);
    });

    it("are printed by the server as a table", async () => {
      await map("printed", { labels: { set: "table" }, data: { a: "1", b: "2" } });
      const table = await client.table(ConfigMap, { labelSelector: { set: "table" } });
      expect(table.columns.map(({ name }) => name)).toEqual(["Name", "Data", "Age"]);
      expect(table.rows[0]?.get("name")).toBe("printed");
      expect(table.rows[0]?.get("data")).toBe(2);
      expect(table.rows[0]?.metadata.name).toBe("printed");
    });

    it("are watched, and follow their own changes", async () => {
      const object = await map("watched", { data: { a: "1" } });
      const other = await client.get(ConfigMap, "watched");
      const seen: string[] = [];
      for await (const { type, object: snapshot } of object.watch()) {
        seen.push(`${type} ${snapshot.data.a}`);
        if (type === "ADDED") await other.patch({ data: { a: "2" } });
        if (type === "MODIFIED") await other.delete();
        if (type === "DELETED") break;
      }
      expect(seen.map((line) => line.split(" ")[0])).toEqual(["ADDED", "MODIFIED", "DELETED"]);
      expect(object.data).toEqual({ a: "2" });
    });

    it("are waited for in kubectl's words, by predicates, and by several at once", async () => {
      const pod = await client.create(Pod.gen({ name: "waited", image: "a", labels: { set: "wait" } }));
      const waits = Promise.all([
        pod.wait("condition=Ready"),
        client.wait(Pod, "waited", "jsonpath='{.status.phase}'=Running"),
        client.wait(Pod, { labelSelector: { set: "wait" } }, allOf("condition=Ready", noneOf("delete"))),
        client.wait(
          "pods",
          "waited",
          anyOf("condition=Failed", (one) => one.name === "waited"),
        ),
      ]);
      const other = await client.get(Pod, "waited");
      await other.patchStatus({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] });
      const [self, , many] = await waits;
      expect(self).toBe(pod);
      expect(many.map(({ name }) => name)).toEqual(["waited"]);
      await expect(pod.wait("condition=Never", { timeout: 50 })).rejects.toBeInstanceOf(WaitTimeoutError);
      await expect(client.wait(Pod, "absent", "condition=Ready")).rejects.toBeInstanceOf(NotFoundError);
      await Promise.all([
        client.wait(Pod, { labelSelector: { set: "wait" } }, "delete"),
        other.delete({ gracePeriodSeconds: 0 }),
      ]);
    });

    it("are kept by an informer as they are in the cluster", async () => {
      await map("known", { labels: { set: "informer" }, data: { team: "a" } });
      await using informer = client.informer(ConfigMap, {
        labelSelector: { set: "informer" },
        indexes: { team: ({ data }) => data.team },
      });
      await informer.synced;
      expect(informer.list().map(({ name }) => name)).toEqual(["known"]);
      const told: string[] = [];
      const changes = new Promise<void>((resolve) => {
        informer.on("added", ({ name }) => told.push(`+${name}`));
        informer.on("updated", (object, before) => told.push(`${before.data.team}→${object.data.team}`));
        informer.on("deleted", ({ name }) => {
          told.push(`-${name}`);
          resolve();
        });
      });
      const fresh = await map("fresh", { labels: { set: "informer" }, data: { team: "a" } });
      await fresh.patch({ data: { team: "b" } });
      await fresh.label({ set: "another" });
      await changes;
      expect(told).toEqual(["+fresh", "a→b", "-fresh"]);
      expect(informer.by("team", "a").map(({ name }) => name)).toEqual(["known"]);
      expect(informer.by("team", "b")).toEqual([]);
      expect(informer.has("known")).toBe(true);
      expect(informer.get("fresh")).toBeUndefined();
    });

    it("are created together, with all failures told", async () => {
      await map("taken");
      const batch = ["fine", "taken", "fine-2"].map((name) => ConfigMap.gen({ name }));
      const error = await client.create(batch).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(AggregateError);
      expect((error as AggregateError).errors).toHaveLength(1);
      expect(await ConfigMap.ref("fine-2", { client }).exists()).toBe(true);
    });

    it("are loaded from manifests and applied", async () => {
      const text = [
        "apiVersion: v1",
        "kind: List",
        "items:",
        "- { apiVersion: v1, kind: ConfigMap, metadata: { name: listed } }",
        "---",
        "apiVersion: v1",
        "kind: Secret",
        "metadata: { name: hidden }",
        "stringData: { word: sesame }",
      ].join("\n");
      const objects = await client.apply(await loadManifests({ text }));
      expect(objects.map(({ description }) => description.kind)).toEqual(["ConfigMap", "Secret"]);
      expect((await client.get(Secret, "hidden")).decoded).toEqual({ word: "sesame" });
    });

    it("tell their events", async () => {
      const object = await map("noisy");
      const about = {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "noisy",
        namespace: client.namespace,
        uid: object.uid,
      };
      const event = { involvedObject: about as never, reason: "Said", message: "hello", type: "Normal" };
      await client.create(new Event({ metadata: { name: "noisy.1", namespace: client.namespace }, ...event }));
      expect((await Event.for(object).toArray()).map(({ body }) => body.message)).toEqual(["hello"]);
    });
  });

  describe("the client's kinds", () => {
    it("have a class for every kind of the server's own groups", async () => {
      const client = await connect();
      const { kinds } = await client.discover();
      const own = kinds.filter(({ group, version }) => /^v\d+$/.test(version) && !group.endsWith(".example.com"));
      const skipped = new Set(["internal.apiserver.k8s.io", "storagemigration.k8s.io"]);
      const without = own.filter((kind) => !skipped.has(kind.group) && builtinClass(kind) === undefined);
      expect(without.map(({ group, version, kind }) => `${group}/${version}/${kind}`)).toEqual([]);
      for (const kind of own) {
        const known = builtinClass(kind)?.description;
        if (known) expect(known).toMatchObject({ plural: kind.plural, namespaced: kind.namespaced });
      }
    });

    it("tell the version of the server", async () => {
      const version = await (await connect()).version();
      expect(version.atLeast(1, 20)).toBe(true);
      expect(version.atLeast(2, 0)).toBe(false);
    });
  });
}
