import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { deadlinesIn, remainingMs } from "./deadlines.ts";
import type { ObjectRecord } from "./record.ts";

/** A clock whose wall can be set, as by NTP or by hand. */
function settableClock() {
  const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  let offset = 0;
  return {
    now: () => clock.now() + offset,
    monotonic: () => clock.monotonic(),
    pass: (ms: number) => clock.advance(ms),
    set: (ms: number) => {
      offset += ms;
    },
  };
}

const due = "2026-01-01T00:00:10.000Z";
const record: ObjectRecord = { uid: "u1", runs: { a: { attempts: 1, started: due, due } } };

describe("a deadline", () => {
  it("comes when it should although the wall clock was set back", async () => {
    const clock = settableClock();
    const deadlines = deadlinesIn(record, undefined, clock);
    clock.set(-3_600_000);
    await clock.pass(9_000);
    expect(remainingMs(due, deadlines, clock)).toBe(1_000);
    await clock.pass(1_000);
    expect(remainingMs(due, deadlines, clock)).toBe(0);
  });

  it("comes early when the wall clock was set forward", async () => {
    const clock = settableClock();
    const deadlines = deadlinesIn(record, undefined, clock);
    clock.set(8_000);
    expect(remainingMs(due, deadlines, clock)).toBe(2_000);
  });

  it("of an earlier process is waited for by the wall clock", () => {
    const clock = settableClock();
    expect(remainingMs(due, undefined, clock)).toBe(10_000);
  });

  it("keeps its time when the record is looked at again after the clock was set", async () => {
    const clock = settableClock();
    const first = deadlinesIn(record, undefined, clock);
    clock.set(-3_600_000);
    expect(remainingMs(due, deadlinesIn(record, first, clock), clock)).toBe(10_000);
  });

  it("is remembered for steps too, and forgotten with the record", () => {
    const clock = settableClock();
    const steps = { pay: { attempts: 1, due } };
    const stepped = { uid: "u1", runs: { a: { attempts: 0, started: due, steps } } };
    expect(deadlinesIn(stepped, undefined, clock)?.size).toBe(1);
    expect(deadlinesIn({ uid: "u1" }, deadlinesIn(stepped, undefined, clock), clock)).toBeUndefined();
  });
});
