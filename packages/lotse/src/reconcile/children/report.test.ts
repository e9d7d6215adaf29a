import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conditionType } from "./report.ts";

describe("the condition of a child", () => {
  it.each([
    ["configmap/settings", "child.lotse.dev/configmap.settings"],
    ["dns", "child.lotse.dev/dns"],
    ["deployment/my_app-1.2", "child.lotse.dev/deployment.my_app-1.2"],
    ["two words", "child.lotse.dev/two.words-a03f1d61"],
    ["/", "child.lotse.dev/child-8a5edab2"],
  ])("%s is called %s", (key, type) => {
    expect(conditionType(key)).toBe(type);
  });

  it("is a name that the server takes, another one for each key", () => {
    const key = fc.oneof(
      fc.string({ minLength: 1, maxLength: 90 }),
      fc.stringMatching(/^[a-z]{1,12}\/[a-z0-9.-]{1,80}$/),
    );
    fc.assert(
      fc.property(key, key, (one, other) => {
        const type = conditionType(one);
        expect(type).toMatch(/^child\.lotse\.dev\/[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/);
        // A slash and a dot look alike in names that are otherwise fine.
        if (one.replaceAll("/", ".") !== other.replaceAll("/", ".")) expect(conditionType(other)).not.toBe(type);
      }),
      { numRuns: 1_000 },
    );
  });
});
