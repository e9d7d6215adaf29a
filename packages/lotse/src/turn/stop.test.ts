import { describe, expect, it } from "vitest";
import { Aborted } from "../declare/index.ts";
import { Stop } from "./stop.ts";

const why = new Aborted("shutdown", "the operator stops");

describe("a stop", () => {
  it("tells listeners and the signal, once, and the first reason stays", () => {
    const stop = new Stop();
    const heard: unknown[] = [];
    stop.onStop((reason) => heard.push(reason));
    const { signal } = stop;
    stop.stop(why);
    stop.stop(new Aborted("timeout", "later"));
    expect(heard).toEqual([why]);
    expect([signal.aborted, signal.reason, stop.reason]).toEqual([true, why, why]);
  });

  it("gives a signal that is aborted already to whoever asks late", () => {
    const stop = new Stop();
    stop.stop(why);
    expect(stop.signal.reason).toBe(why);
    const heard: unknown[] = [];
    stop.onStop((reason) => heard.push(reason));
    expect(heard).toEqual([why]);
  });

  it("forgets listeners that do not want to hear any more, and gives the same signal to all", () => {
    const stop = new Stop();
    const heard: unknown[] = [];
    stop.onStop((reason) => heard.push(reason))();
    expect(stop.signal).toBe(stop.signal);
    stop.stop(why);
    expect(heard).toEqual([]);
  });
});
