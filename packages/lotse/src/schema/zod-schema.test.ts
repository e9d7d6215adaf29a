import { describe, expect, it } from "vitest";
import { z } from "zod";
import { lookIntoZod } from "./zod-schema.ts";

/** Path and the first word of each gap. */
const gapsOf = (schema: unknown, ruled?: Set<string>) =>
  lookIntoZod(schema, "spec", ruled).gaps.map(({ path, what }) => `${path} ${what.split(/[ :]/)[0]}`);

describe("a schema of zod", () => {
  it.each<[what: string, schema: z.ZodType, found: string[]]>([
    ["a refinement", z.object({ a: z.string().refine(() => true) }), ["spec.a .refine(…)"]],
    ["a refinement of the whole", z.object({ a: z.string() }).superRefine(() => {}), ["spec .refine(…)"]],
    [
      "a refinement that is wrapped",
      z.object({
        a: z
          .int()
          .refine(() => true)
          .optional()
          .nullable()
          .default(1)
          .readonly(),
      }),
      ["spec.a .refine(…)"],
    ],
    ["a refinement in a list", z.array(z.string().check(() => {})), ["spec[] .refine(…)"]],
    [
      "a refinement in a record",
      z.record(
        z.string(),
        z.string().refine(() => true),
      ),
      ["spec.* .refine(…)"],
    ],
    [
      "refinements in a union",
      z.union([z.string().refine(() => true), z.int().refine(() => true)]),
      ["spec .refine(…)", "spec .refine(…)"],
    ],
    [
      "a refinement in an intersection",
      z.intersection(z.object({}), z.object({ b: z.string().refine(() => true) })),
      ["spec.b .refine(…)"],
    ],
    [
      "a refinement behind a function",
      z.object({ a: z.lazy(() => z.string().refine(() => true)) }),
      ["spec.a .refine(…)"],
    ],
    ["a refinement of other fields", z.object({}).catchall(z.string().refine(() => true)), ["spec.* .refine(…)"]],
    ["a text that is trimmed", z.object({ a: z.string().trim() }), ["spec.a .trim(),"]],
    ["a conversion", z.object({ a: z.coerce.number() }), ["spec.a z.coerce"]],
    ["a value for wrong ones", z.object({ a: z.number().catch(1) }), ["spec.a .catch(…)"]],
    ["a second schema", z.object({ a: z.string().pipe(z.string().min(1)) }), ["spec.a .pipe(…)"]],
    [
      "a refinement in a tuple",
      z.object({ a: z.tuple([z.string(), z.string().refine(() => true)]) }),
      ["spec.a[] .refine(…)"],
    ],
    ["a property", z.string().check(z.property("length", z.number())), ["spec z.property(…)"]],
  ])("with %s says what is not checked", (_what, schema, found) => {
    expect(gapsOf(schema)).toEqual(found);
    expect(lookIntoZod(schema, "spec").changes).toEqual([]);
  });

  it("with checks that a CRD has says nothing", () => {
    const plain = z.object({
      name: z.string().min(1).max(9).regex(/^a/).optional(),
      size: z.int().positive().multipleOf(2).default(2),
      at: z.iso.datetime(),
      mail: z.email().nullable(),
      tags: z.array(z.enum(["a", "b"])).nonempty(),
      limits: z.record(z.string(), z.number()),
      drive: z.discriminatedUnion("by", [z.object({ by: z.literal("coal") }), z.object({ by: z.literal("wind") })]),
      any: z.unknown(),
    });
    expect(lookIntoZod(plain, "spec")).toMatchObject({ changes: [], gaps: [] });
  });

  it("is told each time that it is used, also when it contains itself", () => {
    const port = z.int().refine(() => true);
    expect(gapsOf(z.object({ from: port, to: port }))).toEqual(["spec.from .refine(…)", "spec.to .refine(…)"]);
    interface Tree {
      name: string;
      children?: Tree[] | undefined;
    }
    const tree: z.ZodType<Tree> = z.object({
      name: z.string().refine(() => true),
      get children() {
        return z.array(tree).optional();
      },
    });
    expect(gapsOf(tree)).toEqual(["spec.name .refine(…)"]);
  });

  it("is silent about a refinement that stands beside a rule for the server", () => {
    expect(gapsOf(z.object({ a: z.string().refine(() => true) }), new Set(["spec.a"]))).toEqual([]);
  });

  it.each([
    [".transform(…)", z.string().transform(Number)],
    ["z.preprocess(…)", z.preprocess(String, z.string())],
    ["a codec (z.codec, z.stringbool)", z.codec(z.string(), z.number(), { decode: Number, encode: String })],
  ])("that changes values by %s says so", (by, schema) => {
    expect(lookIntoZod(z.object({ a: schema }), "spec").changes).toEqual([{ path: "spec.a", by }]);
  });

  it("is not the only one: of others nothing is known, and nothing is said", () => {
    for (const other of [undefined, {}, { _zod: 1 }, { "~standard": { vendor: "arktype" } }]) {
      expect(lookIntoZod(other, "spec")).toMatchObject({ changes: [], gaps: [] });
    }
  });
});
