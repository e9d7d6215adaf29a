import { describe, expect, it } from "vitest";
import { covers } from "./crds.ts";

describe("an installed CRD covers a declared one", () => {
  it.each([
    ["when it is the same", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, true],
    ["when the server added defaults", { a: 1, conversion: { strategy: "None" } }, { a: 1 }, true],
    ["when the server added defaults inside lists", { v: [{ name: "v1", x: 1 }] }, { v: [{ name: "v1" }] }, true],
    ["not when a value differs", { a: 1 }, { a: 2 }, false],
    ["not when something is missing", {}, { a: 1 }, false],
    ["not when a list is longer", { a: [1, 2] }, { a: [1] }, false],
    ["not when a list is shorter", { a: [1] }, { a: [1, 2] }, false],
  ])("%s", (_name, live, wanted, expected) => {
    expect(covers(live, wanted)).toBe(expected);
  });
});
