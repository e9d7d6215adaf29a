import { KubeObject } from "@lotse/client";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Declarations } from "./declarations.ts";
import { isResourceClass, resource } from "./resource.ts";

const ExchangeRate = resource({
  group: "rates.example.com",
  version: "v1",
  kind: "ExchangeRate",
  spec: z.object({ currency: z.string().regex(/^[A-Z]{3}$/), amount: z.number().default(1) }),
  status: z.object({ rate: z.number().optional(), checked: z.string() }),
  shortNames: ["xr"],
  columns: [{ name: "Rate", type: "number", path: ".status.rate" }],
});

describe("a resource", () => {
  it("is a class of objects like any other", () => {
    expect(ExchangeRate.description).toMatchObject({
      group: "rates.example.com",
      version: "v1",
      kind: "ExchangeRate",
      plural: "exchangerates",
      namespaced: true,
    });
    const rate = new ExchangeRate({ metadata: { name: "eur" }, spec: { currency: "EUR", amount: 1 } });
    expect(rate).toBeInstanceOf(KubeObject);
    expect(rate.body).toMatchObject({ apiVersion: "rates.example.com/v1", kind: "ExchangeRate" });
    expect(isResourceClass(ExchangeRate)).toBe(true);
  });

  it("brings its CRD: names, schema, status subresource, columns and the place for the record", () => {
    const crd = ExchangeRate.crd();
    expect(crd.metadata?.name).toBe("exchangerates.rates.example.com");
    expect(crd.spec?.names).toEqual({
      kind: "ExchangeRate",
      listKind: "ExchangeRateList",
      plural: "exchangerates",
      singular: "exchangerate",
      shortNames: ["xr"],
    });
    const [version] = crd.spec?.versions ?? [];
    expect(version).toMatchObject({
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: "Rate", type: "number", jsonPath: ".status.rate" },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
    });
    const schema = version?.schema?.openAPIV3Schema as { properties: Record<string, Record<string, unknown>> };
    expect(schema.properties.spec).toMatchObject({ required: ["currency"] });
    expect(schema.properties.status?.properties).toHaveProperty("lotse");
  });

  it("requires nothing in the status, which is filled bit by bit", () => {
    const schema = ExchangeRate.crd().spec?.versions[0]?.schema?.openAPIV3Schema as {
      properties: { status: Record<string, unknown> };
    };
    expect(schema.properties.status).not.toHaveProperty("required");
  });

  it.each([
    ["a group without a dot", { group: "rates", version: "v1", kind: "Rate" }, /API group/],
    ["a version that is none", { group: "a.b", version: "1", kind: "Rate" }, /API version/],
    ["a kind in lower case", { group: "a.b", version: "v1", kind: "rate" }, /kind/],
  ])("refuses %s where it is declared", (_name, names, message) => {
    expect(() => resource({ ...names, spec: z.object({}) })).toThrow(message);
  });

  it("refuses a schema that cannot describe itself", () => {
    expect(() => resource({ group: "a.b", version: "v1", kind: "Rate", spec: {} as never })).toThrow(/JSON Schema/);
  });

  it.each<[name: string, schema: z.ZodType, told: string]>([
    [
      ".transform",
      z.object({ a: z.object({ size: z.string().transform(Number) }) }),
      "spec.a.size of Rate has .transform(…)",
    ],
    [".transform of the whole", z.object({}).transform(() => 1), "spec of Rate has .transform(…)"],
    [
      "z.preprocess",
      z.object({ tags: z.array(z.preprocess(String, z.string())) }),
      "spec.tags[] of Rate has z.preprocess(…)",
    ],
    ["a codec", z.object({ on: z.stringbool().optional() }), "spec.on of Rate has a codec"],
    [
      "one in a record",
      z.object({ m: z.record(z.string(), z.string().transform(Number)) }),
      "spec.m.* of Rate has .transform",
    ],
    [
      "one in a union",
      z.object({ u: z.union([z.string().transform(Number), z.int()]) }),
      "spec.u of Rate has .transform",
    ],
  ])("refuses %s, because nobody would ever call it, and says what to do", (_name, spec, told) => {
    const declare = () => resource({ group: "a.b", version: "v1", kind: "Rate", spec });
    expect(declare).toThrow(told);
    expect(declare).toThrow(/resource\.test\.ts:\d+/);
    expect(declare).toThrow(expect.objectContaining({ hint: expect.stringContaining("change it where it is used") }));
    const inStatus = () => resource({ group: "a.b", version: "v1", kind: "Rate", spec: z.object({}), status: spec });
    expect(inStatus).toThrow(told.replace("spec", "status"));
  });

  it("tells what its schemas say and no API server checks, and where it is declared", () => {
    const Rate = resource({
      group: "a.b",
      version: "v1",
      kind: "Rate",
      spec: z.object({ currency: z.string().refine((text) => text !== "XXX"), amount: z.number().default(1) }),
      status: z.object({ rate: z.union([z.number(), z.string()]).optional() }),
    });
    expect(Rate.gaps().map(({ path }) => path)).toEqual(["status.rate", "spec.currency"]);
    expect(Rate.sourceLocation).toMatch(/declare\/resource\.test\.ts:\d+$/);
    expect(ExchangeRate.gaps()).toEqual([]);
  });

  it("takes schemas that are functions, as those of some libraries are", () => {
    const spec = Object.assign(() => true, {
      "~standard": {
        version: 1,
        vendor: "callable",
        types: undefined as { input: { size: number }; output: { size: number } } | undefined,
        jsonSchema: { input: () => ({ type: "object", properties: { size: { type: "number" } }, required: ["size"] }) },
      },
    } as const);
    const Sized = resource({ group: "a.b", version: "v1", kind: "Sized", spec });
    expectTypeOf<typeof Sized.Spec>().toEqualTypeOf<{ size: number }>();
    expect(Sized.versions[0]?.schema().properties).toMatchObject({ spec: { required: ["size"] } });
  });

  it("refuses a schema that JSON has no form for", () => {
    expect(() => resource({ group: "a.b", version: "v1", kind: "Rate", spec: z.object({ at: z.date() }) })).toThrow(
      /no JSON form/,
    );
  });
});

describe("the types of a handler", () => {
  const { on } = new Declarations();

  it("come from the resource alone", () => {
    on.create(ExchangeRate, { id: "types" }, ({ spec, status, patch, old, name, object }) => {
      expectTypeOf(spec.currency).toEqualTypeOf<string>();
      expectTypeOf(spec.amount).toEqualTypeOf<number>();
      expectTypeOf(status.rate).toEqualTypeOf<number | undefined>();
      expectTypeOf(status.checked).toEqualTypeOf<string | undefined>();
      expectTypeOf(old?.spec?.currency).toEqualTypeOf<string | undefined>();
      expectTypeOf(name).toEqualTypeOf<string>();
      expectTypeOf(object.body.spec.currency).toEqualTypeOf<string>();
      patch.status.rate = 1;
      patch.status.rate = null;
      // @ts-expect-error a wrong type does not compile
      patch.status.rate = "1";
      // @ts-expect-error a wrong field does not compile
      patch.status.wrong = 1;
      // @ts-expect-error bodies are readonly
      spec.currency = "USD";
    });
  });

  it("are loose for a kind that is only known by name", () => {
    on.create("things.example.com", { id: "loose" }, ({ spec }) => {
      expectTypeOf(spec).toEqualTypeOf<{ readonly [x: string]: unknown }>();
    });
  });
});
