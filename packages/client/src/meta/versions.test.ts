import { describe, expect, it } from "vitest";
import { isComparableVersion, isOlderVersion } from "./versions.ts";

describe("resource versions", () => {
  it.each([
    ["9", "10", true],
    ["10", "9", false],
    ["10", "10", false],
    ["99999999999999999998", "99999999999999999999", true],
  ])("%s is older than %s: %s", (a, b, older) => {
    expect(isOlderVersion(a, b)).toBe(older);
  });

  it("that are no integers are older than nothing, and nothing is older than they", () => {
    for (const odd of ["", "abc", "007", "-1", "1.5", undefined]) {
      expect([isComparableVersion(odd), isOlderVersion(odd, "10"), isOlderVersion("10", odd)]).toEqual([
        false,
        false,
        false,
      ]);
    }
  });
});
