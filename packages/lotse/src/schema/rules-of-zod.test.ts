import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readJson } from "./json-schema.ts";
import type { SchemaGap } from "./node.ts";
import { toStructural } from "./structural.ts";

const gapsOf = (schema: unknown) => {
  const gaps: SchemaGap[] = [];
  toStructural(readJson(schema), "spec", gaps);
  return gaps.map(({ path, what }) => `${path} ${what}`);
};

const KEYS = "z.record(…): its keys are not checked";
const PLACES = "z.tuple(…): which item stands where is not checked";

describe("what zod checks and a CRD cannot say", () => {
  it.each<[what: string, schema: z.ZodType, gaps: string[]]>([
    ["keys by a format without a pattern", z.record(z.url(), z.int()), [`spec ${KEYS}`]],
    ["keys by a pattern with look-around", z.record(z.string().regex(/^(?!x)/), z.int()), [`spec ${KEYS}`]],
    [
      "keys by a function",
      z.record(
        z.string().refine(() => true),
        z.int(),
      ),
      [`spec ${KEYS}`],
    ],
    [
      "keys by a long pattern of a map of any size",
      z.record(z.uuid(), z.int()),
      [`spec ${KEYS}, because it may be of any size`],
    ],
    [
      "keys of maps in a list of any size",
      z.object({ a: z.array(z.record(z.string().min(2), z.int())) }),
      [`spec.a[] ${KEYS}, because it may be of any size`],
    ],
    ["places of a tuple with a rest", z.tuple([z.string()], z.int()), [`spec ${PLACES}`]],
    [
      "places of objects",
      z.tuple([z.object({ a: z.int() }), z.object({ a: z.string() })]),
      ["spec[].a it is something else in each branch of the union: anything is taken", `spec ${PLACES}`],
    ],
    ["places of a tuple in a list of any size", z.array(z.tuple([z.string(), z.int()])), [`spec[] ${PLACES}`]],
    ["nothing: keys that may be any text", z.record(z.string(), z.int()), []],
    [
      "nothing: long patterns and lists where all is bounded",
      z.array(z.record(z.uuid(), z.int()).meta({ maxProperties: 9 })).max(9),
      [],
    ],
    ["nothing: numbers", z.tuple([z.number().gt(1).lt(3.5), z.number()]), []],
    ["nothing: steps", z.tuple([z.int().multipleOf(2), z.int()]), []],
    ["steps of a fraction", z.tuple([z.number().multipleOf(0.5), z.number()]), [`spec ${PLACES}`]],
  ])("is told: %s", (_what, schema, gaps) => {
    expect(gapsOf(schema).sort()).toEqual([...gaps].sort());
  });

  it("is found inside of everything", () => {
    const keys = z.record(z.url(), z.int());
    const wrapped = z.object({
      a: keys.optional(),
      b: keys.nullable().default(null).readonly(),
      c: z.array(z.object({ d: keys })),
      e: z.record(z.string(), keys),
      f: z.lazy(() => keys),
      g: z.intersection(z.object({ x: keys }), z.object({ y: z.int() })),
    });
    const found = gapsOf(wrapped).map((line) => line.split(" ")[0]);
    expect(found.sort()).toEqual(["spec.a", "spec.b", "spec.c[].d", "spec.e.*", "spec.f", "spec.g.x"]);
  });

  it("does not go round in circles", () => {
    const tree: z.ZodType = z.object({
      get children() {
        return z.record(z.string().min(2), tree).optional();
      },
    });
    expect(() => gapsOf(tree)).not.toThrow();
  });
});
