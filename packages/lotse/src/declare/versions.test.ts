import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Declarations } from "./declarations.ts";
import { planKinds } from "./kind-plan.ts";
import { resource } from "./resource.ts";

const names = { group: "rates.example.com", kind: "Rate" } as const;
const old = z.object({ cur: z.string() });
const now = z.object({ currency: z.string(), replicas: z.int().default(1) });

const convert = {
  v1beta1: {
    to: ({ spec }: { spec: { cur: string } }) => ({ spec: { currency: spec.cur, replicas: 1 } }),
    from: ({ spec }: { spec: { currency: string } }) => ({ spec: { cur: spec.currency } }),
  },
};

const Rate = resource({
  ...names,
  description: "The rate of a currency.",
  categories: ["all", "money"],
  versions: {
    v1alpha1: { spec: old, served: false },
    v1beta1: {
      spec: old,
      columns: [{ name: "Currency", type: "string", path: ".spec.cur" }],
      deprecated: "rates.example.com/v1beta1 Rate is old: use v1",
    },
    v1: {
      spec: now,
      status: z.object({ replicas: z.int().optional(), selector: z.string().optional() }),
      storage: true,
      scale: { spec: ".spec.replicas", status: ".status.replicas", selector: ".status.selector" },
      selectableFields: [".spec.currency"],
      rules: [{ rule: "self.spec.replicas < 9", message: "too many" }],
    },
    v2alpha1: { spec: now, deprecated: true },
  },
  convert: {
    ...convert,
    v1alpha1: convert.v1beta1,
    v2alpha1: { to: ({ spec }) => ({ spec }), from: ({ spec }) => ({ spec }) },
  },
  rules: [
    {
      rule: "self.metadata.name.size() < 20",
      messageExpression: "'too long: ' + self.metadata.name",
      reason: "FieldValueInvalid",
    },
  ],
});

describe("a kind with several versions", () => {
  it("has one definition with all of them, in the order in which they were declared", () => {
    const { spec } = Rate.crd();
    expect(spec?.names.categories).toEqual(["all", "money"]);
    expect(
      spec?.versions.map(({ schema: _schema, additionalPrinterColumns: _columns, ...version }) => version),
    ).toEqual([
      { name: "v1alpha1", served: false, storage: false, subresources: { status: {} } },
      {
        name: "v1beta1",
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: "rates.example.com/v1beta1 Rate is old: use v1",
        subresources: { status: {} },
      },
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.replicas",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
        selectableFields: [{ jsonPath: ".spec.currency" }],
      },
      { name: "v2alpha1", served: true, storage: false, deprecated: true, subresources: { status: {} } },
    ]);
    expect(
      spec?.versions.map(({ additionalPrinterColumns }) => additionalPrinterColumns?.map(({ name }) => name)),
    ).toEqual([["Age"], ["Currency", "Age"], ["Age"], ["Age"]]);
    expect(spec?.versions[1]?.schema?.openAPIV3Schema).toMatchObject({
      description: "The rate of a currency.",
      properties: { spec: { required: ["cur"] } },
      "x-kubernetes-validations": [{ rule: "self.metadata.name.size() < 20", reason: "FieldValueInvalid" }],
    });
    expect(spec?.versions[2]?.schema?.openAPIV3Schema).toMatchObject({
      "x-kubernetes-validations": [
        { reason: "FieldValueInvalid" },
        { rule: "self.spec.replicas < 9", message: "too many" },
      ],
    });
  });

  it("leaves it to who installs it to say who converts", () => {
    expect(Rate.crd().spec).not.toHaveProperty("conversion");
    const alike = resource({ ...names, versions: { v1beta1: { spec: now }, v1: { spec: now, storage: true } } });
    expect(alike.crd().spec?.conversion).toEqual({ strategy: "None" });
    expect(alike.conversions.size).toBe(0);
  });

  it("needs no conversion where versions differ in words alone", () => {
    const told = z.object({ currency: z.string().describe("its name"), replicas: z.int().default(1) });
    expect(() =>
      resource({ ...names, versions: { v1beta1: { spec: told }, v1: { spec: now, storage: true } } }),
    ).not.toThrow();
  });

  it("is a class for each of them, which share everything else", () => {
    expect(Rate.description).toMatchObject({ version: "v1", subresources: ["status", "scale"] });
    const Old = Rate.version("v1beta1");
    expect(Old.description).toMatchObject({ version: "v1beta1", plural: "rates", subresources: ["status"] });
    expect(new Old({ spec: { cur: "EUR" } }).body.apiVersion).toBe("rates.example.com/v1beta1");
    expect(Old.version("v1")).toBe(Rate);
    expect(Old.crd()).toEqual(Rate.crd());
    expect(Old.versions).toBe(Rate.versions);
    expect(Rate.storageVersion).toBe("v1");
    expect([...Rate.conversions.keys()].sort()).toEqual(["v1alpha1", "v1beta1", "v2alpha1"]);
    expect(Rate.lossless).toBe(true);
    expect(Rate.versions.map(({ schema: _schema, places: _places, ...version }) => version)).toEqual([
      { name: "v1alpha1", served: false, storage: false, deprecated: false },
      { name: "v1beta1", served: true, storage: false, deprecated: "rates.example.com/v1beta1 Rate is old: use v1" },
      { name: "v1", served: true, storage: true, deprecated: false },
      { name: "v2alpha1", served: true, storage: false, deprecated: true },
    ]);
    expect(Rate.versions[1]?.schema()).toEqual(Rate.crd().spec?.versions[1]?.schema?.openAPIV3Schema);
  });

  it("handles the version that was chosen", () => {
    const Chosen = resource({
      ...names,
      versions: { v1beta1: { spec: old }, v1: { spec: now, storage: true } },
      convert,
      handles: "v1beta1",
      lossless: false,
    });
    expect(Chosen.description.version).toBe("v1beta1");
    expect([Chosen.storageVersion, Chosen.lossless]).toEqual(["v1", false]);
  });

  it("has one version in the short form, and needs no mark for one in the long form", () => {
    const short = resource({ ...names, version: "v1", spec: now });
    const long = resource({ ...names, versions: { v1: { spec: now } } });
    expect(long.crd()).toEqual(short.crd());
    for (const one of [short, long]) {
      expect([one.storageVersion, one.lossless]).toEqual(["v1", true]);
      expect(one.versions).toMatchObject([{ name: "v1", served: true, storage: true, deprecated: false }]);
      expect(one.version("v1")).toBe(one);
      expect(one.crd().spec).not.toHaveProperty("conversion");
    }
  });

  it("has one version for all handlers of an operator", () => {
    const declared = new Declarations();
    declared.on.create(Rate, { id: "new" }, () => {});
    declared.on.create(Rate.version("v1beta1"), { id: "old" }, () => {});
    expect(() => planKinds(declared.resources, [])).toThrow("Rate has handlers for v1 and for v1beta1");
  });
});

describe("a mistake in versions is told where it is made:", () => {
  const two = { v1beta1: { spec: now }, v1: { spec: now, storage: true } } as const;
  const long = "x".repeat(257);
  it.each<[what: string, definition: object, message: string, hint: string]>([
    ["no version", { spec: now }, "Rate has no version", "versions: { v1: { spec: … } }"],
    ["no spec", { version: "v1" }, "Rate has no spec", 'version: "v1" and spec'],
    ["no versions", { versions: {} }, "Rate has no versions", "versions: { v1"],
    [
      "both forms",
      { version: "v1", spec: now, versions: two },
      "both versions and version, spec",
      "move version, spec into",
    ],
    ["a name", { versions: { "1": { spec: now } } }, '"1" is not an API version', "v1beta1"],
    ["a long name", { versions: { [`v${"1".repeat(63)}`]: { spec: now } } }, "is not an API version", "v1beta1"],
    [
      "no storage version",
      { versions: { v1beta1: { spec: now }, v1: { spec: now } } },
      "no storage version among v1beta1, v1",
      "as a rule v1",
    ],
    [
      "the only one not stored",
      { versions: { v1: { spec: now, storage: false } } },
      "no storage version among v1",
      "storage: true",
    ],
    [
      "two storage versions",
      { versions: { v1: { spec: now, storage: true }, v2: { spec: now, storage: true } } },
      "several storage versions: v1, v2",
      "exactly one",
    ],
    [
      "an unknown version to handle",
      { versions: two, handles: "v3" },
      'handles "v3", which is none of its versions',
      "there are v1beta1, v1",
    ],
    [
      "a version that is not served to handle",
      { versions: { ...two, v1beta1: { spec: now, served: false } }, handles: "v1beta1" },
      "would see v1beta1, which is not served",
      'handles: "v1"',
    ],
    [
      "a storage version that is not served",
      { versions: { ...two, v1: { spec: now, storage: true, served: false } } },
      "would see v1, which is not served",
      'handles: "v1beta1"',
    ],
    [
      "nothing served",
      { versions: { v1: { spec: now, served: false } } },
      "would see v1, which is not served",
      "leave served: false out",
    ],
    [
      "an empty warning",
      { versions: { v1: { spec: now, deprecated: "" } } },
      "deprecated with an empty warning",
      "use true",
    ],
    ["a long warning", { versions: { v1: { spec: now, deprecated: long } } }, "a warning of 257 characters", "256"],
    [
      "versions that differ",
      { versions: { ...two, v1beta1: { spec: old } } },
      "v1beta1 looks otherwise than v1",
      "convert: { v1beta1: { to:",
    ],
    [
      "an unknown version to convert",
      { versions: two, convert: { v3: convert.v1beta1 } },
      "converts v3, which is none",
      "there are v1beta1, v1",
    ],
    [
      "the storage version to convert",
      { versions: two, convert: { v1: convert.v1beta1 } },
      "converts v1, in which objects are kept",
      "the other versions",
    ],
    [
      "half a conversion",
      { versions: two, convert: { v1beta1: { to: () => {} } } },
      "of Rate v1beta1 lacks from",
      "from: (stored)",
    ],
    ["no conversion", { versions: two, convert: { v1beta1: 1 } }, "lacks to and from", "to: (old)"],
    ["a conversion that is none", { versions: two, convert: 1 }, "convert of Rate is no object", "convert: {"],
    [
      "a column",
      { versions: { v1: { spec: now, columns: [{ name: "A", type: "string", path: ".spec.curency" }] } } },
      'the column "A" of Rate v1 has the path .spec.curency, where nothing is',
      ".spec.currency, .spec.replicas",
    ],
    [
      "a field in one of several versions",
      { versions: { ...two, v1beta1: { spec: old } }, convert, selectableFields: [".spec.currency"] },
      "selectableFields of Rate v1beta1",
      "there are .spec.cur",
    ],
    [
      "a path without a dot",
      { version: "v1", spec: now, scale: { spec: "spec.replicas", status: ".status.replicas" } },
      'scale.spec of Rate v1 has the path "spec.replicas"',
      "begin it with a dot",
    ],
    [
      "a path below a text",
      { version: "v1", spec: now, selectableFields: [".spec.currency.name"] },
      "where nothing is",
      ".spec.currency has no fields",
    ],
    [
      "a path beside the parts",
      { version: "v1", spec: now, columns: [{ name: "A", type: "string", path: ".sepc" }] },
      "where nothing is",
      ".metadata, .spec, .status",
    ],
    ["an empty rule", { version: "v1", spec: now, rules: [{ rule: " " }] }, "a rule of Rate v1 is empty", "write CEL"],
    [
      "an empty message",
      { version: "v1", spec: now, rules: [{ rule: "true", message: "" }] },
      'the rule "true" of Rate v1 has an empty message',
      "leave it out",
    ],
  ])("%s", (_what, definition, message, hint) => {
    const declare = () => resource({ ...names, ...definition } as never);
    expect(declare).toThrow(message);
    expect(declare).toThrow(/declare\/versions\.test\.ts:\d+/);
    expect(declare).toThrow(
      expect.objectContaining({ code: "LOTSE_DECLARATION", hint: expect.stringContaining(hint) }),
    );
  });

  it("a version that is asked for and not there", () => {
    expect(() => Rate.version("v3" as never)).toThrow(/^Rate has no version "v3" at /);
  });

  it("and nothing is told of paths into what may be anything", () => {
    const columns = [
      { name: "A", type: "string", path: ".status.any.thing" },
      { name: "B", type: "string", path: ".metadata.labels.example\\.com/b" },
      { name: "C", type: "string", path: ".spec.list[0].c" },
      { name: "D", type: "string", path: ".spec.map.d" },
    ] as const;
    const spec = z.object({ list: z.array(z.object({ c: z.string() })), map: z.record(z.string(), z.string()) });
    expect(() => resource({ ...names, version: "v1", spec, columns })).not.toThrow();
  });
});
