import { describe, expect, it } from "vitest";
import type { Begun } from "./order.ts";
import { type Evidence, judge, type Mark, type SeenVersion } from "./verdict.ts";

const begun = (run: string, change: number, by = "a", reign = 1): Begun => ({ run, change, by, reign, uid: "u" });
const order = (version: number, wanted: number, mark?: Mark): SeenVersion => ({
  uid: "u",
  name: "order",
  version: String(version),
  wanted,
  mark,
});
const mark = (run: string, change: number, by = "a"): Mark => ({ run, change, by });
const leases = [
  { version: "5", holder: "a" },
  { version: "50", holder: "b" },
];
const nothing: Evidence = { begun: [], orders: [], receipts: [], leases };

describe("the verdict over replicas", () => {
  it("finds nothing where each change was handled once, by whoever held the Lease", () => {
    const evidence = {
      ...nothing,
      begun: [begun("r1", 1), begun("r2", 2), begun("r3", 2, "b")],
      orders: [order(9, 1), order(10, 1, mark("r1", 1)), order(11, 2, mark("r1", 1)), order(60, 2, mark("r3", 2, "b"))],
      receipts: [order(10, 1, mark("r1", 1)), order(12, 1, mark("r2", 2)), order(59, 1, mark("r3", 2, "b"))],
    };
    expect(judge(evidence)).toEqual({ doubled: [], backwards: [], unowned: [], lost: [] });
  });

  it("tells of a handler that one holder of the Lease has called twice for a change", () => {
    const twice = [begun("r1", 1), begun("r2", 1)];
    expect(judge({ ...nothing, begun: twice }).doubled).toHaveLength(1);
    expect(judge({ ...nothing, begun: [begun("r1", 1), begun("r2", 1, "a", 2)] }).doubled).toEqual([]);
  });

  it("tells of a handler that was called for what another one had handled", () => {
    const again = [begun("r1", 1), begun("r2", 1, "b")];
    const orders = [order(10, 1, mark("r1", 1))];
    expect(judge({ ...nothing, begun: again, orders }).doubled).toHaveLength(1);
  });

  it("tells of a result that landed after that of a newer change", () => {
    const orders = [order(10, 2, mark("r2", 2)), order(11, 2, mark("r1", 1)), order(12, 2, mark("r3", 2))];
    expect(judge({ ...nothing, orders }).backwards).toEqual(["order, version 11: 1 by a after 2 by a"]);
  });

  it("tells of writes by those who did not hold the Lease when they landed", () => {
    const receipts = [order(4, 1, mark("r0", 0)), order(49, 1, mark("r1", 1)), order(51, 1, mark("r2", 2))];
    expect(judge({ ...nothing, receipts }).unowned).toEqual([
      "order, version 4: written by a while nobody held the Lease",
      "order, version 51: written by a while b held the Lease",
    ]);
  });

  it("tells of changes that nobody has handled", () => {
    expect(judge({ ...nothing, orders: [order(10, 1, mark("r1", 1)), order(11, 2, mark("r1", 1))] }).lost).toEqual([
      "order: 2 is wanted, and 1 is handled",
    ]);
  });
});
