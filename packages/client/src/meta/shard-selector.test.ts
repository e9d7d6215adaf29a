import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatShardSelector, SHARD_HASH_END, shardMatcher, shardOf } from "./shard-selector.ts";

describe("a shard selector", () => {
  it("is written as servers write it", () => {
    expect(formatShardSelector(shardOf(0, 2))).toBe(
      "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
    );
    expect(formatShardSelector(shardOf(3, 4, "namespace"))).toBe(
      "shardRange(object.metadata.namespace, '0xc000000000000000', '0x10000000000000000')",
    );
    const ranges = [
      { from: 0n, to: 1n },
      { from: 16n, to: SHARD_HASH_END },
    ];
    expect(formatShardSelector({ by: "uid", ranges })).toBe(
      "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001') || " +
        "shardRange(object.metadata.uid, '0x0000000000000010', '0x10000000000000000')",
    );
  });

  it("without ranges cannot be asked for", () => {
    expect(() => formatShardSelector({ by: "uid", ranges: [] })).toThrow("has no objects");
  });

  it("puts each object into exactly one of equal parts", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 9 }), (uid, total) => {
        const parts = Array.from({ length: total }, (_, index) => shardMatcher(shardOf(index, total)));
        expect(parts.filter((isIn) => isIn({ metadata: { uid } }))).toHaveLength(1);
      }),
    );
  });

  it("has parts of about equal size", () => {
    const isIn = shardMatcher(shardOf(1, 4));
    const uids = fc.sample(fc.uuid(), { numRuns: 4_000, seed: 1 });
    const share = uids.filter((uid) => isIn({ metadata: { uid } })).length / uids.length;
    expect(share).toBeGreaterThan(0.22);
    expect(share).toBeLessThan(0.28);
  });

  it("by namespace takes cluster-wide objects for those of the empty namespace", () => {
    const parts = [0, 1].map((index) => shardMatcher(shardOf(index, 2, "namespace")));
    // The hash of the empty text begins with 0xcb: the upper half.
    expect(parts.map((isIn) => isIn({ metadata: { uid: "1" } }))).toEqual([false, true]);
    expect(parts.map((isIn) => isIn({}))).toEqual([false, true]);
  });

  it("knows no shard beyond the last", () => {
    expect(() => shardOf(2, 2)).toThrow("there is no shard 2 of 2");
    expect(() => shardOf(0.5, 2)).toThrow("there is no shard 0.5 of 2");
  });
});
