import { describe, expect, it } from "vitest";
import { ConfigError } from "../meta/index.ts";
import { defineKind } from "./define-kind.ts";
import { parseCondition } from "./wait-condition.ts";

const Widget = defineKind({ group: "example.com", version: "v1", kind: "Widget" });

const holds = (condition: string, status: object, generation = 1) =>
  parseCondition(condition).holds(new Widget({ metadata: { name: "w", generation }, status }));

const conditions = (...list: object[]) => ({ conditions: list });

describe("a condition to wait for", () => {
  it("may be a condition of the status, true unless another value is asked for", () => {
    const ready = conditions({ type: "Ready", status: "True" });
    expect(holds("condition=Ready", ready)).toBe(true);
    expect(holds("condition=ready", ready)).toBe(true);
    expect(holds("condition=Ready=true", ready)).toBe(true);
    expect(holds("condition=Ready=False", ready)).toBe(false);
    expect(holds("condition=Ready=false", conditions({ type: "Ready", status: "False" }))).toBe(true);
    expect(holds("condition=Ready=unknown", conditions({ type: "Ready", status: "Unknown" }))).toBe(true);
    expect(holds("condition=Ready", {})).toBe(false);
    expect(holds("condition=Ready", conditions())).toBe(false);
  });

  it("does not hold while it is about an older generation", () => {
    const old = conditions({ type: "Ready", status: "True", observedGeneration: 1 });
    expect(holds("condition=Ready", old, 1)).toBe(true);
    expect(holds("condition=Ready", old, 2)).toBe(false);
    expect(
      holds("condition=Ready", { observedGeneration: 1, ...conditions({ type: "Ready", status: "True" }) }, 2),
    ).toBe(false);
  });

  it.each([
    ["jsonpath={.status.phase}=Running", true],
    ["jsonpath='{.status.phase}'=Running", true],
    ["jsonpath='{.status.phase}'='Running'", true],
    ["jsonpath={.status.phase}=Failed", false],
    ["jsonpath=.status.phase=Running", true],
    ["jsonpath={.status.replicas}=3", true],
    ["jsonpath={.status.ready}=false", true],
    ["jsonpath={.status.ip}", true],
    ["jsonpath={.status.absent}", false],
    ["jsonpath={.status.absent}=x", false],
    ['jsonpath={.status.conditions[?(@.type=="Ready")].status}=True', true],
    ["jsonpath={.status.conditions[*].type}=Ready", false],
    [`jsonpath='{.status.conditions[?(@.type=="Ready")].status}'=True`, true],
    ["jsonpath='{.status.loadBalancer.ingress}'", true],
    ["jsonpath='{.status.loadBalancer.nobody}'", false],
  ])("reads %s (%s)", (condition, expected) => {
    const status = {
      phase: "Running",
      replicas: 3,
      ready: false,
      ip: "10.0.0.1",
      loadBalancer: { ingress: [{ ip: "192.0.2.1" }] },
      conditions: [
        { type: "Ready", status: "True" },
        { type: "Other", status: "False" },
      ],
    };
    expect(holds(condition, status)).toBe(expected);
  });

  it("may be the existence, the absence, or a predicate", () => {
    const object = new Widget({ metadata: { name: "w" } });
    expect(parseCondition("create").holds(object)).toBe(true);
    expect(parseCondition("create").holds(undefined)).toBe(false);
    expect(parseCondition("delete").holds(undefined)).toBe(true);
    expect(parseCondition("delete").holds(object)).toBe(false);
    const named = parseCondition(({ name }) => name === "w");
    expect(named.holds(object)).toBe(true);
    expect(named.holds(undefined)).toBe(false);
  });

  it.each(["", "ready", "condition=", "jsonpath=", "exists", "Delete"])("is not %j", (text) => {
    expect(() => parseCondition(text)).toThrow(ConfigError);
  });
});
