import { ConfigMap, type corev1, Deployment, type KubeBody } from "@lotse/client";
import { durationMs, parseQuantity } from "@lotse/client/meta";
import { checkDefinition } from "@lotse/cluster";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { crdOf } from "./crd.ts";
import {
  atomic,
  duration,
  embedded,
  immutable,
  intOrString,
  listMap,
  listSet,
  podTemplate,
  quantity,
  rule,
} from "./helpers.ts";
import { type JsonSchemaSource, type OutputOf, readJson } from "./json-schema.ts";
import { schema } from "./literal.ts";
import type { OwnSchema } from "./own-schema.ts";
import { takePlaces } from "./rule-places.ts";
import { toStructural } from "./structural.ts";

/** A schema of a library that is not known, as Standard JSON Schema describes it. */
const foreign = <T>(json: Record<string, unknown>): JsonSchemaSource<T, T> => ({
  "~standard": { version: 1, vendor: "other", jsonSchema: { input: () => json } },
});

/** The structural form as a CRD has it, without the places of rules. */
const structural = (source: unknown) => takePlaces(toStructural(readJson(source))).schema;

/** What a server says of a definition whose spec is this. */
async function judged(spec: JsonSchemaSource): Promise<readonly object[]> {
  const description = {
    group: "shops.example.com",
    version: "v1",
    kind: "Shop",
    plural: "shops",
    singular: "shop",
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: [],
    subresources: [],
  };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    deprecated: false,
    about: undefined,
    spec: readJson(spec),
    status: undefined,
    rules: [],
    columns: [],
    scale: undefined,
    selectableFields: [],
  };
  return checkDefinition(crdOf({ description, versions: [version], converted: false }));
}

describe("a schema of zod that is told more", () => {
  it("stays one of zod, of the same type, also inside of others and behind more of its methods", () => {
    const range = rule(z.object({ min: z.int(), max: z.int() }), "self.min <= self.max", "min must not exceed max");
    expectTypeOf(range).toEqualTypeOf(z.object({ min: z.int(), max: z.int() }));
    const outer = z.object({
      range: range.optional(),
      ranges: z.array(range.nullable()).max(5),
      named: range.describe("a range"),
    });
    const rules = [{ rule: "self.min <= self.max", message: "min must not exceed max" }];
    expect(structural(outer)).toMatchObject({
      properties: {
        range: { "x-kubernetes-validations": rules },
        ranges: { items: { nullable: true, "x-kubernetes-validations": rules } },
        named: { description: "a range", "x-kubernetes-validations": rules },
      },
    });
    expect(range.safeParse({ min: 1, max: 2 }).success).toBe(true);
  });

  it("is not changed itself", () => {
    const plain = z.string();
    rule(plain, "self != 'x'");
    expect(structural(plain)).toEqual({ type: "string" });
  });
});

describe("a schema of any library that is told more", () => {
  it.each<[library: string, text: JsonSchemaSource<string>]>([
    ["zod", z.string()],
    ["none", schema({ type: "string" })],
    ["another", foreign<string>({ type: "string" })],
  ])("of %s: rules come together, in their order, with all that can be said", (_library, text) => {
    const twice = rule(rule(text, "self != 'a'"), "self != oldSelf", {
      messageExpression: "'it was ' + oldSelf",
      reason: "FieldValueForbidden",
      fieldPath: ".x",
      optionalOldSelf: true,
    });
    expectTypeOf<OutputOf<typeof twice>>().toEqualTypeOf<string>();
    expect(structural(twice)).toEqual({
      type: "string",
      "x-kubernetes-validations": [
        { rule: "self != 'a'" },
        {
          rule: "self != oldSelf",
          messageExpression: "'it was ' + oldSelf",
          reason: "FieldValueForbidden",
          fieldPath: ".x",
          optionalOldSelf: true,
        },
      ],
    });
  });

  it("of a library that is not known becomes one that may stand in zod and in a literal", () => {
    const told = rule(
      foreign<{ a: number }>({ type: "object", properties: { a: { type: "number" } } }),
      "self.a > 1.0",
    );
    expectTypeOf(told).toEqualTypeOf<OwnSchema<{ a: number }>>();
    const want = { properties: { told: { "x-kubernetes-validations": [{ rule: "self.a > 1.0" }] } } };
    expect(structural(z.object({ told }))).toMatchObject(want);
    expect(structural(schema({ type: "object", properties: { told } }))).toMatchObject(want);
  });

  it("says where its rules were written, and no server is told", () => {
    const placed = takePlaces(toStructural(readJson(z.object({ a: rule(z.array(rule(z.string(), "true")), "true") }))));
    expect([...placed.places.keys()]).toEqual([
      ".properties[a].x-kubernetes-validations[0]",
      ".properties[a].items.x-kubernetes-validations[0]",
    ]);
    for (const place of placed.places.values()) expect(place).toMatch(/^schema\/helpers\.test\.ts:\d+$/);
    expect(JSON.stringify(placed.schema)).not.toContain("helpers.test.ts");
  });

  it("must be a schema", () => {
    expect(() => rule({} as never, "true")).toThrow("is not a schema that can describe itself");
    expect(() => rule({ "~standard": {}, _zod: {} } as never, "true")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("zod/mini") }),
    );
  });
});

describe("a field that must not change", () => {
  it("neither changes, nor goes, nor comes", () => {
    const spec = z.object({
      region: immutable(z.string()),
      zone: immutable(z.string().optional(), "stay where you are"),
      tier: immutable(z.string().default("a")),
      "host-name": immutable(z.string()).optional(),
    });
    const own = { rule: "self == oldSelf", message: "field is immutable" };
    expect(structural(spec)).toMatchObject({
      properties: {
        region: { "x-kubernetes-validations": [own] },
        zone: { "x-kubernetes-validations": [{ ...own, message: "stay where you are" }] },
        tier: { default: "a", "x-kubernetes-validations": [own] },
      },
      "x-kubernetes-validations": [
        { rule: "has(self.zone) == has(oldSelf.zone)", message: "stay where you are", fieldPath: ".zone" },
        { rule: "has(self.host__dash__name) == has(oldSelf.host__dash__name)", fieldPath: ".host-name" },
      ],
    });
    expect(JSON.stringify(structural(spec))).not.toContain("x-lotse");
  });

  it("is told of where rules have no word for it", () => {
    const gaps: { path: string; what: string }[] = [];
    toStructural(readJson(z.object({ "9 lives": immutable(z.int().optional()) })), "spec", gaps as never);
    expect(gaps).toMatchObject([{ path: "spec.9 lives", what: expect.stringContaining("no word for its name") }]);
  });
});

describe("lists and maps", () => {
  it("have the types that server-side apply knows", () => {
    const ports = z.array(z.object({ name: z.string(), port: z.int() }));
    expect(structural(listMap(ports, ["name", "port"]))).toMatchObject({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name", "port"],
    });
    expect(structural(listSet(z.array(z.string())))).toMatchObject({ "x-kubernetes-list-type": "set" });
    expect(structural(atomic(z.array(z.string())))).toMatchObject({ "x-kubernetes-list-type": "atomic" });
    expect(structural(atomic(z.record(z.string(), z.string())).optional())).toMatchObject({
      "x-kubernetes-map-type": "atomic",
    });
    expect(structural(atomic(schema({ type: "object", properties: {} })))).toMatchObject({
      "x-kubernetes-map-type": "atomic",
    });
    expect(() => structural(z.object({ a: atomic(z.string()) }))).toThrow(
      "spec.a is atomic, and neither a list nor an object",
    );
  });

  it("are known by fields that there are", () => {
    const ports = z.array(z.object({ name: z.string() }));
    const wrong = () => {
      // @ts-expect-error: items have no such field
      listMap(ports, ["nmae"]);
      // @ts-expect-error: one is needed
      listMap(ports, []);
    };
    expectTypeOf(wrong).toBeFunction();
  });
});

describe("kinds of values", () => {
  it.each(["5s", "1h30m", "250ms", "1.5h", "90m"])("a duration is %s for the server and for the operator", (text) => {
    const { pattern } = readJson(duration()) as { pattern: string };
    expect(new RegExp(pattern).test(text)).toBe(true);
    expect(durationMs(text)).toBeGreaterThan(0);
  });

  it.each(["1d", "1w", "-5s", "5", "1h 30m", "", "1.h", "5us"])(
    "a duration is not %j: one of the two would not read it",
    (text) => {
      const { pattern } = readJson(duration()) as { pattern: string };
      expect(new RegExp(pattern).test(text)).toBe(false);
    },
  );

  it.each(["500m", "1.5Gi", "2", "+1", "-3k", ".5", "1e3", "1E-3", "5."])(
    "a quantity is %s for the server and for the operator",
    (text) => {
      const { pattern } = readJson(quantity()) as { pattern: string };
      expect(new RegExp(pattern).test(text)).toBe(true);
      expect(() => parseQuantity(text)).not.toThrow();
    },
  );

  it.each(["", "1 Gi", "Gi", "1KB", "--1", "1e"])("a quantity is not %j", (text) => {
    const { pattern } = readJson(quantity()) as { pattern: string };
    expect(new RegExp(pattern).test(text)).toBe(false);
    expect(() => parseQuantity(text)).toThrow();
  });

  it("have the types of what they hold", () => {
    expectTypeOf<OutputOf<ReturnType<typeof podTemplate>>>().toEqualTypeOf<corev1.PodTemplateSpec>();
    expectTypeOf<OutputOf<ReturnType<typeof intOrString>>>().toEqualTypeOf<number | string>();
    expectTypeOf<OutputOf<ReturnType<typeof duration>>>().toEqualTypeOf<string>();
    const anything = embedded();
    expectTypeOf<OutputOf<typeof anything>>().toEqualTypeOf<KubeBody>();
    const deployment = embedded(Deployment);
    expectTypeOf<NonNullable<OutputOf<typeof deployment>["spec"]>["replicas"]>().toEqualTypeOf<number | undefined>();
  });

  it("are objects of one kind, with their schema where it is known", () => {
    expect(structural(embedded(ConfigMap))).toMatchObject({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { apiVersion: { enum: ["v1"] }, kind: { enum: ["ConfigMap"] } },
    });
    const own = class extends Deployment {
      static readonly versions = [
        {
          name: "v1",
          schema: () => ({ type: "object", required: ["spec"], properties: { spec: { type: "object" } } }),
        },
      ];
    };
    expect(structural(embedded(own))).toEqual({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      required: ["spec"],
      properties: {
        apiVersion: { type: "string", enum: ["apps/v1"] },
        kind: { type: "string", enum: ["Deployment"] },
        metadata: { type: "object" },
        spec: { type: "object" },
      },
    });
  });
});

describe("a definition with all of it", () => {
  it("is taken by the server", async () => {
    const spec = z.object({
      range: rule(z.object({ min: z.int(), max: z.int() }), "self.min <= self.max", {
        messageExpression: "self.max > 9 ? 'lower min' : 'raise max'",
        reason: "FieldValueInvalid",
        fieldPath: ".min",
      }),
      region: immutable(z.string().max(20)),
      zone: immutable(z.string().max(20).optional()),
      ports: listMap(z.array(z.object({ name: z.string(), port: intOrString() })), ["name"]),
      tags: listSet(z.array(z.string())),
      selector: atomic(z.record(z.string(), z.string())),
      order: atomic(z.array(z.int())),
      memory: rule(quantity(), "type(self) == int || isQuantity(self)", "no quantity"),
      interval: rule(duration(), "self >= duration('1s')", "at least a second"),
      template: podTemplate(),
      config: embedded(ConfigMap),
      anything: z.optional(embedded()),
      drive: z.discriminatedUnion("by", [
        rule(z.strictObject({ by: z.literal("coal"), of: z.string() }), "self.of.startsWith('a')"),
        z.object({ by: z.literal("wind"), of: z.int(), blades: z.int().max(9) }),
      ]),
      one: z.xor([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      keys: z.record(
        z
          .string()
          .regex(/^[a-z]+$/)
          .max(9),
        z.string(),
      ),
      pair: z.tuple([z.string().max(9), z.int()]),
      text: z.union([z.email(), z.url()]),
      flags: z.string().regex(/^a.b$/is).regex(/b/),
      span: z.iso.duration(),
    });
    expect(await judged(spec)).toEqual([]);
  });

  it.each([
    "uuid",
    "email",
    "url",
    "cuid",
    "cuid2",
    "ulid",
    "nanoid",
    "emoji",
    "ipv4",
    "ipv6",
    "cidrv4",
    "cidrv6",
    "base64",
    "base64url",
    "e164",
    "jwt",
    "guid",
    "xid",
    "ksuid",
    "mac",
    "hostname",
    "hex",
  ] as const)("is taken with the format %s", async (format) => {
    const make: () => z.ZodType = z[format];
    expect(await judged(z.object({ a: make() }))).toEqual([]);
  });

  it("is taken with the keys of the largest maps for which we make a rule", async () => {
    const keys = z.record(
      z.string().regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z]([-a-z0-9]{0,61}[a-z0-9])?)*$/),
      z.string(),
    );
    const long = z.record(z.string().regex(new RegExp(`^${"[a-z]?".repeat(150)}$`)), z.string());
    const bounded = z.object({ a: z.array(long.meta({ maxProperties: 50 })).max(20) });
    for (const spec of [z.object({ keys }), bounded]) {
      expect(structural(spec)).not.toEqual(expect.objectContaining({ "x-lotse-unsaid": expect.anything() }));
      expect(JSON.stringify(structural(spec))).toContain("self.all(key");
      expect(await judged(spec)).toEqual([]);
    }
  });
});
