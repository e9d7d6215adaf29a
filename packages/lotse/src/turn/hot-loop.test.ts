import { describe, expect, it } from "vitest";
import { afterOwnChange, CALM, type LoopState } from "./hot-loop.ts";

const changes = (state: LoopState, times: readonly number[], limit = 3) =>
  times.reduce((before, now) => afterOwnChange(before, now, limit), state);

describe("a hot loop", () => {
  it("is not seen in as many own changes as are allowed", () => {
    expect(changes(CALM, [1, 2, 3])).toMatchObject({ level: 0, until: 0 });
  });

  it("is not seen in changes that are spread over more than a minute", () => {
    expect(changes(CALM, [0, 30_000, 60_001, 90_002, 120_003, 150_004])).toMatchObject({ level: 0 });
  });

  it("is seen at one more, and slowed down for longer each time", () => {
    const hot = changes(CALM, [1, 2, 3, 4]);
    expect(hot).toMatchObject({ level: 1, until: 1_004 });
    expect(changes(hot, [1_004])).toMatchObject({ level: 2, until: 3_004 });
    expect(changes(hot, [1_004, 3_004])).toMatchObject({ level: 3, until: 7_004 });
  });

  it("stays hot however slow it has become, and never pauses for longer than five minutes", () => {
    let state = changes(CALM, [1, 2, 3, 4]);
    for (let round = 0; round < 20; round++) state = afterOwnChange(state, state.until, 3);
    expect(state.level).toBe(21);
    expect(state.until - (state.changes.at(-1) ?? 0)).toBe(300_000);
  });

  it("remembers no more changes than it has to", () => {
    expect(
      changes(
        CALM,
        Array.from({ length: 1_000 }, (_, i) => i),
      ).changes,
    ).toHaveLength(4);
  });
});
