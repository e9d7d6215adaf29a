import { describe, expect, it } from "vitest";
import { lackOfMemory, profileName, questionFor, recordedMs, USUAL_WISH, wishIn } from "./wish.ts";

describe("what is to be recorded", () => {
  it.each([USUAL_WISH, { type: "cpu", ms: 1_500 }, { type: "heap" }, { type: "heap", force: true }] as const)(
    "is read as it was asked for: %o",
    (wish) => {
      expect(wishIn(new URL(questionFor(wish), "http://localhost").searchParams)).toEqual(wish);
    },
  );

  it.each(["", "cpu", "cpu=soon", "cpu=0s", "cpu=11m", "cpu=-1s"])("is nothing in the question %j", (query) => {
    expect(wishIn(new URLSearchParams(query))).toBeUndefined();
  });

  it.each([
    ["10s", 10_000],
    ["7", 7_000],
    ["10m", 600_000],
  ])("lasts for %s", (text, ms) => {
    expect(recordedMs(text)).toBe(ms);
  });

  it("is not a heap that would need more memory than there is", () => {
    expect(lackOfMemory(50e6, 1_000e6)).toBeUndefined();
    expect(lackOfMemory(50e6, 200e6)).toBe("it may need 650 MB of memory, and 200 MB are free");
  });

  it("has a file that tools know by its name", () => {
    const now = Date.parse("2026-11-17T14:05:09.123Z");
    expect(profileName("lotse-12", USUAL_WISH, now)).toBe("lotse-12-20261117T140509.cpuprofile");
    expect(profileName("rates-x2x4k", { type: "heap" }, now)).toBe("rates-x2x4k-20261117T140509.heapsnapshot");
  });
});
