import fc from "fast-check";
import { expect, test } from "vitest";
import { diff } from "./diff.ts";

test("objects are compared key by key, everything else as a whole", () => {
  expect(diff({ a: { x: 1, y: 2, l: [1] }, gone: { z: 1 } }, { a: { x: 1, y: 3, l: [1, 2] }, born: { w: 1 } })).toEqual(
    [
      { op: "change", path: ["a", "y"], old: 2, new: 3 },
      { op: "change", path: ["a", "l"], old: [1], new: [1, 2] },
      { op: "add", path: ["born"], old: undefined, new: { w: 1 } },
      { op: "remove", path: ["gone"], old: { z: 1 }, new: undefined },
    ],
  );
});

test("null and absent are the same", () => {
  expect(diff({ a: null }, {})).toEqual([]);
  expect(diff({ a: 1 }, { a: null })).toEqual([{ op: "remove", path: ["a"], old: 1, new: undefined }]);
  expect(diff(undefined, { a: 1 }, ["spec"])).toEqual([{ op: "add", path: ["spec"], old: undefined, new: { a: 1 } }]);
});

test("there is a difference exactly when there is one the other way", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(fc.property(value, value, (a, b) => diff(a, b).length === diff(b, a).length));
  fc.assert(fc.property(value, (a) => diff(a, a).length === 0));
});
