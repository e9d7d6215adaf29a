import { describe, expect, it } from "vitest";
import { checkDefinition, checkPolicy } from "./offline.ts";

const definition = (spec: object, more: object = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "rates.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Rate", plural: "rates" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", ...spec } } } },
      },
    ],
    ...more,
  },
});

const size = { properties: { size: { type: "integer" }, tags: { type: "array", items: { type: "string" } } } };
const ruled = (rule: string, more: object = {}) => ({ ...size, "x-kubernetes-validations": [{ rule, ...more }] });
const RULE = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule";

describe("a definition without a server", () => {
  it("is taken when a server would take it", async () => {
    expect(await checkDefinition(definition(ruled("self.size > 1", { message: "too small" })))).toEqual([]);
  });

  it.each([
    [
      "a rule that does not compile",
      ruled("self.size >"),
      RULE,
      /^Invalid value: .*compilation failed: ERROR: <input>:1:12: Syntax error/,
    ],
    [
      "a rule with a wrong type",
      ruled("self.size > 'a'"),
      RULE,
      /found no matching overload for '_>_' applied to '\(int, string\)'/,
    ],
    ["a rule about a field that is not there", ruled("self.sise > 1"), RULE, /undefined field 'sise'/],
    ["a rule that is no condition", ruled("self.size"), RULE, /must evaluate to a bool/],
    [
      "a rule that costs too much",
      ruled("self.tags.all(a, self.tags.all(b, a == b))"),
      RULE,
      /^Forbidden: estimated rule cost exceeds budget by factor of/,
    ],
    [
      "a message that is no text",
      ruled("true", { messageExpression: "1" }),
      RULE.replace(/rule$/, "messageExpression"),
      /must evaluate to a string/,
    ],
    [
      "a node without a type",
      { properties: { a: {} } },
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].type",
      /^Required value: must not be empty/,
    ],
  ])("says of %s what the server would say", async (_what, spec, path, message) => {
    const [first, ...more] = await checkDefinition(definition(spec));
    expect(first).toMatchObject({ path, message: expect.stringMatching(message) });
    // What costs too much is told of the whole schema as well.
    expect(more.filter((one) => !one.message.includes("cost"))).toEqual([]);
  });

  it("says what is wrong with the whole, and with fields that there are not", async () => {
    expect(await checkDefinition(definition(size, { group: "other.com" }))).toMatchObject([
      { path: "metadata.name", reason: "FieldValueInvalid" },
    ]);
    const [unknown] = await checkDefinition(definition(size, { colour: "red" }));
    expect(unknown).toMatchObject({ path: "", message: expect.stringContaining('unknown field "spec.colour"') });
    expect(await checkDefinition({ ...definition(size), spec: 1 })).toMatchObject([{ path: "" }]);
  });

  it("is not changed by being looked at", async () => {
    const crd = definition(ruled("self.size > 1"));
    const before = structuredClone(crd);
    await checkDefinition(crd);
    expect(crd).toEqual(before);
  });
});

const policy = (expression: string, more: object = {}) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "small-rates" },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["*"], resources: ["rates"] }],
    },
    validations: [{ expression }],
    ...more,
  },
});

describe("a policy without a server", () => {
  it("is held against the types of the kinds that it is for", async () => {
    const crds = [definition(size)];
    expect(await checkPolicy(policy("object.spec.size < 9"), crds)).toEqual([]);
    expect(await checkPolicy(policy("object.spec.sise < 9"), crds)).toMatchObject([
      {
        path: "spec.validations[0].expression",
        message: expect.stringMatching(/^example\.com\/v1, Kind=Rate: .*undefined field 'sise'/),
      },
    ]);
  });

  it("knows built-in kinds, and says nothing of kinds that it does not know", async () => {
    const pods = {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }],
      },
    };
    expect(await checkPolicy(policy("object.spec.hostNetwrk", pods), [])).toMatchObject([
      { message: expect.stringContaining("hostNetwrk") },
    ]);
    expect(await checkPolicy(policy("object.spec.sise < 9"), [])).toEqual([]);
  });

  it("is refused when it does not compile, or has nothing to say", async () => {
    expect(await checkPolicy(policy("object.spec.size <"), [])).toMatchObject([
      { path: "spec.validations[0].expression", message: expect.stringContaining("compilation failed") },
    ]);
    expect(await checkPolicy(policy("true", { validations: [] }), [])).toMatchObject([
      { path: "spec.validations", reason: "FieldValueRequired" },
      { path: "spec.auditAnnotations" },
    ]);
  });

  it("may change objects", async () => {
    const mutating = (expression: string) => ({
      ...policy("true", {
        validations: undefined,
        reinvocationPolicy: "Never",
        mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
      }),
      kind: "MutatingAdmissionPolicy",
    });
    expect(
      await checkPolicy(mutating('Object{metadata: Object.metadata{labels: Object.metadata.labels{a: "b"}}}'), []),
    ).toEqual([]);
    expect(await checkPolicy(mutating("Object{"), [])).toMatchObject([
      { path: "spec.mutations[0].applyConfiguration.expression" },
    ]);
  });

  it("tells what is wrong with the definitions that it is to be held against", async () => {
    expect(await checkPolicy(policy("true"), [definition({ properties: { a: {} } })])).toMatchObject([
      { reason: "FieldValueRequired" },
    ]);
  });
});
