import { describe, expect, it } from "vitest";
import { planBackoff } from "../declare/index.ts";
import { ROW_LIMIT } from "../turn/index.ts";
import { beginRun, endRun, NEW, nextRunAt, type Rhythm, type RunEnd, type Timing, wokenByWrite } from "./due.ts";

const RHYTHM: Rhythm = { backoff: planBackoff({ jitter: 0 }), resyncMs: undefined, rateLimit: undefined };
const DONE: RunEnd = { type: "done", requeueMs: undefined, stale: false };
const STALE: RunEnd = { ...DONE, stale: true };
const FAILED: RunEnd = { type: "failed", delayMs: undefined };
const middle = () => 0.5;

/** A run of no length at `now`. */
function run(timing: Timing, end: RunEnd, now = 0, rhythm = RHYTHM): Timing {
  return endRun(beginRun(timing, now, rhythm.rateLimit), end, now, now, rhythm, middle);
}

describe("the next run", () => {
  const LIMIT = { runs: 2, perMs: 10_000 };
  const idle: Timing = { ...NEW, due: false };
  it.each<[what: string, timing: Timing, limit: typeof LIMIT | undefined, at: number | undefined]>([
    ["of an object that is new is now", NEW, undefined, 1_000],
    ["of one to which nothing happens is never", idle, undefined, undefined],
    ["waits for its time", { ...idle, dueAt: 5_000 }, undefined, 5_000],
    ["may be overdue", { ...idle, dueAt: 500 }, undefined, 500],
    ["does not wait for its time when something happens", { ...idle, due: true, dueAt: 5_000 }, undefined, 1_000],
    ["is held up by a rate limit", { ...idle, due: true, recent: [400, 900] }, LIMIT, 10_400],
    ["is not held up by runs that are long ago", { ...idle, due: true, recent: [-20_000, 900] }, LIMIT, 1_000],
    ["is not held up by too few runs", { ...idle, due: true, recent: [900] }, LIMIT, 1_000],
    ["is held up by the limit only as far as it is due at all", { ...idle, recent: [400, 900] }, LIMIT, undefined],
    ["is the later one of its time and the limit", { ...idle, dueAt: 50_000, recent: [400, 900] }, LIMIT, 50_000],
  ])("%s", (_, timing, limit, at) => {
    expect(nextRunAt(timing, 1_000, limit)).toBe(at);
  });
});

describe("a run", () => {
  it("that begins has looked at what happened before it, and counts for the rate limit as long as that needs it", () => {
    const limit = { runs: 2, perMs: 1_000 };
    const third = beginRun(beginRun(beginRun(NEW, 1, limit), 2, limit), 3, limit);
    expect(third).toMatchObject({ due: false, recent: [2, 3] });
    expect(beginRun(NEW, 1, undefined).recent).toEqual([]);
  });

  it("that is done leaves nothing to do", () => {
    expect(run(NEW, DONE)).toEqual({ ...NEW, due: false });
  });

  it("asks for the next one by requeue, by resync with jitter, or by whichever comes first", () => {
    const resync = { ...RHYTHM, resyncMs: 100_000 };
    expect(run(NEW, { ...DONE, requeueMs: 5_000 }, 1_000).dueAt).toBe(6_000);
    expect(run(NEW, DONE, 1_000, resync).dueAt).toBe(101_000);
    expect(endRun(beginRun(NEW, 0, undefined), DONE, 0, 0, resync, () => 0).dueAt).toBe(90_000);
    expect(run(NEW, { ...DONE, requeueMs: 5_000 }, 1_000, resync).dueAt).toBe(6_000);
    expect(run(NEW, { ...DONE, requeueMs: 500_000 }, 1_000, resync).dueAt).toBe(101_000);
  });

  it("that fails is tried again after longer and longer, or exactly when it says", () => {
    const waits: (number | undefined)[] = [];
    let timing: Timing = NEW;
    for (let now = 0; waits.length < 4; now = timing.dueAt ?? 0) {
      timing = run(timing, FAILED, now);
      waits.push((timing.dueAt ?? 0) - now);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(timing).toMatchObject({ failures: 4, failingSince: 0 });
    expect(run(timing, { type: "failed", delayMs: 7_000 }, 100_000).dueAt).toBe(107_000);
  });

  it("that succeeds ends a row of failures", () => {
    expect(run(run(NEW, FAILED), DONE, 5_000)).toMatchObject({
      failures: 0,
      failingSince: undefined,
      dueAt: undefined,
    });
  });

  it("that is stuck is not tried again before something happens, which it then knows to be a retry", () => {
    const stuck = run(run(NEW, FAILED), { type: "stuck" }, 1_000);
    expect(nextRunAt(stuck, 1_000_000, undefined)).toBeUndefined();
    expect(stuck.failures).toBe(2);
    expect(nextRunAt({ ...stuck, due: true }, 2_000, undefined)).toBe(2_000);
  });

  it("that is stuck is looked at again with the next resync: what it met outside may have changed", () => {
    const resync = { ...RHYTHM, resyncMs: 100_000 };
    expect(run(NEW, { type: "stuck" }, 1_000, resync)).toMatchObject({ dueAt: 101_000, failures: 1 });
  });

  it("that was stopped is still due", () => {
    expect(run(NEW, { type: "aborted" })).toMatchObject({ due: true, failures: 0 });
  });

  it("during which something happened is due again at once, whatever came of it", () => {
    for (const end of [DONE, STALE, FAILED, { type: "stuck" } as const]) {
      const meanwhile = { ...beginRun(NEW, 0, undefined), due: true };
      expect(nextRunAt(endRun(meanwhile, end, 0, 10, RHYTHM, middle), 10, undefined), end.type).toBe(10);
    }
  });

  it("that wakes itself runs again at once, and ever more slowly from a limit on", () => {
    let timing: Timing = NEW;
    const waits: number[] = [];
    for (let at = 0; at < ROW_LIMIT + 30; at++) {
      timing = run(timing, STALE, 1_000);
      waits.push((timing.dueAt ?? 0) - 1_000);
    }
    expect(waits.slice(0, ROW_LIMIT)).toEqual(Array.from({ length: ROW_LIMIT }, () => 0));
    expect(waits.slice(ROW_LIMIT, ROW_LIMIT + 3)).toEqual([200, 400, 800]);
    expect(waits.at(-1)).toBe(300_000);
    // Woken by another client: not its own doing.
    expect(run(run(timing, DONE), STALE).selfWoken).toBe(1);
    expect(endRun({ ...timing, due: true }, STALE, 0, 0, RHYTHM, middle).self).toBe(false);
  });
});

describe("a write of the operator that a reconciler has to look at", () => {
  const idle: Timing = { ...NEW, due: false };

  it("is looked at at once", () => {
    expect(nextRunAt(wokenByWrite(idle, false, 1_000), 1_000, undefined)).toBe(1_000);
    expect(nextRunAt(wokenByWrite(idle, true, 1_000), 1_000, undefined)).toBe(1_000);
    expect(nextRunAt(wokenByWrite({ ...idle, dueAt: 500 }, true, 1_000), 1_000, undefined)).toBe(500);
  });

  it("of other reconcilers is looked at ever more slowly, when one leads to the next without an end", () => {
    let timing: Timing = NEW;
    const waits: number[] = [];
    for (let at = 0; at < ROW_LIMIT + 30; at++) {
      timing = wokenByWrite(run(timing, DONE, 1_000), true, 1_000);
      waits.push((nextRunAt(timing, 1_000, undefined) ?? 0) - 1_000);
    }
    expect(waits.slice(0, ROW_LIMIT)).toEqual(Array.from({ length: ROW_LIMIT }, () => 0));
    expect(waits.slice(ROW_LIMIT, ROW_LIMIT + 3)).toEqual([200, 400, 800]);
    expect(waits.at(-1)).toBe(300_000);
    // A wake by another client need not wait for that, and does not end the row, for it goes on.
    const mixed = { ...timing, due: true };
    expect(nextRunAt(mixed, 1_000, undefined)).toBe(1_000);
    expect(run(mixed, DONE).selfWoken).toBe(timing.selfWoken);
  });

  it("of handlers and timers never slows it down, for those have brakes of their own", () => {
    let timing: Timing = NEW;
    for (let at = 0; at < 100; at++) timing = wokenByWrite(run(timing, DONE, 1_000), false, 1_000);
    expect(nextRunAt(timing, 1_000, undefined)).toBe(1_000);
  });

  it("begins a new row after the old one has come to rest", () => {
    let timing: Timing = NEW;
    for (let change = 0; change < 20; change++) {
      for (let at = 0; at < 3; at++) timing = wokenByWrite(run(timing, DONE, 1_000), true, 1_000);
      timing = { ...run(timing, DONE, 1_000), due: true };
    }
    expect(timing.selfWoken).toBe(3);
  });
});
