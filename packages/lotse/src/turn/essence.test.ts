import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonical, digestOf, essenceOf } from "./essence.ts";
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
});
