/**
 * Whatever happens to processes, clocks and connections: never do two members work on one object, nor may both write about
 * it; when all is calm every object has exactly one; and whoever is not concerned waits for nobody.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keptOf } from "./membership.ts";
import { begin, each, inflict, owners, recover, story } from "./test-faults.ts";
import { TIMES, World } from "./test-world.ts";

/** `LOTSE_FAULTS_RUNS=5000` looks for more. */
const numRuns = Number(process.env.LOTSE_FAULTS_RUNS ?? (process.env.LOTSE_FULL === "1" ? 24 : 3));
const members = fc.integer({ min: 2, max: 5 });

describe("members that share objects", () => {
  it("never work on one object together, and share all of them when the faults are over", { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(fc.nat(), members, story, (seed, count, faults) => {
        const world = begin(seed, count);
        for (const [fault, ms] of faults) {
          inflict(world, fault);
          world.advance(ms);
        }
        recover(world);
        expect(owners(world)).toEqual(each(world.living.length > 0 ? 1 : 0));
        for (const { state } of world.living) expect(state.stay?.seen).toBe(true);
      }),
      { numRuns },
    );
  });

  it("never do so when people delete Leases under their feet, one at a time", { timeout: 600_000 }, () => {
    // Who has never seen a Lease cannot know that its holder is still at work: hence not several within one look.
    const pause = fc.integer({ min: 5_000, max: 20_000 });
    const deletions = fc.array(fc.tuple(fc.nat({ max: 4 }), pause), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.nat(), members, deletions, (seed, count, leases) => {
        const world = begin(seed, count);
        world.advance(20_000);
        for (const [who, ms] of leases) {
          inflict(world, { do: "delete its Lease", who });
          world.advance(ms);
        }
        recover(world);
        expect(owners(world)).toEqual(each(1));
      }),
      { numRuns: numRuns / 3 },
    );
  });

  it("move each object at most twice when they are replaced one by one", { timeout: 600_000 }, () => {
    const ways = fc.constantFrom("the new one first" as const, "the old one first" as const);
    fc.assert(
      fc.property(fc.nat(), members, ways, (seed, count, way) => {
        const world = begin(seed, count);
        world.advance(20_000);
        world.moves.fill(0);
        const old = [...world.living];
        for (const process of old) {
          if (way === "the new one first") world.start();
          else process.leave();
          world.advance(10_000);
          if (way === "the new one first") process.leave();
          else world.start();
          world.advance(10_000);
        }
        recover(world);
        expect(owners(world)).toEqual(each(1));
        expect(world.living).toHaveLength(count);
        expect(Math.max(...world.moves)).toBeLessThanOrEqual(2);
      }),
      { numRuns: numRuns / 3 },
    );
  });

  it("ask the server at most every two seconds while nothing happens", () => {
    const world = begin(1, 5);
    world.advance(20_000);
    for (const process of world.living) process.requests = 0;
    world.advance(200_000);
    for (const { requests } of world.living) expect(requests).toBeLessThanOrEqual(200_000 / TIMES.retryMs);
  });

  it("have the objects of one that left cleanly within a second, and of one that died after its Lease has run out", () => {
    for (let seed = 0; seed < 20; seed++) {
      const world = new World(seed);
      world.swift = true;
      for (let i = 0; i < 3; i++) world.start();
      world.advance(20_000);
      const [first, second] = world.living;
      for (const process of world.living) process.drainMs = 0;
      first?.leave();
      world.advance(1_000);
      expect(owners(world)).toEqual(each(1));
      second?.kill();
      world.advance(TIMES.durationMs + 2_000);
      expect(owners(world)).toEqual(each(1));
    }
  });

  it("keep no more than their part in memory when they start together, and never give any of it up again", () => {
    for (let seed = 0; seed < 4; seed++) {
      const world = new World(seed);
      const processes = [0, 1, 2, 3].map(() => world.start("uid", 8_000 + world.random() * 5_000));
      world.advance(7_900);
      const kept = processes.map((process) => keptOf(process.state, process));
      expect(kept.every((slices) => slices !== undefined)).toBe(true);
      expect(each(0).map((_, slice) => kept.filter((slices) => slices?.[slice] === 1).length)).toEqual(each(1));
      for (let ms = 0; ms < 20_000; ms += 500) {
        world.advance(500);
        expect(processes.map((process) => keptOf(process.state, process))).toEqual(kept);
      }
      expect(owners(world)).toEqual(each(1));
      expect(Math.max(...world.moves)).toBe(0);
    }
  });

  it("have a seat each within a second when they start together", () => {
    for (let seed = 0; seed < 10; seed++) {
      const world = new World(seed);
      world.swift = true;
      const processes = [0, 1, 2, 3, 4].map(() => world.start("uid", Number.POSITIVE_INFINITY));
      world.advance(1_000);
      expect(processes.map(({ state }) => state.stay?.seat).toSorted()).toEqual([0, 1, 2, 3, 4]);
    }
  });

  it("go on with what they have while another one joins", () => {
    const world = begin(7, 2);
    world.advance(20_000);
    world.moves.fill(0);
    const late = world.start("uid", 60_000);
    world.advance(59_000);
    expect(late.state.stay?.seen).toBe(true);
    expect(owners(world)).toEqual(each(1));
    expect(Math.max(...world.moves)).toBe(0);
    world.advance(20_000);
    expect(owners(world)).toEqual(each(1));
    expect(late.owned().includes(1)).toBe(true);
  });

  it("wait no longer than for a Lease to run out for one that never comes to know the objects", () => {
    const world = new World(11);
    world.start("uid", 1_000);
    world.start("uid", Number.POSITIVE_INFINITY);
    world.advance(10_000);
    expect(owners(world)).not.toEqual(each(1));
    world.advance(TIMES.durationMs);
    expect(owners(world)).toEqual(each(1));
  });

  it("work in one way only while two ways to share meet, and all work when the other one is gone", () => {
    const world = begin(5, 3);
    world.advance(20_000);
    const old = [...world.living];
    for (const process of old) {
      const fresh = world.start("namespace");
      world.advance(10_000);
      expect(fresh.owned().includes(1)).toBe(false);
      process.leave();
      world.advance(10_000);
    }
    recover(world);
    expect(owners(world)).toEqual(each(1));
    for (const process of world.living) expect(process.owned().includes(1)).toBe(true);
  });

  it("let two ways to share that begin at the same moment settle on one", () => {
    for (let seed = 0; seed < 10; seed++) {
      const world = new World(seed);
      world.start("uid");
      world.start("namespace");
      recover(world);
      expect(owners(world)).toEqual(each(1));
    }
  });
});
