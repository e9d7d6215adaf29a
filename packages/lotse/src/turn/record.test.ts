import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packEssence, readRecord, unpackEssence } from "./record.ts";

describe("the record", () => {
  it("is read as it is stored: an object in a status, a text in an annotation", () => {
    const record = { uid: "u1", handled: "abc" };
    expect(readRecord(record, "u1")).toEqual({ type: "found", record });
    expect(readRecord(JSON.stringify(record), "u1")).toEqual({ type: "found", record });
    expect(readRecord(undefined, "u1")).toEqual({ type: "absent" });
  });

  it("does not count when it was copied from another object", () => {
    expect(readRecord({ uid: "u2" }, "u1").type).toBe("foreign");
  });

  it.each([
    ["not an object", 7],
    ["no JSON", "{"],
    ["without a uid", { handled: "x" }],
    ["with a number as digest", { uid: "u1", handled: 1 }],
    ["with broken runs", { uid: "u1", runs: { a: { attempts: "3" } } }],
    ["with a broken cycle", { uid: "u1", open: "create" }],
    ["with broken failures", { uid: "u1", failed: { a: "boom" } }],
  ])("is unreadable when it is %s, and that is no crash", (_name, value) => {
    expect(readRecord(value, "u1").type).toBe("unreadable");
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

  it("keeps an essence that fits as it is, and one that does not deflated", () => {
    const essenceOf = (length: number) => ({ spec: { text: "x".repeat(length) } });
    expect(packEssence(essenceOf(900))).toMatch(/^j\{/);
    expect(packEssence(essenceOf(1_100))).toMatch(/^z/);
  });

  it("reads what versions have written that deflated as well what fits", () => {
    const packed =
      "zZdCxCoAgGMTxd7nZQCuzfJVoiHBwKAKbEt89aLjqa73fdP+MtIcFPiMeYU3wY8Y2rwH+HioNhRTPAK+L+pIhGUk1qZbUkBpJLamVZElWUkfqJDmSk9STekkDafhdfnKYf49XEFOmUi4=";
    const items = Array.from({ length: 12 }, (_, i) => ({ name: `item-${i}`, size: i }));
    expect(unpackEssence(packed)).toEqual({ spec: { items } });
    expect(packEssence({ spec: { items } })).toBe(`j${JSON.stringify({ spec: { items } })}`);
  });

  it("takes a base that somebody damaged for none", () => {
    expect(unpackEssence("z!!!")).toBeUndefined();
    expect(unpackEssence("j[1]")).toBeUndefined();
  });
});
