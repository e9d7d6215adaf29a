import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { areAlike, canonical, digestOf, essenceOf, KnownEssence } from "./essence.ts";
import { thing } from "./test-builders.ts";

describe("the essence", () => {
  it("is what somebody wants: spec, data, labels and annotations", () => {
    const body = { ...thing({ size: 1 }, { labels: { a: "b" }, annotations: { c: "d" } }), data: { x: "y" } };
    expect(essenceOf(body)).toEqual({
      spec: { size: 1 },
      data: { x: "y" },
      metadata: { labels: { a: "b" }, annotations: { c: "d" } },
    });
  });

  it("does not change with status, versions, finalizers, owners, or anybody's bookkeeping", () => {
    const before = thing({ size: 1 });
    const after = {
      ...thing(
        { size: 1 },
        {
          resourceVersion: "99",
          generation: 7,
          finalizers: ["a/b"],
          managedFields: [],
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "p1" }],
          annotations: {
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "mine.lotse.dev/state": "{}",
            "another.lotse.dev/state": "{}",
          },
        },
      ),
      status: { phase: "Ready" },
    };
    expect(digestOf(essenceOf(after))).toBe(digestOf(essenceOf(before)));
  });

  it("has a digest that does not depend on the order of keys", () => {
    expect(digestOf({ a: 1, b: { c: [1, { d: 2, e: 3 }] } })).toBe(digestOf({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 }));
    expect(digestOf({ a: [1, 2] })).not.toBe(digestOf({ a: [2, 1] }));
  });

  it("is written canonically as JSON that reads back as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        expect(JSON.parse(canonical(plain))).toEqual(plain);
      }),
    );
  });

  it("has the digest that records of all versions have, whatever it is made of", () => {
    expect(digestOf({ spec: { size: 1 }, data: { b: "2", a: null, ü: ['"'] } })).toBe("kRTu9FMv0SEkxehf");
    const essence = { b: undefined, spec: { size: 1 } };
    expect(new KnownEssence(essence)).toMatchObject({ text: '{"spec":{"size":1}}', digest: digestOf(essence) });
  });

  it("need not be made of two bodies that are alike, which then have the same", () => {
    const body = thing({ size: 1 }, { labels: { a: "b" } });
    expect(areAlike(body, { ...thing({ size: 1 }, { labels: { a: "b" }, generation: 2 }), status: { size: 1 } })).toBe(
      true,
    );
    expect(areAlike(body, thing({ size: 2 }, { labels: { a: "b" } }))).toBe(false);
    expect(areAlike(body, thing({ size: 1 }))).toBe(false);
    expect(areAlike(body, { ...body, data: {} })).toBe(false);
    expect(areAlike({ ...body, data: {} }, body)).toBe(false);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (a, b) => {
        if (areAlike(a, b)) expect(digestOf(essenceOf(a))).toBe(digestOf(essenceOf(b)));
      }),
    );
  });
});
