import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogPosition } from "./log-position.ts";
import { compareTimes, dateOf, formatTimestamp, splitTimestamp, type Timestamp } from "./timestamps.ts";

describe("timestamps", () => {
  it.each([
    ["2026-01-01T00:00:05.123456789Z hello", "hello", 1_767_225_605, 123_456_789],
    ["2026-01-01T00:00:05.1Z  indented", " indented", 1_767_225_605, 100_000_000],
    ["2026-01-01T00:00:05Z ", "", 1_767_225_605, 0],
    ["2026-01-01T00:00:05Z", "", 1_767_225_605, 0],
    ["2026-01-01T02:00:05.5+02:00 zone", "zone", 1_767_225_605, 500_000_000],
  ])("are taken off %j", (text, line, seconds, nanos) => {
    expect(splitTimestamp(text)).toMatchObject({ line, time: { seconds, nanos } });
  });

  it.each(["", "hello", "2026-01-01 00:00:05 hello", "2026-01-01T00:00:05.1234567890Z x"])("are not in %j", (text) => {
    expect(splitTimestamp(text)).toBeUndefined();
  });

  it("survive being written and read", () => {
    const time = { seconds: 1_767_225_605, nanos: 12_000_345 };
    expect(splitTimestamp(`${formatTimestamp(time)} x`)?.time).toEqual(time);
    expect(dateOf(time)).toEqual(new Date("2026-01-01T00:00:05.012Z"));
  });
});

describe("a position in a log", () => {
  it("tells every line once, wherever streams break and however far back the next one begins", () => {
    const ticks = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(ticks, fc.array(fc.nat(40), { maxLength: 6 }), (steps, breaks) => {
        // Times that stand still, move within a second, or jump.
        let tick = 0;
        const log: Timestamp[] = steps.map((step) => {
          tick += step;
          return { seconds: Math.floor(tick / 4), nanos: (tick % 4) * 250_000_000 };
        });
        const position = new LogPosition();
        const told: number[] = [];
        let written = 0;
        for (const length of [...breaks, log.length]) {
          written = Math.max(written, Math.min(length, log.length));
          // The server begins at the full second of the last line.
          const since = position.sinceTime === undefined ? undefined : splitTimestamp(position.sinceTime)?.time.seconds;
          position.restart();
          for (let i = 0; i < written; i++) {
            const time = log[i] as Timestamp;
            if (since !== undefined && time.seconds < since) continue;
            if (position.admit(time)) told.push(i);
          }
        }
        expect(told).toEqual(log.map((_, i) => i));
        expect([...log].sort(compareTimes)).toEqual(log);
      }),
    );
  });
});
