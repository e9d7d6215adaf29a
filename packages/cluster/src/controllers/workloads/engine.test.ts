import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Pace } from "../../registry/index.ts";
import { Store } from "../../store/index.ts";
import type { ControllerContext } from "../controller.ts";
import { slowStart, WorkloadController } from "./engine.ts";
import type { WorkloadApi } from "./workload-api.ts";

const afterPromises = (fn: () => void) => queueMicrotask(() => process.nextTick(fn));

describe("a slow start", () => {
  it("does all of it, in groups that double", async () => {
    const groups: number[][] = [];
    let open: number[] = [];
    await slowStart(10, async (at) => {
      open.push(at);
      await Promise.resolve();
      if (open.length > 0) groups.push(open);
      open = [];
    });
    expect(groups).toEqual([[0], [1, 2], [3, 4, 5, 6], [7, 8, 9]]);
  });

  it("ends with the first group in which something fails", async () => {
    let tries = 0;
    const run = slowStart(100, async () => {
      if (++tries > 2) throw new Error("full");
    });
    await expect(run).rejects.toThrow("full");
    expect(tries).toBe(3);
  });
});

describe("a workload that somebody undoes each time", () => {
  it("is slowed down, so that everybody else gets on", async () => {
    const clock = new VirtualClock();
    const store = new Store({ now: () => clock.monotonic() });
    const pace = new Pace({ clock, defer: (fn) => void setImmediate(fn), afterPromises });
    const context = { backend: { store, clock, pace } } as unknown as ControllerContext;
    let turns = 0;
    const controller = new WorkloadController(context, undefined as unknown as WorkloadApi, {
      table: "things",
      watches: [],
      reconcile: async (key) => {
        turns++;
        const { revision, object } = store.get("things", key) ?? { revision: 0, object: undefined };
        if (object) store.update("things", key, revision, object);
        return undefined;
      },
    });
    controller.start();
    store.create("things", "default/a", { metadata: { name: "a", namespace: "default", resourceVersion: "" } });
    do await new Promise((resolve) => setImmediate(resolve));
    while (!controller.idle);
    expect(turns).toBe(1_000);
    await clock.advance(1_000);
    expect(turns).toBe(2_000);
    controller.stop();
    expect(clock.pending).toBe(0);
  });
});
