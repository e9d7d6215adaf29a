import { describeKind } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { explainObject, isCalled, streamHealth } from "./inspect.ts";

const MACHINE = describeKind({ group: "example.com", version: "v1", kind: "Machine", shortNames: ["mc"] });
const CLOCK = { now: () => 1_000_000, monotonic: () => 500 };
const ALIVE = { state: "alive" } as const;

describe("isCalled", () => {
  it.each(["Machine", "machine", "machines", "mc", "machines.example.com", "MC.example.com"])("knows %s", (name) => {
    expect(isCalled(MACHINE, name)).toBe(true);
  });

  it.each(["machin", "machines.other.com", "", "machines."])("does not take %j for the kind", (name) => {
    expect(isCalled(MACHINE, name)).toBe(false);
  });
});

describe("streamHealth", () => {
  it("says how long a stream has been quiet, and what it waits for", () => {
    const error = Object.assign(new Error("connection refused"), { hint: "start the cluster" });
    const informer = { stream: { phase: "waiting" as const, since: 200, error }, heardAt: 100, size: 4 };
    expect(streamHealth(MACHINE, "team-a", informer, 500)).toEqual({
      kind: "Machine",
      namespace: "team-a",
      phase: "waiting",
      forMs: 300,
      quietMs: 400,
      objects: 4,
      error: "connection refused",
      hint: "start the cluster",
    });
  });

  it("counts a stream that has not begun as listing", () => {
    expect(streamHealth(MACHINE, undefined, { stream: undefined, heardAt: undefined, size: 0 }, 500)).toEqual({
      kind: "Machine",
      phase: "listing",
      forMs: 0,
      quietMs: 0,
      objects: 0,
    });
  });
});

describe("explainObject", () => {
  const body = { metadata: { name: "m", namespace: "a", uid: "1", resourceVersion: "7", generation: 2 } };

  it("names the handlers that are not done, with their steps and when they are tried again", () => {
    const record = {
      uid: "1",
      open: { reason: "update" as const, digest: "x" },
      runs: {
        done: { attempts: 1, started: "2026-01-01T00:00:00Z", outcome: "done" as const },
        flip: {
          attempts: 2,
          started: "2026-01-01T00:00:00Z",
          due: "2026-01-01T00:00:05Z",
          message: "not ready",
          steps: { first: { attempts: 1, outcome: "done" as const }, second: { attempts: 1 } },
        },
      },
    };
    const explained = explainObject(MACHINE, { uid: "1", life: ALIVE, record }, body, undefined, CLOCK);
    expect(explained).toMatchObject({
      state: "waits",
      object: { kind: "Machine", resourceVersion: "7", generation: 2 },
    });
    expect(explained.open).toEqual([
      {
        handler: "flip",
        reason: "update",
        attempts: 2,
        message: "not ready",
        retryAt: "2026-01-01T00:00:05Z",
        steps: ["first"],
      },
    ]);
  });

  it.each([
    [{ is: "running" } as const, "working"],
    [{ is: "ready" } as const, "queued"],
    [undefined, "waits"],
  ])("takes its state from the queue: %j", (queued, state) => {
    const memory = { uid: "1", life: ALIVE, record: undefined };
    expect(explainObject(MACHINE, memory, body, queued, CLOCK)).toMatchObject({ state, open: [] });
  });

  it("tells the wall-clock time of a delay", () => {
    const memory = { uid: "1", life: ALIVE, record: undefined };
    const delayed = { is: "delayed", dueAt: 2_500 } as const;
    expect(explainObject(MACHINE, memory, body, delayed, CLOCK)).toMatchObject({ state: "waits", nextAt: 1_002_000 });
  });
});
