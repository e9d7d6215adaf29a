import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSchedule, ScheduleError } from "./schedule.ts";

const at = (text: string) => Date.parse(text);
const iso = (time: number | undefined) =>
  time === undefined ? undefined : new Date(time).toISOString().replace(".000Z", "Z");

describe("a schedule", () => {
  it.each([
    ["* * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"],
    ["* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"],
    ["*/15 * * * *", "2026-01-01T00:46:00Z", "2026-01-01T01:00:00Z"],
    ["5/20 * * * *", "2026-01-01T00:26:00Z", "2026-01-01T00:45:00Z"],
    ["0 9-17/4 * * *", "2026-01-01T14:00:00Z", "2026-01-01T17:00:00Z"],
    ["30 2 * * *", "2026-01-01T02:30:00Z", "2026-01-02T02:30:00Z"],
    ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"],
    ["0 0 * * MON", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z"],
    ["0 0 1 jan,Jul *", "2026-02-01T00:00:00Z", "2026-07-01T00:00:00Z"],
    // The first of a month or a Monday: where both are said, either will do.
    ["0 0 1 * 1", "2026-01-02T00:00:00Z", "2026-01-05T00:00:00Z"],
    ["0 0 */10 * 1", "2026-01-02T00:00:00Z", "2026-05-11T00:00:00Z"],
    ["@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z"],
    ["@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"],
    ["@every 90m", "2026-01-01T00:00:10Z", "2026-01-01T01:30:10Z"],
    ["TZ=Asia/Tokyo 0 9 * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
  ])("%s after %s is %s", (text, after, expected) => {
    expect(iso(parseSchedule(text).next(at(after)))).toBe(expected);
  });

  it.each([["0 0 30 2 *", "there is no such day"]])("%s never comes: %s", (text) => {
    expect(parseSchedule(text).next(at("2026-01-01T00:00:00Z"))).toBeUndefined();
  });

  it("keeps to the clocks on the wall of its zone", () => {
    const berlin = parseSchedule("30 2 * * *", "Europe/Berlin");
    expect(iso(berlin.next(at("2026-03-27T12:00:00Z")))).toBe("2026-03-28T01:30:00Z");
    // 02:30 does not happen on the day on which clocks are put forward.
    expect(iso(berlin.next(at("2026-03-28T12:00:00Z")))).toBe("2026-03-30T00:30:00Z");
    // And happens twice when they are put back.
    expect(iso(berlin.next(at("2026-10-24T12:00:00Z")))).toBe("2026-10-25T00:30:00Z");
    expect(iso(berlin.next(at("2026-10-25T00:30:00Z")))).toBe("2026-10-25T01:30:00Z");
    const midnight = parseSchedule("0 0 * * *", "America/Sao_Paulo");
    expect(iso(midnight.next(at("2026-06-01T12:00:00Z")))).toBe("2026-06-02T03:00:00Z");
  });

  it.each([
    ["* * * *", "expected exactly 5 fields, found 4"],
    ["60 * * * *", "above maximum"],
    ["5-1 * * * *", "beyond end of range"],
    ["*/0 * * * *", "positive number"],
    ["x * * * *", "failed to parse int"],
    ["@fortnightly", "unrecognized descriptor"],
    ["1-2-3 * * * *", "too many hyphens"],
    ["1/2/3 * * * *", "too many slashes"],
    ["@every soon", "invalid duration"],
    ["TZ=Mars/Base * * * * *", "unknown time zone"],
  ])("refuses %s: %s", (text, message) => {
    expect(() => parseSchedule(text)).toThrow(ScheduleError);
    expect(() => parseSchedule(text)).toThrow(message);
  });

  it("never comes early, and misses nothing in between", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: 23 }),
        fc.constantFrom(...zones),
        fc.integer({ min: at("2026-01-01T00:00:00Z"), max: at("2027-01-01T00:00:00Z") }),
        (minute, hour, zone, after) => {
          const next = parseSchedule(`${minute} ${hour} * * *`, zone).next(after) as number;
          const wall = new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeStyle: "short" }).format(next);
          expect(wall).toBe(`${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`);
          expect(next).toBeGreaterThan(after);
          // At the latest on the second next day, should clocks be put forward over the time of the next one.
          expect(next - after).toBeLessThanOrEqual(49 * 3_600_000);
        },
      ),
      { seed: 6, numRuns: 200 },
    );
  });
});
