import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Pod } from "../builtin/index.ts";
import { type Reply, testClient } from "../client/test-cluster.ts";
import { VirtualClock } from "../meta/index.ts";
import { defineKind } from "../objects/index.ts";
import type { StreamState, WatchEvent } from "./index.ts";

const pod = (name: string, resourceVersion: string, uid = `uid-${name}`) => ({
  metadata: { name, namespace: "default", uid, resourceVersion },
  spec: { nodeName: `n${resourceVersion}` },
});
const list = (resourceVersion: string, ...items: object[]): Reply => ({
  body: { metadata: { resourceVersion }, items },
});
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const told = ({ type, object }: WatchEvent<Pod>) => `${type} ${object.name}@${object.metadata.resourceVersion}`;

async function cluster(...replies: Reply[]) {
  const clock = new VirtualClock();
  const { client, transport } = await testClient(() => replies.shift() ?? { events: new PassThrough() }, { clock });
  return { clock, client, transport };
}

async function take(events: AsyncIterator<WatchEvent<Pod>, undefined>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { value } = await events.next();
    if (value) taken.push(told(value));
  }
  return taken;
}

describe("watch", () => {
  it("begins with what exists and goes on with changes, as objects of the class", async () => {
    const events = new PassThrough();
    const { client, transport } = await cluster(list("10", pod("a", "1")), { events });
    events.write(line("MODIFIED", pod("a", "11")) + line("ADDED", pod("b", "12")) + line("DELETED", pod("a", "13")));
    const seen: string[] = [];
    for await (const event of client.watch(Pod, { labelSelector: "app" })) {
      expect(event.object).toBeInstanceOf(Pod);
      seen.push(told(event));
      if (seen.length === 4) break;
    }
    expect(seen).toEqual(["ADDED a@1", "MODIFIED a@11", "ADDED b@12", "DELETED a@13"]);
    expect(transport.log[0]).toBe("GET /api/v1/namespaces/default/pods?labelSelector=app&limit=500");
    expect(events.destroyed, "break closes the connection").toBe(true);
  });

  it("makes of a re-list the events that were missed, and no others", async () => {
    const first = new PassThrough();
    const { client } = await cluster(
      list("10", pod("same", "1"), pod("changed", "2"), pod("gone", "3"), pod("reborn", "4")),
      { events: first },
      list("20", pod("same", "1"), pod("changed", "15"), pod("reborn", "16", "another"), pod("new", "17")),
    );
    first.write(line("ERROR", { code: 410, reason: "Expired" }));
    const events = client.watch(Pod)[Symbol.asyncIterator]();
    expect(await take(events, 4)).toEqual(["ADDED same@1", "ADDED changed@2", "ADDED gone@3", "ADDED reborn@4"]);
    expect(await take(events, 5)).toEqual([
      "MODIFIED changed@15",
      "DELETED reborn@4",
      "ADDED reborn@16",
      "ADDED new@17",
      "DELETED gone@3",
    ]);
    await events.return?.();
  });

  it("tells of every deletion when the new list is empty", async () => {
    const first = new PassThrough();
    const { client } = await cluster(list("10", pod("a", "1"), pod("b", "2")), { events: first }, list("20"));
    first.write(line("ERROR", { code: 410, reason: "Expired" }));
    const events = client.watch(Pod)[Symbol.asyncIterator]();
    expect(await take(events, 4)).toEqual(["ADDED a@1", "ADDED b@2", "DELETED a@1", "DELETED b@2"]);
    await events.return?.();
  });

  it("of one object asks for its group, also where another group has the same plural", async () => {
    const Metrics = defineKind({ group: "metrics.k8s.io", version: "v1beta1", kind: "PodMetrics", plural: "pods" });
    const { client, transport } = await cluster(list("10", pod("web", "1")));
    for await (const { object } of Metrics.ref("web", { client }).watch()) {
      expect(object).toBeInstanceOf(Metrics);
      break;
    }
    expect(transport.log[0]).toBe(
      "GET /apis/metrics.k8s.io/v1beta1/namespaces/default/pods?fieldSelector=metadata.name=web&limit=500",
    );
  });

  it("tells nothing twice when the server repeats an event", async () => {
    const events = new PassThrough();
    const { client } = await cluster(list("10", pod("a", "1")), { events });
    events.write(line("ADDED", pod("a", "1")) + line("DELETED", pod("never", "2")) + line("MODIFIED", pod("a", "3")));
    const iterator = client.watch(Pod)[Symbol.asyncIterator]();
    expect(await take(iterator, 2)).toEqual(["ADDED a@1", "MODIFIED a@3"]);
    await iterator.return?.();
  });

  it("can begin with the first change", async () => {
    const events = new PassThrough();
    const { client } = await cluster(list("10", pod("a", "1")), { events });
    events.write(line("MODIFIED", pod("a", "11")));
    const iterator = client.watch(Pod, { initial: "none" })[Symbol.asyncIterator]();
    expect(await take(iterator, 1)).toEqual(["MODIFIED a@11"]);
    await iterator.return?.();
  });

  it("ends with the signal's reason, its own or the view's", async () => {
    for (const viewed of [true, false]) {
      const stop = new AbortController();
      const { client, clock } = await cluster(list("10"));
      const scoped = viewed ? client.with({ signal: stop.signal }) : client;
      const next = scoped
        .watch(Pod, viewed ? {} : { signal: stop.signal })
        [Symbol.asyncIterator]()
        .next();
      await clock.advance(0);
      stop.abort(new Error("enough"));
      await expect(next).rejects.toThrow("enough");
    }
  });

  it("ends a next() that waits when it is closed, and stays ended", async () => {
    const events = new PassThrough();
    const { client, clock } = await cluster(list("10"), { events });
    const watch = client.watch(Pod);
    const pending = watch.next();
    await clock.advance(0);
    await watch.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    expect(events.destroyed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("that was never read sends nothing", async () => {
    const { client, transport } = await cluster();
    await using watch = client.watch(Pod);
    expect(watch).toBeDefined();
    expect(transport.requests).toEqual([]);
  });

  it("says what it waits for", async () => {
    const { client, clock } = await cluster({ status: 403 });
    const states: StreamState[] = [];
    const iterator = client.watch(Pod, { onState: (state) => states.push(state) })[Symbol.asyncIterator]();
    const next = iterator.next();
    next.catch(() => undefined);
    await clock.advance(0);
    expect(states.at(-1)).toMatchObject({ phase: "waiting", error: { status: 403 } });
  });

  it("holds reading back while the consumer is slow", async () => {
    const events = new PassThrough({ highWaterMark: 1_000 });
    const { client, clock } = await cluster(list("10"), { events });
    const iterator = client.watch(Pod)[Symbol.asyncIterator]();
    events.write(line("ADDED", pod("first", "1")));
    await take(iterator, 1);
    for (let i = 0; i < 1_000; i++) events.write(line("ADDED", pod(`p${i}`, "1")));
    await clock.advance(0);
    expect(events.isPaused()).toBe(true);
    await take(iterator, 1_000);
    await clock.advance(0);
    expect(events.isPaused()).toBe(false);
    await iterator.return?.();
  });
});
