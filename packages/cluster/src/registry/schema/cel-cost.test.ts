import { beforeAll, describe, expect, test } from "vitest";
import { type CelEngine, createCelEngine } from "./cel-engine.ts";
import { formatFieldError } from "./field-errors.ts";
import { checkRules } from "./rules.ts";
import type { Schema } from "./types.ts";

let engine: CelEngine;
beforeAll(async () => {
  engine = await createCelEngine();
});

const text = (maxLength?: number): Schema => ({ type: "string", ...(maxLength === undefined ? {} : { maxLength }) });
const list = (items: Schema, maxItems?: number): Schema => ({
  type: "array",
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
});
const spec = (properties: Record<string, Schema>, rule: string, messageExpression?: string): Schema => ({
  type: "object",
  properties,
  "x-kubernetes-validations": [{ rule, ...(messageExpression === undefined ? {} : { messageExpression }) }],
});
const costOf = (schema: Schema): number => {
  const rule = schema["x-kubernetes-validations"]?.[0]?.rule ?? "";
  const compiled = engine.scope(schema, false)?.compile(rule) ?? { error: "unseen" };
  if ("error" in compiled) throw new Error(compiled.error);
  return compiled.cost?.() ?? Number.NaN;
};

/** Expressions with the most that they cost, worked out by hand from the factors of the real server. */
const costs: readonly (readonly [what: string, properties: Record<string, Schema>, rule: string, cost: number])[] = [
  ["two fields and a comparison", { a: text(10), b: text(10) }, "self.a == self.b", 8],
  ["a text that is compared with a short one", { a: text(1000) }, "self.a == 'ab'", 3],
  ["numbers", { a: { type: "integer" } }, "self.a + 1 > 2", 4],
  ["presence", { a: text() }, "has(self.a)", 1],
  ["a loop over a list", { l: list(text(5), 10) }, "self.l.all(x, x != 'a')", 2 + 10 * (3 + 2) + 1],
  ["a search in a list", { l: list(text(5), 10) }, "self.l.exists(x, x == 'a')", 2 + 10 * (4 + 2) + 1],
  ["exactly one in a list", { l: list(text(5), 10) }, "self.l.exists_one(x, x == 'a')", 2 + 10 * (2 + 2) + 2],
  ["a pattern", { a: text(25) }, "self.a.matches('^[a-z]+$')", 2 + 11 * 2],
  ["a substring", { a: text(25) }, "self.a.contains('abcdefghijk')", 2 + 10 * 2],
  ["membership in a list", { l: list(text(5), 10) }, "'a' in self.l", 2 + 10],
  ["a choice of an enumeration", { a: { type: "string", enum: ["a", "bcd"] } }, "self.a == 'bcd'", 3],
];

describe("the cost of an expression", () => {
  test.each(costs)("is known for %s", (_, properties, rule, cost) => {
    expect(costOf(spec(properties, rule))).toBe(cost);
  });

  test("grows with the limits of the schema", () => {
    const nested = (items: number) => costOf(spec({ l: list(text(5), items) }, "self.l.all(x, self.l.all(y, x == y))"));
    expect(nested(20)).toBeGreaterThan(3.5 * nested(10));
    expect(nested(20)).toBeLessThan(4.5 * nested(10));
  });
});

describe("a definition", () => {
  const check = (schema: Schema) =>
    checkRules({ type: "object", properties: { spec: schema } }, engine, "s").map(formatFieldError);
  const field = "s.properties[spec].x-kubernetes-validations[0]";
  const advice =
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

  test("is refused when a rule may cost too much", () => {
    expect(check(spec({ l: list(text()) }, "self.l.all(x, self.l.all(y, x == y))"))).toEqual([
      `${field}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`,
      `${field}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${advice}`,
    ]);
  });

  test("is refused when a message may cost too much", () => {
    const found = check(spec({ n: { type: "integer" } }, "self.n > 1", "'n is ' + string(self.n)"));
    expect(found[0]).toContain(
      `${field}.messageExpression: Forbidden: estimated messageExpression cost exceeds budget`,
    );
  });

  test("counts a rule as often as its place may occur", () => {
    const inList = (maxItems?: number): Schema =>
      spec({ l: list(spec({ a: text(40) }, "self.a.contains('abcdefghijkl')"), maxItems) }, "true");
    expect(check(inList(10))).toEqual([]);
    expect(check(inList())[0]).toMatch(/estimated rule cost exceeds budget by factor of \d+\.\dx/);
  });
});
