import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { quantity } from "./helpers.ts";
import type { InputOf, OutputOf } from "./json-schema.ts";
import { readJson } from "./json-schema.ts";
import { schema } from "./literal.ts";
import { toStructural } from "./structural.ts";

const shop = schema({
  type: "object",
  properties: {
    name: { type: "string", minLength: 1 },
    size: { type: "integer", default: 10 },
    open: { type: "boolean" },
    colour: { type: "string", enum: ["red", "green"] },
    kind: { const: "shop" },
    note: { type: "string", nullable: true },
    older: { type: ["string", "null"] },
    port: { "x-kubernetes-int-or-string": true },
    labels: { type: "object", additionalProperties: { type: "string" } },
    anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    whatever: {},
    shelves: {
      type: "array",
      items: {
        type: "object",
        properties: { label: { type: "string" }, boards: { type: "integer", default: 4 } },
        required: ["label"],
      },
    },
  },
  required: ["name", "kind", "note", "older", "size"],
});

type Shop = OutputOf<typeof shop>;
type NewShop = InputOf<typeof shop>;

describe("the types of a literal", () => {
  it("are those of what is read: fields with a default are there", () => {
    expectTypeOf<Shop>().toEqualTypeOf<{
      name: string;
      size: number;
      kind: "shop";
      note: string | null;
      older: string | null;
      open?: boolean | undefined;
      colour?: "red" | "green" | undefined;
      port?: number | string | undefined;
      labels?: Record<string, string> | undefined;
      anything?: Record<string, unknown> | undefined;
      whatever?: unknown;
      shelves?: { label: string; boards: number }[] | undefined;
    }>();
  });

  it("and of what is written: those may be left out", () => {
    expectTypeOf<NewShop["size"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<NonNullable<NewShop["shelves"]>[number]>().toEqualTypeOf<{
      label: string;
      boards?: number | undefined;
    }>();
    expectTypeOf<NewShop["name"]>().toEqualTypeOf<string>();
  });

  it("are those of a constant as well, and of unions, intersections and what keeps more", () => {
    const spec = {
      type: "object",
      properties: { a: { type: "number" } },
      required: ["a"],
      additionalProperties: true,
    } as const;
    const open = schema(spec);
    expectTypeOf<OutputOf<typeof open>>().toEqualTypeOf<{ a: number } & { [key: string]: unknown }>();
    const either = schema({ anyOf: [{ type: "string" }, { type: "integer" }] });
    expectTypeOf<OutputOf<typeof either>>().toEqualTypeOf<string | number>();
    const both = schema({
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { type: "object", properties: { b: { type: "string" } } },
      ],
    });
    expectTypeOf<OutputOf<typeof both>["a"]>().toEqualTypeOf<string>();
    expectTypeOf<OutputOf<typeof both>["b"]>().toEqualTypeOf<string | undefined>();
    const map = schema({ type: "object", additionalProperties: { type: "array", items: { type: "integer" } } });
    expectTypeOf<OutputOf<typeof map>>().toEqualTypeOf<Record<string, number[]>>();
    const list = schema({ type: "array" });
    expectTypeOf<OutputOf<typeof list>>().toEqualTypeOf<unknown[]>();
  });

  it("go through schemas of libraries, both ways", () => {
    const outer = schema({
      type: "object",
      properties: {
        inner: z.object({ size: z.number().default(1) }),
        amount: quantity(),
        text: z.string().default("x"),
      },
      required: ["inner"],
    });
    expectTypeOf<OutputOf<typeof outer>>().toEqualTypeOf<{
      inner: { size: number };
      amount?: number | string | undefined;
      text: string;
    }>();
    expectTypeOf<InputOf<typeof outer>["inner"]>().toEqualTypeOf<{ size?: number | undefined }>();
    expectTypeOf<InputOf<typeof outer>["text"]>().toEqualTypeOf<string | undefined>();
    const inZod = z.object({
      shop,
      more: z.array(shop).optional(),
      maybe: z.optional(quantity()),
      by: z.record(z.string(), z.nullable(quantity())),
      size: schema({ type: "integer", default: 3 }),
    });
    expectTypeOf<z.output<typeof inZod>["shop"]>().toEqualTypeOf<Shop>();
    expectTypeOf<z.output<typeof inZod>["more"]>().toEqualTypeOf<Shop[] | undefined>();
    expectTypeOf<z.output<typeof inZod>["maybe"]>().toEqualTypeOf<number | string | undefined>();
    expectTypeOf<z.output<typeof inZod>["by"]>().toEqualTypeOf<Record<string, number | string | null>>();
    expectTypeOf<z.output<typeof inZod>["size"]>().toEqualTypeOf<number>();
    expectTypeOf<z.input<typeof inZod>["size"]>().toEqualTypeOf<number | undefined>();
  });

  it("do not allow references, or words that are none", () => {
    const wrong = () => {
      // @ts-expect-error: a CRD has no references
      schema({ $ref: "#/definitions/shop" });
      // @ts-expect-error: there is no such type
      schema({ type: "text" });
    };
    expectTypeOf(wrong).toBeFunction();
  });
});

describe("a literal", () => {
  it("says what it says", () => {
    expect(toStructural(readJson(shop))).toMatchObject({
      type: "object",
      required: ["name", "kind", "note", "older", "size"],
      properties: {
        name: { type: "string", minLength: 1 },
        size: { type: "integer", default: 10 },
        kind: { enum: ["shop"] },
        older: { type: "string", nullable: true },
        port: { "x-kubernetes-int-or-string": true },
        whatever: { "x-kubernetes-preserve-unknown-fields": true },
        shelves: { items: { properties: { boards: { default: 4 } } } },
      },
    });
  });

  it("has the type of a fixed value", () => {
    expect(toStructural(readJson(schema({ const: "shop" })))).toEqual({ type: "string", enum: ["shop"] });
    expect(toStructural(readJson(schema({ enum: [1, 2] })))).toEqual({ type: "integer", enum: [1, 2] });
    expect(toStructural(readJson(schema({ enum: [1.5, 2] })))).toEqual({ type: "number", enum: [1.5, 2] });
    expect(toStructural(readJson(schema({ enum: [true] })))).toEqual({ type: "boolean", enum: [true] });
    expect(toStructural(readJson(schema({ enum: ["a", 1] })))).toMatchObject({
      enum: ["a", 1],
      "x-kubernetes-int-or-string": true,
    });
  });

  it("takes bounds in the words of JSON Schema and of OpenAPI", () => {
    const want = { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: true };
    expect(toStructural(readJson(schema({ type: "number", exclusiveMinimum: 1, exclusiveMaximum: 2 })))).toEqual(want);
    expect(toStructural(readJson(schema(want as never)))).toEqual(want);
  });

  it("is not changed by those who ask, nor by who changes the literal afterwards", () => {
    const literal = { type: "object", properties: { a: { type: "string", enum: ["x"] } } } as const;
    const made = schema(literal);
    const first = readJson(made) as { properties: { a: { enum: string[] } } };
    first.properties.a.enum.push("y");
    (literal.properties.a.enum as unknown as string[]).push("z");
    expect(readJson(made)).toMatchObject({ properties: { a: { enum: ["x"] } } });
  });

  it("keeps checks beside a type", () => {
    const oneOfTwo = schema({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    });
    expect(toStructural(readJson(oneOfTwo))).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    });
  });

  it("is taken by zod, which leaves the checking to the API server", () => {
    const outer = z.object({ shop, maybe: z.optional(quantity()), size: schema({ type: "integer", default: 3 }) });
    expect(readJson(outer)).toMatchObject({
      properties: { shop: { properties: { name: { type: "string" } } }, maybe: { "x-kubernetes-int-or-string": true } },
      required: ["shop"],
    });
    expect(outer.safeParse({ shop: { name: 1 } }).success).toBe(true);
  });

  it.each([
    ["a reference", { $ref: "#/x" }, "the schema is a reference"],
    ["a reference inside", { type: "object", properties: { a: { $ref: "#/x" } } }, ".a is a reference"],
    ["no schema", { type: "array", items: 1 }, "[] is 1 and no schema"],
    [
      "a field that is required and not there",
      { type: "object", properties: { a: {} }, required: ["b"] },
      'the schema requires "b", which it does not describe',
    ],
    ["a schema that cannot describe itself", { type: "object", properties: { at: z.date() } }, ".at has no JSON form"],
  ])("is refused when it has %s", (_what, literal, message) => {
    expect(() => schema(literal as never)).toThrow(message);
    expect(() => schema(literal as never)).toThrow(expect.objectContaining({ code: "LOTSE_SCHEMA" }));
  });
});
