import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { EventRecorder, type EventSettings } from "./events.ts";
import type { EventInput } from "./events-body.ts";
import { deferred, FakeEventsClient, lostConnection, refusal } from "./test-events-client.ts";

const object = { apiVersion: "example.com/v1", kind: "Thing", namespace: "team-a", name: "one", uid: "u1" };

function event(message: string, more: Partial<EventInput> = {}): EventInput {
  return { type: "Normal", reason: "Told", message, object, ...more };
}

function about(uid: string): Pick<EventInput, "object"> {
  return { object: { ...object, name: uid, uid } };
}

function setup(settings: EventSettings = {}) {
  const clock = new VirtualClock();
  const fake = new FakeEventsClient();
  const problems: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const recorder = new EventRecorder({
    client: fake.client,
    clock,
    random: () => 0.5,
    component: "exchange-rates",
    instance: "pod-1",
    onProblem: (message, fields) => problems.push({ message, fields }),
    settings,
  });
  const sent = () => fake.calls.map(({ verb, body }) => `${verb} ${body.message ?? ""}x${body.count}`);
  return { clock, fake, recorder, problems, sent };
}

describe("posting an Event", () => {
  it("creates it beside its object, in the operator's name", async () => {
    const { fake, recorder } = setup();
    recorder.post(event("hello", { type: "Warning" }));
    await recorder.flush();
    expect(fake.calls).toHaveLength(1);
    expect(fake.calls[0]).toMatchObject({
      verb: "create",
      namespace: "team-a",
      body: {
        metadata: { namespace: "team-a" },
        type: "Warning",
        reason: "Told",
        message: "hello",
        count: 1,
        reportingComponent: "exchange-rates",
        reportingInstance: "pod-1",
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
      },
    });
  });

  it("goes to the namespace default for a cluster-scoped object", async () => {
    const { fake, recorder } = setup();
    recorder.post(event("a", { object: { apiVersion: "v1", kind: "Node", name: "n1", uid: "u9" } }));
    await recorder.flush();
    expect(fake.calls[0]).toMatchObject({ namespace: "default", body: { metadata: { namespace: "default" } } });
  });

  it("sends nothing before the caller has gone on", async () => {
    const { fake, recorder } = setup();
    recorder.post(event("a"));
    expect(fake.calls).toEqual([]);
    await recorder.flush();
    expect(fake.calls).toHaveLength(1);
  });

  it("never throws, not even for nonsense or when the listener throws", async () => {
    const clock = new VirtualClock();
    const fake = new FakeEventsClient();
    const recorder = new EventRecorder({
      client: fake.client,
      clock,
      random: () => 0,
      component: "op",
      onProblem: () => {
        throw new Error("listener");
      },
    });
    recorder.post(undefined as unknown as EventInput);
    recorder.post(event(undefined as unknown as string));
    await recorder.flush();
    expect(recorder.counts).toEqual({ posted: 1, written: 1, dropped: 1 });
  });

  it("leaves out Events about Events", async () => {
    const { fake, recorder } = setup();
    recorder.post(event("a", { object: { ...object, apiVersion: "v1", kind: "Event" } }));
    recorder.post(event("a", { object: { ...object, apiVersion: "events.k8s.io/v1", kind: "Event" } }));
    await recorder.flush();
    expect(fake.calls).toEqual([]);
  });

  it.each([
    ["all", ["Normal", "Warning"]],
    ["warnings", ["Warning"]],
    ["none", []],
  ] as const)("obeys the setting %s, warnings included", async (post, types) => {
    const { fake, recorder } = setup({ post });
    recorder.post(event("a"));
    recorder.post(event("b", { type: "Warning" }));
    await recorder.flush();
    expect(fake.calls.map(({ body }) => body.type)).toEqual(types);
  });
});

describe("equal Events", () => {
  it("cost one POST, and later ones a PATCH of count and last time", async () => {
    const { clock, fake, recorder } = setup();
    recorder.post(event("a"));
    await recorder.flush();
    await clock.advance(60_000);
    recorder.post(event("a"));
    await recorder.flush();
    expect(fake.calls[1]).toMatchObject({ verb: "patch", namespace: "team-a", name: fake.calls[0]?.name });
    expect(fake.calls[1]?.body).toEqual({ count: 2, lastTimestamp: "2026-01-01T00:01:00Z" });
  });

  it("of one burst are one request", async () => {
    const { recorder, sent } = setup();
    for (let i = 0; i < 100; i++) recorder.post(event("a"));
    await recorder.flush();
    expect(sent()).toEqual(["create ax100"]);
    expect(recorder.counts).toEqual({ posted: 100, written: 1, dropped: 0 });
  });

  it("that happen while the first is on its way follow as one PATCH", async () => {
    const { clock, fake, recorder, sent } = setup();
    const first = deferred();
    fake.script.push(first.promise);
    recorder.post(event("a"));
    await clock.advance(0);
    for (let i = 0; i < 5; i++) recorder.post(event("a"));
    first.resolve();
    await recorder.flush();
    expect(sent()).toEqual(["create ax1", "patch x6"]);
  });

  it("are a new Event after ten idle minutes", async () => {
    const { clock, recorder, sent } = setup();
    recorder.post(event("a"));
    await recorder.flush();
    await clock.advance(600_000);
    recorder.post(event("a"));
    await recorder.flush();
    expect(sent()).toEqual(["create ax1", "create ax1"]);
  });

  it("are made anew, with their count, when the Event in the cluster is gone", async () => {
    const { fake, recorder, sent, problems } = setup();
    recorder.post(event("a"));
    await recorder.flush();
    fake.script.push(refusal(404));
    recorder.post(event("a"));
    await recorder.flush();
    expect(sent()).toEqual(["create ax1", "patch x2", "create ax2"]);
    recorder.post(event("a"));
    await recorder.flush();
    expect(fake.calls.at(-1)).toMatchObject({ verb: "patch", name: fake.calls[2]?.name, body: { count: 3 } });
    expect(problems).toEqual([]);
  });
});

describe("the rate of an object", () => {
  it("is 25 at once and one more every five minutes; what is dropped is counted and said once", async () => {
    const { clock, fake, recorder, problems } = setup();
    for (let i = 0; i < 40; i++) recorder.post(event(`m${i}`));
    await recorder.flush();
    expect(fake.calls).toHaveLength(25);
    expect(recorder.counts).toEqual({ posted: 40, written: 25, dropped: 15 });
    expect(problems.map(({ message }) => message)).toEqual(["too many Events about one object: some are dropped"]);
    expect(problems[0]?.fields).toMatchObject({ about: "Thing team-a/one", burst: 25 });
    await clock.advance(299_999);
    recorder.post(event("too early"));
    await clock.advance(1);
    recorder.post(event("in time"));
    await recorder.flush();
    expect(fake.calls.slice(25).map(({ body }) => body.message)).toEqual(["in time"]);
  });

  it("does not hold back other objects", async () => {
    const { fake, recorder } = setup({ burst: 1 });
    recorder.post(event("a", about("u1")));
    recorder.post(event("b", about("u1")));
    recorder.post(event("a", about("u2")));
    await recorder.flush();
    expect(fake.calls.map(({ body }) => (body.involvedObject as { uid: string }).uid)).toEqual(["u1", "u2"]);
  });
});

describe("the queue", () => {
  it("keeps the order within an object and serves several objects at a time", async () => {
    const { clock, fake, recorder } = setup();
    const slow = deferred();
    fake.script.push(slow.promise);
    for (const message of ["a", "b", "c"]) recorder.post(event(message, about("u1")));
    for (const message of ["d", "e"]) recorder.post(event(message, about("u2")));
    await clock.advance(0);
    expect(fake.calls.map(({ body }) => body.message)).toEqual(["a", "d", "e"]);
    slow.resolve();
    await recorder.flush();
    expect(fake.calls.map(({ body }) => body.message)).toEqual(["a", "d", "e", "b", "c"]);
  });

  it("runs no more requests at a time than allowed", async () => {
    const { fake, recorder } = setup({ concurrency: 3 });
    for (let i = 0; i < 50; i++) recorder.post(event("a", about(`u${i}`)));
    await recorder.flush();
    expect(fake.calls).toHaveLength(50);
    expect(fake.mostRunning).toBe(3);
  });

  it("takes no more than its limit, says so once, and again after it was empty", async () => {
    const { recorder, problems, sent } = setup({ queue: 2 });
    for (const uid of ["u1", "u2", "u3", "u4"]) recorder.post(event("a", about(uid)));
    recorder.post(event("a", about("u1")));
    await recorder.flush();
    expect(sent()).toEqual(["create ax2", "create ax1"]);
    expect(recorder.counts.dropped).toBe(2);
    expect(problems.map(({ message }) => message)).toEqual(["too many Events wait to be posted: some are dropped"]);
    for (const uid of ["u5", "u6", "u7"]) recorder.post(event("a", about(uid)));
    await recorder.flush();
    expect(problems).toHaveLength(2);
  });

  it("leaves nothing behind: no timer, and nothing to wait for", async () => {
    const { clock, recorder } = setup();
    for (let i = 0; i < 20; i++) recorder.post(event("a", about(`u${i}`)));
    await recorder.flush({ within: "1m" });
    expect(clock.pending).toBe(0);
  });
});

describe("a write that fails", () => {
  it.each([
    ["the server is busy", () => refusal(429)],
    ["the server is broken", () => refusal(500)],
    ["the connection broke", () => lostConnection()],
  ])("is tried again with growing pauses when %s", async (_, failure) => {
    const { clock, fake, recorder, problems } = setup();
    fake.script.push(failure(), failure(), failure());
    recorder.post(event("a"));
    const calls: number[] = [];
    for (const ms of [0, 999, 1, 1_999, 1, 3_999, 1]) {
      await clock.advance(ms);
      calls.push(fake.calls.length);
    }
    expect(calls).toEqual([1, 1, 2, 2, 3, 3, 4]);
    expect(new Set(fake.calls.map(({ name }) => name)).size).toBe(1);
    expect(recorder.counts.written).toBe(1);
    expect(problems).toEqual([]);
  });

  it("waits as long as the server asks", async () => {
    const { clock, fake, recorder } = setup();
    fake.script.push(refusal(429, undefined, { retryAfterMs: 30_000 }));
    recorder.post(event("a"));
    await clock.advance(29_999);
    expect(fake.calls).toHaveLength(1);
    await clock.advance(1);
    expect(fake.calls).toHaveLength(2);
  });

  it("tells with the next attempt what happened meanwhile, before what came later", async () => {
    const { clock, fake, recorder, sent } = setup();
    const first = deferred();
    fake.script.push(first.promise);
    recorder.post(event("a"));
    await clock.advance(0);
    recorder.post(event("a"));
    recorder.post(event("b"));
    first.resolve(refusal(429));
    await clock.advance(0);
    recorder.post(event("a"));
    await clock.advance(60_000);
    expect(sent()).toEqual(["create ax1", "create ax3", "create bx1"]);
    await recorder.flush();
    expect(recorder.counts).toEqual({ posted: 4, written: 2, dropped: 0 });
  });

  it("makes no second Event when only the answer was lost", async () => {
    const { clock, fake, recorder, sent } = setup();
    fake.script.push(lostConnection(), refusal(409, "AlreadyExists"));
    recorder.post(event("a"));
    await clock.advance(0);
    recorder.post(event("a"));
    await clock.advance(60_000);
    expect(sent()).toEqual(["create ax1", "create ax2", "patch x2"]);
    expect(new Set(fake.calls.map(({ name }) => name)).size).toBe(1);
  });

  it("is given up after the last attempt, said once, and the object's next Event is sent", async () => {
    const { clock, fake, recorder, problems } = setup({ attempts: 3 });
    fake.script.push(refusal(503), refusal(503), refusal(503));
    recorder.post(event("a"));
    recorder.post(event("b"));
    await clock.advance(600_000);
    expect(fake.calls.map(({ body }) => body.message)).toEqual(["a", "a", "a", "b"]);
    expect(recorder.counts).toEqual({ posted: 2, written: 1, dropped: 1 });
    expect(problems.map(({ message }) => message)).toEqual([
      "Events cannot be posted: the API server is too busy or broken",
    ]);
  });

  it("holds no place in the line of requests while it pauses", async () => {
    const { clock, fake, recorder } = setup({ concurrency: 1 });
    fake.script.push(refusal(500));
    recorder.post(event("a", about("u1")));
    recorder.post(event("b", about("u2")));
    await clock.advance(0);
    expect(fake.calls.map(({ body }) => body.message)).toEqual(["a", "b"]);
    await clock.advance(1_000);
    expect(fake.calls.map(({ body }) => body.message)).toEqual(["a", "b", "a"]);
  });

  it.each([403, 404])(
    "is not tried again after a %i, which is said once and again only after a success",
    async (status) => {
      const { clock, fake, recorder, problems } = setup();
      fake.answer = () => refusal(status);
      for (let i = 0; i < 5; i++) recorder.post(event(`m${i}`));
      await clock.advance(600_000);
      expect(fake.calls).toHaveLength(5);
      expect(problems).toHaveLength(1);
      expect(problems[0]?.fields).toMatchObject({ about: "Thing team-a/one", error: { status } });
      fake.answer = () => undefined;
      recorder.post(event("works"));
      await recorder.flush();
      fake.answer = () => refusal(status);
      recorder.post(event("fails"));
      await recorder.flush();
      expect(problems).toHaveLength(2);
    },
  );

  it("says nothing about a namespace that is being deleted", async () => {
    const { fake, recorder, problems } = setup();
    fake.script.push(refusal(403, "Forbidden", { cause: "NamespaceTerminating" }));
    recorder.post(event("a"));
    await recorder.flush();
    expect(recorder.counts.dropped).toBe(1);
    expect(problems).toEqual([]);
  });
});

describe("the end", () => {
  it("of a flush comes with the caller's limit, and the writing goes on", async () => {
    const { clock, fake, recorder } = setup();
    const slow = deferred();
    fake.script.push(slow.promise);
    recorder.post(event("a"));
    let flushed = false;
    const flushing = recorder.flush({ within: "2s" }).then(() => {
      flushed = true;
    });
    await clock.advance(1_999);
    expect(flushed).toBe(false);
    await clock.advance(1);
    await flushing;
    slow.resolve();
    await recorder.flush();
    expect(recorder.counts.written).toBe(1);
  });

  it("of a recorder writes what waits and takes nothing more", async () => {
    const { clock, fake, recorder, problems } = setup();
    recorder.post(event("a"));
    recorder.post(event("b"));
    await recorder.stop();
    recorder.post(event("c"));
    await clock.advance(60_000);
    expect(fake.calls.map(({ body }) => body.message)).toEqual(["a", "b"]);
    expect(recorder.counts).toEqual({ posted: 3, written: 2, dropped: 1 });
    expect(problems).toEqual([]);
  });

  it("of a recorder aborts what does not end in time, says how much is lost, and leaves no timer", async () => {
    const { clock, fake, recorder, problems } = setup();
    fake.script.push(new Promise(() => undefined), refusal(500));
    recorder.post(event("hangs", about("u1")));
    recorder.post(event("rests", about("u2")));
    recorder.post(event("waits", about("u2")));
    const stopping = recorder.stop({ within: 500 });
    await clock.advance(500);
    await stopping;
    expect(fake.calls[0]?.options.signal?.aborted).toBe(true);
    expect(problems).toEqual([{ message: "the operator stopped before all Events were posted", fields: { lost: 3 } }]);
    expect(recorder.counts.dropped).toBe(3);
    expect(clock.pending).toBe(0);
    await recorder.stop();
    expect(problems).toHaveLength(1);
  });

  it("of a recorder waits one second for a server that takes none", async () => {
    const { clock, fake, recorder, problems } = setup();
    fake.answer = () => new Promise(() => undefined);
    recorder.post(event("hangs"));
    let stopped = false;
    void recorder.stop().then(() => {
      stopped = true;
    });
    await clock.advance(999);
    expect(stopped).toBe(false);
    await clock.advance(1);
    expect(stopped).toBe(true);
    expect(problems).toHaveLength(1);
  });

  it("of a recorder waits longer for a server that is only slow", async () => {
    const { clock, fake, recorder, problems } = setup({ concurrency: 1 });
    fake.answer = () => new Promise((resolve) => void clock.after(700, () => resolve(undefined)));
    for (const uid of ["u1", "u2", "u3", "u4"]) recorder.post(event("slow", about(uid)));
    const stopping = recorder.stop();
    await clock.advance(2_800);
    await stopping;
    expect([recorder.counts.written, problems]).toEqual([4, []]);
  });
});
