import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Pace, type PaceOptions } from "./pace.ts";

/** An event loop of which a test takes the turns. */
class Loop {
  readonly clock = new VirtualClock();
  readonly #deferred: (() => void)[] = [];
  readonly pace: Pace;

  constructor(options: Partial<PaceOptions> = {}) {
    this.pace = new Pace({ clock: this.clock, defer: (fn) => void this.#deferred.push(fn), ...options });
  }

  /** One turn: everything that was deferred, and all promises that settle by it. */
  async turn(): Promise<void> {
    for (const fn of this.#deferred.splice(0)) fn();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Does pieces of work as a controller does; tells each. */
  async work(name: string, pieces: number, done: string[]): Promise<void> {
    for (let at = 0; at < pieces; at++) {
      const rest = this.pace.rest();
      if (rest) await rest;
      done.push(name);
    }
  }
}

describe("work that the server does by itself", () => {
  it("goes on at once while it is little", async () => {
    const loop = new Loop({ pieces: 4 });
    const done: string[] = [];
    void loop.work("a", 4, done);
    expect(done).toEqual(["a", "a", "a", "a"]);
    await loop.turn();
    void loop.work("b", 1, done);
    expect(done.at(-1)).toBe("b");
  });

  it("lets others have the event loop after so many pieces, however many share it", async () => {
    const loop = new Loop({ pieces: 4 });
    const done: string[] = [];
    void loop.work("a", 3, done);
    void loop.work("b", 3, done);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual(["a", "a", "a", "b"]);
    await loop.turn();
    await loop.turn();
    expect(done).toEqual(["a", "a", "a", "b", "b", "b"]);
    expect(loop.pace.most).toBe(4);
  });

  it("lets others have it when the time is up", async () => {
    let now = 0;
    const clock = { now: () => now, monotonic: () => now, after: () => () => {} };
    const loop = new Loop({ clock, budgetMs: 6 });
    const done: string[] = [];
    void loop.work("a", 2, done);
    now = 5;
    void loop.work("b", 1, done);
    now = 6;
    void loop.work("c", 1, done);
    expect(done).toEqual(["a", "a", "b"]);
    await loop.turn();
    expect(done).toEqual(["a", "a", "b", "c"]);
  });

  it("is admitted by what it has cost before, where many ask before any of them has begun", async () => {
    let now = 0;
    const clock = { now: () => now, monotonic: () => now, after: () => () => {} };
    const loop = new Loop({ clock, budgetMs: 6 });
    const turns: number[] = [];
    for (let turn = 0; turn < 40; turn++) {
      const began = now;
      // Each says that it would work, and works a little later.
      for (let at = 0; at < 10; at++) {
        void Promise.resolve(loop.pace.rest()).then(() => {
          now += 3;
        });
      }
      await new Promise((resolve) => setImmediate(resolve));
      turns.push(now - began);
      for (let at = 0; at <= 10; at++) await loop.turn();
    }
    expect(turns[0]).toBe(30);
    expect(Math.max(...turns.slice(10))).toBeLessThanOrEqual(6);
    expect(Math.min(...turns.slice(10))).toBeGreaterThan(0);
  });

  it("takes turns in the order of arrival, one of those who wait to a turn", async () => {
    const loop = new Loop({ pieces: 1 });
    const done: string[] = [];
    for (const name of ["a", "b", "c"]) void loop.work(name, 2, done);
    for (let at = 0; at < 5; at++) {
      expect(done).toHaveLength(at + 1);
      await loop.turn();
    }
    expect(done).toEqual(["a", "a", "b", "c", "b", "c"]);
  });

  it("is done before virtual time goes on", async () => {
    const loop = new Loop({ pieces: 1 });
    const done: string[] = [];
    loop.clock.after(1, () => done.push("later"));
    void loop.work("a", 5, done);
    await loop.clock.advance(1);
    expect(done).toEqual(["a", "a", "a", "a", "a", "later"]);
    expect(loop.clock.pending).toBe(0);
  });

  it("waits for a quiet moment where it can, but not for ever", async () => {
    const loop = new Loop({ pieces: 1, patience: 4 });
    const done: string[] = [];
    void loop.work("a", 3, done);
    loop.pace.whenQuiet(() => done.push("quiet"));
    for (let at = 0; at < 3; at++) await loop.turn();
    expect(done).toEqual(["a", "a", "a", "quiet"]);
    void loop.work("b", 20, done);
    loop.pace.whenQuiet(() => done.push("impatient"));
    const cancel = loop.pace.whenQuiet(() => done.push("taken back"));
    cancel();
    for (let at = 0; at < 30; at++) await loop.turn();
    expect(done.slice(4)).toEqual(["b", "b", "b", "impatient", ...Array.from({ length: 17 }, () => "b")]);
  });

  it("waits for as many quiet moments as it asks for, wherever they are", async () => {
    const loop = new Loop({ pieces: 1 });
    const done: string[] = [];
    loop.pace.whenQuiet(() => done.push("dear"), { quiet: 3, turns: 1_000 });
    loop.pace.whenQuiet(() => done.push("cheap"));
    await loop.turn();
    expect(done).toEqual(["cheap"]);
    void loop.work("a", 5, done);
    for (let at = 0; at < 6; at++) await loop.turn();
    expect(done.filter((name) => name === "a")).toHaveLength(5);
    expect(done).not.toContain("dear");
    for (let at = 0; at < 2; at++) await loop.turn();
    expect(done.at(-1)).toBe("dear");
    expect(loop.clock.pending).toBe(0);
  });

  it("ends with the cluster, and leaves nothing behind", async () => {
    const loop = new Loop({ pieces: 1 });
    const done: string[] = [];
    const work = loop.work("a", 3, done);
    loop.pace.whenQuiet(() => done.push("quiet"));
    loop.pace.stop();
    await expect(work).rejects.toThrow("the cluster is being stopped");
    await expect(loop.work("b", 1, done)).rejects.toThrow("the cluster is being stopped");
    await loop.turn();
    expect(done).toEqual(["a"]);
    expect(loop.clock.pending).toBe(0);
  });
});
