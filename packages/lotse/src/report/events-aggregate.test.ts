import { describe, expect, it } from "vitest";
import { type AggregateLimits, EventAggregate } from "./events-aggregate.ts";
import type { EventInput } from "./events-body.ts";

const limits: AggregateLimits = { burst: 2, refillMs: 1_000, remember: 100, forgetMs: 10_000 };
const object = { apiVersion: "v1", kind: "Pod", namespace: "default", name: "web", uid: "u1" };

function event(message: string, more: Partial<EventInput> = {}): EventInput {
  return { type: "Normal", reason: "Started", message, object, ...more };
}

const at = (ms: number) => ({ now: 1_000_000 + ms, monotonic: ms });

describe("equal events", () => {
  it("are one series that counts them", () => {
    const aggregate = new EventAggregate(limits);
    const first = aggregate.observe(event("a"), at(0), true);
    const second = aggregate.observe(event("a"), at(5), true);
    expect(first.type === "write" && second.type === "write" && first.series === second.series).toBe(true);
    expect(first).toMatchObject({ series: { count: 2, firstAt: 1_000_000, lastAt: 1_000_005 } });
  });

  it("need no write of their own while the first waits, and no place in the object's rate", () => {
    const aggregate = new EventAggregate(limits);
    const first = aggregate.observe(event("a"), at(0), true);
    if (first.type === "write") first.series.queued = true;
    for (let i = 0; i < 10; i++) expect(aggregate.observe(event("a"), at(i), true)).toEqual({ type: "merged" });
    expect(first).toMatchObject({ series: { count: 11 } });
    expect(aggregate.observe(event("b"), at(11), true).type).toBe("write");
  });

  it.each<[string, Partial<EventInput>]>([
    ["type", { type: "Warning" }],
    ["reason", { reason: "Stopped" }],
    ["object", { object: { ...object, uid: "u2" } }],
  ])("are not equal when they differ in their %s", (_, more) => {
    const aggregate = new EventAggregate(limits);
    aggregate.observe(event("a"), at(0), true);
    expect(aggregate.observe(event("a", more), at(0), true)).toMatchObject({ series: { count: 1 } });
  });

  it("are told apart by kind and name where the object has no uid", () => {
    const aggregate = new EventAggregate(limits);
    const nameless = { ...object, uid: undefined };
    aggregate.observe(event("a", { object: nameless }), at(0), true);
    const other = { ...nameless, name: "db" };
    expect(aggregate.observe(event("a", { object: other }), at(0), true)).toMatchObject({ series: { count: 1 } });
    expect(aggregate.observe(event("a", { object: nameless }), at(0), true)).toMatchObject({ series: { count: 2 } });
  });
});

describe("the rate of an object", () => {
  it("lets a burst through, then one more after each refill", () => {
    const aggregate = new EventAggregate(limits);
    const types = (ms: number, ...messages: string[]) =>
      messages.map((message) => aggregate.observe(event(message), at(ms), true).type);
    expect(types(0, "a", "b", "c")).toEqual(["write", "write", "limited"]);
    expect(types(999, "d")).toEqual(["limited"]);
    expect(types(1_000, "e", "f")).toEqual(["write", "limited"]);
    expect(types(60_000, "g", "h", "i")).toEqual(["write", "write", "limited"]);
  });

  it("says only once that it is used up", () => {
    const aggregate = new EventAggregate(limits);
    for (const message of ["a", "b"]) aggregate.observe(event(message), at(0), true);
    expect(aggregate.observe(event("c"), at(0), true)).toEqual({ type: "limited", first: true });
    expect(aggregate.observe(event("d"), at(0), true)).toEqual({ type: "limited", first: false });
    aggregate.observe(event("e"), at(1_000), true);
    expect(aggregate.observe(event("f"), at(1_000), true)).toEqual({ type: "limited", first: false });
  });

  it("is each object's own", () => {
    const aggregate = new EventAggregate(limits);
    for (const message of ["a", "b", "c"]) aggregate.observe(event(message), at(0), true);
    expect(aggregate.observe(event("a", { object: { ...object, uid: "u2" } }), at(0), true).type).toBe("write");
  });

  it("does not lose the count of what it holds back", () => {
    const aggregate = new EventAggregate(limits);
    for (let i = 0; i < 7; i++) aggregate.observe(event("a"), at(0), true);
    expect(aggregate.observe(event("a"), at(1_000), true)).toMatchObject({ type: "write", series: { count: 8 } });
  });

  it("is not charged for what finds no room", () => {
    const aggregate = new EventAggregate(limits);
    for (let i = 0; i < 5; i++) expect(aggregate.observe(event(`x${i}`), at(0), false)).toEqual({ type: "full" });
    expect(aggregate.observe(event("a"), at(0), true).type).toBe("write");
    expect(aggregate.observe(event("b"), at(0), true).type).toBe("write");
  });
});

describe("what is remembered", () => {
  it("is forgotten after the idle time, counted from the last sign", () => {
    const aggregate = new EventAggregate({ ...limits, burst: 100 });
    aggregate.observe(event("a"), at(0), true);
    expect(aggregate.observe(event("a"), at(9_999), true)).toMatchObject({ series: { count: 2 } });
    expect(aggregate.observe(event("a"), at(19_998), true)).toMatchObject({ series: { count: 3 } });
    expect(aggregate.observe(event("a"), at(29_998), true)).toMatchObject({ series: { count: 1 } });
  });

  it("never grows beyond its limit, and the longest unused goes first", () => {
    const aggregate = new EventAggregate({ ...limits, burst: 1_000, remember: 3 });
    for (const message of ["a", "b", "c", "a", "d"]) aggregate.observe(event(message), at(0), true);
    expect(aggregate.observe(event("a"), at(0), true)).toMatchObject({ series: { count: 3 } });
    expect(aggregate.observe(event("b"), at(0), true)).toMatchObject({ series: { count: 1 } });
    for (let i = 0; i < 1_000; i++) {
      aggregate.observe(event("a", { object: { ...object, uid: `u${i}` } }), at(0), true);
      expect(aggregate.size).toBeLessThanOrEqual(6);
    }
  });
});
