import { beforeAll, describe, expect, test } from "vitest";
import { type CelEngine, createCelEngine } from "./cel-engine.ts";
import { escapeName } from "./cel-types.ts";
import { formatFieldError } from "./field-errors.ts";
import { checkRules, compileRules, evaluateRules, rulesBlocked } from "./rules.ts";
import type { Schema, ValidationRule } from "./types.ts";
import { validateValue } from "./validate.ts";

let engine: CelEngine;
beforeAll(async () => {
  engine = await createCelEngine();
});

const properties: Record<string, Schema> = {
  size: { type: "integer" },
  ratio: { type: "number" },
  name: { type: "string" },
  port: { "x-kubernetes-int-or-string": true },
  "my-key": { type: "string" },
  namespace: { type: "string" },
  maybe: { type: "string", nullable: true },
  tags: { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } },
  limits: { type: "object", maxProperties: 10, additionalProperties: { type: "string", maxLength: 10 } },
  when: { type: "string", format: "date-time" },
  every: { type: "string", format: "duration" },
  parts: {
    type: "array",
    maxItems: 10,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: { type: "object", properties: { k: { type: "string" }, v: { type: "integer" } } },
  },
  free: { "x-kubernetes-preserve-unknown-fields": true },
};
const withRules = (...rules: (string | ValidationRule)[]): Schema => ({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties,
      "x-kubernetes-validations": rules.map((rule) => (typeof rule === "string" ? { rule } : rule)),
    },
  },
});
const run = (schema: Schema, value: unknown, old?: unknown) =>
  evaluateRules(value, old, compileRules(schema, engine)).map(formatFieldError);
const check = (schema: Schema) => checkRules(schema, engine, "s").map(formatFieldError);

describe("expressions over values of a schema", () => {
  const spec = {
    size: 5,
    ratio: 1,
    name: "abc",
    port: 80,
    "my-key": "k",
    namespace: "ns",
    maybe: null,
    tags: ["a", "b"],
    limits: { cpu: "500m" },
    when: "2024-01-01T00:00:00Z",
    every: "1h",
    parts: [{ k: "x", v: 1 }],
  };
  test.each([
    "self.size > 3 && self.size < 10",
    "self.ratio == 1.0",
    "self.size < 5.5",
    "self.name.startsWith('a') && size(self.name) == 3",
    "self.port == 80",
    "type(self.port) == int ? self.port > 0 : true",
    "self.my__dash__key == 'k' && self.__namespace__ == 'ns'",
    "self.maybe == null",
    "has(self.size) && self.tags.all(t, t.size() == 1)",
    "'cpu' in self.limits && self.limits.cpu == '500m'",
    "self.limits.all(k, quantity(self.limits[k]).isLessThan(quantity('1')))",
    "self.when > timestamp('2023-01-01T00:00:00Z')",
    "self.every >= duration('30m')",
    "self.parts.exists(p, p.k == 'x' && p.v == 1)",
    "self.parts.map(p, p.v).sum() == 1",
    "self == self && self.parts[0] == self.parts[0]",
    "self.tags.isSorted() && self.tags.indexOf('b') == 1",
    "sets.contains(self.tags, ['a'])",
    "'x%sy%d'.format(['-', 3]) == 'x-y3'",
    "'a,b'.replace(',', ';') == 'a;b' && 'abc'.find('b.') == 'bc'",
    "isURL('https://example.com:80/a?b=c') && url('https://example.com:80/a').getHost() == 'example.com:80'",
    "isIP('::1') && ip('1.2.3.4').family() == 4 && isCIDR('10.0.0.0/8')",
    "self.?name.orValue('z') == 'abc'",
  ])("%s holds", (rule) => {
    expect(check(withRules(rule))).toEqual([]);
    expect(run(withRules(rule), { spec })).toEqual([]);
  });
});

describe("a failed rule", () => {
  const bad = { spec: { size: 1, name: "n" } };
  test("says its message, or itself", () => {
    expect(run(withRules("self.size > 3"), bad)).toEqual(["spec: Invalid value: failed rule: self.size > 3"]);
    expect(run(withRules({ rule: "self.size > 3", message: " too small " }), bad)).toEqual([
      "spec: Invalid value: too small",
    ]);
  });

  test("lets an expression say it, unless that gives no single line", () => {
    const rule = { rule: "false", message: "fixed", messageExpression: "'size is ' + string(self.size)" };
    expect(run(withRules(rule), bad)).toEqual(["spec: Invalid value: size is 1"]);
    expect(run(withRules({ ...rule, messageExpression: "''" }), bad)).toEqual(["spec: Invalid value: fixed"]);
    expect(run(withRules({ ...rule, messageExpression: "self.tags[3]" }), bad)).toEqual(["spec: Invalid value: fixed"]);
  });

  test("has its reason and its place", () => {
    const rule = { rule: "false", message: "m", fieldPath: ".name" };
    expect(run(withRules(rule), bad)).toEqual(["spec.name: Invalid value: m"]);
    expect(run(withRules({ ...rule, reason: "FieldValueForbidden" }), bad)).toEqual(["spec.name: Forbidden: m"]);
    expect(run(withRules({ ...rule, reason: "FieldValueRequired" }), bad)).toEqual(["spec.name: Required value: m"]);
  });

  test("prints scalars", () => {
    const schema: Schema = {
      type: "object",
      properties: { n: { type: "string", "x-kubernetes-validations": [{ rule: "self == 'a'" }] } },
    };
    expect(run(schema, { n: "b" })).toEqual(["n: Invalid value: \"b\": failed rule: self == 'a'"]);
  });

  test("that cannot be computed says why", () => {
    expect(run(withRules("self.tags[0] == 'a'"), { spec: { tags: [] } })[0]).toContain(
      "evaluating rule: self.tags[0] == 'a'",
    );
    expect(run(withRules("self.name == 'a'"), { spec: {} })).toEqual([
      "spec: Invalid value: \"object\": no such key: name evaluating rule: self.name == 'a'",
    ]);
  });
});

test("rules run at items, values of maps and the root, where the object's own fields are known", () => {
  const rules: ValidationRule[] = [{ rule: "self > 1", message: "m" }];
  const schema: Schema = {
    type: "object",
    properties: {
      list: { type: "array", items: { type: "integer", "x-kubernetes-validations": rules } },
      map: { type: "object", additionalProperties: { type: "integer", "x-kubernetes-validations": rules } },
    },
    "x-kubernetes-validations": [{ rule: "self.metadata.name == 'a' && self.kind == 'K'", message: "root" }],
  };
  const value = { apiVersion: "v1", kind: "K", metadata: { name: "b" }, list: [2, 1], map: { x: 1 } };
  expect(run(schema, value)).toEqual([
    "<nil>: Invalid value: root",
    "list[1]: Invalid value: 1: m",
    "map[x]: Invalid value: 1: m",
  ]);
});

describe("transitions", () => {
  const immutable: Schema = {
    type: "object",
    properties: { f: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed" }] } },
  };
  test("rules about the old value run on updates only", () => {
    expect(run(immutable, { f: "b" })).toEqual([]);
    expect(run(immutable, { f: "b" }, {})).toEqual([]);
    expect(run(immutable, { f: "b" }, { f: "a" })).toEqual(['f: Invalid value: "b": fixed']);
    expect(run(immutable, { f: "a" }, { f: "a" })).toEqual([]);
  });

  test("an optional old value runs on creation too", () => {
    const schema: Schema = {
      type: "object",
      properties: {
        f: {
          type: "integer",
          "x-kubernetes-validations": [
            { rule: "oldSelf.hasValue() || self == 1", optionalOldSelf: true, message: "starts at 1" },
          ],
        },
      },
    };
    expect(check(schema)).toEqual([]);
    expect(run(schema, { f: 2 })).toEqual(["f: Invalid value: 2: starts at 1"]);
    expect(run(schema, { f: 2 }, { f: 1 })).toEqual([]);
  });

  test("items of map-like lists meet their old ones by key", () => {
    const schema: Schema = {
      type: "object",
      properties: {
        parts: {
          ...properties.parts,
          items: {
            ...properties.parts?.items,
            "x-kubernetes-validations": [{ rule: "self.v >= oldSelf.v", message: "shrunk" }],
          },
        },
      },
    };
    expect(
      run(
        schema,
        {
          parts: [
            { k: "b", v: 1 },
            { k: "a", v: 1 },
          ],
        },
        { parts: [{ k: "a", v: 2 }] },
      ),
    ).toEqual(["parts[1]: Invalid value: shrunk"]);
  });

  test("what is forgiven is told", () => {
    const told: string[] = [];
    const value = { spec: { size: 1, name: "a" } };
    const compiled = compileRules(withRules({ rule: "self.size > 3", message: "too small" }), engine);
    expect(evaluateRules(value, value, compiled, "", (error) => told.push(formatFieldError(error)))).toEqual([]);
    expect(told).toEqual(["spec: Invalid value: too small"]);
  });

  test("what did not change is forgiven, unless the rule compares", () => {
    const schema = withRules({ rule: "self.size > 3", message: "m" });
    expect(run(schema, { spec: { size: 1 }, other: 1 }, { spec: { size: 1 } })).toEqual([]);
    expect(run(schema, { spec: { size: 2 } }, { spec: { size: 1 } })).toHaveLength(1);
  });
});

describe("mistakes in rules are found when they are written", () => {
  test.each([
    ["self.bogus", "compilation failed: ERROR: <input>:1:5: undefined field 'bogus'\n | self.bogus\n | ....^"],
    ["nobody == 1", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')"],
    [
      "self.size + 'a' == 1",
      "compilation failed: ERROR: <input>:1:11: found no matching overload for '_+_' applied to '(int, string)'",
    ],
    ["self.free.x == 1", "undefined field 'free'"],
    ["self.parts.all(p, p.zz == 1)", "undefined field 'zz'"],
    ["self.size", "cel expression must evaluate to a bool"],
    ["self.size >", "Syntax error"],
  ])("%s", (rule, message) => {
    const [error] = check(withRules(rule));
    expect(error).toContain('s.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":');
    expect(error).toContain(message);
  });

  test("messages must be texts", () => {
    expect(check(withRules({ rule: "true", messageExpression: "1" }))[0]).toContain(
      "messageExpression must evaluate to a string",
    );
    expect(check(withRules({ rule: "true", messageExpression: "self.zz" }))[0]).toContain(
      "messageExpression compilation failed",
    );
  });

  test("the old value of an item of a plain list is unknown", () => {
    const schema: Schema = {
      type: "object",
      properties: {
        l: {
          type: "array",
          maxItems: 5,
          items: { type: "string", maxLength: 5, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
        },
      },
    };
    expect(check(schema)).toEqual([
      's.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[l]',
    ]);
  });

  test("optionalOldSelf needs oldSelf", () => {
    expect(check(withRules({ rule: "self.name != 'oldSelf'", optionalOldSelf: true }))[0]).toContain(
      "may not be set if oldSelf is not used in rule",
    );
  });
});

test("rules are not run on an object whose types are wrong, and the answer says so", () => {
  const errors = validateValue({ spec: { size: "x" } }, withRules("self.size > 1"));
  expect(rulesBlocked(errors) && formatFieldError(rulesBlocked(errors) as never)).toBe(
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
  );
  expect(rulesBlocked([])).toBeUndefined();
});

test("a duration may have its unit spelled out, as its format allows", () => {
  const rule = withRules("self.every >= duration('25h')");
  for (const every of ["1d", "1 day", "24 hours"]) expect(run(rule, { spec: { every } })).toHaveLength(1);
  for (const every of ["2d", "1 week", "1500 mins", "90000 s", "25h"])
    expect(run(rule, { spec: { every } })).toEqual([]);
});

test("a rule is shown as Go writes JSON", () => {
  expect(check(withRules("self.size > 1 && 2 < self.nope"))[0]).toContain(
    '"Rule":"self.size \\u003e 1 \\u0026\\u0026 2 \\u003c self.nope"',
  );
});

test("names are escaped as Kubernetes does", () => {
  expect(["a-b", "a.b/c", "a__b", "in", "1a", "a b"].map(escapeName)).toEqual([
    "a__dash__b",
    "a__dot__b__slash__c",
    "a__underscores__b",
    "__in__",
    undefined,
    undefined,
  ]);
});

test("expressions over free variables can be compiled", () => {
  const compiled = engine.compile("object.spec.replicas > 1 && request.operation == 'CREATE'", {
    object: "dyn",
    request: "dyn",
  });
  expect(
    "run" in compiled && compiled.run({ object: { spec: { replicas: 2n } }, request: { operation: "CREATE" } }),
  ).toBe(true);
});
