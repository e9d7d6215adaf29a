import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fnv1a64, spread32 } from "./hash.ts";

/** The definition, in the slow arithmetic that leaves no doubt. */
function plainly(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

const whole = (text: string) => {
  const { high, low } = fnv1a64(text);
  return (BigInt(high) << 32n) | BigInt(low);
};

describe("the hash of shards", () => {
  it("is FNV-1a with 64 bits", () => {
    expect(whole("")).toBe(0xcbf29ce484222325n);
    expect(whole("a")).toBe(0xaf63dc4c8601ec8cn);
    expect(whole("foobar")).toBe(0x85944171f73967e8n);
  });

  it("is what the definition says of any text, also beyond ASCII", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => whole(text) === plainly(text)));
    fc.assert(fc.property(fc.uuid(), (text) => whole(text) === plainly(text)));
  });

  it("spreads neighbours over all bits", () => {
    const buckets = new Set(Array.from({ length: 64 }, (_, i) => spread32(i) >>> 26));
    expect(buckets.size).toBeGreaterThan(32);
  });
});
