import { type Client, ConfigMap, type KubeBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Crane = resource({
  group: "cranes.example.com",
  version: "v1",
  kind: "Crane",
  spec: z.object({ load: z.number().optional(), hooks: z.array(z.string()).optional(), arm: z.unknown().optional() }),
  status: z.object({ moved: z.number().optional() }),
});

interface CraneSpec {
  load?: number;
  hooks?: string[];
  arm?: unknown;
}

describeOn(clustersUnderTest(), "handlers get", (cluster) => {
  const stage = useStage(cluster, "arguments");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function crane(name: string, spec: CraneSpec = {}, metadata: KubeBody["metadata"] = {}) {
    return client.create(new Crane({ metadata: { name, ...metadata }, spec }));
  }

  it("their param, how often and since when they are tried, a memo and a logger of the object", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    const begun = clock.now();
    operator.on.create(Crane, { id: "lift", param: { by: 3 } }, (context) => {
      const { param, retry, started, runtime, logger, memo, name } = context;
      memo.calls = ((memo.calls as number | undefined) ?? 0) + 1;
      seen.push({ name, param, retry, started: started.getTime() - begun, runtime, calls: memo.calls });
      logger.info("lifting", { tons: 5 });
      if (name === "one" && retry === 0) throw new TemporaryError("too windy", { delay: "10s" });
    });
    operator.timer(
      Crane,
      { id: "look", interval: "1h", initialDelay: "1m", param: "timer" },
      ({ param, memo, name }) => {
        seen.push({ name, param, calls: memo.calls });
      },
    );
    await start(operator, { clock });
    await crane("one");
    await eventually(() => expect(seen).toHaveLength(1));
    await quiet();
    await clock.advance(10_000);
    await eventually(() => expect(seen).toHaveLength(2));
    await crane("two");
    await eventually(() => expect(seen).toHaveLength(3));
    await quiet();
    expect(seen).toEqual([
      { name: "one", param: { by: 3 }, retry: 0, started: 0, runtime: 0, calls: 1 },
      { name: "one", param: { by: 3 }, retry: 1, started: 0, runtime: 10_000, calls: 2 },
      { name: "two", param: { by: 3 }, retry: 0, started: 10_000, runtime: 0, calls: 1 },
    ]);
    await clock.advance(60_000);
    await eventually(() => expect(seen.slice(3)).toContainEqual({ name: "one", param: "timer", calls: 2 }));
    const lifting = logs.filter(({ message }) => message === "lifting");
    expect(lifting.map(({ object }) => object?.name)).toEqual(["one", "one", "two"]);
    expect(lifting[0]).toMatchObject({
      level: "info",
      fields: { tons: 5, handler: "lift" },
      object: { apiVersion: "cranes.example.com/v1", kind: "Crane", namespace: stage.namespace },
    });
  });

  it("the object, its parts and its kind, none of which can be changed", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    const refused: unknown[] = [];
    operator.on.create(Crane, function look(context) {
      const { body, spec, meta, status, uid, name, namespace, labels, annotations, resource: kind, object } = context;
      seen.push({
        same: body.metadata?.uid === uid && object.uid === uid && meta.uid === uid,
        name,
        namespace,
        spec,
        status,
        labels,
        annotations,
        kind: `${kind.plural}.${kind.group}`,
        class: object instanceof Crane,
      });
      for (const part of [body, spec, meta, labels, annotations]) {
        try {
          (part as Record<string, unknown>).changed = true;
        } catch (error) {
          refused.push(error);
        }
      }
    });
    await start(operator);
    await crane("one", { load: 2 }, { labels: { a: "b" }, annotations: { c: "d" } });
    await eventually(() =>
      expect(seen).toEqual([
        {
          same: true,
          name: "one",
          namespace: stage.namespace,
          spec: { load: 2 },
          status: {},
          labels: { a: "b" },
          annotations: { c: "d" },
          kind: "cranes.cranes.example.com",
          class: true,
        },
      ]),
    );
    expect(refused).toHaveLength(5);
  });

  it("empty parts where the object has none", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on.event(ConfigMap, { id: "look", when: ({ name }) => name === "bare" }, (context) => {
      const { spec, status, labels, annotations } = context as unknown as Record<string, object>;
      seen.push([spec, status, labels, annotations, labels && "a" in labels]);
    });
    await start(operator);
    await client.create(ConfigMap.gen({ name: "bare" }));
    await eventually(() => expect(seen[0]).toEqual([{}, {}, {}, {}, false]));
  });

  it("the type and the whole of an event", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    await client.create(ConfigMap.gen({ name: "one", data: { a: "1" } }));
    operator.on.event(ConfigMap, { id: "look", when: ({ name }) => name === "one" }, ({ type, event }) => {
      seen.push([type, event.type, event.object.metadata?.name, event.object.data]);
    });
    await start(operator);
    await client.patch(ConfigMap, "one", { data: { a: "2" } });
    await client.delete(ConfigMap, "one");
    await eventually(() =>
      expect(seen).toEqual([
        [undefined, undefined, "one", { a: "1" }],
        ["MODIFIED", "MODIFIED", "one", { a: "2" }],
        ["DELETED", "DELETED", "one", { a: "2" }],
      ]),
    );
  });

  it("the reason of a change, what was before, what is now, and the difference", async () => {
    const seen: unknown[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on(["create", "update", "resume", "delete"], Crane, { id: "look" }, (context) => {
        const { reason, old, new: now, diff } = context;
        seen.push([reason, old?.spec, now?.spec, diff.map(({ op, path }) => `${op} ${path.join(".")}`)]);
      });
      return operator;
    };
    const first = await start(declare());
    const object = await crane("one", { load: 1 });
    await eventually(() => expect(seen).toHaveLength(1));
    await quiet();
    await object.patch({ spec: { load: 2 }, metadata: { labels: { a: "b" } } });
    await eventually(() => expect(seen).toHaveLength(2));
    await quiet();
    await first.stop();
    await start(declare());
    await eventually(() => expect(seen).toHaveLength(3));
    await quiet();
    await object.delete();
    await eventually(() => expect(seen).toHaveLength(4));
    expect(seen).toEqual([
      ["create", undefined, { load: 1 }, ["add "]],
      ["update", { load: 1 }, { load: 2 }, expect.arrayContaining(["change spec.load", "add metadata"])],
      ["resume", { load: 2 }, { load: 2 }, []],
      ["delete", { load: 2 }, { load: 2 }, []],
    ]);
  });

  it("differences that add, change and remove, with lists compared as a whole", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on.update(Crane, function look({ diff }) {
      seen.push([...diff].sort((a, b) => a.op.localeCompare(b.op)));
    });
    await start(operator);
    const object = await crane("one", { hooks: ["a", "b"], load: 3 });
    await quiet();
    await object.patch({ spec: { hooks: ["a", "c"], load: null, arm: { length: 9 } } });
    await eventually(() => expect(seen).toHaveLength(1));
    expect(seen[0]).toEqual([
      { op: "add", path: ["spec", "arm"], old: undefined, new: { length: 9 } },
      { op: "change", path: ["spec", "hooks"], old: ["a", "b"], new: ["a", "c"] },
      { op: "remove", path: ["spec", "load"], old: 3, new: undefined },
    ]);
  });

  it("the operator's indexes by their handle and by their name", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    const byLoad = operator.index(Crane, function byLoad({ spec, name }) {
      return { [`load ${spec.load ?? 0}`]: name };
    });
    operator.timer(Crane, { id: "look", interval: "1h", labels: { look: "yes" } }, ({ indexes }) => {
      seen.push([[...indexes(byLoad).get("load 5")].sort(), [...(indexes.byLoad?.keys() ?? [])].sort()]);
    });
    await start(operator);
    await crane("one", { load: 5 });
    await crane("two", { load: 7 });
    await quiet();
    await crane("three", { load: 5 }, { labels: { look: "yes" } });
    await eventually(() =>
      expect(seen).toEqual([
        [
          ["one", "three"],
          ["load 5", "load 7"],
        ],
      ]),
    );
  });

  it.each([
    ["keeps what was there before", "ignored", ["red"], ["blue"]],
    ["takes the object out until its next change", "temporary", [], ["blue"]],
    ["takes the object out for good", "permanent", [], []],
  ] as const)("indexes whose function fails: it %s (%s)", async (_name, errors, failed, mended) => {
    const operator = new Operator({ name: "op" });
    const colours = operator.index(Crane, { id: "colours", errors }, ({ labels }) => {
      if (labels.colour === "broken") throw new Error("no such colour");
      return { all: labels.colour };
    });
    const seen: unknown[] = [];
    operator.on.event(ConfigMap, { id: "look", labels: { look: "yes" } }, ({ indexes }) => {
      seen.push(indexes(colours).get("all"));
    });
    await start(operator);
    const object = await crane("one", {}, { labels: { colour: "red" } });
    for (const [colour, expected] of [
      ["broken", failed],
      ["blue", mended],
    ] as const) {
      await object.label({ colour });
      await quiet();
      await client.create(ConfigMap.gen({ name: `look-${colour}`, labels: { look: "yes" } }));
      await eventually(() => expect(seen.at(-1)).toEqual(expected));
      await quiet();
    }
    expect(seen).toEqual([failed, mended]);
    const errorsTold = logs.filter(({ level }) => level === "error");
    expect(errorsTold).toMatchObject([{ fields: { handler: "colours", error: "no such colour" } }]);
  });
});
