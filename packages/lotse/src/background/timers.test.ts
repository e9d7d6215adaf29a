import type { KubeBody } from "@lotse/client";
import { parseDuration } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Declarations, type TimerHandler, type TimerOptions } from "../declare/index.ts";
import { afterTimerRun, startTimer, type TimerOutcome, type TimerState, timerDueAt, toldAnew } from "./timers.ts";

function timer(options: Partial<TimerOptions<KubeBody>> = {}): TimerHandler {
  const declarations = new Declarations();
  declarations.timer("things.example.com", { interval: "10s", id: "t", ...options } as never, () => undefined);
  return declarations.resources[0]?.handlers[0] as TimerHandler;
}
const body = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "one" },
  spec: { wait: "7s" },
} as KubeBody;
const start = (handler: TimerHandler, now: number) => startTimer(handler, body, { now, wall: now });
/** The object was last changed at `changedAt`. */
const after = (
  handler: TimerHandler,
  state: TimerState,
  outcome: TimerOutcome,
  begun: number,
  now: number,
  changedAt = 0,
) => afterTimerRun(handler, state, outcome, begun, now, () => 0.5, changedAt);

describe("a timer", () => {
  it("runs at once, and then an interval after the end of each run", () => {
    const handler = timer();
    const state = start(handler, 1_000);
    expect(timerDueAt(handler, state, 0)).toBe(1_000);
    expect(after(handler, state, { type: "done" }, 1_000, 4_000).dueAt).toBe(14_000);
  });

  it("waits for its initial delay", () => {
    const handler = timer({ initialDelay: "3s" });
    expect(timerDueAt(handler, start(handler, 1_000), 0)).toBe(4_000);
  });

  it("may ask the object how long to wait", () => {
    const handler = timer({ initialDelay: ({ spec }) => parseDuration((spec as { wait: string }).wait) });
    expect(timerDueAt(handler, start(handler, 1_000), 0)).toBe(8_000);
  });

  it("without an interval runs once for each time that the object is left alone", () => {
    const handler = timer({ interval: undefined as never, idle: "30s" });
    const ran = after(handler, start(handler, 0), { type: "done" }, 30_000, 31_000, 0);
    expect(timerDueAt(handler, ran, 0)).toBeUndefined();
    expect(timerDueAt(handler, ran, 40_000)).toBe(70_000);
  });

  it("without an interval and idle time runs once", () => {
    const handler = timer({ interval: undefined as never });
    const state = start(handler, 0);
    expect(timerDueAt(handler, state, 0)).toBe(0);
    const ran = after(handler, state, { type: "done" }, 0, 0, 0);
    expect([timerDueAt(handler, ran, 0), timerDueAt(handler, ran, 5_000)]).toEqual([undefined, undefined]);
  });

  it("keeps to its interval when it is sharp, and skips what a long run has missed", () => {
    const handler = timer({ sharp: true });
    const state = start(handler, 0);
    expect(after(handler, state, { type: "done" }, 0, 4_000).dueAt).toBe(10_000);
    expect(after(handler, state, { type: "done" }, 0, 25_000).dueAt).toBe(30_000);
  });

  it("waits until nobody has changed the object for its idle time", () => {
    const handler = timer({ idle: "30s" });
    expect(timerDueAt(handler, start(handler, 0), 5_000)).toBe(35_000);
  });

  it("is tried again sooner than its interval after a temporary error", () => {
    const handler = timer({ backoff: "2s" });
    const state = after(handler, start(handler, 0), { type: "temporary", delayMs: undefined }, 0, 1_000);
    expect(state).toMatchObject({ dueAt: 3_000, attempts: 1, ended: false });
  });

  it("ends with a permanent error, and with its last attempt", () => {
    const handler = timer({ retries: 2 });
    const first = after(handler, start(handler, 0), { type: "temporary", delayMs: 0 }, 0, 0);
    const second = after(handler, first, { type: "temporary", delayMs: 0 }, 0, 0);
    expect(timerDueAt(handler, second, 0)).toBeUndefined();
    expect(after(handler, start(handler, 0), { type: "failed" }, 0, 0).ended).toBe(true);
  });

  it("counts attempts anew after a success", () => {
    const handler = timer({ retries: 2 });
    const failed = after(handler, start(handler, 0), { type: "temporary", delayMs: 0 }, 0, 0);
    expect(after(handler, failed, { type: "done" }, 0, 0).attempts).toBe(0);
  });
});

describe("a timer with a schedule", () => {
  const HOUR = 3_600_000;
  const midnight = Date.parse("2026-01-01T00:00:00Z");
  /** The monotonic clock began at midnight. */
  const at = (hour: number) => ({ now: hour * HOUR, wall: midnight + hour * HOUR });
  const nightly = (missed?: "skip" | "once") =>
    timer({ interval: undefined as never, schedule: "0 3 * * *", ...(missed && { missed }) });
  const created = (hour: number): KubeBody => ({
    ...body,
    metadata: { name: "one", creationTimestamp: new Date(midnight + hour * HOUR).toISOString() },
  });
  const dueHour = ({ dueAt }: TimerState) => dueAt / HOUR;

  it("runs when it is time, and again a day later", () => {
    const state = startTimer(nightly(), created(1), at(1));
    expect(dueHour(state)).toBe(3);
    const ran = afterTimerRun(nightly(), state, { type: "done" }, 3 * HOUR, 4 * HOUR, () => 0.5, 0, at(4).wall);
    expect(dueHour(ran)).toBe(27);
  });

  it("follows the clock on the wall when that is set", () => {
    const state = startTimer(nightly(), created(1), at(1));
    expect(dueHour(toldAnew(state, { now: 2 * HOUR, wall: at(1).wall }))).toBe(4);
    expect(dueHour(toldAnew(state, { now: 2 * HOUR, wall: at(5).wall }))).toBe(2);
  });

  it("skips what went by while nobody was there, unless it shall be made up for: then once", () => {
    expect(dueHour(startTimer(nightly(), created(-50), at(12)))).toBe(27);
    expect(dueHour(startTimer(nightly("once"), created(-50), at(12)))).toBe(12);
    expect(dueHour(startTimer(nightly("once"), created(-50), at(12), at(3).wall))).toBe(27);
    const made = afterTimerRun(
      nightly("once"),
      startTimer(nightly("once"), created(-50), at(12)),
      { type: "done" },
      12 * HOUR,
      13 * HOUR,
      () => 0.5,
      0,
      at(13).wall,
    );
    expect(dueHour(made)).toBe(27);
  });

  it("has nothing to make up for when its object was made after the time", () => {
    expect(dueHour(startTimer(nightly("once"), created(5), at(12)))).toBe(27);
  });

  it("is tried again after a failure without waiting for the next day", () => {
    const handler = timer({ interval: undefined as never, schedule: "0 3 * * *", backoff: "1m" });
    const failed = afterTimerRun(
      handler,
      startTimer(handler, created(1), at(1)),
      { type: "temporary", delayMs: undefined, message: "no" },
      3 * HOUR,
      3 * HOUR,
      () => 0.5,
      0,
      at(3).wall,
    );
    expect(failed.dueAt).toBe(3 * HOUR + 60_000);
    expect(toldAnew(failed, at(4))).toBe(failed);
  });

  it.each<[Partial<TimerOptions<KubeBody>>, string]>([
    [{ schedule: "61 3 * * *" }, "end of range (61) above maximum (59)"],
    [{ schedule: "0 0 30 2 *" }, '"0 0 30 2 *" never comes'],
    [{ schedule: "0 3 * * *", timeZone: "Mars/Olympus" }, "unknown time zone Mars/Olympus"],
    [{ schedule: "0 3 * * *", interval: "1h" }, 'has no "interval"'],
    [{ missed: "once" }, '"timeZone" and "missed" need a "schedule"'],
  ])("is refused where it makes no sense: %j", (options, message) => {
    expect(() => timer({ interval: undefined as never, ...options })).toThrow(message);
  });
});
