import { describeKind } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { explainObject, hasName } from "./explain.ts";

const MACHINE = describeKind({ group: "example.com", version: "v1", kind: "Machine", shortNames: ["mc"] });
const CLOCK = { now: () => 1_000_000, monotonic: () => 500 };
const ALIVE = { state: "alive" } as const;

describe("hasName", () => {
  it.each(["Machine", "machine", "machines", "mc", "machines.example.com", "MC.example.com"])("knows %s", (name) => {
    expect(hasName(MACHINE, name)).toBe(true);
  });

  it.each(["machin", "machines.other.com", "", "machines."])("does not take %j for the kind", (name) => {
    expect(hasName(MACHINE, name)).toBe(false);
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
