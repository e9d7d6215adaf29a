import { describe, expect, it } from "vitest";
import { afterAnswer, afterForeignChange, afterOwnChange, CALM, cooledDown, type LoopState } from "./hot-loop.ts";

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

  it("is over when somebody else changes the object, and after a minute without it", () => {
    const hot = changes(CALM, [1, 2, 3, 4]);
    expect(afterForeignChange(hot)).toEqual(CALM);
    expect(cooledDown(hot, hot.until + 59_999)).toBe(hot);
    expect(cooledDown(hot, hot.until + 60_000)).toEqual(CALM);
  });
});

describe("a fight", () => {
  const answers = (state: LoopState, times: readonly number[], write = "down") =>
    times.reduce((before, now) => afterAnswer(afterForeignChange(before), write, now, 3), state);

  it("is not seen in different answers, however many", () => {
    let state = CALM;
    for (let now = 0; now < 100; now++) state = afterAnswer(state, `write ${now}`, now, 3);
    expect(state.level).toBe(0);
    expect(state.repeats.length).toBeLessThanOrEqual(4);
  });

  it("is seen in the same answer again and again, although somebody else changes the object each time", () => {
    expect(answers(CALM, [1, 2, 3])).toMatchObject({ level: 0 });
    expect(answers(CALM, [1, 2, 3, 4])).toMatchObject({ level: 1, by: "fight", until: 1_004 });
  });

  it("is seen in two answers that alternate", () => {
    let state = CALM;
    for (let now = 0; now < 8; now++) state = afterAnswer(state, now % 2 ? "up" : "down", now, 3);
    expect(state.by).toBe("fight");
  });

  it("is not made hotter by the own change that follows each answer", () => {
    const hot = answers(CALM, [1, 2, 3, 4]);
    expect(afterOwnChange(hot, 1_005, 3)).toMatchObject({ level: 1, by: "fight", until: 1_004 });
  });

  it("becomes slower for as long as it goes on, and is forgotten a minute later", () => {
    let state = answers(CALM, [1, 2, 3, 4]);
    for (let round = 0; round < 12; round++) state = answers(state, [state.until + 1]);
    expect(state.level).toBe(13);
    const { until } = state;
    expect(answers(state, [until + 60_000])).toMatchObject({ level: 0, by: undefined });
  });
});
