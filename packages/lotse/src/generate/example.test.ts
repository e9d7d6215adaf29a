import { describe, expect, it } from "vitest";
import { exampleOf } from "./example.ts";

describe("an example from a schema", () => {
  it.each<[string, object, unknown]>([
    ["the example that it gives", { type: "string", example: "EUR", default: "USD" }, "EUR"],
    ["else its default", { type: "string", default: "USD", enum: ["EUR"] }, "USD"],
    ["else the first of its values", { type: "string", enum: ["EUR", "USD"] }, "EUR"],
    ["a text of the least length", { type: "string", minLength: 9 }, "examplexx"],
    ["a text of its format", { type: "string", format: "ipv4" }, "192.0.2.1"],
    ["a number in its bounds", { type: "integer", minimum: 3 }, 3],
    ["a number above its bound", { type: "number", minimum: 3, exclusiveMinimum: true }, 4],
    ["a number below its bound", { type: "number", maximum: -5 }, -5],
    ["a multiple", { type: "integer", minimum: 7, multipleOf: 5 }, 10],
    ["a switch", { type: "boolean" }, false],
    ["a number or a text", { "x-kubernetes-int-or-string": true }, 1],
    ["anything", { "x-kubernetes-preserve-unknown-fields": true }, {}],
    ["a list that may be empty", { type: "array", items: { type: "string" } }, []],
    ["a list that may not", { type: "array", minItems: 2, items: { type: "boolean" } }, [false, false]],
  ])("is %s", (_what, schema, expected) => expect(exampleOf(schema)).toEqual(expected));

  it("has the fields that are required, and those that come with an example", () => {
    const properties = { a: { type: "boolean" }, b: { type: "string" }, c: { type: "string", example: "x" } };
    expect(exampleOf({ type: "object", required: ["a"], properties })).toEqual({ a: false, c: "x" });
  });
});
