import fc from "fast-check";
import { expect, test } from "vitest";
import { deepClone, deepEqual } from "./equality.ts";

test("values are equal exactly when their JSON texts with sorted keys are", () => {
  const sorted = (value: unknown): string =>
    JSON.stringify(value, (_, member) =>
      typeof member === "object" && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    );
  const small = fc.jsonValue({ maxDepth: 2, noUnicodeString: true } as never);
  fc.assert(fc.property(small, small, (a, b) => deepEqual(a, b) === (sorted(a) === sorted(b))));
});

test("undefined members count as absent, in either value", () => {
  expect(deepEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(deepEqual({ a: 1 }, { a: 1, b: undefined })).toBe(true);
  expect(deepEqual({ a: undefined }, { b: 1 })).toBe(false);
  expect(deepEqual({ a: 1, b: undefined }, { a: 1, b: null })).toBe(false);
});

test("inherited members do not count", () => {
  expect(deepEqual({ toString: undefined }, {})).toBe(true);
  expect(deepEqual({ constructor: 1 }, {})).toBe(false);
  expect(deepEqual({}, [])).toBe(false);
});

test("a clone is equal and shares nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = deepClone(value);
      return deepEqual(copy, value) && (typeof value !== "object" || value === null || copy !== value);
    }),
  );
  const inner = { list: [{ a: 1 }], gone: undefined };
  const copy = deepClone(inner);
  expect(copy.list[0]).not.toBe(inner.list[0]);
  expect(Object.keys(copy)).toEqual(["list"]);
});

test("a __proto__ key from JSON stays a key", () => {
  const value = JSON.parse('{"__proto__": {"polluted": true}}');
  const copy = deepClone(value);
  expect(Object.hasOwn(copy, "__proto__")).toBe(true);
  expect(copy.polluted).toBeUndefined();
});
