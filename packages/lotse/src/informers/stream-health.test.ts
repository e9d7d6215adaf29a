import { describeKind } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { streamHealth } from "./stream-health.ts";

const MACHINE = describeKind({ group: "example.com", version: "v1", kind: "Machine", shortNames: ["mc"] });

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
