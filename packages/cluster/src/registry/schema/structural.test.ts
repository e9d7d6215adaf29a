import { describe, expect, test } from "vitest";
import { formatFieldError } from "./field-errors.ts";
import { checkStructural } from "./structural.ts";
import type { Schema } from "./types.ts";

const check = (schema: Schema) => checkStructural(schema, { path: "s" }).map(formatFieldError);
const root = (field: Schema): Schema => ({
  type: "object",
  properties: { spec: { type: "object", properties: { f: field } } },
});
const f = "s.properties[spec].properties[f]";

test("a good schema has no errors", () => {
  const schema: Schema = {
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object", properties: { name: { type: "string", pattern: "^a" } } },
      spec: {
        type: "object",
        default: {},
        properties: {
          port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
          size: { type: "integer", default: 1, minimum: 1, allOf: [{ maximum: 10 }] },
          any: { "x-kubernetes-preserve-unknown-fields": true },
          labels: { type: "object", additionalProperties: { type: "string" } },
          items: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            items: { type: "object", required: ["k"], properties: { k: { type: "string" } } },
          },
        },
      },
    },
  };
  expect(check(schema)).toEqual([]);
});

describe("what the server refuses", () => {
  test.each<[string, Schema, string[]]>([
    ["a root without a type", {}, ["s.type: Required value: must not be empty at the root"]],
    ["a root that is no object", { type: "string" }, ['s.type: Invalid value: "string": must be object at the root']],
    ["a field without a type", root({}), [`${f}.type: Required value: must not be empty for specified object fields`]],
    [
      "an item without a type",
      root({ type: "array", items: {} }),
      [`${f}.items.type: Required value: must not be empty for specified array items`],
    ],
    ["a list without items", root({ type: "array" }), [`${f}.items: Required value: must be specified`]],
    [
      "a wrong type",
      root({ type: "text" }),
      [
        `${f}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      ],
    ],
    [
      "a type in a value validation",
      root({ type: "string", anyOf: [{ type: "string" }] }),
      [`${f}.anyOf[0].type: Forbidden: must be empty to be structural`],
    ],
    [
      "a default in a value validation",
      root({ type: "string", allOf: [{ default: "a" }] }),
      [`${f}.allOf[0].default: Forbidden: must be undefined to be structural`],
    ],
    [
      "a description in a value validation",
      root({ type: "string", not: { description: "x", enum: ["b"] } }),
      [`${f}.not.description: Forbidden: must be empty to be structural`],
    ],
    [
      "a field that only a value validation of the root knows",
      { type: "object", oneOf: [{ properties: { x: { enum: [1] } } }] },
      ["s.properties[x]: Required value: because it is defined in s.oneOf[0].properties[x]"],
    ],
    [
      "more than names of metadata",
      { type: "object", properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } } },
      [
        "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
      ],
    ],
    [
      "additional properties at the root",
      { type: "object", additionalProperties: { type: "string" } },
      ["s.additionalProperties: Forbidden: must not be used at the root"],
    ],
    [
      "additional properties beside properties",
      root({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
      [`${f}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    ],
    [
      "unique items",
      root({ type: "array", uniqueItems: true, items: { type: "string" } }),
      [`${f}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`],
    ],
    ["references", root({ type: "object", $ref: "#/x" }), [`${f}.$ref: Forbidden: $ref is not supported`]],
    [
      "a default of a wrong type",
      root({ type: "integer", default: "a" }),
      [`${f}.default: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    [
      "a default with unknown fields",
      root({ type: "object", default: { x: 1 }, properties: { a: { type: "string" } } }),
      [`${f}.default: Invalid value: {"x":1}: must not have unknown fields`],
    ],
    [
      "a default in metadata",
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { name: { type: "string", default: "a" } } } },
      },
      ["s.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata"],
    ],
    [
      "a list of type map without keys",
      root({ type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } }),
      [`${f}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
    ],
    [
      "a list key that may be absent",
      root({
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", properties: { k: { type: "string" } } },
      }),
      [
        `${f}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ],
    [
      "a set of granular objects",
      root({ type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } }),
      [
        `${f}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
      ],
    ],
    [
      "an empty embedded resource",
      root({ type: "object", "x-kubernetes-embedded-resource": true }),
      [
        `${f}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
      ],
    ],
    [
      "preserving turned off",
      root({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
      [`${f}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
    ],
    [
      "a rule without text",
      root({ type: "string", "x-kubernetes-validations": [{ rule: " " }] }),
      [`${f}.x-kubernetes-validations[0].rule: Required value: rule is not specified`],
    ],
    [
      "a rule's unknown reason",
      root({ type: "string", "x-kubernetes-validations": [{ rule: "true", reason: "Bad" }] }),
      [
        `${f}.x-kubernetes-validations[0].reason: Unsupported value: "Bad": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      ],
    ],
    [
      "a rule's path to nowhere",
      root({
        type: "object",
        properties: { a: { type: "string" } },
        "x-kubernetes-validations": [{ rule: "true", fieldPath: ".b" }],
      }),
      [`${f}.x-kubernetes-validations[0].fieldPath: Invalid value: ".b": must be a valid path`],
    ],
    [
      "a nullable root",
      { type: "object", nullable: true },
      ["s.nullable: Forbidden: nullable cannot be true at the root"],
    ],
  ])("%s", (_, schema, expected) => {
    expect(check(schema)).toEqual(expected);
  });

  test("a pattern that is none", () => {
    expect(check(root({ type: "string", pattern: "(" }))[0]).toContain(
      `${f}.pattern: Invalid value: "(": must be a valid regular expression`,
    );
  });
});
