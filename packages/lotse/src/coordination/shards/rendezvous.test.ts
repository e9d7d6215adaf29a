import { shardMatcher } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  both,
  countOf,
  either,
  isSame,
  NO_SLICES,
  SLICES,
  selectorOf,
  share,
  sliceOfText,
  sliceOfUid,
  slicesOf,
  type View,
  winners,
  without,
} from "./rendezvous.ts";

const firstSeats = (count: number): View => Array.from({ length: count }, (_, seat) => seat);
const views = fc.uniqueArray(fc.nat({ max: 60 }), { minLength: 1, maxLength: 12 }).map((v) => v.sort((a, b) => a - b));
const uids = fc.sample(fc.uuid(), { numRuns: 20_000, seed: 7 });

describe("rendezvous hashing", () => {
  it.each([2, 3, 4, 5, 8, 10, 14])("gives each of %d seats nearly the same part", (count) => {
    const parts = firstSeats(count).map((seat) => share(slicesOf(seat, firstSeats(count))) * count);
    expect(Math.max(...parts)).toBeLessThan(1.05);
    expect(Math.min(...parts)).toBeGreaterThan(0.9);
  });

  it.each([3, 4, 5, 8])("gives nearly the same parts while one of %d seats is empty", (count) => {
    for (const empty of firstSeats(count)) {
      const view = firstSeats(count).filter((seat) => seat !== empty);
      const parts = view.map((seat) => share(slicesOf(seat, view)) * (count - 1));
      expect(Math.max(...parts)).toBeLessThan(1.15);
    }
  });

  it("gives tolerable parts to seats far beyond", () => {
    const parts = firstSeats(48).map((seat) => countOf(slicesOf(seat, firstSeats(48))));
    expect(Math.min(...parts)).toBeGreaterThan(0);
    expect(Math.max(...parts)).toBeLessThan((3 * SLICES) / 48);
  });

  it("gives every slice to exactly one of the seats, and none where there are none", () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(view.reduce((sum, seat) => sum + countOf(slicesOf(seat, view)), 0)).toBe(SLICES);
        expect(view).toEqual(expect.arrayContaining([...new Set(winners(view))]));
      }),
    );
    expect(new Set(winners([]))).toEqual(new Set([-1]));
  });

  it("moves only what the new seat gets, and back again when it goes", () => {
    fc.assert(
      fc.property(views, fc.nat({ max: 60 }), (view, seat) => {
        fc.pre(!view.includes(seat));
        const before = winners(view);
        const after = winners([...view, seat].sort((a, b) => a - b));
        after.forEach((winner, slice) => {
          if (winner !== seat) expect(winner).toBe(before[slice]);
        });
      }),
    );
  });

  it("never gives one slice to two who know of each other, whatever else they know", () => {
    fc.assert(
      fc.property(views, views, fc.nat({ max: 60 }), fc.nat({ max: 60 }), (a, b, one, other) => {
        fc.pre(one !== other);
        const seen = (view: View) => [...new Set([...view, one, other])].sort((x, y) => x - y);
        expect(countOf(both(slicesOf(one, seen(a)), slicesOf(other, seen(b))))).toBe(0);
      }),
    );
  });
});

describe("the slice of a key", () => {
  it("spreads uids evenly", () => {
    const counts = new Array<number>(SLICES).fill(0);
    for (const uid of uids) counts[sliceOfUid(uid)] = (counts[sliceOfUid(uid)] as number) + 1;
    const mean = uids.length / SLICES;
    expect(Math.max(...counts)).toBeLessThan(1.7 * mean);
    expect(Math.min(...counts)).toBeGreaterThan(0.4 * mean);
  });

  it("spreads names that differ in their last letter only", () => {
    const slices = new Set(Array.from({ length: 100 }, (_, i) => sliceOfText(`team-${i}`)));
    expect(slices.size).toBeGreaterThan(70);
  });

  it("gives each of four members nearly a quarter of the objects", () => {
    const view = firstSeats(4);
    const won = winners(view);
    for (const seat of view) {
      const own = uids.filter((uid) => won[sliceOfUid(uid)] === seat).length / uids.length;
      expect(own).toBeGreaterThan(0.23);
      expect(own).toBeLessThan(0.27);
    }
  });

  it("is what a server that filters by shards is asked for", () => {
    const own = slicesOf(2, firstSeats(4));
    const selector = selectorOf(own);
    expect(selector).toBeDefined();
    const matches = shardMatcher(selector as NonNullable<typeof selector>);
    for (const uid of uids.slice(0, 2_000)) {
      expect(matches({ metadata: { uid } })).toBe(own[sliceOfUid(uid)] === 1);
    }
    expect(selectorOf(NO_SLICES)).toBeUndefined();
    expect(selectorOf(slicesOf(0, [0]))).toEqual({ by: "uid", ranges: [{ from: 0n, to: 2n ** 64n }] });
  });
});

describe("sets of slices", () => {
  it("are joined and cut", () => {
    const [a, b] = [slicesOf(0, [0, 1]), slicesOf(1, [0, 1])];
    expect(isSame(either(a, b), slicesOf(0, [0]))).toBe(true);
    expect(isSame(both(a, b), NO_SLICES)).toBe(true);
    expect(isSame(without(slicesOf(0, [0]), a), b)).toBe(true);
    expect(isSame(a, b)).toBe(false);
  });
});
