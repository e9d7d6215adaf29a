import fc from "fast-check";
import { expect, test } from "vitest";
import { noReferences, type Schema } from "../schema/index.ts";
import { compareValues, differingParts } from "./compare.ts";
import { toFieldSet } from "./typed.ts";

const text: Schema = { type: "string" };
const schema: Schema = {
  type: "object",
  properties: {
    s: text,
    map: { type: "object", additionalProperties: text },
    whole: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
    any: { "x-kubernetes-preserve-unknown-fields": true },
    set: { type: "array", "x-kubernetes-list-type": "set", items: text },
    nested: { type: "object", properties: { a: text, b: { type: "object", additionalProperties: text } } },
    keyed: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: text, v: text } },
    },
  },
};
const word = fc.constantFrom("x", "y");
const words = fc.dictionary(word, word, { noNullPrototype: true });
const free = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    word,
    fc.constant(null),
    fc.array(word, { maxLength: 2 }),
    fc.dictionary(word, tie("value"), { noNullPrototype: true }),
  ),
})).value;
const value = fc.record(
  {
    s: fc.option(word),
    map: fc.option(words),
    whole: words,
    any: free,
    set: fc.uniqueArray(word),
    nested: fc.record({ a: word, b: fc.option(words) }, { requiredKeys: [], noNullPrototype: true }),
    keyed: fc.uniqueArray(fc.record({ k: word, v: word }, { requiredKeys: ["k"], noNullPrototype: true }), {
      selector: ({ k }) => k,
    }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const encode = (before: unknown, after: unknown) => {
  const { added, modified, removed } = compareValues(before, after, schema, noReferences);
  return { added: added.encode(), modified: modified.encode(), removed: removed.encode() };
};

test("leaving out equal parts changes nothing in what differs", () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      const [left, right] = differingParts(before, after) ?? [{}, {}];
      expect(encode(left, right)).toEqual(encode(before, after));
    }),
    { numRuns: 1000 },
  );
});

test("what comes one way goes the other way", () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      const there = encode(before, after);
      const back = encode(after, before);
      expect([there.added, there.modified, there.removed]).toEqual([back.removed, back.modified, back.added]);
    }),
  );
});

test("equal values do not differ, and everything of a value is added to nothing", () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(encode(one, structuredClone(one))).toEqual({ added: {}, modified: {}, removed: {} });
      const all = toFieldSet(one, schema, noReferences);
      const { added } = compareValues({}, one, schema, noReferences);
      expect(all.difference(added).empty).toBe(true);
    }),
  );
});
