import type { KubeBody } from "@lotse/client";
import { identityKeyOf, objectKeyOf } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import type { ChangeFilter, ReconcileHandler } from "../declare/index.ts";
import { type Contribution, newMemory } from "../turn/index.ts";
import { ObjectReader } from "./reader.ts";
import { KindReads, NewState } from "./reads.ts";

const KEY = identityKeyOf(objectKeyOf("ns", "one"), "u");

function body(version: number, spec: object, status: object = {}, generation = 1): KubeBody {
  const metadata = { namespace: "ns", name: "one", uid: "u", resourceVersion: String(version), generation };
  return { metadata, spec, status } as KubeBody;
}

const part = (handler: string, changes: object, type: Contribution["type"] = "change"): Contribution => ({
  handler,
  type,
  changes: changes as never,
  transforms: [],
  conditions: undefined,
});

/** A reconciler that has just run for the body. */
function reader(saw: KubeBody, ...changes: ChangeFilter<KubeBody>[]): ObjectReader {
  const handler = { id: "look", changes } as unknown as ReconcileHandler;
  const one = new ObjectReader(handler, newMemory(KEY, "u", 0), () => {});
  one.saw = saw;
  one.timing = { ...one.timing, due: false };
  return one;
}

describe("a reconciler after a write of its object's turn", () => {
  it("has seen it when all of it was its own, and need not look at that version", () => {
    const one = reader(body(1, {}));
    const written = body(2, {}, { a: 1 });
    one.wrote(body(1, {}), written, [part("look", { status: { a: 1 } })], 0);
    expect([one.woken, one.timing.due, one.isNews(written)]).toEqual([undefined, false, false]);
  });

  it("is due for what others have put there", () => {
    const one = reader(body(1, {}));
    one.wrote(body(1, {}), body(2, {}, { v: 1 }), [part("set", { status: { v: 1 } })], 0);
    expect([one.woken, one.timing.due]).toEqual(["status.v of the object itself, written by set", true]);
  });

  it("has seen nothing of a version that it did not know", () => {
    const one = reader(body(1, {}));
    const written = body(3, {}, { a: 1 });
    one.wrote(body(2, {}), written, [part("look", { status: { a: 1 } })], 0);
    expect(one.isNews(written)).toBe(true);
  });

  it("that has never run is not woken: it runs anyway", () => {
    const one = reader(body(1, {}));
    one.release();
    one.wrote(body(1, {}), body(2, {}), [part("set", { status: { v: 1 } })], 0);
    expect([one.woken, one.isNews(body(2, {}))]).toEqual([undefined, true]);
  });

  it("of an object that is being deleted has nothing to do", () => {
    const one = reader(body(1, {}));
    const going = body(2, {}, { v: 1 });
    const gone = { ...going, metadata: { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    one.wrote(body(1, {}), gone, [part("set", { status: { v: 1 } })], 0);
    expect(one.woken).toBeUndefined();
  });
});

describe("a reconciler that asks for some changes only", () => {
  const far: ChangeFilter<KubeBody> = (now, before) => {
    const size = (one: unknown) => (one as { spec: { size: number } }).spec.size;
    return Math.abs(size(now) - size(before)) > 2;
  };

  it("is not due for others, and is when they come to something together", () => {
    const one = reader(body(1, { size: 0 }), far);
    one.wrote(body(1, { size: 0 }), body(2, { size: 2 }), [part("grow", { spec: { size: 2 } })], 0);
    expect([one.woken, one.isNews(body(2, { size: 2 }))]).toEqual([undefined, false]);
    one.wrote(body(2, { size: 2 }), body(3, { size: 4 }), [part("grow", { spec: { size: 4 } })], 0);
    expect([one.woken, one.timing.due]).toEqual(["the object itself", true]);
  });

  it("hears of a change in a write over something that did not count", () => {
    const one = reader(body(1, {}), "generation");
    expect(one.isNews(body(2, {}, { by: "somebody" }))).toBe(false);
    const written = body(3, { size: 1 }, { by: "somebody" }, 2);
    one.wrote(body(2, {}, { by: "somebody" }), written, [part("grow", { spec: { size: 1 } })], 0);
    expect([one.woken, one.timing.due]).toEqual(["the object itself", true]);
  });

  it("is not woken by its own changes of what it asks for", () => {
    const one = reader(body(1, {}), "generation");
    const by = [part("look", { spec: { size: 1 } }), part("set", { status: { v: 1 } })];
    const written = body(2, { size: 1 }, { v: 1 }, 2);
    one.wrote(body(1, {}), written, by, 0);
    expect([one.woken, one.isNews(written)]).toEqual([undefined, false]);
  });
});

describe("a reconciler that reads its own object like any other", () => {
  /** The turn has written the object, which the reconciler has read. */
  function mirrored(...by: Contribution[]) {
    const one = reader(body(1, {}), "generation");
    const point = new KindReads("Thing").object(objectKeyOf("ns", "one"), one);
    const written = body(2, {}, { v: 1 });
    one.onChange(point, { before: body(1, {}), now: written, by: new NewState(KEY, "2") });
    const early = one.timing.due;
    one.wrote(body(1, {}), written, by, 0);
    return [early, one.woken !== undefined, one.timing.selfWoken];
  }

  it("is woken by its own part of the write, as one more of the runs that it owes to itself", () => {
    expect(mirrored(part("look", { status: { v: 1 } }))).toEqual([false, true, 1]);
    expect(mirrored(part("peer", { status: { v: 1 } }, "reconcile"))).toEqual([false, true, 1]);
  });

  it("is woken by the part of others, whatever changes of the object it asks for", () => {
    expect(mirrored(part("set", { status: { v: 1 } }))).toEqual([false, true, 0]);
  });

  it("is not woken by what the framework keeps there", () => {
    expect(mirrored()).toEqual([false, false, 0]);
  });

  it("is woken at once by what others write into other objects", () => {
    const one = reader(body(1, {}));
    const point = new KindReads("Thing").object(objectKeyOf("ns", "two"), one);
    one.onChange(point, {
      before: undefined,
      now: body(2, {}),
      by: new NewState(identityKeyOf(objectKeyOf("ns", "two"), "v"), "2"),
    });
    expect(one.timing.due).toBe(true);
  });

  it("is woken by what somebody else made of it, also when that was shown before its turn's write was answered", () => {
    const one = reader(body(1, {}), "generation");
    const point = new KindReads("Thing").object(objectKeyOf("ns", "one"), one);
    const theirs = body(3, {}, { v: 1, theirs: 1 });
    one.onChange(point, { before: body(1, {}), now: theirs, by: new NewState(KEY, "3") });
    one.wrote(body(1, {}), body(2, {}, { v: 1 }), [], 0);
    expect([one.woken, one.isNews(theirs), one.isNews(theirs)]).toEqual([undefined, true, false]);
  });
});
