import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partOf, shows } from "./compare.ts";

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, 0, 1, "", "x"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const object = fc.dictionary(fc.constantFrom("a", "b", "c"), json, { maxKeys: 3, noNullPrototype: true });

/** The same with more members in every object: what defaults and other writers add. */
function enriched(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(enriched);
  if (typeof value !== "object" || value === null) return value;
  const rest = Object.entries(value).map(([key, one]) => [key, enriched(one)]);
  return Object.fromEntries([...rest, ["added", "by the server"]]);
}

/** The same without what is empty, as servers leave it out. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== "object" || value === null) return value;
  const rest = Object.entries(value).map(([key, one]) => [key, pruned(one)] as const);
  return Object.fromEntries(rest.filter(([, one]) => !isEmpty(one)));
}

function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value).length === 0;
}

describe("what is there", () => {
  it("shows what is wanted when it is the same, has more, or lacks only what is empty", () => {
    fc.assert(
      fc.property(object, (wanted) => {
        expect(shows(structuredClone(wanted), wanted)).toBe(true);
        expect(shows(enriched(wanted), wanted)).toBe(true);
        expect(shows(pruned(wanted), wanted)).toBe(true);
      }),
    );
  });

  it.each<[live: unknown, wanted: unknown, expected: boolean]>([
    [{ a: 1 }, { a: 2 }, false],
    [{}, { a: 1 }, false],
    [{ a: [1, 2] }, { a: [1] }, false],
    [{ a: [1] }, { a: [1, 2] }, false],
    [{ a: [{ x: 1, y: 2 }] }, { a: [{ x: 1 }] }, true],
    [{ a: { b: 1 } }, { a: [1] }, false],
    [{ a: "1" }, { a: 1 }, false],
    [{ a: 0 }, { a: null }, false],
    [{}, { a: {}, b: [], c: null, d: { e: {} }, f: undefined }, true],
    [{}, { a: "" }, false],
    [{}, { a: [null] }, false],
    [undefined, undefined, true],
    [{ a: { b: 1 } }, { a: {} }, true],
  ])("%j for %j: %s", (live, wanted, expected) => {
    expect(shows(live, wanted)).toBe(expected);
  });
});

describe("the part that is spoken of", () => {
  it("stays the same when others add members, and not when what is spoken of changes", () => {
    fc.assert(
      fc.property(object, json, (wanted, other) => {
        const live = structuredClone(wanted) as Record<string, unknown>;
        const more = { ...live, added: other };
        expect(partOf(more, wanted)).toEqual(partOf(live, wanted));
        for (const key of Object.keys(wanted)) {
          if (Array.isArray(wanted[key]) || typeof wanted[key] !== "object") {
            expect(partOf({ ...live, [key]: "changed" }, wanted)).not.toEqual(partOf(live, wanted));
          }
        }
      }),
    );
  });

  it("has lists as a whole, and what is not there", () => {
    expect(partOf({ a: [{ x: 1, y: 2 }], z: 1 }, { a: [{ x: 1 }] })).toEqual({ a: [{ x: 1, y: 2 }] });
    expect(partOf({}, { a: { b: 1 } })).toEqual({ a: undefined });
  });
});
