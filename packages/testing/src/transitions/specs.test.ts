import { describe, expect, test } from "vitest";
import { drawOrder, firstSpecs, forbiddenSpecs, neighbours } from "./specs.ts";

const SCHEMA = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 0, maximum: 9 },
    mode: { type: "string", enum: ["fast", "slow"] },
    names: { type: "array", maxItems: 3, items: { type: "string", pattern: "^[a-z]{1,4}$" } },
    limits: { type: "object", additionalProperties: { type: "integer" } },
  },
} as const;

const [base = {}] = firstSpecs(SCHEMA, 1);

test("the first spec says everything that can be said, and nothing extreme", () => {
  expect(base).toMatchObject({ size: 2, mode: "fast", limits: { alpha: 2, bravo: 3 } });
  expect(base.names).toHaveLength(2);
});

describe("neighbours", () => {
  const all = neighbours(base, SCHEMA, 1).map((spec) => JSON.stringify(spec));
  const has = (part: string) => all.some((spec) => spec.includes(part));

  test("are at the bounds, without what is optional, and at every choice", () => {
    expect(has('"size":0')).toBe(true);
    expect(has('"size":9')).toBe(true);
    expect(has('"mode":"slow"')).toBe(true);
    expect(all.some((spec) => !spec.includes("mode"))).toBe(true);
    expect(all.every((spec) => spec.includes("size"))).toBe(true);
  });

  test("have lists that are empty, shorter, longer, in another order, and maps with other keys", () => {
    const [one, other] = base.names as string[];
    expect(has('"names":[]')).toBe(true);
    expect(has(`"names":["${one}"]`)).toBe(true);
    expect(has(`"names":["${other}","${one}"]`)).toBe(true);
    expect(has(`"names":["${one}","${other}","`)).toBe(true);
    expect(has('"limits":{"renamed":2,"bravo":3}')).toBe(true);
    expect(has('"limits":{"bravo":3}')).toBe(true);
  });

  test("are the same for the same seed, in the same order", () => {
    expect(neighbours(base, SCHEMA, 1).map((spec) => JSON.stringify(spec))).toEqual(all);
    expect(drawOrder(all, 3)).toEqual(drawOrder(all, 3));
    expect(drawOrder(all, 3)).not.toEqual(drawOrder(all, 4));
    expect(drawOrder(all, 3).toSorted()).toEqual(all.toSorted());
  });
});

test("forbidden specs are told with what is wrong", () => {
  expect(forbiddenSpecs(base, SCHEMA).map(({ what }) => what)).toEqual([
    "size is below its minimum",
    "size is above its maximum",
    "size is a text",
    "size is missing",
    "mode is none of the choices",
    "mode is a number",
    "names has too many items",
  ]);
});
