import { describe, expect, it } from "vitest";
import { Nap } from "./nap.ts";
import { VirtualClock } from "./virtual-clock.ts";

function nap() {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const one = new Nap(clock, stop.signal);
  let over = false;
  void one.over.then(() => {
    over = true;
  });
  return { clock, stop, one, isOver: () => over };
}

describe("a nap", () => {
  it("ends when it is told to, and leaves no timer behind", async () => {
    const { clock, one, isOver } = nap();
    one.endIn(100);
    await clock.advance(99);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect([isOver(), clock.pending]).toEqual([true, 0]);
  });

  it("can be cut short, and never made longer", async () => {
    const { clock, one, isOver } = nap();
    one.endIn(100);
    one.endIn(1_000);
    one.endIn(10);
    expect(clock.pending).toBe(1);
    await clock.advance(10);
    expect(isOver()).toBe(true);
    one.endIn(10);
    expect(clock.pending).toBe(0);
  });

  it("ends with its signal, also with one that has aborted before", async () => {
    const { clock, stop, one, isOver } = nap();
    one.endIn(100);
    stop.abort();
    await clock.advance(0);
    expect([isOver(), clock.pending]).toEqual([true, 0]);
    await new Nap(clock, stop.signal).over;
  });
});
