/** Servers that know of shards (on the real one behind a feature gate) send a member no more than its part. */
import { type Client, ConfigMap } from "@lotse/client";
import { formatShardSelector, shardMatcher, shardOf } from "@lotse/client/meta";
import { Operator } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { type Replica, SHARED, startReplica, Task } from "./replicas-stage.ts";
import { useStage } from "./stage.ts";

const MANY = 40;
const GATE = { flags: ["--feature-gates=ShardedListAndWatch=true"] };

describeOn(
  clustersUnderTest(),
  "a server that knows of shards",
  (cluster) => {
    const stage = useStage(cluster, "selected");
    const { eventually } = stage;
    let client: Client;

    beforeEach(() => {
      ({ client } = stage);
    });

    it("lists and watches the objects whose hash is in the ranges, and says so", async () => {
      const selector = shardOf(1, 3);
      const shardSelector = formatShardSelector(selector);
      const path = client.path(ConfigMap, { namespace: stage.namespace });
      const make = (name: string) => client.create(new ConfigMap({ metadata: { name } }));
      const made = (await Promise.all(Array.from({ length: MANY }, (_, i) => make(`map-${i}`)))).map(
        ({ body }) => body,
      );
      const wanted = made.filter(shardMatcher(selector)).map(({ metadata }) => metadata?.name ?? "");
      const ask = async (query: Record<string, string | number>) =>
        (await client.raw({ method: "GET", path, query: { shardSelector, ...query } })).json<{
          metadata: { resourceVersion: string; shardInfo?: { selector: string } };
          items: { metadata: { name: string } }[];
        }>();
      const listed = await ask({});
      const names = listed.items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("map-"));
      expect(names.toSorted()).toEqual(wanted.toSorted());
      expect(listed.metadata.shardInfo).toEqual({ selector: shardSelector });
      expect((await ask({ limit: 2 })).items).toHaveLength(2);

      for (const { metadata } of made) {
        await client.patch(ConfigMap, metadata?.name ?? "", { data: { seen: "yes" } });
      }
      await make("the-end");
      const { resourceVersion } = listed.metadata;
      const watch = await client.raw({
        method: "GET",
        path,
        query: { shardSelector, watch: true, resourceVersion, timeoutSeconds: 2 },
        stream: true,
      });
      const events = (await watch.text()).trim().split("\n").filter(Boolean);
      const seen = events.map((line) => (JSON.parse(line) as { object: { metadata: { name: string } } }).object);
      const shown = seen.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("map-"));
      expect(shown.toSorted()).toEqual(wanted.toSorted());
    });

    it("is asked by members that share objects by their uids, and nothing is missed when that changes", async () => {
      const notes: string[] = [];
      const tasks = (replica: string) => {
        const operator = new Operator({ name: "tasks" });
        operator.on(["create", "update"], Task, { field: "spec" }, function handle({ name, spec, patch }) {
          notes.push(`${name} ${spec.size}`);
          Object.assign(patch.status, { size: spec.size, by: replica });
        });
        return operator;
      };
      const start = (name: string) => startReplica(stage, cluster(), name, tasks(name), { coordination: SHARED });
      const settled = (...replicas: Replica[]) =>
        eventually(() => {
          const health = replicas.map(({ running }) => running.health().coordination);
          for (const one of health) expect(one?.members).toHaveLength(replicas.length);
          expect(health.reduce((sum, one) => sum + (one?.share ?? 0), 0)).toBe(1);
        });
      const handled = (size: number) =>
        eventually(async () => {
          const all = await client.list(Task).toArray();
          expect(all.filter(({ body }) => body.status?.size === size)).toHaveLength(MANY);
        });
      const change = async (size: number) => {
        for (let i = 0; i < MANY; i++) await client.patch(Task, `task-${i}`, { spec: { size } });
        await handled(size);
      };
      const a = await start("a");
      await settled(a);
      for (let i = 0; i < MANY; i++)
        await client.create(new Task({ metadata: { name: `task-${i}` }, spec: { size: 1 } }));
      await handled(1);
      const b = await start("b");
      await settled(a, b);
      await change(2);
      const c = await start("c");
      await settled(a, b, c);
      await change(3);
      await a.running.stop();
      await settled(b, c);
      await change(4);
      await stage.quiet();
      expect(notes).toHaveLength(4 * MANY);
      expect(new Set(notes).size).toBe(notes.length);
    });
  },
  GATE,
);
