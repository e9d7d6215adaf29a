import { describe, expect, it } from "vitest";
import { leader, peering, shards } from "../../declare/index.ts";
import { checkPrecedence, coordinationFor } from "./precedence-flags.ts";

describe("the coordination of an operator", () => {
  it("is its own where no flag says anything", () => {
    for (const own of [undefined, "alone", "leader", shards(), peering()] as const) {
      expect(coordinationFor(own, {})).toBeUndefined();
    }
  });

  it("is by the peering object that --peering names, for which it waits, with what the operator says of peering", () => {
    expect(coordinationFor("leader", { peering: "ours" })).toEqual({ type: "peering", name: "ours", mandatory: true });
    const own = peering({ name: "theirs", priority: 5, lifetime: "10s", stealth: true });
    expect(coordinationFor(own, { peering: "ours", priority: 7 })).toEqual({
      ...{ type: "peering", name: "ours", mandatory: true },
      ...{ priority: 7, lifetime: "10s", stealth: true },
    });
  });

  it("is none with --standalone", () => {
    for (const own of ["leader", shards(), peering({ mandatory: true })] as const) {
      expect(coordinationFor(own, { standalone: true })).toBe("alone");
    }
    expect(coordinationFor("alone", { standalone: true })).toBeUndefined();
  });

  it("has the priority of --priority, or that of a developer with --dev", () => {
    expect(coordinationFor(peering({ priority: 5 }), { priority: 7 })).toMatchObject({ type: "peering", priority: 7 });
    expect(coordinationFor(peering({ priority: 5 }), { dev: true })).toMatchObject({ type: "peering", priority: 666 });
    expect(coordinationFor(peering(), { dev: true, priority: 1000 })).toMatchObject({ priority: 1000 });
    expect(coordinationFor(leader({ priority: 5 }), { priority: 101 })).toMatchObject({
      type: "leader",
      priority: 101,
    });
  });

  it("is none for a developer beside a Lease: whoever holds it pauses", () => {
    for (const own of ["leader", shards()] as const) expect(coordinationFor(own, { dev: true })).toBe("alone");
  });
});

describe("flags that contradict each other", () => {
  it.each([
    [{ peering: "ours", standalone: true }, "--peering and --standalone exclude each other"],
    [{ coordination: "leader", peering: "ours" }, "--coordination leader and --peering exclude each other"],
    [{ coordination: "shards", standalone: true }, "--coordination shards and --standalone exclude each other"],
  ] as const)("%j are refused", (flags, message) => {
    expect(() => checkPrecedence(flags)).toThrow(message);
  });

  it("are none where only one of them is there", () => {
    for (const flags of [{}, { peering: "ours", dev: true, priority: 5 }, { standalone: true }]) {
      expect(() => checkPrecedence(flags)).not.toThrow();
    }
  });
});
