import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { type Backend, Pace, StatusError, Troubles } from "../registry/index.ts";
import { WorkQueue } from "./controller.ts";

const afterPromises = (fn: () => void) => queueMicrotask(() => process.nextTick(fn));
const macrotask = () => new Promise((resolve) => setImmediate(resolve));

function newBackend(tell: (text: string) => void = () => {}): Backend {
  const clock = new VirtualClock();
  return {
    clock,
    troubles: new Troubles({ clock, tell }),
    pace: new Pace({ clock, defer: (fn) => void setImmediate(fn), afterPromises }),
  } as unknown as Backend;
}

async function settled(queue: WorkQueue): Promise<void> {
  do await macrotask();
  while (!queue.idle);
}

describe("a controller's queue", () => {
  it("lets a request in between, however many keys wait", async () => {
    const done: string[] = [];
    const queue = new WorkQueue(newBackend(), "a test", async (key) => void done.push(key));
    for (let at = 0; at < 1_000; at++) queue.add(`k${at}`);
    await macrotask();
    expect(done.length).toBeLessThanOrEqual(17);
    await settled(queue);
    expect(done).toHaveLength(1_000);
    expect(done[999]).toBe("k999");
  });

  it("looks at N objects a few times, not N times, when all of them change", async () => {
    for (const size of [500, 4_000]) {
      let looked = 0;
      const backend = newBackend();
      const work = async () => {
        looked += size;
      };
      const queue = new WorkQueue(backend, "a test", work, { weigh: () => size });
      // Others are at work all the time, so that no moment is quiet.
      let changes = 0;
      const others = new WorkQueue(backend, "a test", async () => {
        changes++;
        queue.wake("set");
      });
      for (let at = 0; at < size; at++) others.add(`pod-${at}`);
      await settled(others);
      await settled(queue);
      expect(changes).toBe(size);
      expect(looked / size).toBeLessThanOrEqual(8 + size / 64 / 2 + 1);
      expect(looked / size).toBeGreaterThan(0);
    }
  });

  it("looks at once when the object itself has changed, or when there is nothing else to do", async () => {
    const done: string[] = [];
    const queue = new WorkQueue(newBackend(), "a test", async (key) => void done.push(key), { weigh: () => 1_000 });
    queue.wake("a");
    expect(queue.idle).toBe(false);
    await Promise.resolve();
    expect(done).toEqual([]);
    await settled(queue);
    expect(done).toEqual(["a"]);
    queue.wake("a");
    queue.add("a");
    await Promise.resolve();
    await Promise.resolve();
    expect(done).toEqual(["a", "a"]);
    await settled(queue);
    expect(done).toEqual(["a", "a"]);
  });

  it("tells people that work failed, once a minute, and tries it again each second", async () => {
    const told: string[] = [];
    const backend = newBackend((text) => void told.push(text));
    const clock = backend.clock as VirtualClock;
    let tries = 0;
    const queue = new WorkQueue(backend, "the controller of tests", async () => {
      tries++;
      throw new StatusError({ code: 403, message: "no" });
    });
    queue.add("pods\ndefault/a");
    await settled(queue);
    expect(told).toEqual(["the controller of tests failed at pods default/a: no"]);
    for (let second = 0; second < 61; second++) {
      await clock.advance(1_000);
      await settled(queue);
    }
    expect([tries, told.length]).toEqual([62, 2]);
    queue.stop();
  });

  it("forgets what it put off when it is stopped", async () => {
    const backend = newBackend();
    const queue = new WorkQueue(backend, "a test", async () => {}, { weigh: () => 1_000 });
    queue.wake("a");
    queue.stop();
    expect(queue.idle).toBe(true);
    expect((backend.clock as VirtualClock).pending).toBe(0);
  });
});
