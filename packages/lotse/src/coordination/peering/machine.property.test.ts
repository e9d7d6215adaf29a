/** Peers in whatever order things happen: who may work, and that somebody does in the end. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KopfPeer, LotsePeer, PeeringWorld, settle } from "./test-peers.ts";

type Peer = LotsePeer | KopfPeer;

const LIFETIME_MS = 60_000;
/** `npm run test:full` has more time. */
const FULL = process.env.LOTSE_FULL === "1";

/** What can happen, and to whom. */
const happening = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("joins" as const), priority: fc.integer({ min: 0, max: 2 }) }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constantFrom("looks" as const, "decides" as const, "lands" as const, "drains" as const),
      who: fc.nat(5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom("leaves" as const, "crashes" as const, "freezes" as const, "thaws" as const),
      who: fc.nat(5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("passes" as const), ms: fc.constantFrom(1, 900, 5_000, 29_000, 59_999) }),
  },
);

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

function happens(world: PeeringWorld, peers: LotsePeer[], what: Happening): void {
  if (what.type === "passes") {
    world.time += what.ms;
  } else if (what.type === "joins") {
    if (peers.length < 6) peers.push(new LotsePeer(world, { identity: `p${peers.length}`, priority: what.priority }));
  } else {
    const peer = peers[what.who];
    if (!peer || peer.gone) return;
    if (what.type === "looks") peer.look();
    else if (what.type === "decides") peer.decide();
    else if (what.type === "lands") peer.land();
    else if (what.type === "drains") peer.drained();
    else if (what.type === "crashes") peer.crash();
    else if (what.type === "leaves") {
      // An operator lets go when everything has ended.
      peer.drained();
      if (!peer.works) peer.leave();
    } else peer.frozen = what.type === "freezes";
  }
}

const live = (peers: readonly Peer[]) => peers.filter(({ gone }) => !gone);
const priorityOf = (peer: Peer) => (peer instanceof LotsePeer ? peer.own.priority : peer.priority);
const first = (peers: readonly Peer[]) => Math.max(...live(peers).map(priorityOf));

describe("peers of Lotse", () => {
  it("never work two at a time, whatever happens to them, and the first of the highest does in the end", () => {
    fc.assert(
      fc.property(fc.array(happening, { minLength: 10, maxLength: 120, size: "max" }), (happenings) => {
        const world = new PeeringWorld();
        const peers: LotsePeer[] = [];
        for (const what of happenings) {
          happens(world, peers, what);
          if (peers.filter(({ works }) => works).length > 1) throw new Error("two work at a time");
        }
        for (const peer of peers) peer.frozen = false;
        settle(world, peers, (2 * LIFETIME_MS) / 1_000, 5);
        const working = peers.filter(({ works }) => works);
        const highest = live(peers).filter((peer) => priorityOf(peer) === first(peers)) as LotsePeer[];
        const rank = ({ own }: LotsePeer) => `${own.since} ${own.instance}`;
        highest.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
        expect(working.map(({ own }) => own.identity)).toEqual(highest.slice(0, 1).map(({ own }) => own.identity));
      }),
      { numRuns: FULL ? 1_000 : 80 },
    );
  }, 300_000);
});

describe("peers of Lotse and Kopf", () => {
  const member = fc.record({
    kopf: fc.boolean(),
    priority: fc.integer({ min: 0, max: 2 }),
    /** In this second it comes, and in that one it leaves or dies, if ever. */
    from: fc.integer({ min: 0, max: 60 }),
    until: fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined }),
    dies: fc.boolean(),
  });

  it("that have seen each other do not work beside one of another priority, and go on when that leaves or dies", () => {
    fc.assert(
      fc.property(fc.array(member, { minLength: 2, maxLength: 5 }), (members) => {
        const world = new PeeringWorld();
        const peers: (Peer | undefined)[] = members.map(() => undefined);
        const there = () => peers.filter((peer) => peer !== undefined);
        const play = (second: number) => {
          for (const [i, { kopf, priority, from, until, dies }] of members.entries()) {
            if (second === from) {
              const own = { identity: `p${i}`, priority };
              peers[i] = kopf ? new KopfPeer(world, own) : new LotsePeer(world, own);
            }
            if (until !== undefined && second === Math.max(until, from + 1)) {
              if (dies) peers[i]?.crash();
              else peers[i]?.leave();
            }
          }
          settle(world, there());
          const working = live(there()).filter(({ works }) => works);
          if (working.length > 1) throw new Error("two work at a time");
        };
        for (let second = 0; second < 260; second++) play(second);
        const highest = live(there()).filter((peer) => priorityOf(peer) === first(there()));
        const working = live(there()).filter(({ works }) => works);
        // Kopf's way: equal peers all pause.
        const stuck = highest.length > 1 && highest.some((peer) => peer instanceof KopfPeer);
        expect(working.length).toBe(highest.length === 0 || stuck ? 0 : 1);
        expect(working.every((peer) => highest.includes(peer))).toBe(true);
      }),
      { numRuns: FULL ? 200 : 15 },
    );
  }, 300_000);
});
