import { type Client, ConfigMap, Deployment, Event, NotFoundError, ReplicaSet } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { patchesOf } from "./sample.ts";
import { useStage } from "./stage.ts";

const Book = resource({
  group: "records.example.com",
  version: "v1",
  kind: "Book",
  spec: z.object({ title: z.string().default(""), text: z.string().default("") }),
  status: z.object({ title: z.string().optional() }),
});

/** Text that does not get smaller by compression: a base of it is as large as itself. */
function noise(bytes: number): string {
  let state = 1;
  let text = "";
  while (text.length < bytes) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text.slice(0, bytes);
}

describeOn(
  clustersUnderTest(),
  "what an operator remembers on objects",
  (cluster) => {
    const stage = useStage(cluster, "records");
    const { start, eventually, quiet, logs } = stage;
    let client: Client;

    beforeEach(() => {
      ({ client } = stage);
    });

    const reasons = async () => (await client.list(Event).toArray()).map(({ body }) => body.reason);

    it("is not fought over with the Deployment controller, which copies it to ReplicaSets, and holds over a restart", async () => {
      const seen: string[] = [];
      const labels = { app: "web" };
      const declare = () => {
        const operator = new Operator({ name: "op" });
        operator.on.create(Deployment, { labels }, function deployed({ name }) {
          seen.push(`Deployment ${name}`);
        });
        operator.on.create(ReplicaSet, { labels }, function replicated({ meta }) {
          seen.push(`ReplicaSet of ${meta.ownerReferences?.[0]?.name}`);
        });
        return operator;
      };
      const first = await start(declare());
      const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } };
      const web = await client.create(
        new Deployment({
          metadata: { name: "web", labels },
          spec: { replicas: 0, selector: { matchLabels: labels }, template },
        }),
      );
      await eventually(() => expect([...seen].sort()).toEqual(["Deployment web", "ReplicaSet of web"]));
      await eventually(async () => {
        const [set] = await client.list(ReplicaSet).toArray();
        // The copy is there, and the ReplicaSet's own beside it.
        expect(Object.keys(set?.annotations ?? {})).toEqual(
          expect.arrayContaining(["op.lotse.dev/state", `op.lotse.dev/state-${set?.metadata.uid}`]),
        );
      });
      await quiet();
      const patches = async () => (await patchesOf(cluster(), stage.namespace, "replicasets")).length;
      // One, or two where the ReplicaSet had its record before the Deployment's was copied over it.
      const written = await patches();
      expect(written).toBeLessThanOrEqual(2);
      // A change of the Deployment's record is copied once more.
      await web.annotate({ note: "changed" });
      await quiet();
      expect(await patches()).toBe(written);
      await first.stop();
      await start(declare());
      await quiet();
      expect(seen).toHaveLength(2);
      expect(await patches()).toBe(written);
    });

    it("is put back when somebody wipes it, more and more rarely when that goes on, and says so", async () => {
      const clock = new VirtualClock();
      const operator = new Operator({ name: "op" });
      const seen: string[] = [];
      operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function store({ name }) {
        seen.push(name);
      });
      await start(operator, { clock });
      await client.create(ConfigMap.gen({ name: "one", labels: { mine: "yes" } }));
      const state = async () => (await client.get(ConfigMap, "one")).annotations["op.lotse.dev/state"];
      const wipe = async () => {
        await client.patch(ConfigMap, "one", { metadata: { annotations: { "op.lotse.dev/state": null } } });
        await quiet();
      };
      for (let round = 0; round < 3; round++) {
        await eventually(async () => expect(await state()).toBeDefined());
        await wipe();
      }
      await eventually(async () => expect(await state()).toBeDefined());
      for (let round = 0; round < 30; round++) await wipe();
      expect(await state()).toBeUndefined();
      await stage.inTime(clock, async () => expect(await state()).toBeDefined());
      expect(clock.monotonic()).toBeGreaterThanOrEqual(10_000);
      expect(await patchesOf(cluster(), stage.namespace, "configmaps")).toHaveLength(1 + 34 + 3);
      expect(seen).toEqual(["one"]);
      const said = logs.filter(({ level }) => level === "warn").map(({ message }) => message);
      expect(said).toEqual([
        "the record is taken off the object again and again, it is put back more rarely from now on",
      ]);
      await eventually(async () => expect(await reasons()).toContain("RecordWiped"));
    });

    it("leaves out what a large object was before, so that it is still handled, once, and can go", async () => {
      const seen: string[] = [];
      const declare = () => {
        const operator = new Operator({ name: "op" });
        operator.on(["create", "update"], Book, function read({ reason, spec, old, diff, patch }) {
          seen.push(`${reason} ${spec.title} ${old === undefined} ${diff.length > 0}`);
          patch.status.title = spec.title;
        });
        operator.on.delete(Book, function burn({ spec }) {
          seen.push(`delete ${spec.title}`);
        });
        return operator;
      };
      const first = await start(declare());
      const text = noise(1_000_000);
      const book = await client.create(new Book({ metadata: { name: "one" }, spec: { title: "first", text } }));
      const title = async () => (await client.get(Book, "one")).status?.title;
      await eventually(async () => expect(await title()).toBe("first"));
      await book.patch({ spec: { title: "second" } });
      await eventually(async () => expect(await title()).toBe("second"));
      await quiet();
      await first.stop();
      await start(declare());
      await quiet();
      await book.delete();
      await eventually(() => expect(client.get(Book, "one")).rejects.toBeInstanceOf(NotFoundError));
      expect(seen).toEqual(["create first true true", "update second true false", "delete second"]);
      expect(logs.map(({ message }) => message)).toContain("the object is too large to remember what it was before");
      await eventually(async () => expect(await reasons()).toContain("BaseTooLarge"));
    });

    it("does not keep an object from its end that has no room for anything more", async () => {
      const clock = new VirtualClock();
      const operator = new Operator({ name: "op" });
      operator.on.update(Book, function read({ patch, spec }) {
        // More than there is room for.
        patch.status.title = spec.title === "long" ? noise(600_000) : spec.title;
      });
      operator.on.delete(Book, function burn() {});
      await start(operator, { clock });
      const book = await client.create(
        new Book({ metadata: { name: "one" }, spec: { title: "short", text: noise(1_200_000) } }),
      );
      await eventually(async () => expect((await client.get(Book, "one")).metadata.finalizers).toHaveLength(1));
      await book.patch({ spec: { title: "long" } });
      await eventually(() =>
        expect(logs.map(({ message }) => message)).toContain("could not work on the object, will be tried again"),
      );
      await book.delete();
      await stage.inTime(clock, () => expect(client.get(Book, "one")).rejects.toBeInstanceOf(NotFoundError));
    });
  },
  {
    controllers: [
      "deployment-controller",
      "garbage-collector-controller",
      "namespace-controller",
      "replicaset-controller",
      "serviceaccount-controller",
    ],
  },
);
