import { describe, expect, it } from "vitest";
import { z } from "zod";
import { rule } from "./helpers.ts";
import { readJson } from "./json-schema.ts";
import type { SchemaGap, SchemaNode } from "./node.ts";
import { pathsWithRules, toStructural } from "./structural.ts";

const PRESERVE = "x-kubernetes-preserve-unknown-fields";

function structural(schema: z.ZodType, gaps?: SchemaGap[]): SchemaNode {
  return toStructural(readJson(schema), "spec", gaps);
}

const gapsOf = (schema: z.ZodType): [path: string, what: string][] => {
  const gaps: SchemaGap[] = [];
  structural(schema, gaps);
  return gaps.map(({ path, what }) => [path, what]);
};

/** The rules of a structural schema that libraries break; every node must keep them. */
function violations(node: SchemaNode, path = "", inCheck = false): string[] {
  const found: string[] = [];
  if (!inCheck && node.type === undefined && node[PRESERVE] !== true && node["x-kubernetes-int-or-string"] !== true) {
    found.push(`${path}: no type`);
  }
  for (const key of ["$ref", "const", "patternProperties", "propertyNames"])
    if (key in node) found.push(`${path}: ${key}`);
  if (node.additionalProperties === false) found.push(`${path}: additionalProperties false`);
  if (node.additionalProperties && node.properties) found.push(`${path}: properties and additionalProperties`);
  if (inCheck)
    for (const key of ["type", "default", "description", "nullable"])
      if (key in node) found.push(`${path}: ${key} in a check`);
  for (const [name, child] of Object.entries((node.properties ?? {}) as Record<string, SchemaNode>)) {
    found.push(...violations(child, `${path}.${name}`, inCheck));
  }
  for (const key of ["items", "additionalProperties"]) {
    if (typeof node[key] === "object") found.push(...violations(node[key] as SchemaNode, `${path}.${key}`, inCheck));
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    for (const branch of (node[key] ?? []) as SchemaNode[]) found.push(...violations(branch, `${path}.${key}`, true));
  }
  return found;
}

describe("a structural schema", () => {
  it.each<[string, z.ZodType, SchemaNode]>([
    ["a string with a pattern", z.string().regex(/^[A-Z]{3}$/), { type: "string", pattern: "^[A-Z]{3}$" }],
    ["an integer without the bounds of JavaScript", z.int(), { type: "integer" }],
    ["an integer with real bounds", z.int().min(1).max(5), { type: "integer", minimum: 1, maximum: 5 }],
    ["a default", z.string().default("x"), { type: "string", default: "x" }],
    ["something that may be null", z.string().nullable(), { type: "string", nullable: true }],
    ["an enum", z.enum(["a", "b"]), { type: "string", enum: ["a", "b"] }],
    ["the start of a text", z.string().startsWith("/a.b"), { type: "string", pattern: "^\\/a\\.b.*" }],
    ["the end of a text", z.string().endsWith("z"), { type: "string", pattern: ".*z$" }],
    ["what is in a text", z.string().includes("m"), { type: "string", pattern: "m" }],
    [
      "start and end of a text",
      z.string().startsWith("a").endsWith("z"),
      { type: "string", allOf: [{ pattern: "^a.*" }, { pattern: ".*z$" }] },
    ],
    [
      "two patterns",
      z.string().regex(/a/).regex(/b/).min(3),
      { type: "string", minLength: 3, allOf: [{ pattern: "a" }, { pattern: "b" }] },
    ],
    ["a text in small letters", z.string().lowercase(), { type: "string", pattern: "^[^A-Z]*$" }],
    [
      "characters by their number",
      z.string().regex(/^[\u00e4\u{1f600}]\\u0041$/u),
      { type: "string", pattern: "^[\\x{00e4}\\x{1f600}]\\\\u0041$" },
    ],
    [
      "a format that only its library knows",
      z.ulid(),
      { type: "string", pattern: "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$" },
    ],
    ["an address on the web", z.url(), { type: "string", format: "uri" }],
    ["an address for mail", z.email(), { type: "string", format: "email" }],
    ["a name of a host", z.hostname(), { type: "string", format: "hostname" }],
    ["a day", z.iso.date(), { type: "string", format: "date" }],
    ["a format without the library's long pattern", z.iso.datetime(), { type: "string", format: "date-time" }],
    ["a map", z.record(z.string(), z.number()), { type: "object", additionalProperties: { type: "number" } }],
    ["anything", z.unknown(), { [PRESERVE]: true }],
    ["a number or a text", z.union([z.int(), z.string()]), { "x-kubernetes-int-or-string": true }],
    [
      "an object that keeps unknown fields",
      z.looseObject({ a: z.string() }),
      { type: "object", properties: { a: { type: "string" } }, required: ["a"], [PRESERVE]: true },
    ],
    [
      "an object that refuses unknown fields: pruning does that",
      z.strictObject({ a: z.string().optional() }),
      { type: "object", properties: { a: { type: "string" } } },
    ],
    [
      "CEL rules and other x-kubernetes keys",
      z.string().meta({ "x-kubernetes-validations": [{ rule: "self != 'x'" }] }),
      { type: "string", "x-kubernetes-validations": [{ rule: "self != 'x'" }] },
    ],
    [
      "a union of objects: all fields outside, checks inside",
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("a"), x: z.string() }),
        z.object({ type: z.literal("b"), y: z.number() }),
      ]),
      {
        type: "object",
        properties: { type: { type: "string", enum: ["a", "b"] }, x: { type: "string" }, y: { type: "number" } },
        required: ["type"],
        anyOf: [
          { properties: { type: { enum: ["a"] } }, required: ["x"] },
          { properties: { type: { enum: ["b"] } }, required: ["y"] },
        ],
      },
    ],
    [
      "what a branch says of a field that others have too",
      z.union([
        z.object({ by: z.literal("a"), x: z.string().max(3), o: z.object({ p: z.int() }) }),
        z.object({ by: z.literal("b"), x: z.string().min(9), o: z.object({ p: z.int().optional(), q: z.int() }) }),
      ]),
      {
        type: "object",
        properties: {
          by: { type: "string", enum: ["a", "b"] },
          x: { type: "string" },
          o: { type: "object", properties: { p: { type: "integer" }, q: { type: "integer" } } },
        },
        required: ["by", "x", "o"],
        anyOf: [
          { properties: { by: { enum: ["a"] }, x: { maxLength: 3 }, o: { required: ["p"] } } },
          { properties: { by: { enum: ["b"] }, x: { minLength: 9 }, o: { required: ["q"] } } },
        ],
      },
    ],
    [
      "branches that take no other fields, a text in one and a number in the other, and a rule of one of them",
      z.discriminatedUnion("by", [
        rule(z.strictObject({ by: z.literal("coal"), tons: z.int(), of: z.string() }), "self.tons > 1", "more coal"),
        z.object({ by: z.enum(["wind", "sun"]), of: z.int() }),
      ]),
      {
        type: "object",
        properties: {
          by: { type: "string", enum: ["coal", "wind", "sun"] },
          tons: { type: "integer" },
          of: { "x-kubernetes-int-or-string": true },
        },
        required: ["by", "of"],
        anyOf: [
          { properties: { by: { enum: ["coal"] } }, required: ["tons"] },
          { properties: { by: { enum: ["wind", "sun"] } } },
        ],
        "x-kubernetes-validations": [
          {
            rule: "!(self.by in ['coal']) || (self.tons > 1)",
            message: "more coal",
            at: expect.stringMatching(/test\.ts:\d+$/),
          },
          {
            rule: "!(self.by in ['coal']) || (!has(self.of) || type(self.of) == string)",
            message: "of must be a text here",
          },
          {
            rule: "!(self.by in ['wind', 'sun']) || (!has(self.of) || type(self.of) == int)",
            message: "of must be a whole number here",
          },
        ],
      },
    ],
    [
      "a branch that takes no other fields",
      z.discriminatedUnion("by", [
        z.strictObject({ by: z.literal("a") }),
        z.object({ by: z.literal("b"), x: z.int() }),
      ]),
      {
        type: "object",
        properties: { by: { type: "string", enum: ["a", "b"] }, x: { type: "integer" } },
        required: ["by"],
        anyOf: [
          { properties: { by: { enum: ["a"] } }, not: { anyOf: [{ required: ["x"] }] } },
          { properties: { by: { enum: ["b"] } }, required: ["x"] },
        ],
      },
    ],
    [
      "one of several, and not two",
      z.xor([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
      },
    ],
    ["one of several values", z.union([z.literal("a"), z.literal("b")]), { type: "string", enum: ["a", "b"] }],
    [
      "one of several formats",
      z.union([z.email(), z.url()]),
      { type: "string", anyOf: [{ format: "email" }, { format: "uri" }] },
    ],
    [
      "bounds of a number that may be a text, and the other way round",
      z.union([z.int().min(1), z.string().max(3)]),
      { "x-kubernetes-int-or-string": true, minimum: 1, maxLength: 3 },
    ],
    [
      "lists of one type with different checks",
      z.union([z.array(z.string().max(3)), z.array(z.string().min(9)).length(2)]),
      {
        type: "array",
        items: { type: "string" },
        anyOf: [{ items: { maxLength: 3 } }, { minItems: 2, maxItems: 2, items: { minLength: 9 } }],
      },
    ],
    ["a union of the same twice", z.union([z.string(), z.string()]), { type: "string" }],
    ["a text of a fixed length", z.string().length(3), { type: "string", minLength: 3, maxLength: 3 }],
    [
      "a list of a fixed length",
      z.array(z.int()).length(2),
      { type: "array", items: { type: "integer" }, minItems: 2, maxItems: 2 },
    ],
    ["steps", z.number().multipleOf(0.5), { type: "number", multipleOf: 0.5 }],
    ["more than", z.number().gt(3), { type: "number", minimum: 3, exclusiveMinimum: true }],
    [
      "a UUID, by the library's own pattern",
      z.guid(),
      { type: "string", format: "uuid", pattern: expect.stringContaining("{12}") as never },
    ],
    [
      "a duration of ISO 8601, which is not what Kubernetes calls one",
      z.iso.duration(),
      {
        type: "string",
        allOf: [
          { pattern: expect.stringContaining("^P(") as never },
          { pattern: "^PT?\\d" },
          { pattern: "^[^T]*(T\\d.*)?$" },
        ],
      },
    ],
    ["patterns with flags", z.string().regex(/^a.b$/isu), { type: "string", pattern: "(?is)^a.b$" }],
    [
      "several patterns, of which one has flags",
      z.string().regex(/a/i).regex(/b/),
      { type: "string", allOf: [{ pattern: "(?i)a" }, { pattern: "b" }] },
    ],
    [
      "a record with named keys: an object",
      z.record(z.enum(["a", "b"]), z.int()),
      { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] },
    ],
    [
      "a record of which not all named keys are there",
      z.partialRecord(z.literal(["a", "b"]), z.int()),
      { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } },
    ],
    [
      "the keys of a record",
      z.record(z.string().min(2).regex(/^a'/), z.int()),
      {
        type: "object",
        additionalProperties: { type: "integer" },
        "x-kubernetes-validations": [
          { rule: "self.all(key, key.size() >= 2 && key.matches('^a\\''))", message: "has a key that is not allowed" },
        ],
      },
    ],
    [
      "a tuple of the same",
      z.tuple([z.string(), z.string()]),
      { type: "array", items: { type: "string" }, minItems: 2, maxItems: 2 },
    ],
    [
      "a tuple",
      z.tuple([z.string().max(3), z.int().min(2), z.literal(["x", "y"])]),
      {
        type: "array",
        items: expect.anything() as never,
        minItems: 3,
        maxItems: 3,
        "x-kubernetes-validations": [
          {
            rule: "self.size() != 3 || (type(self[0]) == string && self[0].size() <= 3 && type(self[1]) == int && self[1] >= 2 && type(self[2]) == string && self[2] in ['x', 'y'])",
            message: "has an item that may not stand at its place",
          },
        ],
      },
    ],
    [
      "words for people, and an example among them: kubectl explain shows nothing else",
      z
        .string()
        .describe("Its name")
        .meta({ examples: ["corner", "market"] }),
      { type: "string", description: 'Its name. Examples: "corner", "market"', example: "corner" },
    ],
    ["an example alone", z.int().meta({ example: 3 }), { type: "integer", description: "Example: 3", example: 3 }],
    [
      "an intersection of objects: one object",
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
      { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a", "b"] },
    ],
  ])("describes %s", (_name, schema, expected) => {
    expect(structural(schema)).toEqual(expected);
    expect(violations(structural(schema))).toEqual([]);
  });

  it("keeps what a recursive schema holds, because a CRD cannot recurse", () => {
    interface Tree {
      children?: Tree[] | undefined;
    }
    const tree: z.ZodType<Tree> = z.object({
      get children() {
        return z.array(tree).optional();
      },
    });
    expect(violations(structural(tree))).toEqual([]);
    expect(JSON.stringify(structural(tree))).toContain(PRESERVE);
  });

  it("refuses a pattern that Kubernetes cannot match, and says what to write instead", () => {
    expect(() => structural(z.object({ name: z.string().regex(/^(?!x)/) }))).toThrow(/spec\.name.*look-around/);
  });

  it.each<[what: string, schema: z.ZodType, path: string, told: RegExp]>([
    [
      "a text or a number",
      z.object({ a: z.union([z.string(), z.number()]) }),
      "spec.a",
      /string or number.*anything is taken/,
    ],
    ["a text or a boolean in a list", z.array(z.union([z.string(), z.boolean()])), "spec[]", /string or boolean/],
    ["a format without a pattern", z.object({ a: z.jwt() }), "spec.a", /does not know the format "jwt"/],
    ["an object or a text", z.union([z.object({}), z.string()]), "spec", /object or string/],
    ["lists of several kinds", z.union([z.array(z.string()), z.array(z.int())]), "spec[]", /anything is taken/],
    [
      "fixed values of a number that may be a text",
      z.union([z.enum(["a"]), z.string(), z.int()]),
      "spec",
      /a whole number or a text/,
    ],
    [
      "a field that differs between branches",
      z.union([z.object({ a: z.string() }), z.object({ a: z.int() })]),
      "spec.a",
      /something else in each branch/,
    ],
    [
      "defaults that differ between branches",
      z.union([z.object({ a: z.string().default("x") }), z.object({ a: z.string().default("y") })]),
      "spec.a",
      /default differ/,
    ],
    [
      "a map in one branch",
      z.union([z.object({ a: z.string() }), z.record(z.string(), z.int())]),
      "spec",
      /its values are not checked/,
    ],
    [
      "a rule of a branch that no field tells apart",
      z.union([rule(z.object({ a: z.int() }), "self.a > 1"), z.object({ b: z.string() })]),
      "spec",
      /a rule of one branch/,
    ],
    [
      "a format whose pattern Kubernetes cannot match",
      z.object({ a: z.emoji() }),
      "spec.a",
      /does not know the format "emoji"/,
    ],
    ["other fields of a type", z.object({ a: z.string() }).catchall(z.int()), "spec", /fields beside/],
  ])("says that %s is not checked", (_what, schema, path, told) => {
    expect(gapsOf(schema)).toEqual([[path, expect.stringMatching(told)]]);
  });

  it("says of one of several, where types alone tell them apart, that two may hold", () => {
    const told = gapsOf(z.xor([z.object({ a: z.string() }), z.object({ a: z.int() })]));
    expect(told.map(([path, what]) => `${path} ${what}`)).toEqual([
      expect.stringMatching(/^spec\.a it is something else in each branch/),
      "spec several of the union's branches may hold at the same time",
    ]);
  });

  it("says so of a schema that contains itself, and of words that a CRD does not have", () => {
    const tree: z.ZodType = z.object({
      get children() {
        return z.array(tree).optional();
      },
    });
    expect(gapsOf(tree)).toEqual([["spec.children[]", expect.stringContaining("a CRD cannot recurse")]]);
    const gaps: SchemaGap[] = [];
    toStructural({ type: "array", uniqueItems: true, items: { const: "a", type: "string" }, $id: "x" }, "spec", gaps);
    expect(gaps).toMatchObject([{ path: "spec", what: 'a CRD has no "uniqueItems"' }]);
  });

  it("says nothing where all is checked", () => {
    expect(
      gapsOf(
        z.object({
          name: z.string().min(1).describe("who").optional(),
          size: z.union([z.int(), z.string()]),
          colour: z.union([z.string().regex(/^#/), z.string().regex(/^rgb/)]).nullable(),
          drive: z.discriminatedUnion("by", [
            z.object({ by: z.literal("coal"), tons: z.int().max(3) }),
            z.object({ by: z.literal("wind"), tons: z.int().max(3) }),
          ]),
          rest: z.unknown(),
        }),
      ),
    ).toEqual([]);
  });

  it("keeps a field's checks where every branch of a union has the same", () => {
    const branch = (by: string) => z.object({ by: z.literal(by), tons: z.int().max(3) });
    expect(structural(z.union([branch("a"), branch("b")])).properties).toMatchObject({
      tons: { type: "integer", maximum: 3 },
    });
  });

  it("knows the paths that have rules", () => {
    const rules = { "x-kubernetes-validations": [{ rule: "true" }] };
    const schema = z.object({
      a: z.string().meta(rules),
      b: z.array(z.object({ c: z.record(z.string(), z.int().meta(rules)) })),
    });
    expect(pathsWithRules(structural(schema), "spec")).toEqual(["spec.a", "spec.b[].c.*"]);
  });
});
