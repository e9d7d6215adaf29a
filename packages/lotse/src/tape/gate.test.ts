import { setImmediate as nextTurn } from "node:timers/promises";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { TapeClock } from "./clock.ts";
import { InputGate } from "./gate.ts";

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}

describe("inputs of a recorded operator", () => {
  it("come one after the other, each when all that follows from the one before has run", async () => {
    const gate = new InputGate();
    const seen: string[] = [];
    for (const name of ["a", "b"]) {
      gate.push(() => {
        seen.push(name);
        void (async () => {
          for (let i = 0; i < 50; i++) await Promise.resolve();
          await nextTurn();
          seen.push(`${name} is done`);
        })();
      });
    }
    expect(gate.isIdle).toBe(false);
    await turns(20);
    expect(seen).toEqual(["a", "a is done", "b", "b is done"]);
    expect(gate.isIdle).toBe(true);
  });

  it("do not wait any more when nothing is recorded any more", () => {
    const gate = new InputGate();
    const seen: string[] = [];
    gate.push(() => seen.push("before"));
    gate.open();
    gate.push(() => seen.push("after"));
    expect(seen).toEqual(["before", "after"]);
  });
});

describe("the clock of a recorded operator", () => {
  function stage() {
    const clock = new VirtualClock(1_000);
    const gate = new InputGate();
    const told: string[] = [];
    const tape = new TapeClock(clock, gate, {
      ticked: (n, { now, mono }) => told.push(`tick ${n} ${now} ${mono}`),
      fired: (id, ms, { mono }) => told.push(`timer ${id} ${ms} ${mono}`),
    });
    return { clock, gate, told, tape };
  }

  it("stands still while something follows from an input, and tells of every step otherwise", async () => {
    const { clock, gate, told, tape } = stage();
    await clock.advance(5);
    expect([tape.now(), tape.monotonic()]).toEqual([1_005, 5]);
    const read: number[] = [];
    gate.push(() => {
      tape.input();
      read.push(tape.now());
    });
    await nextTurn();
    await clock.advance(7);
    read.push(tape.now());
    await turns(10);
    read.push(tape.now());
    expect(read).toEqual([1_005, 1_005, 1_012]);
    expect(told).toEqual(["tick 1 1005 5", "tick 1 1012 12"]);
  });

  it("calls timers when it is their turn, and none that was given up meanwhile", async () => {
    const { clock, told, tape } = stage();
    const called: string[] = [];
    tape.after(10, () => called.push("first"));
    const cancel = tape.after(10, () => called.push("second"));
    // Both are due; the first one's turn comes, and the second one is given up before its own.
    const advanced = clock.advance(10);
    await turns(2);
    cancel();
    await advanced;
    await turns(20);
    expect(called).toEqual(["first"]);
    expect(told).toEqual(["timer 1 10 10"]);
  });
});
