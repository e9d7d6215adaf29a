import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packEssence, readRecord, unpackEssence } from "./record.ts";
import { thing } from "./test-builders.ts";

describe("the record", () => {
  it("is read from the status and from the annotation", () => {
    const record = { uid: "u1", handled: "abc" };
    expect(readRecord({ ...thing(), status: { lotse: { op: record } } }, "status", "op")).toEqual({
      type: "found",
      record,
    });
    const annotated = thing({}, { annotations: { "op.lotse.dev/state": JSON.stringify(record) } });
    expect(readRecord(annotated, "annotation", "op")).toEqual({ type: "found", record });
  });

  it("is absent for another operator", () => {
    expect(readRecord({ ...thing(), status: { lotse: { other: { uid: "u1" } } } }, "status", "op")).toEqual({
      type: "absent",
    });
  });

  it("does not count when it was copied from another object", () => {
    expect(readRecord({ ...thing(), status: { lotse: { op: { uid: "u2" } } } }, "status", "op").type).toBe("foreign");
  });

  it.each([
    ["not an object", 7],
    ["without a uid", { handled: "x" }],
    ["with a number as digest", { uid: "u1", handled: 1 }],
    ["with broken runs", { uid: "u1", runs: { a: { attempts: "3" } } }],
    ["with a broken cycle", { uid: "u1", open: "create" }],
  ])("is unreadable when it is %s, and that is no crash", (_name, value) => {
    expect(readRecord({ ...thing(), status: { lotse: { op: value } } }, "status", "op").type).toBe("unreadable");
  });

  it("is unreadable when the annotation is no JSON", () => {
    expect(readRecord(thing({}, { annotations: { "op.lotse.dev/state": "{" } }), "annotation", "op").type).toBe(
      "unreadable",
    );
  });

  it("packs an essence so that it comes back whole", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const essence = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(unpackEssence(packEssence(essence))).toEqual(essence);
      }),
    );
  });

  it("packs a large essence small", () => {
    const essence = { spec: { items: Array.from({ length: 200 }, (_, i) => ({ name: `item-${i}`, size: i % 7 })) } };
    expect(packEssence(essence).length).toBeLessThan(JSON.stringify(essence).length / 3);
  });

  it("takes a base that somebody damaged for none", () => {
    expect(unpackEssence("z!!!")).toBeUndefined();
    expect(unpackEssence("j[1]")).toBeUndefined();
  });
});
