import { describe, expect, test } from "vitest";
import {
  describePause,
  formatPauses,
  NO_PAUSES,
  PAUSE_ANNOTATION,
  parsePauses,
  pauseInForce,
  readPause,
  seePauses,
  withoutPause,
  withPause,
} from "./pause.ts";

const noon = Date.parse("2026-01-01T12:00:00Z");
const minute = 60_000;
const annotated = (value: unknown) => ({
  [PAUSE_ANNOTATION]: typeof value === "string" ? value : JSON.stringify(value),
});

describe("the annotation", () => {
  test("is read as people write it by hand: who, until when, and how strong", () => {
    const written = { by: "ada@laptop", until: "2026-01-01T12:05:00Z", priority: 100, message: "the demo" };
    expect(parsePauses(JSON.stringify(written))).toEqual({
      pauses: [{ by: "ada@laptop", until: noon + 5 * minute, priority: 100, message: "the demo" }],
    });
  });

  test("needs nothing but its end", () => {
    expect(parsePauses('{"until":"2026-01-01T12:05:00Z"}').pauses).toEqual([
      { by: "unknown", until: noon + 5 * minute, priority: 100 },
    ]);
  });

  test.each([
    ["nonsense", "it is no JSON"],
    ["5", "it is no object"],
    ['{"until":"soon"}', "`until` is no time"],
    ["{}", "`until` is no time"],
    ['{"until":"2026-01-01T12:05:00Z","priority":"high"}', "`priority` is no number"],
  ])("that says %s pauses nobody, and says why", (text, problem) => {
    expect(parsePauses(text)).toEqual({ pauses: [], problem });
  });

  test("is not there, or empty: no pause and no problem", () => {
    expect(parsePauses(undefined)).toEqual({ pauses: [] });
    expect(parsePauses(" ")).toEqual({ pauses: [] });
  });

  test("comes back as it was written", () => {
    const pauses = [
      { by: "ada", until: noon, priority: 666, message: "dev", lifetimeMs: 30_000 },
      { by: "bob", until: noon + minute, priority: 100 },
    ];
    expect(parsePauses(formatPauses(pauses) ?? "").pauses).toEqual(pauses);
  });

  test("keeps the pauses of others, and one of each person", () => {
    const ada = { by: "ada", until: noon + minute, priority: 100 };
    const bob = { by: "bob", until: noon + minute, priority: 666 };
    const both = withPause(withPause(undefined, ada, noon), bob, noon);
    expect(parsePauses(both).pauses).toEqual([ada, bob]);
    expect(parsePauses(withPause(both, { ...ada, priority: 7 }, noon)).pauses).toEqual([bob, { ...ada, priority: 7 }]);
    expect(parsePauses(withoutPause(both, "ada", noon) ?? "").pauses).toEqual([bob]);
    expect(withoutPause(withoutPause(both, "ada", noon) ?? undefined, "bob", noon)).toBeNull();
  });

  test("loses what is over when it is written again", () => {
    const ada = withPause(undefined, { by: "ada", until: noon, priority: 100 }, noon - 1);
    expect(parsePauses(withPause(ada, { by: "bob", until: noon + minute, priority: 1 }, noon)).pauses).toHaveLength(1);
    expect(withoutPause(ada, "bob", noon)).toBeNull();
  });
});

describe("a pause", () => {
  const annotations = annotated({ by: "ada", until: "2026-01-01T12:05:00Z", priority: 100 });

  test("is in force while its end lies ahead", () => {
    expect(readPause(annotations, noon)?.by).toBe("ada");
    expect(readPause(annotations, noon + 5 * minute)).toBeUndefined();
    expect(readPause(undefined, noon)).toBeUndefined();
  });

  test("does not stop an operator that was started with a higher priority, and stops one with the same", () => {
    expect(readPause(annotations, noon, 101)).toBeUndefined();
    expect(readPause(annotations, noon, 100)?.by).toBe("ada");
  });

  test("is the strongest of several", () => {
    const several = annotated([
      { by: "ada", until: "2026-01-01T12:05:00Z", priority: 100 },
      { by: "bob", until: "2026-01-01T12:01:00Z", priority: 666 },
      { by: "cyd", until: "2026-01-01T12:09:00Z", priority: 100 },
    ]);
    expect(readPause(several, noon)?.by).toBe("bob");
    expect(readPause(several, noon + 2 * minute)?.by).toBe("cyd");
  });

  test("is not prolonged by a wall clock that is set back after it was seen", () => {
    const seen = seePauses(NO_PAUSES, annotations, { now: noon, monotonic: 1_000 });
    const again = seePauses(seen, annotations, { now: noon - 60 * minute, monotonic: 2_000 });
    expect(pauseInForce(again, 1_000 + 5 * minute - 1)?.by).toBe("ada");
    expect(pauseInForce(again, 1_000 + 5 * minute)).toBeUndefined();
  });

  test("lasts as long as it was asked for at most, where the clock of whoever asked is ahead", () => {
    const ahead = annotated({ by: "ada", until: "2026-01-02T12:00:00Z", lifetime: 60 });
    expect(pauseInForce(seePauses(NO_PAUSES, ahead, { now: noon, monotonic: 0 }), 0)?.endsAt).toBe(minute);
  });

  test("that is renewed lasts on, and ends when it is taken off", () => {
    const seen = seePauses(NO_PAUSES, annotations, { now: noon, monotonic: 0 });
    const renewed = annotated({ by: "ada", until: "2026-01-01T12:10:00Z" });
    const later = seePauses(seen, renewed, { now: noon + minute, monotonic: minute });
    expect(pauseInForce(later, minute)?.endsAt).toBe(10 * minute);
    expect(pauseInForce(seePauses(later, {}, { now: noon, monotonic: minute }), minute)).toBeUndefined();
  });

  test("is told with who wants it and why", () => {
    expect(describePause({ by: "ada@laptop", until: 0, priority: 1 })).toBe("paused by ada@laptop");
    expect(describePause({ by: "ada", until: 0, priority: 1, message: "demo" })).toBe("paused by ada: demo");
  });
});
