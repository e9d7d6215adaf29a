import { VirtualClock } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PRIORITY, type Priority } from "./ready.ts";
import { WorkQueue } from "./workqueue.ts";

/** A queue whose work ends when the test says so, and the order in which it began. */
function controlled(concurrency = 1) {
  const clock = new VirtualClock();
  const begun: string[] = [];
  const open = new Map<string, () => void>();
  const queue = new WorkQueue({
    clock,
    concurrency,
    groupOf: (key) => key.split("/")[0] ?? "",
    work: (key) => {
      expect(open.has(key), `${key} is worked on twice at the same time`).toBe(false);
      begun.push(key);
      return new Promise<void>((resolve) => {
        open.set(key, () => {
          open.delete(key);
          resolve();
        });
      });
    },
  });
  const finish = async (key: string) => {
    open.get(key)?.();
    await clock.advance(0);
  };
  const finishAll = async () => {
    for (let guard = 0; open.size > 0 && guard < 10_000; guard++) await finish([...open.keys()][0] as string);
  };
  return { clock, queue, begun, open, finish, finishAll };
}

describe("the work queue", () => {
  it("tells when the work that goes on for a key is done, and at once where none does", async () => {
    const { queue, open, finish } = controlled();
    await queue.done("a/x");
    queue.start();
    queue.add("a/x", PRIORITY.live);
    queue.add("a/x", PRIORITY.live);
    let told = 0;
    void queue.done("a/x").then(() => told++);
    void queue.done("a/x").then(() => told++);
    await Promise.resolve();
    expect(told).toBe(0);
    await finish("a/x");
    // It has begun once more since, which is another work.
    expect([told, open.size]).toEqual([2, 1]);
    await finish("a/x");
    await queue.idle();
  });

  it("runs a key once however often it was added while it waited", async () => {
    const { queue, begun, finishAll } = controlled();
    for (let i = 0; i < 5; i++) queue.add("a/x", PRIORITY.live);
    queue.start();
    await finishAll();
    expect(begun).toEqual(["a/x"]);
  });

  it("runs a key once more when it was added while it was worked on", async () => {
    const { queue, begun, finishAll } = controlled();
    queue.start();
    queue.add("a/x", PRIORITY.live);
    queue.add("a/x", PRIORITY.live);
    queue.add("a/x", PRIORITY.live);
    await finishAll();
    expect(begun).toEqual(["a/x", "a/x"]);
  });

  it("tells how long a key has waited: since it was added or due, not since it was delayed", async () => {
    const clock = new VirtualClock();
    const waits: [string, number][] = [];
    const work = async (key: string, waitedMs: number) => void waits.push([key, waitedMs]);
    const queue = new WorkQueue({ clock, concurrency: 1, groupOf: () => "", work });
    queue.add("early", PRIORITY.live);
    await clock.advance(300);
    queue.add("late", PRIORITY.live);
    await clock.advance(200);
    queue.start();
    await queue.idle();
    queue.addAt("delayed", clock.monotonic() + 5_000);
    await clock.advance(5_000);
    await queue.idle();
    expect(waits).toEqual([
      ["early", 500],
      ["late", 200],
      ["delayed", 0],
    ]);
  });

  it("runs live changes before retries before the backlog before resync", async () => {
    const { queue, begun, finishAll } = controlled();
    queue.add("a/resync", PRIORITY.resync);
    queue.add("a/backlog", PRIORITY.backlog);
    queue.add("a/retry", PRIORITY.retry);
    queue.add("a/live", PRIORITY.live);
    queue.start();
    await finishAll();
    expect(begun).toEqual(["a/live", "a/retry", "a/backlog", "a/resync"]);
  });

  it("raises a waiting key to a higher priority and never lowers it", async () => {
    const { queue, begun, finishAll } = controlled();
    queue.add("a/1", PRIORITY.backlog);
    queue.add("a/2", PRIORITY.backlog);
    queue.add("a/2", PRIORITY.live);
    queue.add("a/2", PRIORITY.resync);
    queue.start();
    await finishAll();
    expect(begun).toEqual(["a/2", "a/1"]);
  });

  it("takes turns over namespaces, so that a noisy one waits behind its own noise", async () => {
    const { queue, begun, finishAll } = controlled();
    for (let i = 0; i < 4; i++) queue.add(`noisy/${i}`, PRIORITY.live);
    queue.add("quiet/1", PRIORITY.live);
    queue.start();
    await finishAll();
    expect(begun.indexOf("quiet/1")).toBe(1);
  });

  it("lets the backlog through now and then while live changes never stop", async () => {
    const { queue, begun, finish } = controlled();
    queue.add("old/1", PRIORITY.backlog);
    queue.start();
    await finish("old/1");
    queue.add("old/2", PRIORITY.live);
    queue.add("old/3", PRIORITY.backlog);
    for (let i = 0; i < 40 && !begun.includes("old/3"); i++) {
      queue.add(`live/${i}`, PRIORITY.live);
      await finish(begun.at(-1) as string);
    }
    expect(begun).toContain("old/3");
  });

  it("wakes a delayed key at its time and not before", async () => {
    const { clock, queue, begun } = controlled();
    queue.start();
    queue.addAt("a/x", 1_000);
    await clock.advance(999);
    expect(begun).toEqual([]);
    await clock.advance(1);
    expect(begun).toEqual(["a/x"]);
  });

  it("keeps the earliest of several delays, and a change now cancels them", async () => {
    const { clock, queue, begun, finishAll } = controlled();
    queue.start();
    queue.addAt("a/x", 5_000);
    queue.addAt("a/x", 1_000);
    queue.addAt("a/x", 9_000);
    queue.addAt("a/y", 2_000);
    queue.add("a/y", PRIORITY.live);
    await finishAll();
    expect(begun).toEqual(["a/y"]);
    await clock.advance(10_000);
    await finishAll();
    await clock.advance(10_000);
    expect(begun).toEqual(["a/y", "a/x"]);
  });

  it("remembers nothing of keys that have nothing to do", async () => {
    const { clock, queue, finishAll } = controlled(4);
    queue.start();
    for (let i = 0; i < 100; i++) queue.add(`a/${i}`, PRIORITY.live);
    queue.addAt("a/later", 1_000);
    await finishAll();
    expect(queue.size).toBe(1);
    await clock.advance(1_000);
    await finishAll();
    expect(queue.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("works on no more keys at the same time than it may", async () => {
    const { queue, open } = controlled(3);
    queue.start();
    for (let i = 0; i < 10; i++) queue.add(`a/${i}`, PRIORITY.live);
    expect(open.size).toBe(3);
  });

  it("resolves close when the running work is done and drops what waits", async () => {
    const { queue, begun, finish } = controlled();
    queue.start();
    queue.add("a/1", PRIORITY.live);
    queue.add("a/2", PRIORITY.live);
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await Promise.resolve();
    expect(closed).toBe(false);
    await finish("a/1");
    await closing;
    expect(begun).toEqual(["a/1"]);
    expect(queue.size).toBe(0);
  });

  // Invariants: (1) never two runs of a key at once (checked in `work`); (2) never more than the limit; (3) a key added
  // at any time is run after that time; (4) a delayed key is run at or after its time; (5) nothing is left at the end.
  it("keeps its invariants whatever is done to it", async () => {
    const key = fc.constantFrom("a/1", "a/2", "b/1", "b/2", "c/1");
    const action = fc.oneof(
      fc.record({ do: fc.constant("add" as const), key, priority: fc.constantFrom<Priority>(0, 1, 2, 3) }),
      fc.record({ do: fc.constant("delay" as const), key, ms: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ do: fc.constant("finish" as const), key }),
      fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 30 }) }),
      fc.record({ do: fc.constantFrom("pause" as const, "start" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (actions, limit) => {
        const { clock, queue, begun, open, finish, finishAll } = controlled(limit);
        /** For each key: how many runs had begun when it was last asked for, and when it had to run at the earliest. */
        const owed = new Map<string, number>();
        const runsOf = (name: string) => begun.filter((item) => item === name).length;
        queue.start();
        for (const step of actions) {
          if (step.do === "add") {
            owed.set(step.key, runsOf(step.key));
            queue.add(step.key, step.priority);
            // Nothing was running and the queue was open: it may have begun inside `add`.
            if (open.has(step.key) && runsOf(step.key) > (owed.get(step.key) ?? 0)) owed.delete(step.key);
          } else if (step.do === "delay") {
            queue.addAt(step.key, clock.monotonic() + step.ms);
          } else if (step.do === "finish") await finish(step.key);
          else if (step.do === "advance") await clock.advance(step.ms);
          else if (step.do === "pause") queue.pause();
          else queue.start();
          expect(open.size).toBeLessThanOrEqual(limit);
        }
        queue.start();
        for (let round = 0; round < 5; round++) {
          await finishAll();
          await clock.advance(100);
        }
        for (const [name, before] of owed) expect(runsOf(name), name).toBeGreaterThan(before);
        expect(queue.size).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
