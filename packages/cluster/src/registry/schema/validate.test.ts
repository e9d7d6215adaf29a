import { describe, expect, test } from "vitest";
import { causeReason, formatFieldError } from "./field-errors.ts";
import { compilePattern } from "./pattern.ts";
import { noReferences, type Schema } from "./types.ts";
import { validateValue } from "./validate.ts";

const spec = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties: { spec: { type: "object", properties, ...more } },
});
const texts = (value: unknown, schema: Schema, old?: unknown) =>
  validateValue(value, schema, old === undefined ? {} : { old }).map(formatFieldError);

describe("each keyword has the server's message", () => {
  test.each<[string, Schema, unknown, string[]]>([
    [
      "minimum",
      { type: "integer", minimum: 1 },
      0,
      ["spec.f: Invalid value: 0: spec.f in body should be greater than or equal to 1"],
    ],
    [
      "exclusive minimum",
      { type: "number", minimum: 1, exclusiveMinimum: true },
      1,
      ["spec.f: Invalid value: 1: spec.f in body should be greater than 1"],
    ],
    [
      "maximum",
      { type: "number", maximum: 1.5 },
      2.5,
      ["spec.f: Invalid value: 2.5: spec.f in body should be less than or equal to 1.5"],
    ],
    [
      "multipleOf",
      { type: "integer", multipleOf: 5 },
      7,
      ["spec.f: Invalid value: 7: spec.f in body should be a multiple of 5"],
    ],
    ["fractions of multipleOf", { type: "number", multipleOf: 0.1 }, 0.3, []],
    ["enum", { type: "string", enum: ["A", "B"] }, "C", ['spec.f: Unsupported value: "C": supported values: "A", "B"']],
    [
      "numbers in an enum",
      { type: "integer", enum: [1, 2] },
      3,
      ['spec.f: Unsupported value: 3: supported values: "1", "2"'],
    ],
    [
      "maxLength",
      { type: "string", maxLength: 5, pattern: "^a$" },
      "bbbbbb",
      ["spec.f: Too long: may not be more than 5 bytes"],
    ],
    ["maxLength in characters", { type: "string", maxLength: 2 }, "😀😀", []],
    [
      "minLength",
      { type: "string", minLength: 2 },
      "a",
      ['spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long'],
    ],
    [
      "pattern",
      { type: "string", pattern: "^[a-z]+$" },
      "A1",
      ["spec.f: Invalid value: \"A1\": spec.f in body should match '^[a-z]+$'"],
    ],
    [
      "maxItems",
      { type: "array", maxItems: 3, items: { type: "integer" } },
      [1, 2, 3, 4],
      ["spec.f: Too many: 4: must have at most 3 items"],
    ],
    [
      "minItems",
      { type: "array", minItems: 1, items: { type: "integer" } },
      [],
      ["spec.f: Invalid value: 0: spec.f in body should have at least 1 items"],
    ],
    [
      "maxProperties",
      { type: "object", maxProperties: 1 },
      { a: 1, b: 2 },
      ["spec.f: Too many: 2: must have at most 1 item"],
    ],
    [
      "minProperties",
      { type: "object", minProperties: 1 },
      {},
      ["spec.f: Invalid value: 0: spec.f in body should have at least 1 properties"],
    ],
    [
      "type",
      { type: "integer" },
      "x",
      ['spec.f: Invalid value: "string": spec.f in body must be of type integer: "string"'],
    ],
    [
      "a fraction for an integer",
      { type: "integer" },
      1.5,
      [
        'spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.f',
      ],
    ],
    ["an integer for a number", { type: "number" }, 1, []],
    [
      "null",
      { type: "string" },
      null,
      ['spec.f: Invalid value: "null": spec.f in body must be of type string: "null"'],
    ],
    ["allowed null", { type: "string", nullable: true }, null, []],
    [
      "int-or-string",
      { "x-kubernetes-int-or-string": true },
      true,
      ['spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean"'],
    ],
    [
      "date-time",
      { type: "string", format: "date-time" },
      "zz",
      ['spec.f: Invalid value: "zz": spec.f in body must be of type date-time: "zz"'],
    ],
    ["an unknown format", { type: "string", format: "whatever" }, "zz", []],
    [
      "int32",
      { type: "integer", format: "int32" },
      2 ** 31,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.f'],
    ],
    [
      "items",
      { type: "array", items: { type: "string" } },
      ["a", 1],
      ['spec.f[1]: Invalid value: "integer": spec.f[1] in body must be of type string: "integer"'],
    ],
    [
      "additionalProperties",
      { type: "object", additionalProperties: { type: "string" } },
      { k: 1 },
      ['spec.f.k: Invalid value: "integer": spec.f.k in body must be of type string: "integer"'],
    ],
    [
      "sets",
      { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      ["a", "a", "a"],
      ['spec.f[1]: Duplicate value: "a"'],
    ],
    [
      "map-like lists",
      {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object" },
      },
      [{ k: "1", v: 1 }, { k: "1" }],
      ['spec.f[1]: Duplicate value: {"k":"1"}'],
    ],
    [
      "anyOf",
      { type: "integer", anyOf: [{ minimum: 5 }, { enum: [1] }] },
      2,
      [
        '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
        "spec.f: Invalid value: 2: spec.f in body should be greater than or equal to 5",
      ],
    ],
    [
      "oneOf",
      { type: "integer", oneOf: [{ minimum: 1 }, { minimum: 2 }] },
      3,
      ['<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      "allOf",
      { type: "integer", allOf: [{ minimum: 5 }] },
      3,
      [
        "spec.f: Invalid value: 3: spec.f in body should be greater than or equal to 5",
        '<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      "not",
      { type: "integer", not: { enum: [3] } },
      3,
      ['<nil>: Invalid value: "": "spec.f" must not validate the schema (not)'],
    ],
  ])("%s", (_, schema, value, expected) => {
    expect(texts({ spec: { f: value } }, spec({ f: schema }))).toEqual(expected);
  });
});

test("a missing required field is named, and its cause has its reason", () => {
  const errors = validateValue({ spec: {} }, spec({ size: { type: "integer" } }, { required: ["size"] }));
  expect(errors.map(formatFieldError)).toEqual(["spec.size: Required value"]);
  expect(errors.map(causeReason)).toEqual(["FieldValueRequired"]);
  expect(texts({}, { type: "object", required: ["spec"] })).toEqual(["spec: Required value"]);
  const typed = validateValue({ spec: 1 }, spec({}));
  expect(typed.map(causeReason)).toEqual(["FieldValueTypeInvalid"]);
});

test("a path moves the field, not the name in the message", () => {
  const errors = validateValue(
    { a: 0 },
    { type: "object", properties: { a: { type: "integer", minimum: 1 } } },
    { path: "x.default" },
  );
  expect(errors.map(formatFieldError)).toEqual([
    "x.default.a: Invalid value: 0: a in body should be greater than or equal to 1",
  ]);
});

describe("an update forgives what was wrong before and did not change", () => {
  const schema = spec({
    size: { type: "integer", minimum: 5 },
    other: { type: "string" },
    plain: { type: "array", items: { type: "integer", minimum: 5 } },
    keyed: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: { type: "string" }, v: { type: "integer", minimum: 5 } } },
    },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
  });

  test("a member", () => {
    expect(texts({ spec: { size: 1, other: "b" } }, schema, { spec: { size: 1, other: "a" } })).toEqual([]);
    expect(texts({ spec: { size: 2 } }, schema, { spec: { size: 1 } })).toHaveLength(1);
  });

  test("an item of a map-like list, by its key", () => {
    const old = { spec: { keyed: [{ k: "a", v: 1 }] } };
    expect(
      texts(
        {
          spec: {
            keyed: [
              { k: "b", v: 9 },
              { k: "a", v: 1 },
            ],
          },
        },
        schema,
        old,
      ),
    ).toEqual([]);
    expect(texts({ spec: { keyed: [{ k: "b", v: 1 }] } }, schema, old)).toHaveLength(1);
  });

  test("a plain list only as a whole", () => {
    const old = { spec: { plain: [1] } };
    expect(texts({ spec: { plain: [1], other: "x" } }, schema, old)).toEqual([]);
    expect(texts({ spec: { plain: [1, 9] } }, schema, old)).toHaveLength(1);
  });

  test("repeated items, when the old value had some", () => {
    expect(texts({ spec: { set: ["a", "a"], other: "x" } }, schema, { spec: { set: ["a", "a"] } })).toEqual([]);
    expect(texts({ spec: { set: ["a", "a"] } }, schema, { spec: { set: ["a"] } })).toHaveLength(1);
  });
});

test.each([
  ["ipv4", "1.2.3.4", "1.2.3"],
  ["ipv6", "::1", ":::1"],
  ["ipv6", "fe80::1:2", "1.2.3.4"],
  ["cidr", "10.0.0.0/8", "10.0.0.0/33"],
  ["cidr", "fd00::/64", "fd00::"],
  ["mac", "aa:bb:cc:dd:ee:ff", "aa:bb"],
  ["uuid", "123e4567-e89b-12d3-a456-426614174000", "123"],
  ["uri", "https://example.com/a", "nothing here"],
  ["uri", "/path", "a%zz:b"],
  ["email", "a@example.com", "a"],
  ["hostname", "a.example.com", "-a.b"],
  ["byte", "aGk=", "a"],
  ["date", "2024-02-29", "2023-02-29"],
  ["date-time", "2024-01-01T10:00:00.5+02:00", "2024-01-01"],
  ["duration", "1h30m", "soon"],
  ["hexcolor", "#fff", "#ff"],
  ["rgbcolor", "rgb(1,2,3)", "rgb(256,0,0)"],
  ["isbn", "978-0321751041", "978-0321751042"],
  ["isbn10", "0321751043", "0321751044"],
  ["creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"],
  ["ssn", "111-22-3333", "11"],
  ["k8s-short-name", "abc", "a.b"],
])("format %s accepts %s and refuses %s", (format, good, bad) => {
  const schema: Schema = { type: "string", format };
  expect(validateValue(good, schema, { resolve: noReferences })).toEqual([]);
  expect(validateValue(bad, schema, { resolve: noReferences })).toHaveLength(1);
});

test("patterns of the server's dialect compile", () => {
  expect(compilePattern("(?i)^abc$")?.test("ABC")).toBe(true);
  expect(compilePattern("^(?P<name>[[:alpha:]]+)\\z")?.test("abc")).toBe(true);
  expect(compilePattern("^\\_a\\-b$")?.test("_a-b")).toBe(true);
  expect(compilePattern("(")).toBeUndefined();
});
