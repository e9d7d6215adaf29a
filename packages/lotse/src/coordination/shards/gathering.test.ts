import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Gathering } from "./gathering.ts";

/** A gathering of half a second of quiet, five seconds at the most. */
function gather() {
  const clock = new VirtualClock();
  const gathering = new Gathering(clock, { quietMs: 500, longestMs: 5_000 });
  let over = false;
  void gathering.over.then(() => {
    over = true;
  });
  return { clock, gathering, isOver: () => over };
}

describe("a gathering of members that start together", () => {
  it("is over when nobody has come for a while, counted from the last one", async () => {
    const { clock, gathering, isOver } = gather();
    gathering.see("0");
    await clock.advance(400);
    gathering.see("0,1");
    await clock.advance(400);
    // The same ones again are nobody new.
    gathering.see("0,1");
    expect(isOver()).toBe(false);
    await clock.advance(100);
    expect(isOver()).toBe(true);
  });

  it("waits for the own seat to be seen, and for nothing longer than its limit", async () => {
    const { clock, gathering, isOver } = gather();
    gathering.see(undefined);
    await clock.advance(4_900);
    expect(isOver()).toBe(false);
    await clock.advance(100);
    expect(isOver()).toBe(true);
  });

  it("is over at once when it is told to end", async () => {
    const { clock, gathering, isOver } = gather();
    gathering.end();
    await clock.advance(0);
    expect(isOver()).toBe(true);
  });
});
