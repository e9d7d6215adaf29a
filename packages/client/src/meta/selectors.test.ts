import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatFieldSelector, matchesFields, parseFieldSelector } from "./field-selectors.ts";
import {
  formatLabelSelector,
  type LabelRequirement,
  matchesLabels,
  parseLabelSelector,
  SelectorError,
} from "./selectors.ts";

describe("label selectors as labels", () => {
  test("take one value, several, or any", () => {
    expect(formatLabelSelector({ app: "web", tier: ["a", "b"], canary: undefined })).toBe(
      "app=web,canary,tier in (a,b)",
    );
  });
});

describe("label selectors as text", () => {
  test.each([
    ["", { a: "1" }, true],
    ["a=1", { a: "1" }, true],
    ["a==1", { a: "2" }, false],
    ["a=", { a: "" }, true],
    ["a!=1", {}, true],
    ["a!=1", { a: "1" }, false],
    ["a in (x, y)", { a: "y" }, true],
    ["a in ()", { a: "" }, true],
    ["a in (x,,y)", { a: "" }, true],
    ["a in (,x)", { a: "" }, true],
    ["a notin (x)", {}, true],
    ["a notin (x)", { a: "x" }, false],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["!a", {}, true],
    ["!a", { a: "1" }, false],
    ["a>1", { a: "10" }, true],
    ["a<1", { a: "10" }, false],
    ["a>1", { a: "ten" }, false],
    ["in in (in, notin)", { in: "notin" }, true],
    ["a=1,b!=2, !c", { a: "1" }, true],
    ["example.com/a=1", { "example.com/a": "1" }, true],
    ["toString", {}, false],
  ] as [string, Record<string, string>, boolean][])("%s on %o is %s", (text, labels, expected) => {
    expect(matchesLabels(parseLabelSelector(text), labels)).toBe(expected);
  });

  test.each([
    ["a=1=2", "found '=', expected: ',' or 'end of string'"],
    ["a,", "found '', expected: identifier after ','"],
    [",a", "found ',', expected: !, identifier, or 'end of string'"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a in x", "unable to parse requirement: found 'x' expected: '('"],
    ["a in (x", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a=(", "unable to parse requirement: found '(', expected: identifier"],
    [
      "a>x",
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ["!", "unable to parse requirement: found '', expected: identifier"],
  ])("%s is refused", (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(SelectorError);
    expect(() => parseLabelSelector(text)).toThrow(message);
  });

  test("a bad key and a bad value are refused in the server's words", () => {
    expect(() => parseLabelSelector("-=x")).toThrow(
      'unable to parse requirement: <nil>: Invalid value: "-": name part must',
    );
    expect(() => parseLabelSelector("a=$")).toThrow(
      'requirement: values[0][a]: Invalid value: "$": a valid label must be',
    );
  });
});

describe("label selectors as objects", () => {
  test("plain labels, lists of values and the manifest form", () => {
    expect(formatLabelSelector({ b: ["y", "x"], a: "1" })).toBe("a=1,b in (x,y)");
    const selector = {
      matchLabels: { a: "1" },
      matchExpressions: [
        { key: "b", operator: "NotIn", values: ["x"] },
        { key: "c", operator: "Exists" },
        { key: "d", operator: "DoesNotExist" },
      ],
    };
    expect(formatLabelSelector(selector)).toBe("a=1,b notin (x),c,!d");
    expect(formatLabelSelector({ matchLabels: "yes" })).toBe("matchLabels=yes");
    expect(parseLabelSelector({})).toEqual([]);
    expect(parseLabelSelector(undefined)).toEqual([]);
  });

  test("mistakes are refused", () => {
    const odd = { matchExpressions: [{ key: "a", operator: "Equals" }] };
    expect(() => parseLabelSelector(odd)).toThrow('"Equals" is not a valid label selector operator');
    expect(() => parseLabelSelector({ matchLabels: {}, app: "x" } as never)).toThrow("app stands beside matchLabels");
    expect(() => parseLabelSelector({ a: [] })).toThrow("values set can't be empty");
  });
});

test("a label selector survives being formatted and parsed", () => {
  const word = fc.constantFrom("a", "b-c", "in", "notin", "x.y/z");
  const value = fc.constantFrom("", "1", "x_y");
  const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
    fc.record({ key: word, operator: fc.constantFrom("=" as const, "!=" as const), values: fc.tuple(value) }),
    fc.record({ key: word, operator: fc.constantFrom("exists" as const, "!exists" as const), values: fc.constant([]) }),
    fc.record({
      key: word,
      operator: fc.constantFrom("in" as const, "notin" as const),
      values: fc.uniqueArray(value, { minLength: 1 }).map((list) => list.sort()),
    }),
  );
  fc.assert(
    fc.property(fc.array(requirement), (list) => {
      const parsed = parseLabelSelector(list);
      expect(parseLabelSelector(formatLabelSelector(parsed))).toEqual(parsed);
    }),
  );
});

describe("field selectors", () => {
  const fields: Record<string, string> = { "metadata.name": "web", odd: "a,b=c\\d" };
  test.each([
    ["metadata.name=web", true],
    ["metadata.name==web", true],
    ["metadata.name!=web", false],
    ["absent=", true],
    ["absent!=x", true],
    ["", true],
    [",metadata.name=web,,", true],
    ["odd=a\\,b\\=c\\\\d", true],
    ["metadata.name=web,absent=x", false],
  ])("%s is %s", (text, expected) => {
    expect(matchesFields(parseFieldSelector(text), (field) => fields[field])).toBe(expected);
  });

  test.each([
    ["name", "invalid selector: 'name'; can't understand 'name'"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
    ["a=\\b", "invalid field selector: invalid escape sequence: \\b"],
    ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
  ])("%s is refused", (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  test("any value survives being formatted and parsed", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(parseFieldSelector(formatFieldSelector({ a: value }))).toEqual([{ field: "a", operator: "=", value }]);
      }),
    );
  });
});
