import { describe, expect, it } from "vitest";
import type { Explanation } from "../../report/index.ts";
import { overviewLines } from "./overview.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");

const lamp = (name: string, rest: Partial<Explanation> = {}): Explanation => ({
  operator: "lights",
  object: { apiVersion: "example.com/v1", kind: "Lamp", namespace: "hall", name, deleting: false },
  state: "waits",
  open: [],
  turns: [],
  ...rest,
});

describe("the overview", () => {
  it("says of each object what it waits for and what happened to it last", () => {
    const ran = [{ handler: "light", runId: "k3x9f-1", outcome: "succeeded" as const, tookMs: 3 }];
    const turn = { at: NOW - 3_000, tookMs: 4, woke: [], version: "1", ran, wrote: [], after: "waits" as const };
    const open = [{ handler: "light", reason: "create", attempts: 2, message: "no bulb" }];
    const going = { ...lamp("old").object, deleting: true };
    const objects = [
      lamp("a", { turns: [turn] }),
      lamp("door", { nextAt: NOW + 90_000, open }),
      lamp("old", { state: "working", object: going }),
    ];
    expect(overviewLines([{ objects, more: 2 }], NOW)).toEqual([
      "Lamp (example.com/v1), 5",
      "  hall/a     waits until something changes, light succeeded 3s ago",
      '  hall/door  due in 1m30s, light is not done after 2 attempts, "no bulb"',
      "  hall/old   is worked on, is being deleted",
      "  and 2 more",
    ]);
  });

  it("leaves out kinds without objects, and says when there are none at all", () => {
    const node = lamp("n", { object: { apiVersion: "v1", kind: "Node", name: "n", deleting: false } });
    expect(
      overviewLines(
        [
          { objects: [], more: 0 },
          { objects: [node], more: 0 },
        ],
        NOW,
      ),
    ).toEqual(["Node (v1), 1", "  n  waits until something changes"]);
    expect(overviewLines([{ objects: [], more: 0 }], NOW)).toEqual(["no objects yet"]);
  });
});
