import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Declarations, type TimerHandler, type TimerOptions } from "../declare/index.ts";
import { afterTimerRun, startTimer, timerDueAt } from "./timers.ts";

function timer(options: Partial<TimerOptions<KubeBody>> = {}): TimerHandler {
  const declarations = new Declarations();
  declarations.timer("things.example.com", { interval: "10s", id: "t", ...options } as never, () => undefined);
  return declarations.resources[0]?.handlers[0] as TimerHandler;
}
const half = () => 0.5;

describe("a timer", () => {
  it("runs at once, and then an interval after the end of each run", () => {
    const handler = timer();
    const state = startTimer(handler, 1_000);
    expect(timerDueAt(handler, state, 0)).toBe(1_000);
    expect(afterTimerRun(handler, state, { type: "done" }, 1_000, 4_000, half).dueAt).toBe(14_000);
  });

  it("waits for its initial delay", () => {
    const handler = timer({ initialDelay: "3s" });
    expect(timerDueAt(handler, startTimer(handler, 1_000), 0)).toBe(4_000);
  });

  it("keeps to its interval when it is sharp, and skips what a long run has missed", () => {
    const handler = timer({ sharp: true });
    const state = startTimer(handler, 0);
    expect(afterTimerRun(handler, state, { type: "done" }, 0, 4_000, half).dueAt).toBe(10_000);
    expect(afterTimerRun(handler, state, { type: "done" }, 0, 25_000, half).dueAt).toBe(30_000);
  });

  it("waits until nobody has changed the object for its idle time", () => {
    const handler = timer({ idle: "30s" });
    expect(timerDueAt(handler, startTimer(handler, 0), 5_000)).toBe(35_000);
  });

  it("is tried again sooner than its interval after a temporary error", () => {
    const handler = timer({ backoff: "2s" });
    const state = afterTimerRun(
      handler,
      startTimer(handler, 0),
      { type: "temporary", delayMs: undefined },
      0,
      1_000,
      half,
    );
    expect(state).toMatchObject({ dueAt: 3_000, attempts: 1, ended: false });
  });

  it("ends with a permanent error, and with its last attempt", () => {
    const handler = timer({ retries: 2 });
    const first = afterTimerRun(handler, startTimer(handler, 0), { type: "temporary", delayMs: 0 }, 0, 0, half);
    const second = afterTimerRun(handler, first, { type: "temporary", delayMs: 0 }, 0, 0, half);
    expect(timerDueAt(handler, second, 0)).toBeUndefined();
    expect(afterTimerRun(handler, startTimer(handler, 0), { type: "failed" }, 0, 0, half).ended).toBe(true);
  });

  it("counts attempts anew after a success", () => {
    const handler = timer({ retries: 2 });
    const failed = afterTimerRun(handler, startTimer(handler, 0), { type: "temporary", delayMs: 0 }, 0, 0, half);
    expect(afterTimerRun(handler, failed, { type: "done" }, 0, 0, half).attempts).toBe(0);
  });
});
