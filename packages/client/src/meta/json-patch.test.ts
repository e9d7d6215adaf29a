import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepClone, deepEqual } from "./equality.ts";
import { applyJsonPatch, createJsonPatch, formatJsonPointer, JsonPatchError, parseJsonPointer } from "./json-patch.ts";

describe("each operation", () => {
  test.each([
    ["add to an object", {}, [{ op: "add", path: "/a", value: 1 }], { a: 1 }],
    ["add over a member", { a: 1 }, [{ op: "add", path: "/a", value: 2 }], { a: 2 }],
    ["add into a list", [1, 3], [{ op: "add", path: "/1", value: 2 }], [1, 2, 3]],
    ["add at the end of a list", { l: [1] }, [{ op: "add", path: "/l/-", value: 2 }], { l: [1, 2] }],
    ["add the whole document", { a: 1 }, [{ op: "add", path: "", value: [] }], []],
    ["remove from an object", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
    ["remove from a list", [1, 2, 3], [{ op: "remove", path: "/1" }], [1, 3]],
    ["replace", { a: { b: 1 } }, [{ op: "replace", path: "/a/b", value: null }], { a: { b: null } }],
    ["move", { a: 1, l: [] }, [{ op: "move", from: "/a", path: "/l/0" }], { l: [1] }],
    ["copy", { a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/c" }], { a: { b: 1 }, c: { b: 1 } }],
    ["test", { a: [{ x: 1 }] }, [{ op: "test", path: "/a", value: [{ x: 1 }] }], { a: [{ x: 1 }] }],
    ["escaped names", { "a/b": { "~": 1 } }, [{ op: "replace", path: "/a~1b/~0", value: 2 }], { "a/b": { "~": 2 } }],
  ] as const)("%s", (_, doc, operations, expected) => {
    expect(applyJsonPatch(doc, operations)).toEqual(expected);
  });
});

describe("an operation that cannot apply says which one it is, and the document stays as it was", () => {
  test.each([
    [{ op: "add", path: "/x/y", value: 1 }, "does not exist"],
    [{ op: "add", path: "/l/3", value: 1 }, "outside the list"],
    [{ op: "add", path: "/l/01", value: 1 }, "outside the list"],
    [{ op: "add", path: "/a" }, "no value"],
    [{ op: "remove", path: "/x" }, "does not exist"],
    [{ op: "remove", path: "/l/-" }, "does not exist"],
    [{ op: "replace", path: "/x", value: 1 }, "does not exist"],
    [{ op: "replace", path: "/toString", value: 1 }, "does not exist"],
    [{ op: "move", from: "/o", path: "/o/p" }, "into itself"],
    [{ op: "copy", from: "/x", path: "/y" }, "does not exist"],
    [{ op: "test", path: "/a", value: 2 }, "test failed"],
    [{ op: "test", path: "a", value: 2 }, "not a JSON pointer"],
    [{ op: "jump", path: "/a" }, "unknown operation"],
  ])("%o", (operation, message) => {
    const doc = { a: 1, l: [1], o: {} };
    const run = () => applyJsonPatch(doc, [{ op: "add", path: "/b", value: 1 }, operation as never]);
    expect(run).toThrow(JsonPatchError);
    expect(run).toThrow(message);
    try {
      run();
    } catch (error) {
      expect((error as JsonPatchError).index).toBe(1);
    }
    expect(doc).toEqual({ a: 1, l: [1], o: {} });
  });
});

test("pointers survive being formatted and parsed", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (segments) =>
      deepEqual(parseJsonPointer(formatJsonPointer(segments)), segments),
    ),
  );
  expect(parseJsonPointer("/a~2")).toBeUndefined();
});

test("the created patch turns one document into the other", () => {
  const doc = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.constantFrom(1, 2, "x", null, true), tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 5 }),
    object: fc.dictionary(fc.constantFrom("a", "b/c", "~d", "__proto__"), tie("value"), { noNullPrototype: true }),
  })).value;
  fc.assert(
    fc.property(doc, doc, (from, to) => deepEqual(applyJsonPatch(from, createJsonPatch(from, to)), to)),
    { numRuns: 500 },
  );
  fc.assert(fc.property(doc, (value) => createJsonPatch(value, deepClone(value)).length === 0));
});

test("a patch names only what changed", () => {
  expect(createJsonPatch({ l: [1, 2, 3], a: 1 }, { l: [1, 9, 2, 3], b: 1 })).toEqual([
    { op: "add", path: "/l/1", value: 9 },
    { op: "remove", path: "/a" },
    { op: "add", path: "/b", value: 1 },
  ]);
});
