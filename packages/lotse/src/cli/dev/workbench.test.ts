import { describe, expect, it } from "vitest";
import type { Operator, RunningOperator, StartOptions } from "../../operator/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import { Workbench } from "./workbench.ts";

/** An operator that only remembers what was done to it. */
function fakeOperator(name: string, events: string[], start?: Promise<void>): LoadedOperator {
  const operator = {
    name,
    start: ({ crds, retryAtStart }: StartOptions): RunningOperator => {
      events.push(`${name} starts, crds: ${crds}${retryAtStart ? ", retries at once" : ""}`);
      const stopped = start ?? Promise.resolve();
      return {
        ready: stopped,
        stopped,
        kill: async () => {},
        idle: async () => {},
        probe: async () => ({}),
        metrics: () => "",
        health: () => ({ operator: "fixture", phase: "ready" as const, streams: [], missing: [] }),
        explain: () => undefined,
        memory: () => ({ operator: "machines", kinds: [] }),
        retry: () => undefined,
        wake: () => false,
        stop: async () => {
          events.push(`${name} stops`);
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
  } as unknown as Operator;
  return { file: "operator.ts", operator };
}

function benchOf(loads: (() => Promise<readonly LoadedOperator[]>)[]) {
  const broken: string[] = [];
  const bench = new Workbench({
    start: (_operators, again) => () => ({ crds: "install", retryAtStart: again }),
    load: () => loads.shift()?.() ?? Promise.reject(new Error("loaded too often")),
    onBroken: (error, stillRunning) => broken.push(`${(error as Error).message}, still running: ${stillRunning}`),
  });
  return { bench, broken };
}

describe("Workbench", () => {
  it("loads the new operator, then stops the old one, then starts the new one", async () => {
    const events: string[] = [];
    const { bench } = benchOf([
      async () => [fakeOperator("first", events)],
      async () => {
        events.push("loads");
        return [fakeOperator("second", events)];
      },
    ]);
    await bench.reload();
    await bench.reload();
    expect(events).toEqual([
      "first starts, crds: install",
      "loads",
      "first stops",
      "second starts, crds: install, retries at once",
    ]);
  });

  it("stays empty after a broken file, and works again after the next save", async () => {
    const events: string[] = [];
    const { bench, broken } = benchOf([
      () => Promise.reject(new Error("does not compile")),
      async () => [fakeOperator("fixed", events)],
    ]);
    await bench.reload();
    expect(broken).toEqual(["does not compile, still running: false"]);
    expect(bench.state.phase).toBe("broken");
    await bench.reload();
    expect(bench.state.phase).toBe("working");
    expect(events).toEqual(["fixed starts, crds: install"]);
  });

  it("lets the old operator run on while the file is broken, and replaces it when it is mended", async () => {
    const events: string[] = [];
    const { bench, broken } = benchOf([
      async () => [fakeOperator("first", events)],
      () => Promise.reject(new Error("does not compile")),
      async () => [fakeOperator("mended", events)],
    ]);
    await bench.reload();
    await bench.reload();
    expect(broken).toEqual(["does not compile, still running: true"]);
    expect(bench.state).toMatchObject({ phase: "working", operators: [{ operator: { name: "first" } }] });
    expect(events).toEqual(["first starts, crds: install"]);
    await bench.reload();
    expect(events.slice(1)).toEqual(["first stops", "mended starts, crds: install, retries at once"]);
  });

  it("tells when an operator cannot start", async () => {
    const failure = Promise.reject(new Error("no rates today"));
    const { bench, broken } = benchOf([async () => [fakeOperator("failing", [], failure)]]);
    await bench.reload();
    await failure.catch(() => {});
    await Promise.resolve();
    expect(broken).toEqual(["no rates today, still running: false"]);
    expect(bench.state.phase).toBe("broken");
  });

  it("makes one reload of many saves while it is loading", async () => {
    const events: string[] = [];
    let release: () => void = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { bench, broken } = benchOf([
      async () => {
        await slow;
        return [fakeOperator("first", events)];
      },
      async () => [fakeOperator("second", events)],
    ]);
    const all = Promise.all([bench.reload(), bench.reload(), bench.reload()]);
    await Promise.resolve();
    const more = bench.reload();
    release();
    await Promise.all([all, more]);
    expect(events.filter((event) => event.includes("starts"))).toEqual([
      "first starts, crds: install",
      "second starts, crds: install, retries at once",
    ]);
    expect(broken).toEqual([]);
  });

  it("starts nothing once it is closed", async () => {
    const events: string[] = [];
    const { bench } = benchOf([async () => [fakeOperator("late", events)]]);
    const reloading = bench.reload();
    await bench.close();
    await reloading;
    await bench.reload();
    expect(events.filter((event) => event.includes("starts"))).toEqual([]);
    expect(bench.state.phase).toBe("empty");
  });
});
