import { applyMergePatch, ConfigError } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type Condition,
  type ConditionChanges,
  type ConditionInput,
  type ConditionStatus,
  ConditionsDraft,
  combineConditionChanges,
  conditionsPatch,
  setConditions,
} from "./conditions.ts";

const now = new Date("2026-02-03T04:05:06.789Z");
const NOW = "2026-02-03T04:05:06Z";
const BEFORE = "2026-01-01T00:00:00Z";

function condition(type: string, status: ConditionStatus, more: Partial<Condition> = {}): Condition {
  return { type, status, reason: "Because", message: "", lastTransitionTime: BEFORE, ...more };
}

const ready: ConditionInput = { type: "Ready", status: true, reason: "AllUp", message: "3 of 3" };

describe("setting conditions", () => {
  it("writes a new one with all that the standard asks for", () => {
    expect(setConditions(undefined, [ready], { now, observedGeneration: 7 })).toEqual([
      {
        type: "Ready",
        status: "True",
        reason: "AllUp",
        message: "3 of 3",
        lastTransitionTime: NOW,
        observedGeneration: 7,
      },
    ]);
  });

  it("leaves the generation out where nobody knows it", () => {
    expect(setConditions(undefined, [ready], { now })[0]).not.toHaveProperty("observedGeneration");
  });

  it("keeps the transition time while the status stays, whatever else changes", () => {
    const existing = [condition("Ready", "True", { observedGeneration: 1 })];
    expect(setConditions(existing, [ready], { now, observedGeneration: 2 })).toEqual([
      condition("Ready", "True", { reason: "AllUp", message: "3 of 3", observedGeneration: 2 }),
    ]);
  });

  it.each<[ConditionStatus, boolean | ConditionStatus, ConditionStatus]>([
    ["True", false, "False"],
    ["False", true, "True"],
    ["True", "Unknown", "Unknown"],
    ["Unknown", "False", "False"],
  ])("moves the transition time from %s to %s", (before, status, after) => {
    const [result] = setConditions([condition("Ready", before)], [{ ...ready, status }], { now });
    expect(result).toMatchObject({ status: after, lastTransitionTime: NOW });
  });

  it("gives a transition time to a condition that lacks one", () => {
    const broken = { type: "Ready", status: "True" } as Condition;
    expect(setConditions([broken], [ready], { now })[0]?.lastTransitionTime).toBe(NOW);
  });

  it("keeps the order, appends new ones, and leaves others' conditions and fields alone", () => {
    const foreign = { ...condition("PodScheduled", "True"), lastProbeTime: null } as Condition;
    const probed = { ...condition("Ready", "False"), lastProbeTime: BEFORE } as Condition;
    const existing = [foreign, probed, condition("Old", "True")];
    const result = setConditions(existing, [{ ...ready, type: "New" }, ready], { now, remove: ["Old"] });
    expect(result.map(({ type }) => type)).toEqual(["PodScheduled", "Ready", "New"]);
    expect(result[0]).toBe(foreign);
    expect(result[1]).toMatchObject({ status: "True", lastProbeTime: BEFORE });
  });

  it("takes the last word about a type, and heals a list that has it twice", () => {
    const twice = [condition("Ready", "False"), condition("Ready", "True")];
    const result = setConditions(twice, [ready, { ...ready, status: false, reason: "Down" }], { now });
    expect(result).toMatchObject([{ status: "False", reason: "Down", lastTransitionTime: BEFORE }]);
    expect(result).toHaveLength(1);
  });

  it("removes what is to be removed and does not mind what is not there", () => {
    expect(setConditions([condition("Ready", "True")], [], { now, remove: ["Ready", "Other"] })).toEqual([]);
  });

  it("refuses to set and remove one type at once", () => {
    expect(() => setConditions([], [ready], { now, remove: ["Ready"] })).toThrow(/to be set and to be removed/);
  });

  it("changes neither its input nor anything in it", () => {
    const existing = Object.freeze([Object.freeze(condition("Ready", "False"))]);
    setConditions(existing, [Object.freeze({ ...ready })], { now, remove: ["X"] });
    expect(existing).toEqual([condition("Ready", "False")]);
  });

  it("is idempotent: saying the same later changes nothing", () => {
    const name = fc.constantFrom("Ready", "Progressing", "Degraded");
    const input = fc.record({ type: name, status: fc.boolean(), reason: fc.constantFrom("A", "B") });
    fc.assert(
      fc.property(fc.array(input), fc.array(input), (first, second) => {
        const before = setConditions(undefined, first, { now: new Date(BEFORE) });
        const after = setConditions(before, second, { now, observedGeneration: 1 });
        const later = { now: new Date("2027-01-01T00:00:00Z"), observedGeneration: 1 };
        expect(setConditions(after, second, later)).toEqual(after);
        expect(new Set(after.map(({ type }) => type)).size).toBe(after.length);
        for (const { type, status, lastTransitionTime } of after) {
          const old = before.find((one) => one.type === type);
          expect(lastTransitionTime).toBe(old?.status === status ? BEFORE : NOW);
        }
      }),
    );
  });
});

describe("a condition that the server would refuse", () => {
  it.each<[string, Partial<ConditionInput>, RegExp]>([
    ["an empty type", { type: "" }, /cannot be the type/],
    ["a type with blanks", { type: "Not Ready" }, /"Not Ready" cannot be the type/],
    ["an empty reason", { reason: "" }, /"" cannot be the reason of the condition "Ready"/],
    ["a sentence as reason", { reason: "all is well" }, /cannot be the reason/],
    ["a reason that begins with a digit", { reason: "3Up" }, /cannot be the reason/],
    ["a reason that ends with a colon", { reason: "Up:" }, /cannot be the reason/],
    ["a reason of 1025 letters", { reason: "R".repeat(1025) }, /cannot be the reason/],
    ["a reason that is no text", { reason: undefined as unknown as string }, /cannot be the reason/],
    ["an unknown status", { status: "true" as ConditionStatus }, /is "true"/],
    ["a negative generation", { observedGeneration: -1 }, /observedGeneration .* is -1/],
  ])("is refused at once: %s", (_, more, message) => {
    const draft = new ConditionsDraft(undefined);
    for (const fails of [
      () => draft.put({ ...ready, ...more }),
      () => setConditions([], [{ ...ready, ...more }], { now }),
    ]) {
      expect(fails).toThrow(ConfigError);
      expect(fails).toThrow(message);
    }
    expect(draft.touched).toBe(false);
  });

  it.each(["A", "AllUp", "A_b", "ReasonA,ReasonB", "a:b_", "R".repeat(1024)])(
    "is not one with the reason %s",
    (reason) => {
      expect(setConditions([], [{ ...ready, reason }], { now })).toHaveLength(1);
    },
  );

  it("is not one with a prefix of its own", () => {
    expect(setConditions([], [{ ...ready, type: "example.com/BackedUp" }], { now })).toHaveLength(1);
  });

  it("has a message that is too long: the message is cut, by bytes and between characters", () => {
    const fits = "x".repeat(32_768);
    expect(setConditions([], [{ ...ready, message: fits }], { now })[0]?.message).toBe(fits);
    const [result] = setConditions([], [{ ...ready, message: `x${"😀".repeat(10_000)}` }], { now });
    expect(Buffer.byteLength(result?.message ?? "")).toBeLessThanOrEqual(32_768);
    expect(result?.message).toMatch(/^x(?:😀)+\.\.\.$/u);
  });
});

describe("the patch for conditions", () => {
  const changes: ConditionChanges = { set: [ready], remove: ["Old"] };

  it("carries the whole list, others' conditions included", () => {
    const existing = [condition("Foreign", "True"), condition("Old", "True")];
    const status = conditionsPatch(existing, changes, { now, observedGeneration: 1 });
    expect(applyMergePatch({ conditions: existing, rate: 1 }, status)).toEqual({
      conditions: setConditions(existing, [ready], { now, observedGeneration: 1, remove: ["Old"] }),
      rate: 1,
    });
  });

  it("is none when nothing changes", () => {
    const existing = [condition("Ready", "True", { reason: "AllUp", message: "3 of 3", observedGeneration: 1 })];
    expect(conditionsPatch(existing, changes, { now, observedGeneration: 1 })).toBeUndefined();
    expect(conditionsPatch(undefined, { set: [], remove: ["Old"] }, { now })).toBeUndefined();
  });

  it("empties the list when the last one goes", () => {
    expect(conditionsPatch([condition("Old", "True")], { set: [], remove: ["Old"] }, { now })).toEqual({
      conditions: [],
    });
  });
});

describe("what a handler says about conditions", () => {
  it("is seen by get, with the transition time only where the status stays", () => {
    const draft = new ConditionsDraft([condition("Ready", "False"), condition("Up", "True"), condition("Old", "True")]);
    draft.set("Ready", true, "AllUp", "3 of 3");
    draft.set("Up", "True", "Checked");
    draft.remove("Old");
    expect(draft.get("Ready")).toEqual({ type: "Ready", status: "True", reason: "AllUp", message: "3 of 3" });
    expect(draft.get("Up")).toEqual(condition("Up", "True", { reason: "Checked" }));
    expect(draft.get("Old")).toBeUndefined();
    expect(draft.get("Never")).toBeUndefined();
  });

  it("is the last word about each type", () => {
    const draft = new ConditionsDraft([condition("Ready", "True")]);
    draft.remove("Ready");
    draft.set("Ready", true, "AllUp");
    draft.set("Busy", true, "Working");
    draft.remove("Busy");
    expect(draft.changes()).toEqual({ set: [{ type: "Ready", status: true, reason: "AllUp" }], remove: ["Busy"] });
    expect(draft.apply({ now })).toEqual([condition("Ready", "True", { reason: "AllUp" })]);
  });

  it("is applied to a newer state, so that others' words meanwhile are kept", () => {
    const draft = new ConditionsDraft([condition("Ready", "False")]);
    draft.set("Ready", true, "AllUp");
    const newer = [
      condition("Foreign", "True"),
      condition("Ready", "True", { lastTransitionTime: "2026-01-15T00:00:00Z" }),
    ];
    expect(draft.apply({ now, observedGeneration: 3, existing: newer })).toEqual([
      newer[0],
      condition("Ready", "True", {
        reason: "AllUp",
        lastTransitionTime: "2026-01-15T00:00:00Z",
        observedGeneration: 3,
      }),
    ]);
  });

  it("is nothing when nothing was said", () => {
    const draft = new ConditionsDraft([condition("Ready", "True")]);
    expect(draft.touched).toBe(false);
    expect(draft.apply({ now })).toEqual([condition("Ready", "True")]);
    draft.remove("Other");
    expect(draft.touched).toBe(true);
  });

  it("adds up over several handlers, the later one winning", () => {
    const first = { set: [ready, { ...ready, type: "Up" }], remove: ["Old"] };
    const second = { set: [{ ...ready, type: "Old" }], remove: ["Up"] };
    const both = combineConditionChanges(first, second);
    expect(both).toEqual({ set: [ready, { ...ready, type: "Old" }], remove: ["Up"] });
    const steps = [first, second].reduce(
      (list, { set, remove }) => setConditions(list, set, { now, remove }),
      [condition("Old", "False")],
    );
    const byType = (list: Condition[]) => Object.fromEntries(list.map((one) => [one.type, one.status]));
    expect(byType(setConditions([condition("Old", "False")], both.set, { now, remove: both.remove }))).toEqual(
      byType(steps),
    );
  });

  it("can be limited to known types", () => {
    const draft = new ConditionsDraft<"Ready" | "Degraded">(undefined);
    expectTypeOf(draft.remove).parameter(0).toEqualTypeOf<"Ready" | "Degraded">();
    expectTypeOf(draft.set).parameter(1).toEqualTypeOf<boolean | ConditionStatus>();
    // @ts-expect-error: not one of the types
    draft.set("Raedy", true, "Typo");
    expect(draft.changes().set).toHaveLength(1);
  });
});
