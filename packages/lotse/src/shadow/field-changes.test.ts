import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changesBetween, withChange } from "./field-changes.ts";
import { WHOLE } from "./fields.ts";

const KEYED = [{ "f:items": { 'k:{"name":"a"}': { ".": WHOLE } } }];

describe("changes", () => {
  it("are told field by field", () => {
    expect(changesBetween({ a: { b: 1, c: 2 } }, { a: { b: 1, d: 3 } }, [])).toEqual([
      { path: ["f:a", "f:c"], before: 2, now: undefined },
      { path: ["f:a", "f:d"], before: undefined, now: 3 },
    ]);
  });

  it("are told item by item where somebody knows the keys, and else of the list as a whole", () => {
    const [before, now] = [{ items: [{ name: "a", x: 1 }, { name: "b" }] }, { items: [{ name: "a", x: 2 }] }];
    expect(changesBetween(before, now, KEYED).map(({ path }) => path.join(" "))).toEqual([
      'f:items k:{"name":"a"} f:x',
      'f:items k:{"name":"b"}',
    ]);
    expect(changesBetween(before, now, []).map(({ path }) => path)).toEqual([["f:items"]]);
  });

  it("are one where two items have the same key, and where a tree says that the value is one", () => {
    const twice = { items: [{ name: "a" }, { name: "a", x: 1 }] };
    expect(changesBetween(twice, { items: [] }, KEYED)).toHaveLength(1);
    expect(changesBetween({ a: { b: 1, c: 1 } }, { a: { b: 2, c: 2 } }, [{ "f:a": WHOLE }])).toHaveLength(1);
  });

  it("made to a third object change nothing else of it", () => {
    const third = { a: 1, items: [{ name: "b", mine: true }] };
    const added = withChange(third, ["f:items", 'k:{"name":"a"}', "f:x"], 5);
    expect(added).toEqual({
      a: 1,
      items: [
        { name: "b", mine: true },
        { name: "a", x: 5 },
      ],
    });
    expect(withChange(added, ["f:items", 'k:{"name":"a"}'], undefined)).toEqual(third);
    expect(withChange(third, ["f:none", "f:deeper"], undefined)).toEqual(third);
  });

  it("made to the object that they began with lead to the one that they end with", () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { minLength: 1 }));
    const object = fc.dictionary(fc.string(), fc.oneof(leaf, fc.dictionary(fc.string(), leaf, { minKeys: 1 })));
    fc.assert(
      fc.property(object, object, (before, now) => {
        let made: unknown = before;
        for (const { path, now: value } of changesBetween(before, now, [])) made = withChange(made, path, value);
        expect(withoutEmpty(made)).toEqual(withoutEmpty(now));
      }),
    );
  });
});

/** A map from which everything is gone may stay behind, as it does on servers. */
function withoutEmpty(value: unknown): unknown {
  const entries = Object.entries(value as object).filter(([, one]) => JSON.stringify(one) !== "{}");
  return Object.fromEntries(entries);
}
