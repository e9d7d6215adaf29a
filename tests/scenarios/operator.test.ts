import { type Client, ConfigMap, type KubeBody, NotFoundError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Thing = resource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number().default(1) }),
  status: z.object({ size: z.number().optional(), count: z.number().optional(), measure: z.unknown().optional() }),
});

/** A kind that nobody has installed. */
const Late = resource({ group: "late.example.com", version: "v1", kind: "Late", spec: z.object({}) });

describeOn(clustersUnderTest(), "an operator", (cluster) => {
  const stage = useStage(cluster, "test");
  const { start, eventually, quiet, running, logs } = stage;
  let client: Client;
  let namespace: string;

  beforeEach(() => {
    ({ client, namespace } = stage);
  });

  function thing(name: string, spec: { size?: number } = {}, metadata: KubeBody["metadata"] = {}) {
    return client.create(new Thing({ metadata: { name, ...metadata }, spec } as never));
  }

  /** PATCH requests to objects of a kind in this test's namespace, oldest first. */
  async function patchesOf(plural: string): Promise<string[]> {
    const writes = await cluster().writes();
    return writes
      .filter(
        (write) => write.verb === "patch" && write.resource.split(".")[0] === plural && write.namespace === namespace,
      )
      .map((write) => [write.name, write.subresource].filter(Boolean).join("/"));
  }

  it("handles a creation once and writes once", async () => {
    const operator = new Operator({ name: "op" });
    const calls: string[] = [];
    operator.on.create(Thing, function measure({ spec, name, patch, reason, old }) {
      calls.push(`${reason} ${name} ${String(old)}`);
      patch.status.size = spec.size;
    });
    await start(operator);
    await thing("one", { size: 7 });
    await eventually(async () => expect((await client.get(Thing, "one")).status?.size).toBe(7));
    await quiet();
    expect(calls).toEqual(["create one undefined"]);
    expect(await patchesOf("things")).toEqual(["one/status"]);
  });

  it("runs all handlers that are ready in one turn, with one PATCH and their results in the status", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Thing, function first({ patch }) {
      patch.status.size = 1;
    });
    operator.on.create(Thing, function measure() {
      return { metres: 3 };
    });
    operator.timer(Thing, { interval: "1h" }, function tick({ patch }) {
      patch.status.count = 1;
    });
    await start(operator);
    await thing("one");
    await eventually(async () =>
      expect((await client.get(Thing, "one")).status).toMatchObject({ size: 1, count: 1, measure: { metres: 3 } }),
    );
    await quiet();
    expect(await patchesOf("things")).toEqual(["one/status"]);
  });

  it("does nothing and writes nothing when it starts again", async () => {
    const calls: string[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on.create(Thing, { id: "create" }, ({ name }) => void calls.push(`create ${name}`));
      operator.on.update(Thing, { id: "update" }, ({ name }) => void calls.push(`update ${name}`));
      return operator;
    };
    const first = await start(declare());
    await thing("one");
    await eventually(() => expect(calls).toEqual(["create one"]));
    await quiet();
    await first.stop();
    const before = await patchesOf("things");
    await start(declare());
    await quiet();
    expect(calls).toEqual(["create one"]);
    expect(await patchesOf("things")).toEqual(before);
  });

  it("tells an update what changed, also when it changed while the operator was down", async () => {
    const seen: unknown[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on.update(Thing, { id: "update" }, ({ old, new: now, diff, reason }) => {
        seen.push({ reason, old: old?.spec, new: now?.spec, diff });
      });
      return operator;
    };
    const first = await start(declare());
    const object = await thing("one", { size: 1 });
    await quiet();
    await object.patch({ spec: { size: 2 } });
    const diff = (from: number, to: number) => [{ op: "change", path: ["spec", "size"], old: from, new: to }];
    await eventually(() =>
      expect(seen).toEqual([{ reason: "update", old: { size: 1 }, new: { size: 2 }, diff: diff(1, 2) }]),
    );
    await first.stop();
    await object.patch({ spec: { size: 3 } });
    await start(declare());
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen[1]).toEqual({ reason: "update", old: { size: 2 }, new: { size: 3 }, diff: diff(2, 3) });
  });

  it("resumes objects that it has handled before, once a process", async () => {
    const calls: string[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on(["create", "resume"], Thing, function both({ reason }) {
        calls.push(reason);
      });
      return operator;
    };
    const first = await start(declare());
    await thing("one");
    await eventually(() => expect(calls).toEqual(["create"]));
    await quiet();
    await first.stop();
    await start(declare());
    await eventually(() => expect(calls).toEqual(["create", "resume"]));
    await quiet();
    expect(calls).toHaveLength(2);
  });

  it("holds an object until its deletion is handled, and leaves other finalizers alone", async () => {
    const operator = new Operator({ name: "op" });
    const calls: string[] = [];
    operator.on.create(
      Thing,
      { id: "create" },
      ({ meta }) => void calls.push(`create with ${meta.finalizers?.join()}`),
    );
    operator.on.delete(Thing, { id: "delete" }, ({ name }) => void calls.push(`delete ${name}`));
    await start(operator);
    const object = await thing("one", {}, { finalizers: ["example.com/foreign"] });
    await eventually(() => expect(calls).toEqual(["create with example.com/foreign,op.lotse.dev/finalizer"]));
    await object.delete();
    await eventually(() => expect(calls).toHaveLength(2));
    await eventually(async () =>
      expect((await client.get(Thing, "one")).metadata.finalizers).toEqual(["example.com/foreign"]),
    );
    await client.patch(Thing, "one", { metadata: { finalizers: null } } as never);
    await eventually(() => expect(client.get(Thing, "one")).rejects.toThrow(NotFoundError));
    await quiet();
    expect(calls[1]).toBe("delete one");
    expect(calls).toHaveLength(2);
  });

  it("puts no finalizer on for an optional delete handler, which runs after the fact", async () => {
    const operator = new Operator({ name: "op" });
    const calls: string[] = [];
    operator.on.delete(
      Thing,
      { id: "delete", optional: true },
      ({ name, spec }) => void calls.push(`${name} ${spec.size}`),
    );
    await start(operator);
    const object = await thing("one", { size: 4 });
    await quiet();
    expect((await client.get(Thing, "one")).metadata.finalizers).toBeUndefined();
    await object.delete();
    await eventually(() => expect(calls).toEqual(["one 4"]));
    expect(await patchesOf("things")).toEqual([]);
  });

  it("never writes to an object that no handler matches", async () => {
    const operator = new Operator({ name: "op" });
    const calls: string[] = [];
    operator.on.create(Thing, { id: "create", labels: { handle: "yes" } }, ({ name }) => void calls.push(name));
    operator.on.delete(Thing, { id: "delete", labels: { handle: "yes" } }, () => {});
    await start(operator);
    const object = await thing("one");
    await quiet();
    expect(await patchesOf("things")).toEqual([]);
    await object.label({ handle: "yes" });
    await eventually(() => expect(calls).toEqual(["one"]));
  });

  it("tries again after the exact delay of a temporary error, and keeps the deadline on the object", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const retries: number[] = [];
    operator.on.create(Thing, function flaky({ retry }) {
      retries.push(retry);
      if (retry < 2) throw new TemporaryError("not yet", { delay: "10s" });
    });
    await start(operator, { clock });
    await thing("one");
    await eventually(() => expect(retries).toEqual([0]));
    await eventually(async () => expect(await patchesOf("things")).toHaveLength(1));
    const { status } = await client.get(Thing, "one");
    expect(status).toMatchObject({ lotse: { op: { runs: { flaky: { attempts: 1, message: "not yet" } } } } });
    await quiet();
    await clock.advance(9_999);
    expect(retries).toEqual([0]);
    await clock.advance(1);
    await eventually(() => expect(retries).toEqual([0, 1]));
    await eventually(async () => expect(await patchesOf("things")).toHaveLength(2));
    await quiet();
    await clock.advance(10_000);
    await eventually(() => expect(retries).toEqual([0, 1, 2]));
    await eventually(async () => expect(await patchesOf("things")).toHaveLength(3));
  });

  it("does not try again after a permanent error, and says so", async () => {
    const operator = new Operator({ name: "op" });
    let calls = 0;
    operator.on.create(Thing, function broken() {
      calls++;
      throw new PermanentError("never");
    });
    await start(operator);
    await thing("one");
    await eventually(() => expect(logs.some(({ message }) => message === "handler failed for good")).toBe(true));
    await quiet();
    expect(calls).toBe(1);
    expect(await patchesOf("things")).toEqual(["one/status"]);
  });

  it("does not lose a change that arrives while a handler runs", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    let release: () => void = () => {};
    operator.on.create(Thing, async function slow({ spec }) {
      seen.push(`create ${spec.size}`);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    operator.on.update(Thing, { id: "update" }, ({ spec }) => void seen.push(`update ${spec.size}`));
    await start(operator);
    const object = await thing("one", { size: 1 });
    await eventually(() => expect(seen).toEqual(["create 1"]));
    await object.patch({ spec: { size: 2 } });
    release();
    await eventually(() => expect(seen).toEqual(["create 1", "update 2"]));
    await quiet();
    expect(seen).toHaveLength(2);
  });

  it("sees a change by its own patch as an update, once", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Thing, { id: "create" }, ({ patch }) => {
      seen.push("create");
      patch.spec.size = 5;
    });
    operator.on.update(Thing, { id: "update" }, ({ spec }) => void seen.push(`update ${spec.size}`));
    await start(operator);
    await thing("one", { size: 1 });
    await eventually(() => expect(seen).toEqual(["create", "update 5"]));
    await quiet();
    expect(seen).toHaveLength(2);
  });

  it("writes its record again when somebody wipes it, and does not handle the object again", async () => {
    const operator = new Operator({ name: "op" });
    let calls = 0;
    operator.on.create(Thing, { id: "create" }, () => void calls++);
    await start(operator);
    const object = await thing("one");
    await eventually(async () => expect(await patchesOf("things")).toHaveLength(1));
    await quiet();
    await object.patchStatus({ lotse: null } as never);
    await eventually(async () => expect((await client.get(Thing, "one")).status).toHaveProperty("lotse.op.handled"));
    expect(calls).toBe(1);
  });

  it("keeps its record in an annotation for kinds of Kubernetes itself", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(ConfigMap, { id: "create", labels: { handle: "yes" } }, ({ patch }) => {
      (patch as { data?: Record<string, string> }).data = { hello: "world" };
    });
    await start(operator);
    await client.create(ConfigMap.gen({ name: "one", labels: { handle: "yes" } }));
    await eventually(async () => {
      const { body } = await client.get(ConfigMap, "one");
      expect(body.data).toEqual({ hello: "world" });
      expect(body.metadata?.annotations).toHaveProperty("op.lotse.dev/state");
    });
    await quiet();
    expect(await patchesOf("configmaps")).toEqual(["one"]);
  });

  it("handles objects that its own handlers create", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Thing, { id: "create" }, async ({ client: own, adopt }) => {
      await own.create(adopt(ConfigMap.gen({ name: "child", labels: { mine: "yes" } })));
    });
    operator.on.create(ConfigMap, { id: "create", labels: { mine: "yes" } }, ({ meta }) => {
      seen.push(`${meta.namespace}/${meta.name} of ${meta.ownerReferences?.[0]?.name}`);
    });
    await start(operator);
    await thing("one");
    await eventually(() => expect(seen).toEqual([`${namespace}/child of one`]));
    await quiet();
    expect(seen).toHaveLength(1);
  });

  it("shows the raw stream to event handlers, in order, without writing anything", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    await client.create(ConfigMap.gen({ name: "before", labels: { see: "yes" } }));
    operator.on.event(ConfigMap, { labels: { see: "yes" } }, ({ type, name }) => void seen.push(`${type} ${name}`));
    await start(operator);
    const object = await client.create(ConfigMap.gen({ name: "one", labels: { see: "yes" } }));
    await object.patch({ data: { a: "b" } } as never);
    await object.delete();
    await eventually(() => expect(seen).toEqual(["undefined before", "ADDED one", "MODIFIED one", "DELETED one"]));
    expect(await patchesOf("configmaps")).toEqual(["one"]);
  });

  it("runs a timer at its interval, and writes only when something changes", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    let runs = 0;
    operator.timer(Thing, { interval: "1h" }, function tick({ patch }) {
      runs++;
      patch.status.count = Math.min(runs, 2);
    });
    await start(operator, { clock });
    await thing("one");
    for (let hour = 1; hour <= 4; hour++) {
      await eventually(() => expect(runs).toBe(hour));
      await quiet();
      await clock.advance(3_600_000);
    }
    await eventually(() => expect(runs).toBe(5));
    expect(await patchesOf("things")).toEqual(["one/status", "one/status"]);
  });

  it("begins a timer whose filter looks at the status when a handler's own write makes it match", async () => {
    const operator = new Operator({ name: "op" });
    let runs = 0;
    operator.on.create(Thing, { id: "create" }, ({ patch }) => {
      patch.status.size = 1;
    });
    operator.timer(Thing, { interval: "1h", when: ({ status }) => status?.size === 1 }, function tick() {
      runs++;
    });
    await start(operator);
    await thing("one");
    await eventually(() => expect(runs).toBe(1));
    await quiet();
    expect(await patchesOf("things")).toEqual(["one/status"]);
  });

  it("keeps conditions with their transition times, beside those of others", async () => {
    const operator = new Operator({ name: "op" });
    operator.on(["create", "update"], Thing, { id: "both" }, ({ conditions, spec }) => {
      conditions.set("Ready", spec.size < 5, spec.size < 5 ? "Small" : "Large", `the size is ${spec.size}`);
    });
    await start(operator);
    const object = await thing("one", { size: 1 });
    const ready = async () => {
      const { status } = await client.get(Thing, "one");
      return status?.conditions?.find(({ type }) => type === "Ready");
    };
    await eventually(async () =>
      expect(await ready()).toMatchObject({ status: "True", reason: "Small", observedGeneration: 1 }),
    );
    await object.patch({ spec: { size: 9 } });
    await eventually(async () =>
      expect(await ready()).toMatchObject({ status: "False", reason: "Large", observedGeneration: 2 }),
    );
  });

  it("posts an Event when a handler fails, and those that handlers ask for", async () => {
    const operator = new Operator({ name: "op", events: "all" });
    operator.on.create(Thing, function broken({ warn, info }) {
      info("Trying", "let us see");
      warn("Worried", "this looks bad");
      throw new PermanentError("it was bad");
    });
    await start(operator);
    await thing("one");
    await eventually(async () => {
      const events = await client.list("events").toArray();
      const said = events.map(({ body }) => `${body.type} ${body.reason}: ${body.message}`).sort();
      expect(said).toEqual([
        "Normal Trying: let us see",
        "Warning HandlerFailed: broken failed for good: it was bad",
        "Warning Worried: this looks bad",
      ]);
    });
  });

  it("gives a running handler its signal and time to end when it stops, and writes its work down", async () => {
    const operator = new Operator({ name: "op" });
    const why: string[] = [];
    let begun = false;
    operator.on.create(Thing, async function slow({ signal, patch }) {
      begun = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      why.push((signal.reason as { why: string }).why);
      patch.status.count = 1;
    });
    const one = await start(operator);
    await thing("one");
    await eventually(() => expect(begun).toBe(true));
    await one.stop();
    expect(why).toEqual(["shutdown"]);
    expect((await client.get(Thing, "one")).status).toMatchObject({ count: 1 });
  });

  it("aborts what runs when the object is deleted, and handles the deletion", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Thing, async function slow({ signal }) {
      seen.push("create");
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    operator.on.delete(Thing, { id: "delete" }, () => void seen.push("delete"));
    await start(operator);
    const object = await thing("one");
    await eventually(() => expect(seen).toEqual(["create"]));
    await object.delete();
    await eventually(() => expect(seen).toEqual(["create", "delete"]));
    await eventually(() => expect(client.get(Thing, "one")).rejects.toThrow(NotFoundError));
  });

  it("runs startup handlers before and cleanup handlers after everything else", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.startup(() => void seen.push("startup"));
    operator.on.cleanup(() => void seen.push("cleanup"));
    operator.on.create(Thing, { id: "create" }, () => void seen.push("create"));
    const one = await start(operator);
    await thing("one");
    await eventually(() => expect(seen).toEqual(["startup", "create"]));
    await one.stop();
    expect(seen).toEqual(["startup", "create", "cleanup"]);
  });

  it("cannot start when a startup handler fails for good", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.startup(() => {
      throw new PermanentError("no database");
    });
    const one = operator.start({ client, log: () => {} });
    await expect(one.ready).rejects.toThrow("no database");
    await expect(one.stopped).rejects.toThrow("no database");
  });

  it("waits for a kind that is not installed yet, and says so once", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Late, { id: "create" }, ({ name }) => void seen.push(name));
    running.push(operator.start({ client, clock, log: (record) => logs.push(record) }));
    const waiting = "waiting for a kind that the cluster does not have";
    await eventually(() => expect(logs.map(({ message }) => message)).toContain(waiting));
    await client.create(Late.crd() as KubeBody);
    await eventually(() => client.create(new Late({ metadata: { name: "one" }, spec: {} })));
    await eventually(async () => {
      await clock.advance(2_000);
      expect(seen).toEqual(["one"]);
    });
    expect(logs.filter(({ message }) => message.startsWith("waiting for a kind"))).toHaveLength(1);
  });

  it("works beside another operator on the same objects without disturbing it", async () => {
    const seen: string[] = [];
    for (const name of ["left", "right"]) {
      const operator = new Operator({ name });
      operator.on(["create", "update"], Thing, { id: "both" }, ({ reason }) => void seen.push(`${name} ${reason}`));
      await start(operator);
    }
    await thing("one");
    await eventually(() => expect([...seen].sort()).toEqual(["left create", "right create"]));
    await quiet();
    expect(seen).toHaveLength(2);
    const { status } = await client.get(Thing, "one");
    expect(status).toMatchObject({
      lotse: { left: { handled: expect.any(String) }, right: { handled: expect.any(String) } },
    });
  });

  it("is told again of a state that its own handler had changed into one where no handler matches", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on(["create", "update"], Thing, { when: ({ spec }) => spec.size !== 0 }, function shrink(context) {
      const before = (context.old as { spec?: { size?: number } } | undefined)?.spec?.size;
      seen.push(`${context.reason} ${before} ${context.spec.size}`);
      context.patch.spec.size = 0;
    });
    await start(operator);
    const one = await thing("one", { size: 7 });
    await eventually(async () => expect((await one.refresh()).spec.size).toBe(0));
    await quiet();
    await one.patch({ spec: { size: 7 } });
    await eventually(async () => expect((await one.refresh()).spec.size).toBe(0));
    await quiet();
    expect(seen).toEqual(["create undefined 7", "update 0 7"]);

    // Over a restart too: what was written is on the object.
    await running.pop()?.stop();
    await one.patch({ spec: { size: 7 } });
    await start(operator);
    await eventually(async () => expect((await one.refresh()).spec.size).toBe(0));
    await quiet();
    expect(seen.slice(2)).toEqual(["update 0 7"]);
  });

  it("is told of a return from where no handler matches, and writes nothing while it is there", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on(
      ["create", "update"],
      Thing,
      { when: ({ spec }) => spec.size !== 0 },
      function look({ reason, old, spec }) {
        seen.push([reason, (old as { spec?: { size?: number } } | undefined)?.spec?.size, spec.size]);
      },
    );
    await start(operator);
    const one = await thing("one", { size: 7 });
    await eventually(() => expect(seen).toHaveLength(1));
    await quiet();
    const writes = (await patchesOf("things")).length;
    await one.patch({ spec: { size: 0 } });
    await quiet();
    expect((await patchesOf("things")).length - writes).toBe(1);
    await one.patch({ spec: { size: 7 } });
    await eventually(() => expect(seen).toHaveLength(2));
    await quiet();
    expect(seen).toEqual([
      ["create", undefined, 7],
      ["update", 0, 7],
    ]);
  });

  it("refuses a name that cannot be part of its marks", () => {
    expect(() => new Operator({ name: "Exchange Rates" })).toThrow(/is not an operator's name/);
  });
});
