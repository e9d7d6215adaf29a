import { describe, expect, it } from "vitest";
import { fittingRecord } from "./fit.ts";
import { annotationStorage, kopf, statusStorage } from "./storage/index.ts";
import { thing } from "./test-builders.ts";

const KIB = 1024;
const record = (size: number) => ({ uid: "u1", handled: "abc", base: `j${"x".repeat(size)}` });

describe("a record that has to fit onto its object", () => {
  it("stays as it is while it does", () => {
    const small = record(100 * KIB);
    expect(fittingRecord(thing(), small, annotationStorage("op"), [])).toBe(small);
  });

  it("goes without its essences when the annotations of the object would be too large together", () => {
    const large = { ...record(200 * KIB), open: { reason: "update" as const, digest: "d", essence: "jx" } };
    const crowded = thing({}, { annotations: { note: "n".repeat(100 * KIB) } });
    expect(fittingRecord(thing(), large, annotationStorage("op"), [])).toBe(large);
    expect(fittingRecord(crowded, large, annotationStorage("op"), [])).toEqual({
      uid: "u1",
      handled: "abc",
      open: { reason: "update", digest: "d" },
    });
  });

  it("keeps them where there is no such limit, and where the storage cannot do without", () => {
    const large = record(300 * KIB);
    expect(fittingRecord(thing(), large, statusStorage("op"), [])).toBe(large);
    expect(fittingRecord(thing(), large, kopf(), [])).toBe(large);
  });

  it("counts bytes, not characters", () => {
    const large = { uid: "u1", base: `j${"ü".repeat(150 * KIB)}` };
    expect(fittingRecord(thing(), large, annotationStorage("op"), [])).toEqual({ uid: "u1" });
  });
});
