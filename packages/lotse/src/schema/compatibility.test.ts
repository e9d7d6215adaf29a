import type { CustomResourceDefinition } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { compareDefinitions, type DefinitionChange } from "./compatibility.ts";
import type { SchemaNode } from "./node.ts";

type Definition = CustomResourceDefinition["body"];
type Versions = NonNullable<Definition["spec"]>["versions"];

const version = (name: string, spec: SchemaNode, more: Partial<Versions[number]> = {}): Versions[number] => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
  ...more,
});

const definition = (versions: Versions, more: Partial<NonNullable<Definition["spec"]>> = {}): Definition => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Thing", plural: "things" },
    versions,
    ...more,
  },
});

const told = (changes: readonly DefinitionChange[]) =>
  changes.map(({ effect, version, path, what }) => [effect, version, path, what].filter(Boolean).join(" "));

/** The changes from one field to another. */
const field = (before: SchemaNode | undefined, after: SchemaNode | undefined, more: SchemaNode = {}) => {
  const spec = (node: SchemaNode | undefined, rest: SchemaNode): SchemaNode => ({
    type: "object",
    properties: node === undefined ? {} : { a: node },
    ...rest,
  });
  return told(
    compareDefinitions(definition([version("v1", spec(before, {}))]), definition([version("v1", spec(after, more))])),
  );
};

const text = { type: "string" };
const count = { type: "integer" };

describe("a field", () => {
  it.each<[string, SchemaNode, SchemaNode, string[]]>([
    ["of another type", text, count, ["refused v1 spec.a was string, is integer"]],
    ["that takes fractions too", count, { type: "number" }, []],
    ["that takes whole numbers only", { type: "number" }, count, ["refused v1 spec.a was number, is integer"]],
    ["that takes strings too", count, { "x-kubernetes-int-or-string": true }, []],
    [
      "that takes anything no more",
      { "x-kubernetes-preserve-unknown-fields": true },
      text,
      ["refused v1 spec.a was anything, is string"],
    ],
    ["that may not be null", { ...text, nullable: true }, text, ["refused v1 spec.a may not be null any more"]],
    [
      "that has a default instead of null",
      { ...text, nullable: true },
      { ...text, default: "x" },
      ['altered v1 spec.a becomes "x" where it was null'],
    ],
    ["that may be null", text, { ...text, nullable: true }, []],
    [
      "with fewer values",
      { enum: ["x", "y"], ...text },
      { enum: ["y"], ...text },
      ['refused v1 spec.a no longer allows "x"'],
    ],
    ["with more values", { enum: ["y"], ...text }, { enum: ["x", "y"], ...text }, []],
    ["with an enum", text, { enum: ["x"], ...text }, ['refused v1 spec.a is limited to "x"']],
    [
      "with a higher minimum",
      { minimum: 1, ...count },
      { minimum: 2, ...count },
      ["refused v1 spec.a must be at least 2, was 1"],
    ],
    ["with a lower minimum", { minimum: 2, ...count }, { minimum: 1, ...count }, []],
    [
      "with an open minimum",
      { minimum: 2, ...count },
      { minimum: 2, exclusiveMinimum: true, ...count },
      ["refused v1 spec.a must be more than 2, was 2"],
    ],
    ["with a maximum", count, { maximum: 9, ...count }, ["refused v1 spec.a must be at most 9"]],
    [
      "with coarser steps",
      { multipleOf: 2, ...count },
      { multipleOf: 4, ...count },
      ["refused v1 spec.a must be a multiple of 4"],
    ],
    ["with finer steps", { multipleOf: 4, ...count }, { multipleOf: 2, ...count }, []],
    ["that must be longer", text, { minLength: 1, ...text }, ["refused v1 spec.a must have at least 1 characters"]],
    ["with a pattern", text, { pattern: "^x", ...text }, ["refused v1 spec.a must match ^x"]],
    ["without a pattern", { pattern: "^x", ...text }, text, []],
    ["with a format", text, { format: "date", ...text }, ["refused v1 spec.a must have the format date"]],
    ["with a wider format", { format: "int32", ...count }, { format: "int64", ...count }, []],
    [
      "with a rule",
      text,
      { "x-kubernetes-validations": [{ rule: "self != ''" }], ...text },
      ["refused v1 spec.a has a new rule: self != ''"],
    ],
    ["with a rule about changes", text, { "x-kubernetes-validations": [{ rule: "self == oldSelf" }], ...text }, []],
    [
      "with another default",
      { default: 1, ...count },
      { default: 2, ...count },
      ["altered v1 spec.a has the default 2, was 1"],
    ],
    [
      "whose items may not repeat",
      { type: "array", items: text },
      { type: "array", items: text, "x-kubernetes-list-type": "set" },
      ["refused v1 spec.a may have each item only once"],
    ],
    [
      "whose items have another type",
      { type: "array", items: text },
      { type: "array", items: count },
      ["refused v1 spec.a[] was string, is integer"],
    ],
    [
      "whose values have another type",
      { type: "object", additionalProperties: text },
      { type: "object", additionalProperties: count },
      ["refused v1 spec.a.* was string, is integer"],
    ],
    [
      "that keeps unknown fields no more",
      { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      { type: "object" },
      ["lost v1 spec.a does not keep unknown fields any more"],
    ],
    [
      "in which anything was kept",
      { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { constructor: text } },
      ["refused v1 spec.a.constructor is checked from now on; until now anything was kept there"],
    ],
    ["with another description", text, { description: "What it is.", ...text }, []],
  ])("%s", (_what, before, after, expected) => {
    expect(field(before, after)).toEqual(expected);
  });

  it("that is gone loses what is stored, and one that is new is lost in a rollback", () => {
    expect(field(text, undefined)).toEqual(["lost v1 spec.a is gone, and the server drops it"]);
    expect(field(undefined, text)).toEqual(["rollback v1 spec.a is new; a rollback drops it"]);
  });

  it("that is required needs a default", () => {
    expect(field(text, text, { required: ["a"] })).toEqual(["refused v1 spec.a is required from now on"]);
    expect(field(undefined, text, { required: ["a"] })).toContain("refused v1 spec.a is new and required");
    expect(field(text, { default: "x", ...text }, { required: ["a"] })).toEqual([]);
  });

  it("that is set by default now may break a check of the whole", () => {
    const anyOf = [{ required: ["a"] }, { required: ["b"] }];
    const spec = (a: SchemaNode): SchemaNode => ({ type: "object", properties: { a, b: text }, oneOf: anyOf });
    const changes = compareDefinitions(
      definition([version("v1", spec(text))]),
      definition([version("v1", spec({ default: "x", ...text }))]),
    );
    expect(told(changes)).toEqual(["refused v1 spec is checked as a whole, and a default or a type in it has changed"]);
  });
});

describe("a definition", () => {
  const spec = { type: "object", properties: { a: text } };
  const v1 = version("v1", spec);

  it("that is the same has no changes", () => {
    expect(compareDefinitions(definition([v1]), definition([v1]))).toEqual([]);
  });

  it("may not change what it is", () => {
    const other = definition([v1], { scope: "Cluster", names: { kind: "Other", plural: "things" } });
    expect(told(compareDefinitions(definition([v1]), other))).toEqual([
      "broken was Namespaced, is Cluster; the server refuses that",
      "broken was the kind Thing, is Other",
    ]);
  });

  it("may not lose a version in which objects are stored, whatever is stored now", () => {
    const before = definition([version("v1", spec, { storage: false }), version("v2", spec)]);
    const after = definition([version("v2", spec)]);
    expect(told(compareDefinitions(before, after))).toEqual(["altered v1 is gone, and clients may still ask for it"]);
    const stored = { ...before, status: { storedVersions: ["v1", "v2"] } } as Definition;
    expect(told(compareDefinitions(stored, after))).toEqual([
      "broken v1 is gone, and objects are stored in it; the server refuses that",
    ]);
  });

  it("tells what a new version that is stored does to a rollback, and whether the objects fit it", () => {
    const v2 = version("v2", { type: "object", properties: { b: text } });
    const after = definition([{ ...v1, storage: false, served: false }, v2]);
    expect(told(compareDefinitions(definition([v1]), after))).toEqual([
      "altered v1 is not served any more",
      "rollback v2 is new and what is stored from now on",
      "lost v2 spec.a is gone, and the server drops it",
    ]);
    const converted = definition(after.spec?.versions ?? [], { conversion: { strategy: "Webhook" } });
    expect(told(compareDefinitions(definition([v1]), converted))).not.toContainEqual(expect.stringContaining("lost"));
  });

  it("tells of subresources that come and go", () => {
    const [plain, full] = [
      v1,
      { ...v1, subresources: { status: {}, scale: { specReplicasPath: ".spec.a", statusReplicasPath: ".status.a" } } },
    ];
    expect(told(compareDefinitions(definition([plain]), definition([full])))).toEqual([
      "altered v1 has a status subresource now",
    ]);
    expect(told(compareDefinitions(definition([full]), definition([plain])))).toEqual([
      "altered v1 has no status subresource any more",
      "altered v1 cannot be scaled any more",
    ]);
  });

  it("has the server's own fields, whether its schema names them or not", () => {
    const named = definition([
      {
        ...v1,
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["metadata"],
            properties: { apiVersion: text, kind: text, metadata: { type: "object" }, spec },
          },
        },
      },
    ] as Versions);
    expect(compareDefinitions(definition([v1]), named)).toEqual([]);
    expect(compareDefinitions(named, definition([v1]))).toEqual([]);
    const short = structuredClone(named);
    const metadata = short.spec?.versions[0]?.schema?.openAPIV3Schema?.properties?.metadata;
    Object.assign(metadata ?? {}, { properties: { name: { type: "string", maxLength: 9 } } });
    expect(told(compareDefinitions(named, short))).toEqual(["refused v1 metadata.name must have at most 9 characters"]);
  });
});
