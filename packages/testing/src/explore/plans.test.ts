import { expect, test } from "vitest";
import { planId, planRuns } from "./plans.ts";
import { randomFrom } from "./stage.ts";
import type { EventPoint, Trace, WritePoint } from "./trace.ts";

const write = (label: string, order: number, more: Partial<WritePoint> = {}): WritePoint => ({
  label,
  nth: 1,
  step: 1,
  order,
  resource: "configmaps",
  verb: "create",
  subresource: undefined,
  at: 0,
  actor: { apiVersion: "example.com/v1", kind: "Shop", namespace: "default", name: "one" },
  handlers: ["open"],
  deleting: false,
  done: { order: order + 1, status: 201 },
  ...more,
});

const event = (object: string, order: number, more: Partial<EventPoint> = {}): EventPoint => ({
  label: `MODIFIED ${object}`,
  nth: order,
  step: 1,
  order,
  resource: "shops.example.com",
  type: "MODIFIED",
  object,
  own: false,
  ...more,
});

const trace = (more: Partial<Trace>): Trace => ({
  writes: [],
  events: [],
  cached: [],
  steps: 1,
  due: [],
  failed: new Set(),
  externals: [],
  ...more,
});

const idsOf = (given: Partial<Trace>) => planRuns(trace(given), randomFrom(1)).plans.map(planId);

test("to die after a write is to die before the next one, unless the world outside was called in between", () => {
  const writes = [write("create a", 1), write("create b", 5)];
  expect(idsOf({ writes })).toContain("crash before create a");
  expect(idsOf({ writes })).not.toContain("crash before create b");
  expect(idsOf({ writes, externals: [3] })).toContain("crash before create b");
  expect(idsOf({ writes: [write("create a", 1), write("create b", 5, { step: 2 })] })).toContain(
    "crash before create b",
  );
});

test("an event that shows the operator's own write cannot be late", () => {
  const ids = idsOf({ events: [event("a", 1, { own: true }), event("b", 2)] });
  expect(ids).toContain("delay past quiet MODIFIED b #2");
  expect(ids).not.toContain("delay past quiet MODIFIED a");
});

test("only an event that another one of its object follows can be merged", () => {
  const ids = idsOf({ events: [event("a", 1), event("b", 2), event("a", 3)] });
  expect(ids.filter((id) => id.startsWith("coalesce"))).toEqual(["coalesce MODIFIED a"]);
});

test("steps are not skipped after which something is refused", () => {
  const skips = (failed: number[]) =>
    idsOf({ steps: 4, failed: new Set(failed) }).filter((id) => /down during steps (\d) to (?!\1)/.test(id));
  expect(skips([])).toHaveLength(2);
  expect(skips([3])).toEqual([]);
});

test("an object that is on its way out is not deleted once more", () => {
  expect(idsOf({ writes: [write("delete a", 1, { deleting: true })] }).filter((id) => id.startsWith("delete"))).toEqual(
    [],
  );
});

test("each plan has a name of its own, and what is left out is counted", () => {
  const { plans, pruned } = planRuns(
    trace({
      writes: [write("create a", 1), write("create b", 5)],
      events: [event("a", 7)],
      steps: 3,
      cached: ["configmaps"],
    }),
    randomFrom(7),
  );
  expect(new Set(plans.map(planId)).size).toBe(plans.length);
  expect(pruned).toBeGreaterThan(0);
});
