import fc from "fast-check";
import { expect, test } from "vitest";
import { deepClone, deepEqual } from "./equality.ts";
import { applyMergePatch, createMergePatch } from "./merge-patch.ts";

test("null removes, objects merge, everything else replaces", () => {
  expect(applyMergePatch({ a: 1, b: { c: 2 } }, { a: null, b: { d: [1, null] } })).toEqual({
    b: { c: 2, d: [1, null] },
  });
  expect(applyMergePatch({ a: [1] }, { a: { b: { c: null } } })).toEqual({ a: { b: {} } });
  expect(applyMergePatch({ a: 1 }, [1])).toEqual([1]);
  expect(applyMergePatch("text", { a: null })).toEqual({});
});

// Merge patches cannot write null into an object, so the documents here have none.
const doc = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ maxLength: 2 }),
    fc.integer({ max: 3 }),
    fc.boolean(),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(fc.oneof(fc.constant(null), tie("value")), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("value"), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
})).value;

test("the created patch turns one document into the other, and mutates neither", () => {
  fc.assert(
    fc.property(doc, doc, (from, to) => {
      const before = deepClone(from);
      const patch = createMergePatch(from, to);
      const result = patch === undefined ? from : applyMergePatch(from, patch);
      return deepEqual(result, to) && deepEqual(from, before);
    }),
    { numRuns: 500 },
  );
});

test("equal documents need no patch", () => {
  fc.assert(fc.property(doc, (value) => createMergePatch(value, deepClone(value)) === undefined));
  expect(createMergePatch({ a: null }, {})).toBeUndefined();
});

test("a patch names only what changed", () => {
  expect(createMergePatch({ a: 1, b: { c: 1, d: 2 } }, { a: 1, b: { c: 1 }, e: {} })).toEqual({
    b: { d: null },
    e: {},
  });
});
