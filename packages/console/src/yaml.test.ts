import fc from "fast-check";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { toYaml } from "./yaml.ts";

test("an object reads as people write it", () => {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", labels: {}, created: "2026-01-01T00:00:00Z", finalizers: ["a.example.com/b"] },
    data: { "a.properties": "color=blue\nsize=3\n", port: "8080", yes: "yes", empty: "" },
    list: [{ a: 1, b: [true, null] }, [], "text"],
  };
  expect(toYaml(object)).toBe(`apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {}
  created: "2026-01-01T00:00:00Z"
  finalizers:
  - a.example.com/b
data:
  a.properties: |
    color=blue
    size=3
  port: "8080"
  "yes": "yes"
  empty: ""
list:
- a: 1
  b:
  - true
  - null
- []
- text
`);
});

test("whatever is written is read back the same", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("a", " ", "\n", ":", "#", "-", "'", '"', "\t", "1", ".", "|", "é", "\u2028") }),
    fc.constantFrom(
      "null",
      "Yes",
      "0x1f",
      "1e3",
      "1_000",
      "12:30:00",
      "2026-01-01",
      "~",
      "<<",
      "=",
      "---",
      "...",
      ".5",
      ".inf",
      ".NaN",
      "-",
      "&a",
      "*a",
      "!t",
    ),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      text,
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(
        text.filter((key) => key !== "__proto__"),
        tie("value"),
        { maxKeys: 4, noNullPrototype: true },
      ),
    ),
  }));
  fc.assert(
    fc.property(value, (original) => {
      expect(load(toYaml(original))).toEqual(original);
    }),
    { numRuns: 400 },
  );
});
