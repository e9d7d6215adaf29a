import { type Client, type KubeBody, NotFoundError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { absent, Operator, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number().default(1), tags: z.array(z.string()).optional() }),
  status: z.object({ seen: z.number().optional(), phase: z.string().optional() }),
});

describeOn(clustersUnderTest(), "handlers of fields, and daemons,", (cluster) => {
  const stage = useStage(cluster, "background");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function machine(name: string, spec: { size?: number; tags?: string[] } = {}, metadata: KubeBody["metadata"] = {}) {
    return client.create(new Machine({ metadata: { name, ...metadata }, spec } as never));
  }

  it("tell a field handler of changes of its field alone", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on.field(Machine, { id: "field", field: "spec.size" }, ({ old, new: now, diff, reason }) => {
      seen.push([reason, old, now, diff]);
    });
    await start(operator);
    const object = await machine("one", { size: 1 });
    await eventually(() =>
      expect(seen).toEqual([["create", undefined, 1, [{ op: "add", path: [], old: undefined, new: 1 }]]]),
    );
    await quiet();
    await object.patch({ spec: { tags: ["a"] } });
    await quiet();
    expect(seen).toHaveLength(1);
    await object.patch({ spec: { size: 2 } });
    await eventually(() => expect(seen[1]).toEqual(["update", 1, 2, [{ op: "change", path: [], old: 1, new: 2 }]]));
  });

  it("tell an update handler only of the changes that it asked for", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.update(
      Machine,
      { id: "grow", field: "spec.size", new: (size: unknown) => (size as number) > 5 },
      ({ new: now }) => {
        seen.push(`grown to ${now}`);
      },
    );
    operator.on.update(
      Machine,
      { id: "untag", field: "spec.tags", new: absent },
      () => void seen.push("tags are gone"),
    );
    await start(operator);
    const object = await machine("one", { size: 1, tags: ["a"] });
    await quiet();
    await object.patch({ spec: { size: 2 } });
    await quiet();
    await object.patch({ spec: { size: 9 } });
    await eventually(() => expect(seen).toEqual(["grown to 9"]));
    await object.patch({ spec: { tags: null } });
    await eventually(() => expect(seen).toEqual(["grown to 9", "tags are gone"]));
  });

  it("see changes of a field of the status, which is nobody's wish otherwise", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on.field(Machine, { id: "field", field: "status.phase" }, ({ new: now }) => void seen.push(now));
    await start(operator);
    const object = await machine("one");
    await quiet();
    await object.patchStatus({ phase: "Ready" });
    await eventually(() => expect(seen).toEqual(["Ready"]));
  });

  it("change one item of a list without touching the others", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Machine, { id: "create" }, ({ patch }) => {
      patch.transform((body) => {
        if (!body.spec.tags?.includes("mine")) body.spec.tags = [...(body.spec.tags ?? []), "mine"];
      });
    });
    await start(operator);
    await machine("one", { tags: ["theirs"] });
    await eventually(async () => expect((await client.get(Machine, "one")).spec.tags).toEqual(["theirs", "mine"]));
  });

  it("run a daemon beside each object, with live arguments, until the object goes", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.daemon(Machine, async function watch({ spec, signal, name }) {
      seen.push(`${name} begins at ${spec.size}`);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      seen.push(`${name} ends at ${spec.size}: ${(signal.reason as { why: string }).why}`);
    });
    await start(operator);
    const object = await machine("one", { size: 1 });
    await eventually(() => expect(seen).toEqual(["one begins at 1"]));
    await object.patch({ spec: { size: 2 } });
    await quiet();
    expect((await client.get(Machine, "one")).metadata.finalizers).toBeUndefined();
    await object.delete();
    await eventually(() => expect(seen[1]).toMatch(/^one ends at 2: deletion$/));
    await eventually(() => expect(client.get(Machine, "one")).rejects.toThrow(NotFoundError));
  });

  it("stop a daemon when its object no longer matches, and begin it again when it does", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.daemon(Machine, { labels: { watch: "yes" } }, async function watch({ signal }) {
      seen.push("begins");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      seen.push((signal.reason as { why: string }).why);
    });
    await start(operator);
    const object = await machine("one", {}, { labels: { watch: "yes" } });
    await eventually(() => expect(seen).toEqual(["begins"]));
    await object.label({ watch: null });
    await eventually(() => expect(seen).toEqual(["begins", "mismatch"]));
    await object.label({ watch: "yes" });
    await eventually(() => expect(seen).toEqual(["begins", "mismatch", "begins"]));
  });

  it("do not begin a daemon again that ended by itself, and write what it wanted to change", async () => {
    const operator = new Operator({ name: "op" });
    let begun = 0;
    operator.daemon(Machine, async function once({ patch }) {
      begun++;
      patch.status.seen = begun;
    });
    await start(operator);
    const object = await machine("one");
    await eventually(async () => expect((await client.get(Machine, "one")).status?.seen).toBe(1));
    await object.patch({ spec: { size: 5 } });
    await quiet();
    expect(begun).toBe(1);
  });

  it("try a daemon again that failed", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const retries: number[] = [];
    operator.daemon(Machine, async function flaky({ retry }) {
      retries.push(retry);
      if (retry < 2) throw new TemporaryError("not yet", { delay: "30s" });
    });
    await start(operator, { clock });
    await machine("one");
    for (const count of [1, 2, 3]) {
      await eventually(() => expect(retries).toHaveLength(count));
      await quiet();
      await clock.advance(30_000);
    }
    expect(retries).toEqual([0, 1, 2]);
  });

  it("end all daemons when the operator stops, and refuse what a stubborn one still writes", async () => {
    const operator = new Operator({ name: "op", graceful: "50ms" });
    let refused: unknown;
    let release: () => void = () => {};
    operator.daemon(Machine, async function stubborn({ client: own, name }) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await own.patch(Machine, name, { spec: { size: 99 } }).catch((error: unknown) => {
        refused = error;
      });
    });
    const one = await start(operator);
    await machine("one", { size: 1 });
    await quiet();
    await one.stop();
    expect(logs.map(({ message }) => message)).toContain("daemon ignores its signal and was abandoned");
    release();
    await eventually(() => expect(refused).toBeDefined());
    expect((await client.get(Machine, "one")).spec.size).toBe(1);
  });

  it("and every other sort of handler are told of when they keep the event loop to themselves", async () => {
    const operator = new Operator({ name: "op", settings: { execution: { blockedAfter: "20ms" } } });
    const block = () => {
      const until = performance.now() + 21;
      while (performance.now() < until);
    };
    operator.on.create(Machine, function made() {
      block();
    });
    operator.timer(Machine, { interval: "1h" }, function tick() {
      block();
    });
    operator.daemon(Machine, async function glow({ sleep }) {
      block();
      await sleep("1h");
    });
    await start(operator);
    await machine("one");
    const blockers = () =>
      logs.flatMap(({ level, message, fields }) =>
        message === "handler blocks the event loop, nothing else runs meanwhile" ? [`${level} ${fields?.handler}`] : [],
      );
    await eventually(() => expect(blockers()).toEqual(expect.arrayContaining(["warn made", "warn tick"])));
    // Its attempt goes on: nobody has to wait for its end to hear of it.
    expect(blockers()).toContain("warn glow");
  });
});
