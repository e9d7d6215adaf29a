import { describe, expect, it } from "vitest";
import { z } from "zod";
import { pathsWithRules, type SchemaGap, type SchemaNode, toStructural } from "./structural.ts";

const PRESERVE = "x-kubernetes-preserve-unknown-fields";

function structural(schema: z.ZodType, gaps?: SchemaGap[]): SchemaNode {
  const source = schema as unknown as { "~standard": { jsonSchema: { input(o: { target: string }): unknown } } };
  return toStructural(source["~standard"].jsonSchema.input({ target: "openapi-3.0" }), "spec", gaps);
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
        anyOf: [
          { properties: { type: { enum: ["a"] } }, required: ["type", "x"] },
          { properties: { type: { enum: ["b"] } }, required: ["type", "y"] },
        ],
      },
    ],
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
    ["lists of several kinds", z.union([z.array(z.string()), z.array(z.int())]), "spec[]", /not checked/],
    [
      "bounds of a number that may be a text",
      z.union([z.int().min(1), z.string()]),
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
      "checks that differ between branches",
      z.union([z.object({ a: z.string().max(3) }), z.object({ a: z.string() })]),
      "spec.a",
      /checks differ.*maxLength/,
    ],
    ["other fields of a type", z.object({ a: z.string() }).catchall(z.int()), "spec", /fields beside/],
  ])("says that %s is not checked", (_what, schema, path, told) => {
    expect(gapsOf(schema)).toEqual([[path, expect.stringMatching(told)]]);
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
