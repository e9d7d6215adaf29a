import { formatShardSelector, type ShardSelector, shardOf } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { parseShardSelector } from "./shard.ts";

describe("a shard selector", () => {
  it("is read as it is written, and nothing else is", () => {
    for (const selector of [shardOf(0, 1), shardOf(2, 3), shardOf(1, 4, "namespace")]) {
      expect(parseShardSelector(formatShardSelector(selector))).toEqual(selector);
    }
    const two: ShardSelector = { by: "uid", ranges: [...shardOf(0, 4).ranges, ...shardOf(2, 4).ranges] };
    expect(parseShardSelector(formatShardSelector(two))).toEqual(two);
    const mixed = `${formatShardSelector(shardOf(0, 2))} || ${formatShardSelector(shardOf(1, 2, "namespace"))}`;
    for (const text of ["", "true", "shardRange(object.metadata.name, '0x0', '0x1')", mixed]) {
      expect(parseShardSelector(text)).toBeUndefined();
    }
  });
});
