import { expect, it } from "vitest";
import { keepsInStatus } from "./resolve-kind.ts";

const preserve = { "x-kubernetes-preserve-unknown-fields": true };

it.each<[string, unknown, boolean]>([
  ["no schema at all", undefined, false],
  ["a schema that says nothing of the status", { type: "object" }, false],
  ["a schema that keeps everything at its root", { type: "object", ...preserve }, true],
  [
    "a status without fields, below a root that keeps everything",
    { ...preserve, properties: { status: { type: "object" } } },
    false,
  ],
  ["a status that keeps everything", { properties: { status: { type: "object", ...preserve } } }, true],
  ["a status with the field", { properties: { status: { properties: { greet: {} } } } }, true],
  ["a status with other fields", { properties: { status: { properties: { other: {} } } } }, false],
  ["a status that is a map", { properties: { status: { additionalProperties: { type: "string" } } } }, true],
  ["a status that is a map of nothing", { properties: { status: { additionalProperties: false } } }, false],
  [
    "a status whose field is only inherited",
    { properties: { status: { properties: Object.create({ greet: {} }) } } },
    false,
  ],
])("whether a result is kept by %s", (_name, schema, kept) => {
  expect(keepsInStatus(schema, "greet")).toBe(kept);
});
