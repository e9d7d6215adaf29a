import { applyMergePatch, type JsonObject } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { combinePatches, PatchDraft } from "./patch.ts";

describe("the patch of a handler", () => {
  it("is nothing when nobody wrote into it", () => {
    expect(new PatchDraft().mergePatch).toBeUndefined();
  });

  it("carries only what was written", () => {
    const draft = new PatchDraft();
    const patch = draft.view as typeof draft.view & { data?: unknown };
    (patch.status as Record<string, unknown>).rate = 1;
    patch.metadata.labels.old = null;
    patch.data = { a: "b" };
    expect(draft.mergePatch).toEqual({ status: { rate: 1 }, metadata: { labels: { old: null } }, data: { a: "b" } });
  });

  it("keeps an empty object that somebody wrote on purpose", () => {
    const draft = new PatchDraft();
    (draft.view.status as Record<string, unknown>).items = {};
    expect(draft.mergePatch).toEqual({ status: { items: {} } });
  });

  it("keeps transformations apart, in their order", () => {
    const draft = new PatchDraft();
    const [first, second] = [() => {}, () => {}];
    draft.view.transform(first);
    draft.view.transform(second);
    expect(draft.transforms).toEqual([first, second]);
    expect(draft.mergePatch).toBeUndefined();
  });

  it("is what JSON makes of what was written, whatever that is", () => {
    const odd = fc.constantFrom<unknown>(undefined, Number.NaN, -0, new Date(0), { toJSON: () => "said" }, new Map(), [
      1,
      undefined,
    ]);
    fc.assert(
      fc.property(
        fc.anything({ values: [fc.jsonValue(), odd, fc.boolean()], withSparseArray: true, maxDepth: 4 }),
        (value) => {
          const draft = new PatchDraft();
          (draft.view.status as Record<string, unknown>).value = value;
          const expected = JSON.parse(JSON.stringify({ value })) as JsonObject;
          expect(draft.mergePatch).toEqual("value" in expected ? { status: expected } : undefined);
        },
      ),
    );
  });

  it("shares nothing with what the handler holds", () => {
    const draft = new PatchDraft();
    const list = [{ a: 1 }];
    (draft.view.status as Record<string, unknown>).list = list;
    const { mergePatch } = draft;
    (list[0] as { a: number }).a = 2;
    expect(mergePatch).toEqual({ status: { list: [{ a: 1 }] } });
  });

  it("is refused with the words of JSON where something holds itself", () => {
    const draft = new PatchDraft();
    const ring: Record<string, unknown> = {};
    ring.ring = ring;
    (draft.view.status as Record<string, unknown>).ring = ring;
    expect(() => draft.mergePatch).toThrow(/circular/);
  });

  it("combines with another into one that does what both do, one after the other", () => {
    const leaf = fc.oneof(fc.integer(), fc.constant(null));
    const patch = fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof(leaf, fc.dictionary(fc.constantFrom("x", "y"), leaf)),
    ) as fc.Arbitrary<JsonObject>;
    // Where the first patch puts a value and the second an object, the second replaces: no patch can say "replace".
    fc.assert(
      fc.property(patch, patch, patch, (start, first, second) => {
        for (const key of Object.keys(second)) fc.pre(typeof first[key] === typeof second[key] || !(key in first));
        for (const key of Object.keys(second)) fc.pre(first[key] !== null || second[key] === null || !(key in first));
        const document = applyMergePatch({}, start);
        const both = applyMergePatch(document, combinePatches(first, second) ?? {});
        expect(both).toEqual(applyMergePatch(applyMergePatch(document, first), second));
      }),
    );
  });
});
