import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Pace, type PaceOptions } from "./pace.ts";

const afterPromises = (fn: () => void) => queueMicrotask(() => process.nextTick(fn));
const macrotask = () => new Promise((resolve) => setImmediate(resolve));

/** An event loop of which a test takes the turns. */
class Loop {
  readonly clock = new VirtualClock();
  readonly #deferred: (() => void)[] = [];
  readonly pace: Pace;

  constructor(options: Partial<PaceOptions> = {}) {
    const defer = (fn: () => void) => void this.#deferred.push(fn);
    this.pace = new Pace({ clock: this.clock, defer, afterPromises, ...options });
  }

  /** One turn: everything that was deferred, and all promises that settle by it. */
  async turn(): Promise<void> {
    await macrotask();
    for (const fn of this.#deferred.splice(0)) fn();
    await macrotask();
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
    expect(done).toEqual(["a"]);
    await macrotask();
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
    await macrotask();
    expect(done).toEqual(["a", "a", "b", "a"]);
    await loop.turn();
    expect(done).toEqual(["a", "a", "b", "a", "b", "b"]);
    expect(loop.pace.most).toBe(4);
  });

  it("lets others have it when the time is up, also where many ask before any of them has begun", async () => {
    let now = 0;
    const clock = { now: () => now, monotonic: () => now, after: () => () => {} };
    const loop = new Loop({ clock, budgetMs: 6 });
    let done = 0;
    // Each asks at once, and works a few promises later.
    const work = async () => {
      await loop.pace.rest();
      for (let at = 0; at < 20; at++) await undefined;
      now += 4;
      done++;
    };
    for (let at = 0; at < 10; at++) void work();
    await macrotask();
    expect(done).toBe(2);
    // What requests brought in was done in the turn that goes on here: more than its time is used up.
    const began = now;
    await loop.turn();
    expect(now - began).toBe(4);
    for (let turn = 2; turn < 5; turn++) {
      const began = now;
      await loop.turn();
      expect(now - began).toBe(8);
    }
    await loop.turn();
    expect(done).toBe(10);
    expect(loop.pace.longest).toBe(12);
  });

  it("takes turns in the order of arrival, as many of those who wait to a turn as it takes", async () => {
    const loop = new Loop({ pieces: 1 });
    const done: string[] = [];
    for (const name of ["a", "b", "c"]) void loop.work(name, 2, done);
    for (let at = 0; at < 5; at++) {
      expect(done).toHaveLength(at + 1);
      await loop.turn();
    }
    expect(done).toEqual(["a", "a", "b", "c", "b", "c"]);
  });

  it("takes one piece in each turn while connections wait to be taken", async () => {
    let waiting = 0;
    const loop = new Loop({ pieces: 4, crowded: () => waiting > 0 });
    const done: string[] = [];
    waiting = 2;
    void loop.work("a", 8, done);
    await macrotask();
    expect(done).toHaveLength(1);
    await loop.turn();
    expect(done).toHaveLength(2);
    waiting = 0;
    await loop.turn();
    expect(done).toHaveLength(6);
  });

  it("is done before virtual time goes on", async () => {
    const loop = new Loop({ pieces: 1, defer: (fn) => void setImmediate(fn) });
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
