import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SchemaNode } from "../../schema/index.ts";
import { aligned, differences, type KeptFields, keptPaths, readKept, restore } from "./kept.ts";

const KEYED: SchemaNode = {
  type: "object",
  properties: {
    list: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object" },
    },
  },
};

const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

function kept(back: unknown, whole: unknown, schema?: SchemaNode): KeptFields {
  const found = readKept(json(differences(back, whole, schema)));
  if (!found) throw new Error("nothing is kept");
  return found;
}

describe("what a round trip loses", () => {
  it("is nothing where everything comes back, in whichever order of fields", () => {
    expect(differences({ a: 1, b: { c: [2] } }, { b: { c: [2] }, a: 1 }, undefined)).toBeUndefined();
  });

  it("is only what differs", () => {
    const found = kept({ spec: { a: 1, b: 2 } }, { spec: { a: 1, b: 3, c: { d: 4 } } });
    expect(keptPaths(found)).toEqual(["spec.b", "spec.c"]);
    expect(JSON.stringify(found).length).toBeLessThan(80);
  });

  it("of a null is told from an absent field", () => {
    const found = kept({ a: 1 }, { a: 1, b: null });
    expect(restore(found, { a: 1 }, { a: 1 }, undefined)).toEqual({ a: 1, b: null });
  });

  it("comes back whatever it is, whether the list has keys or not", () => {
    const item = fc.record(
      { name: fc.constantFrom("a", "b", "c", "d"), value: fc.integer({ max: 3 }), more: fc.boolean() },
      { requiredKeys: ["name"] },
    );
    const list = fc.oneof(
      fc.uniqueArray(item, { selector: ({ name }) => name, maxLength: 4 }),
      fc.array(item, { maxLength: 3 }),
    );
    const value = fc.record({ list, other: fc.jsonValue({ maxDepth: 2 }) }, { requiredKeys: [] });
    fc.assert(
      fc.property(value, value, fc.constantFrom(undefined, KEYED), (back, whole, schema) => {
        const found = json(differences(json(back), json(whole), schema) ?? null);
        if (found === null) expect(json(back)).toEqual(json(whole));
        else expect(restore(readKept(found) as KeptFields, json(back), json(back), schema)).toEqual(json(whole));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("an edit meanwhile", () => {
  const found = kept({ a: 1, b: { c: 1 } }, { a: 2, b: { c: 1, d: 5 } });

  it("wins where it touches the same field", () => {
    expect(restore(found, { a: 9, b: { c: 1 } }, { a: 9, b: { c: 1 } }, undefined)).toEqual({
      a: 9,
      b: { c: 1, d: 5 },
    });
  });

  it("of a field beside it leaves it alone", () => {
    const edited = { a: 1, b: { c: 7 }, e: 1 };
    expect(restore(found, edited, edited, undefined)).toEqual({ a: 2, b: { c: 7, d: 5 }, e: 1 });
  });

  it("that takes the whole object out takes what was kept of it out as well", () => {
    expect(restore(found, { a: 1 }, { a: 1 }, undefined)).toEqual({ a: 2 });
  });

  it("of a list finds the items again: moved by their keys, in their order by what they were", () => {
    const named = kept(
      { list: [{ name: "a" }, { name: "b" }] },
      {
        list: [
          { name: "a", value: 1 },
          { name: "b", value: 2 },
        ],
      },
      KEYED,
    );
    const moved = { list: [{ name: "c" }, { name: "b" }, { name: "a" }] };
    expect(restore(named, moved, moved, KEYED)).toEqual({
      list: [{ name: "c" }, { name: "b", value: 2 }, { name: "a", value: 1 }],
    });
    const ordered = kept(
      { list: [{ n: 1 }, { n: 2 }, { n: 3 }] },
      {
        list: [
          { n: 1, v: 1 },
          { n: 2, v: 2 },
          { n: 3, v: 3 },
        ],
      },
    );
    const edited = { list: [{ n: 0 }, { n: 1 }, { n: 9 }, { n: 3 }] };
    expect(restore(ordered, edited, edited, undefined)).toEqual({
      list: [{ n: 0 }, { n: 1, v: 1 }, { n: 9, v: 2 }, { n: 3, v: 3 }],
    });
    const shorter = { list: [{ n: 3 }] };
    expect(restore(ordered, shorter, shorter, undefined)).toEqual({ list: [{ n: 3, v: 3 }] });
  });
});

it("two lists are matched at their ends, at what is common, and between where as many are left", () => {
  const pairs = (a: string, b: string) => aligned([...a], [...b]).map(([i, j]) => `${i}${j}`);
  expect(pairs("abc", "abc")).toEqual(["00", "11", "22"]);
  expect(pairs("abc", "axc")).toEqual(["00", "11", "22"]);
  expect(pairs("abc", "c")).toEqual(["20"]);
  expect(pairs("abcd", "xbcyd")).toEqual(["00", "11", "22", "34"]);
  expect(pairs("", "ab")).toEqual([]);
});

it.each([[1], ["x"], [["?"]], [["=", 1, 2]], [["[", 1, {}]], [["#", ["a"], [["a"]]]], [{ a: ["="] }], [null]])(
  "what a client has made of it by hand is not read: %j",
  (value) => {
    expect(readKept(value)).toBeUndefined();
  },
);
