import { describe, expect, expectTypeOf, it } from "vitest";
import { type Duration, durationMs, formatDuration, parseDuration } from "./duration.ts";

describe("a duration", () => {
  it.each([
    ["250ms", 250],
    ["5s", 5_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["2d12h", 216_000_000],
    [1_500, 1_500],
  ] as const)("%s is %d milliseconds", (duration, ms) => {
    expect(durationMs(duration satisfies Duration)).toBe(ms);
  });

  it.each(["1 hour", "", "5", "s", "5 minutes", "-1s", "1h later", -1, Number.NaN])(
    "is not %j, which is told",
    (wrong) => {
      expect(() => durationMs(wrong)).toThrow(/is not a duration/);
    },
  );

  it("is written as people read it", () => {
    expect([250, 5_000, 5_400_000, 216_000_000].map(formatDuration)).toEqual(["250ms", "5s", "1h30m", "2d12h"]);
  });

  it("out of a text that the compiler cannot see is read at once", () => {
    const fromEnvironment: string = "1h30m";
    expectTypeOf(parseDuration(fromEnvironment)).toEqualTypeOf<Duration>();
    expect(durationMs(parseDuration(fromEnvironment))).toBe(5_400_000);
    expect(() => parseDuration("1 hour")).toThrow(/"1 hour" is not a duration/);
  });

  it("is checked by the compiler", () => {
    const minutes = 5;
    const right: Duration[] = ["500ms", "5s", "1h30m", "1d", "1.5h", "2d3h4m5s6ms", 250, `${minutes}m`];
    const wrong: Duration[] = [
      // @ts-expect-error: hours are written h
      "1 hour",
      // @ts-expect-error: there are no weeks
      "1w",
      // @ts-expect-error: a number without a unit
      "5",
      // @ts-expect-error: minutes come before seconds
      "5s1m",
      // @ts-expect-error: the compiler cannot see into a text: that is what parseDuration is for
      "5s" as string,
    ];
    expect([...right, ...wrong]).toHaveLength(13);
  });
});
