import { Client, ConfigMap, type KubeBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource, TemporaryError } from "lotse";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Ship = resource({
  group: "ships.example.com",
  version: "v1",
  kind: "Ship",
  spec: z.object({ size: z.number().default(1), flag: z.string().optional() }),
  status: z.object({
    measure: z.unknown().optional(),
    count: z.number().optional(),
    text: z.string().optional(),
    sync: z.string().optional(),
    async: z.string().optional(),
    ticks: z.string().optional(),
  }),
});

describe("startup handlers", () => {
  it("run before the first request, and are tried again until they succeed", async () => {
    const requests: string[] = [];
    const transport = {
      request: ({ path }: { path: string }) => {
        requests.push(path);
        return Promise.reject(new Error("nobody answers"));
      },
      close: async () => {},
    };
    const client = await Client.connect({ url: "http://cluster.example.com", transport });
    const clock = new VirtualClock();
    const seen: string[] = [];
    const operator = new Operator({ name: "op" });
    operator.on.startup(function first({ retry }) {
      seen.push(`first ${retry}, ${requests.length} requests`);
      if (retry === 0) throw new TemporaryError("not yet", { delay: "5s" });
    });
    operator.on.startup(async function second() {
      seen.push(`second, ${requests.length} requests`);
    });
    operator.on.create("ships.ships.example.com", function built() {});
    const running = operator.start({ client, clock, log: () => {} });
    await expect.poll(() => seen.length).toBe(1);
    await clock.advance(4_999);
    expect(seen).toEqual(["first 0, 0 requests"]);
    await clock.advance(1);
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    expect(seen).toEqual(["first 0, 0 requests", "first 1, 0 requests", "second, 0 requests"]);
    await running.stop();
  });
});

describeOn(clustersUnderTest(), "handlers", (cluster) => {
  const stage = useStage(cluster, "handlers");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  function ship(name: string, spec: { size?: number; flag?: string } = {}, metadata: KubeBody["metadata"] = {}) {
    return client.create(new Ship({ metadata: { name, ...metadata }, spec } as never));
  }

  it("of cleanup run after everything else, whether the operator is stopped, aborted or fails", async () => {
    const seen: string[] = [];
    const declare = (name: string) => {
      const operator = new Operator({ name });
      operator.on.cleanup(() => void seen.push(name));
      operator.on.create(ConfigMap, { id: "same", labels: { mine: "yes" } }, () => {});
      return operator;
    };
    const options = { client, log: () => {}, namespaces: [stage.namespace] };
    const stopped = declare("stopped").start(options);
    await stopped.ready;
    expect(seen).toEqual([]);
    await stopped.stop();
    expect(seen).toEqual(["stopped"]);

    const stop = new AbortController();
    const aborted = declare("aborted").start({ ...options, signal: stop.signal });
    await aborted.ready;
    stop.abort();
    await aborted.stopped;
    expect(seen).toEqual(["stopped", "aborted"]);

    const failing = declare("failed");
    failing.on.update("cm", { id: "same" }, () => {});
    await expect(failing.start(options).stopped).rejects.toThrow(/"same" is used twice/);
    expect(seen).toEqual(["stopped", "aborted", "failed"]);
  });

  it("of a field hear of a change that was pending when the object was deleted", async () => {
    const seen: unknown[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on.field(Ship, { id: "resized", field: "spec.size" }, ({ reason, old, new: now, diff }) => {
        seen.push([reason, old, now, diff]);
      });
      operator.on.delete(Ship, function scrap({ reason }) {
        seen.push([reason]);
      });
      return operator;
    };
    const first = await start(declare());
    const object = await ship("one", { size: 1 });
    await eventually(() => expect(seen).toHaveLength(1));
    await quiet();
    await first.stop();
    await object.patch({ spec: { size: 2 } });
    await object.delete();
    await start(declare());
    await eventually(async () => expect(await object.exists()).toBe(false));
    expect(seen.slice(1)).toEqual([["delete", 1, 2, [{ op: "change", path: [], old: 1, new: 2 }]], ["delete"]]);
  });

  it("of resuming are mixed into an update that was found at the start, and both are told that it is one", async () => {
    const seen: string[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on.update(Ship, function refit({ reason, old, new: now }) {
        seen.push(`refit: ${reason} ${old?.spec?.size} ${now?.spec?.size}`);
      });
      operator.on.resume(Ship, function greet({ reason }) {
        seen.push(`greet: ${reason}`);
      });
      return operator;
    };
    const first = await start(declare());
    const object = await ship("one", { size: 1 });
    await quiet();
    await first.stop();
    await object.patch({ spec: { size: 2 } });
    await start(declare());
    await eventually(() => expect(seen).toEqual(["refit: update 1 2", "greet: update"]));
    await quiet();
    await object.patch({ spec: { size: 3 } });
    await eventually(() => expect(seen.slice(2)).toEqual(["refit: update 2 3"]));
    await quiet();
    expect(seen).toHaveLength(3);
  });

  it("of deletion let the object go when they fail for good", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.delete(Ship, function scrap() {
      throw new PermanentError("nobody can do that");
    });
    await start(operator);
    const object = await ship("one");
    await eventually(async () => expect((await client.get(Ship, "one")).metadata.finalizers).toHaveLength(1));
    await object.delete();
    await eventually(async () => expect(await object.exists()).toBe(false));
    expect(logs.filter(({ message }) => message === "handler failed for good")).toHaveLength(1);
  });

  it("of deletion that give up may keep the object, which says so and is tried again when it changes", async () => {
    const operator = new Operator({ name: "op" });
    let calls = 0;
    operator.on.delete(Ship, { id: "scrap", onGiveUp: "keep" }, ({ spec }) => {
      calls++;
      if (spec.flag !== "white") throw new PermanentError("it still fights");
    });
    await start(operator);
    const object = await ship("one");
    await eventually(async () => expect((await client.get(Ship, "one")).metadata.finalizers).toHaveLength(1));
    await object.delete();
    await eventually(async () =>
      expect((await client.get(Ship, "one")).status).toMatchObject({
        conditions: [{ type: "DeletionFailed", status: "True", message: expect.stringContaining("scrap") }],
      }),
    );
    await eventually(async () => {
      const events = (await client.list("events").toArray()).map(({ body }) => `${body.type} ${body.reason}`);
      expect(events).toContain("Warning DeletionFailed");
    });
    await quiet();
    expect(calls).toBe(1);
    await object.patch({ spec: { flag: "white" } });
    await eventually(async () => expect(await object.exists()).toBe(false));
    expect(calls).toBe(2);
  });

  it("of deletion that fail for now keep the object until they succeed, and are called until then", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: number[] = [];
    operator.on.delete(Ship, function scrap({ retry }) {
      seen.push(retry);
      if (retry < 1) throw new TemporaryError("the dock is full", { delay: "30s" });
    });
    await start(operator, { clock });
    const object = await ship("one");
    await eventually(async () => expect((await client.get(Ship, "one")).metadata.finalizers).toHaveLength(1));
    await object.delete();
    await eventually(() => expect(seen).toEqual([0]));
    await quiet();
    expect(await object.exists()).toBe(true);
    await clock.advance(30_000);
    await eventually(async () => expect(await object.exists()).toBe(false));
    expect(seen).toEqual([0, 1]);
  });

  it("that have steps inside steps remember each by itself", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Ship, async function build({ step, patch }) {
      const count = await step("hull", async () => {
        const plates = await step("plates", () => {
          seen.push("plates");
          return 7;
        });
        seen.push("hull");
        if (seen.length < 3) throw new TemporaryError("the crane is away", { delay: "10s" });
        return plates + 1;
      });
      patch.status.count = count;
    });
    await start(operator, { clock });
    await ship("one");
    await eventually(() => expect(seen).toEqual(["plates", "hull"]));
    await quiet();
    expect((await client.get(Ship, "one")).status).toHaveProperty("lotse.op.runs.build.steps", {
      plates: { attempts: 1, outcome: "done", result: 7 },
      hull: expect.objectContaining({ attempts: 1, message: "the crane is away" }),
    });
    await clock.advance(10_000);
    await eventually(async () => expect((await client.get(Ship, "one")).status).toMatchObject({ count: 8 }));
    expect(seen).toEqual(["plates", "hull", "hull"]);
    await quiet();
    expect((await client.get(Ship, "one")).status).not.toHaveProperty("lotse.op.runs");
  });

  it("may be functions that return or promise something", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.startup(() => void seen.push("startup"));
    operator.on.startup(async () => void seen.push("async startup"));
    operator.on.create(Ship, { id: "sync" }, () => "returned");
    operator.on.create(Ship, { id: "async" }, async () => "promised");
    operator.timer(Ship, { id: "ticks", interval: "1h" }, async () => "promised");
    operator.on.event(Ship, { id: "seen" }, () => void seen.push("event"));
    operator.on.event(Ship, { id: "seenToo" }, async () => void seen.push("async event"));
    await start(operator);
    await ship("one");
    await eventually(async () =>
      expect((await client.get(Ship, "one")).status).toMatchObject({
        sync: "returned",
        async: "promised",
        ticks: "promised",
      }),
    );
    expect(seen.slice(0, 4)).toEqual(["startup", "async startup", "event", "async event"]);
  });

  it("run in the order of their declaration, whatever their kind of cause", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on(["create", "update"], Ship, { id: "second" }, ({ reason }) => void seen.push(`second ${reason}`));
    operator.on.create(Ship, { id: "first" }, () => void seen.push("first"));
    operator.on.field(Ship, { id: "third", field: "spec.size" }, () => void seen.push("third"));
    await start(operator);
    const object = await ship("one");
    await eventually(() => expect(seen).toEqual(["second create", "first", "third"]));
    await quiet();
    await object.patch({ spec: { size: 5 } });
    await eventually(() => expect(seen.slice(3)).toEqual(["second update", "third"]));
  });

  it("run once when one function is declared for creation and resume, and again after a restart", async () => {
    const seen: string[] = [];
    const declare = () => {
      const operator = new Operator({ name: "op" });
      operator.on(["create", "resume"], Ship, function commission({ reason }) {
        seen.push(reason);
      });
      return operator;
    };
    const first = await start(declare());
    await ship("one");
    await eventually(() => expect(seen).toEqual(["create"]));
    await quiet();
    expect(seen).toEqual(["create"]);
    await first.stop();
    await start(declare());
    await eventually(() => expect(seen).toEqual(["create", "resume"]));
  });

  it("of events see each event of the stream, those of own writes too, which no handler of changes is told", async () => {
    const operator = new Operator({ name: "op" });
    const events: string[] = [];
    const changes: string[] = [];
    let release: () => void = () => {};
    operator.on.event(Ship, { id: "look" }, ({ type, event, spec, status }) => {
      events.push(`${type} ${spec.size} ${status.count ?? "-"} ${event.object.spec.size}`);
    });
    operator.on(["create", "update"], Ship, { id: "count" }, async ({ reason, spec, patch }) => {
      changes.push(`${reason} ${spec.size}`);
      if (reason === "create") {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      patch.status.count = spec.size;
    });
    await start(operator);
    const object = await ship("one", { size: 1 });
    await eventually(() => expect(changes).toEqual(["create 1"]));
    // Several while the handler is at work: the next handler of changes is told the sum of them, event handlers each.
    await object.patch({ spec: { size: 2 } });
    await object.patch({ spec: { size: 3 } });
    release();
    await eventually(async () => expect((await object.refresh()).status?.count).toBe(3));
    await quiet();
    expect(changes).toEqual(["create 1", "update 3"]);
    expect(events).toEqual(["ADDED 1 - 1", "MODIFIED 2 - 2", "MODIFIED 3 - 3", "MODIFIED 3 1 3", "MODIFIED 3 3 3"]);
  });

  it("never run side by side for one object, and do for several objects", async () => {
    const operator = new Operator({ name: "op" });
    const inFlight = new Map<string, number>();
    let together = 0;
    let most = 0;
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const work = async ({ name }: { name: string }) => {
      inFlight.set(name, (inFlight.get(name) ?? 0) + 1);
      most = Math.max(most, ...inFlight.values());
      if (++together === 3) open();
      await gate;
      await new Promise((resolve) => setImmediate(resolve));
      inFlight.set(name, (inFlight.get(name) ?? 0) - 1);
    };
    operator.on.create(Ship, { id: "a" }, work);
    operator.on.create(Ship, { id: "b" }, work);
    operator.on.update(Ship, { id: "c" }, work);
    operator.timer(Ship, { id: "d", interval: "1h" }, work);
    await start(operator);
    const ships = await Promise.all(["one", "two", "three"].map((name) => ship(name)));
    // Three objects have to be in the middle of a handler before any of them may go on.
    await gate;
    await Promise.all(ships.map((object) => object.patch({ spec: { size: 9 } })));
    await eventually(() => expect(together).toBe(12));
    expect(most).toBe(1);
  });

  it("put what they return into the status: objects merged with what they patched, anything else as it is", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Ship, function measure({ patch }) {
      patch.status.measure = { width: 4 };
      return { length: 30 };
    });
    operator.on.create(Ship, { id: "count" }, () => 3);
    operator.on.create(Ship, { id: "text" }, () => "afloat");
    await start(operator);
    await ship("one");
    await eventually(async () =>
      expect((await client.get(Ship, "one")).status).toMatchObject({
        measure: { width: 4, length: 30 },
        count: 3,
        text: "afloat",
      }),
    );
  });

  it("that wait for their next attempt are superseded by a deletion, and the log says so once", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Ship, function build({ retry }) {
      seen.push(`create ${retry}`);
      throw new TemporaryError("no steel", { delay: "1h" });
    });
    operator.on.delete(Ship, function scrap() {
      seen.push("delete");
    });
    await start(operator, { clock });
    const object = await ship("one");
    await eventually(() => expect(seen).toEqual(["create 0"]));
    await object.delete();
    await eventually(async () => expect(await object.exists()).toBe(false));
    await clock.advance(3_600_000);
    await quiet();
    expect(seen).toEqual(["create 0", "delete"]);
    expect(logs.filter(({ message }) => message === "the deletion supersedes what was not finished")).toMatchObject([
      { level: "info", fields: { reason: "create", dropped: "build" }, object: { name: "one" } },
    ]);
  });
});
