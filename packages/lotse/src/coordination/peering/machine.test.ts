import { describe, expect, it } from "vitest";
import { formatPeer } from "../peers/index.ts";
import {
  decide,
  mayPass,
  type OwnPeer,
  objectGone,
  objectSeen,
  renewalMs,
  scopeClosed,
  scopeIs,
  scopesKnown,
  UNKNOWN,
  writeFailed,
  YIELDING_MS,
} from "./machine.ts";
import { KopfPeer, LotsePeer, PeeringWorld, settle } from "./test-peers.ts";

function world() {
  const world = new PeeringWorld();
  return {
    world,
    lotse: (identity: string, more: Partial<OwnPeer> = {}) => new LotsePeer(world, { identity, ...more }),
    kopf: (identity: string, priority = 0) => new KopfPeer(world, { identity, priority }),
  };
}

const working = (peers: readonly (LotsePeer | KopfPeer)[]) => peers.map(({ works }) => works);

describe("a peer", () => {
  it("works when its record is confirmed, and not before", () => {
    const { lotse, world: w } = world();
    const a = lotse("a");
    expect([a.works, a.decision.stance]).toEqual([false, "waiting"]);
    a.land();
    expect([a.works, a.decision.stance]).toEqual([true, "working"]);
    expect(w.status).toEqual({
      a: {
        priority: 0,
        lifetime: 60,
        lastseen: "2026-01-01T00:00:00.000Z",
        lotse: { says: "working", since: "2026-01-01T00:00:00.000Z", instance: "instance-a" },
      },
    });
  });

  it("pauses for a higher priority, of whichever framework, and says whom it gives way to", () => {
    const { world: w, lotse, kopf } = world();
    const a = lotse("a");
    settle(w, [a]);
    const b = kopf("b", 100);
    settle(w, [a, b]);
    expect(working([a, b])).toEqual([false, true]);
    expect(a.decision).toMatchObject({ stance: "paused", holder: "b", reason: "b has the higher priority 100" });
    const c = lotse("c", { priority: 666 });
    settle(w, [a, b, c]);
    expect(working([a, b, c])).toEqual([false, false, true]);
    expect(a.decision.holder).toBe("c");
  });

  it("does not care for lower priorities", () => {
    const { world: w, lotse, kopf } = world();
    const peers = [lotse("a", { priority: 1 }), kopf("b"), lotse("c", { priority: -5 })];
    settle(w, peers, 120);
    expect(working(peers)).toEqual([true, false, false]);
  });

  it("with the priority of one that is made by Kopf pauses, as that does", () => {
    const { world: w, lotse, kopf } = world();
    const peers = [lotse("a"), kopf("b"), lotse("c")];
    settle(w, peers, 5);
    expect(working(peers)).toEqual([false, false, false]);
    expect((peers[0] as LotsePeer).decision).toMatchObject({
      stance: "paused",
      equals: ["b"],
      reason: "b has the same priority 0, so all of them pause",
    });
    peers[1]?.leave();
    settle(w, peers, 2);
    expect(working(peers)).toEqual([true, false, false]);
  });

  it("of equal ones made by Lotse the first works, the others stand by", () => {
    const { world: w, lotse } = world();
    const first = lotse("z");
    w.time += 10;
    const second = lotse("a");
    w.time += 10;
    const third = lotse("b");
    const peers = [third, second, first];
    settle(w, peers, 5);
    expect(working(peers)).toEqual([false, false, true]);
    expect(second.decision).toMatchObject({ stance: "standby", holder: "z", equals: [] });
    first.leave();
    settle(w, peers);
    expect(working(peers)).toEqual([false, true, false]);
  });

  it("goes on when the other has left", () => {
    const { world: w, lotse } = world();
    const [a, b] = [lotse("a"), lotse("b", { priority: 1 })];
    settle(w, [a, b], 3);
    expect(working([a, b])).toEqual([false, true]);
    b.leave();
    settle(w, [a, b]);
    expect(working([a, b])).toEqual([true, false]);
  });

  it("goes on when the time of the other has run out, and removes its record", () => {
    const { world: w, lotse } = world();
    const [a, b] = [lotse("a"), lotse("b", { priority: 1 })];
    settle(w, [a, b], 3);
    b.crash();
    settle(w, [a], 56);
    expect(a.works).toBe(false);
    expect(a.decision.lookAt - w.time).toBeLessThanOrEqual(4_000);
    settle(w, [a], 5);
    expect(a.works).toBe(true);
    expect(Object.keys(w.status)).toEqual(["a"]);
  });

  it("takes one for dead whose record has not changed for its lifetime, whatever its clock says", () => {
    const { world: w, lotse } = world();
    const now = w.at.now + 3_600_000;
    w.patch({ ahead: formatPeer({ priority: 9, lifetimeMs: 60_000, now }) });
    const a = lotse("a");
    settle(w, [a], 58);
    expect(a.works).toBe(false);
    settle(w, [a], 4);
    expect(a.works).toBe(true);
    expect(Object.keys(w.status)).toEqual(["a"]);
  });

  it("takes a pause of a person for what it says: it lasts for its lifetime, without renewals", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    settle(w, [a]);
    const message = "the demo";
    w.patch({ "ada@laptop": formatPeer({ priority: 100, lifetimeMs: 600_000, now: w.at.now, message }) });
    settle(w, [a], 598);
    expect([a.works, a.decision.holder]).toEqual([false, "ada@laptop"]);
    expect(a.decision.reason).toBe("ada@laptop has the higher priority 100: the demo");
    settle(w, [a], 4);
    expect(a.works).toBe(true);
  });

  it("removes dead records of any priority, and never its own", () => {
    const { world: w, lotse } = world();
    const past = w.at.now - 120_000;
    const dead = formatPeer({ priority: -1, lifetimeMs: 60_000, now: past });
    w.patch({ old: dead, a: dead });
    const a = lotse("a");
    expect(a.decision.removals).toEqual([{ key: "/default", version: "2", identities: ["old"] }]);
    settle(w, [a], 2);
    expect(Object.keys(w.status)).toEqual(["a"]);
    expect(a.works).toBe(true);
  });
});

describe("a hand-over between peers of Lotse", () => {
  it("begins when the one who has to stop says that it has", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    settle(w, [a]);
    const b = lotse("b", { priority: 1 });
    b.land();
    expect([b.works, b.decision.stance, b.decision.reason]).toEqual([false, "waiting", "a has not stopped yet"]);
    a.look();
    expect(working([a, b])).toEqual([false, false]);
    b.look();
    expect(b.works).toBe(false);
    a.drained();
    a.land();
    b.look();
    expect(working([a, b])).toEqual([false, true]);
  });

  it("waits for what ignores its signal for ten seconds, in which it writes nothing", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    settle(w, [a]);
    const b = lotse("b", { priority: 1 });
    b.land();
    a.look();
    w.time += YIELDING_MS - 1;
    a.decide();
    expect(a.sent).toBeUndefined();
    w.time += 1;
    a.decide();
    a.land();
    b.look();
    expect(working([a, b])).toEqual([false, true]);
  });

  it("waits for a process that was stopped until its time has run out: then it cannot write any more", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    settle(w, [a]);
    a.frozen = true;
    const b = lotse("b", { priority: 1 });
    settle(w, [b], 55);
    expect(working([a, b])).toEqual([true, false]);
    settle(w, [b], 6);
    expect(working([a, b])).toEqual([false, true]);
    a.frozen = false;
    expect(a.works).toBe(false);
    settle(w, [a, b], 5);
    expect(working([a, b])).toEqual([false, true]);
  });
});

describe("the own record", () => {
  it("is renewed twice in a lifetime, each time a bit different", () => {
    expect([renewalMs(60_000, 0), renewalMs(60_000, 0.999)].map(Math.round)).toEqual([30_000, 24_006]);
    const { world: w, lotse } = world();
    const a = lotse("a");
    const seen = new Set<unknown>();
    for (let i = 0; i < 120; i++) {
      settle(w, [a]);
      seen.add((w.status.a as { lastseen: string }).lastseen);
      expect(a.works).toBe(true);
    }
    expect(seen.size).toBe(5);
  });

  it("that cannot be renewed makes the process stop before others begin", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    a.land();
    a.sent = { says: "working", at: w.at };
    w.time = 57_999;
    a.decide();
    expect(a.works).toBe(true);
    w.time = 58_000;
    expect(a.works).toBe(false);
    a.decide();
    expect(a.decision).toMatchObject({ stance: "waiting" });
    a.sent = undefined;
    a.decide();
    a.land();
    expect(a.works).toBe(true);
  });

  it("counts by the clock on the wall, too: a machine that slept does not know it by the other one", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    a.land();
    expect(mayPass(a.state, a.own, { now: w.at.now + 59_000, monotonic: 1 })).toBe(false);
    const { decision } = decide(a.state, a.own, true, { now: w.at.now + 59_000, monotonic: 1 });
    expect(decision.writes).toEqual([{ key: "/default", says: "working", why: "renews" }]);
  });

  it("that another peer has removed is written again, after a while each time", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    a.land();
    w.patch({ a: null });
    a.look();
    expect(a.sent).toBeUndefined();
    w.time += 6_000;
    a.decide();
    expect(decide(a.state, a.own, true, w.at).decision.writes).toMatchObject([{ why: "missing" }]);
    a.land();
    expect(w.status).toHaveProperty("a");
  });

  it("that cannot be written is tried again after a pause", () => {
    const { world: w, lotse } = world();
    const a = lotse("a");
    a.sent = undefined;
    a.state = writeFailed(a.state, "/default", w.at, 1_000);
    expect(a.decision).toMatchObject({ writes: [], lookAt: 1_000 });
    w.time += 1_000;
    expect(a.decision.writes).toHaveLength(1);
  });

  it("under the same identity as another process' makes them equal peers: the later one stops", () => {
    const { world: w, lotse } = world();
    const one = lotse("pod", { instance: "one" });
    one.land();
    w.time += 1_000;
    const two = lotse("pod", { instance: "two" });
    two.land();
    one.look();
    // Each sees the other's record in place of its own when the other renews.
    one.sent = { says: "working", at: w.at };
    one.land();
    two.look();
    expect(two.decision).toMatchObject({ stance: "standby", holder: "pod" });
    expect(working([one, two])).toEqual([true, false]);
  });

  it("of an earlier life of the same pod is no other process", () => {
    const { world: w, lotse } = world();
    lotse("pod", { instance: "before" }).land();
    const now = lotse("pod", { instance: "now" });
    settle(w, [now]);
    expect(now.works).toBe(true);
  });

  it("may lose what only Lotse knows: then its peers are as those of Kopf", () => {
    const { world: w, lotse } = world();
    const patch = w.patch.bind(w);
    w.patch = (status) => {
      const pruned = Object.entries(status).map(([identity, record]) => {
        const { lotse: _lotse, ...kept } = (record ?? {}) as { lotse?: unknown };
        return [identity, record === null ? null : kept];
      });
      patch(Object.fromEntries(pruned));
    };
    const a = lotse("a");
    settle(w, [a], 70);
    expect(a.works).toBe(true);
    const b = lotse("b");
    settle(w, [a, b], 5);
    expect(working([a, b])).toEqual([false, false]);
  });
});

describe("where objects are", () => {
  const own: OwnPeer = {
    ...{ identity: "a", instance: "i", since: "2026-01-01T00:00:00.000Z", priority: 0, lifetimeMs: 60_000 },
    mandatory: false,
  };
  const at = { now: 0, monotonic: 0 };
  const stanceOf = (state = UNKNOWN, mandatory = false) => decide(state, { ...own, mandatory }, false, at).decision;
  const sighting = (scope: string, status: unknown = {}) => ({ scope, key: `${scope}/default`, version: "1", status });
  const higher = { b: formatPeer({ priority: 1, lifetimeMs: 60_000, now: 0 }) };

  it("is not known at first: nothing is done", () => {
    expect(stanceOf()).toMatchObject({ stance: "waiting", writes: [] });
    const unknown = scopesKnown(scopeIs(UNKNOWN, "", "forbidden"));
    expect(stanceOf(unknown)).toMatchObject({ stance: "waiting", reason: "forbidden" });
  });

  it("none is found: the process works as if alone, or waits if it must not", () => {
    const none = scopesKnown(scopeIs(UNKNOWN, "", undefined));
    expect(stanceOf(none)).toMatchObject({ stance: "working", absent: false, lookAt: Number.POSITIVE_INFINITY });
    expect(stanceOf(none, true)).toMatchObject({ stance: "waiting", absent: true });
    expect(stanceOf(scopesKnown(UNKNOWN))).toMatchObject({ stance: "working" });
  });

  it("one in each namespace: a peer in any of them pauses the whole process, until that is served no longer", () => {
    let state = scopesKnown(scopeIs(scopeIs(UNKNOWN, "one", undefined), "two", undefined));
    state = objectSeen(state, own, sighting("one"), at);
    expect(stanceOf(state, true)).toMatchObject({ stance: "waiting", absent: true });
    state = objectSeen(state, own, sighting("two", higher), at);
    expect(stanceOf(state)).toMatchObject({ stance: "paused", holder: "b" });
    expect(stanceOf(state).writes.map(({ key, says }) => [key, says])).toEqual([
      ["one/default", "paused"],
      ["two/default", "paused"],
    ]);
    expect(stanceOf(scopeClosed(state, "two"), true).reason).toContain("not confirmed");
    expect(stanceOf(objectGone(state, "two/default"), true)).toMatchObject({ absent: true });
  });

  it("one appears while the process works: that goes on while its record is on its way", () => {
    const alone = decide(scopesKnown(scopeIs(UNKNOWN, "", undefined)), own, false, at).state;
    const empty = objectSeen(alone, own, sighting(""), at);
    expect(stanceOf(empty)).toMatchObject({ stance: "working", writes: [{ why: "joins" }] });
    expect(mayPass(empty, own, { now: 4_999, monotonic: 4_999 })).toBe(true);
    expect(mayPass(empty, own, { now: 5_000, monotonic: 5_000 })).toBe(false);
    expect(stanceOf(objectSeen(alone, own, sighting("", higher), at))).toMatchObject({ stance: "paused" });
  });
});
