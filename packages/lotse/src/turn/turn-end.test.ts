import { identityKeyOf, objectKeyOf, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import type { Decision } from "./decide.ts";
import { newMemory } from "./memory.ts";
import type { Settlement } from "./settle.ts";
import { dueAt, retryAt, type TurnEnd } from "./turn-end.ts";

describe("the end of a turn", () => {
  it.each<[string, (number | undefined)[], TurnEnd]>([
    ["is quiet when nothing is due", [undefined, undefined], { type: "quiet" }],
    ["waits for the first of several times", [undefined, 900, 700], { type: "later", at: 700 }],
    ["is another turn at once, when something is due now", [900, 500], { type: "again" }],
    ["is another turn at once, when something was due before", [900, 100], { type: "again" }],
  ])("%s", (_what, times, end) => expect(dueAt(500, ...times)).toEqual(end));
});

describe("another try of a cycle's handlers", () => {
  const clock = new VirtualClock();
  const decision = (nextDue: number | undefined) => ({ nextDue }) as Decision;
  const iso = (inMs: number) => new Date(clock.now() + inMs).toISOString();
  const waiting = () => {
    const memory = newMemory(identityKeyOf(objectKeyOf("a", "one"), "u"), "u", 0);
    const run = { attempts: 1, started: iso(0) };
    memory.record = {
      uid: "u",
      runs: { slow: { ...run, due: iso(9_000) }, soon: { ...run, due: iso(2_000) }, done: { ...run, outcome: "done" } },
    } as typeof memory.record;
    return memory;
  };

  it("is not waited for where none is due", () => {
    expect(retryAt(waiting(), decision(undefined), undefined, clock)).toBeUndefined();
  });

  it("is due when the decision says so, where nothing has run", () => {
    expect(retryAt(waiting(), decision(clock.now() + 5_000), undefined, clock)).toBe(clock.monotonic() + 5_000);
  });

  it("is due with the first handler that waits, where the cycle goes on", () => {
    const settlement = { nextDue: clock.now() + 5_000, closed: false } as Settlement;
    expect(retryAt(waiting(), decision(undefined), settlement, clock)).toBe(clock.monotonic() + 2_000);
  });

  it("goes by the monotonic clock for deadlines that this process has set, whatever the wall clock says", () => {
    const memory = waiting();
    memory.waiting.deadlines = new Map([[iso(2_000), clock.monotonic() + 500]]);
    const settlement = { nextDue: clock.now() + 5_000, closed: false } as Settlement;
    expect(retryAt(memory, decision(undefined), settlement, clock)).toBe(clock.monotonic() + 500);
  });

  it("has nothing to do with the handlers of a cycle that is closed", () => {
    const settlement = { nextDue: clock.now() + 5_000, closed: true } as Settlement;
    expect(retryAt(waiting(), decision(undefined), settlement, clock)).toBe(clock.monotonic() + 5_000);
  });

  it("is never due in the past", () => {
    expect(retryAt(waiting(), decision(clock.now() - 5_000), undefined, clock)).toBe(clock.monotonic());
  });
});
