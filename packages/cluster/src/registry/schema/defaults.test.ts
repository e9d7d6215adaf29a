import { expect, test } from "vitest";
import { applyDefaults } from "./defaults.ts";
import { noReferences, type Schema } from "./types.ts";

const schema: Schema = {
  type: "object",
  properties: {
    mode: { type: "string", default: "A" },
    nul: { type: "string", nullable: true, default: "x" },
    bare: { type: "string" },
    nullableBare: { type: "string", nullable: true },
    nested: { type: "object", default: {}, properties: { deep: { type: "integer", default: 3 } } },
    quiet: { type: "object", properties: { deep: { type: "integer", default: 4 } } },
    list: { type: "array", items: { type: "object", properties: { p: { type: "string", default: "TCP" } } } },
    map: {
      type: "object",
      additionalProperties: { type: "object", properties: { q: { type: "integer", default: 1 } } },
    },
  },
};

test("absent members get their defaults, also inside an object that is a default itself", () => {
  expect(applyDefaults({}, schema, noReferences)).toEqual({ mode: "A", nul: "x", nested: { deep: 3 } });
});

test("an absent object without a default stays absent, a present one is filled", () => {
  expect(applyDefaults({ quiet: {} }, schema, noReferences)).toMatchObject({ quiet: { deep: 4 } });
});

test("null becomes the default, goes away without one, and stays where it is allowed", () => {
  const value = { mode: null, nul: null, bare: null, nullableBare: null, unknown: null };
  expect(applyDefaults(value, schema, noReferences)).toEqual({
    mode: "A",
    nul: null,
    nullableBare: null,
    unknown: null,
    nested: { deep: 3 },
  });
  expect(value.mode).toBeNull();
});

test("items and values of maps are filled", () => {
  const value = { list: [{}, { p: "UDP" }], map: { k: {} } };
  expect(applyDefaults(value, schema, noReferences)).toMatchObject({
    list: [{ p: "TCP" }, { p: "UDP" }],
    map: { k: { q: 1 } },
  });
});

test("two objects never share a default, and a complete value is returned as it is", () => {
  const a = applyDefaults<{ nested?: object }>({}, schema, noReferences);
  const b = applyDefaults<{ nested?: object }>({}, schema, noReferences);
  expect(a.nested).not.toBe(b.nested);
  expect(applyDefaults(a, schema, noReferences)).toBe(a);
});
