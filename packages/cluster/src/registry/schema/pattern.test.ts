import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LinearPattern } from "./linear-pattern.ts";
import { compilePattern } from "./pattern.ts";
import { parsePattern } from "./pattern-parser.ts";

const linear = (source: string) => new LinearPattern(parsePattern(source) as never);

/** Patterns that both engines know, small enough for the one that may run away. */
const source = fc.letrec<{ node: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\d", "-") },
    {
      weight: 1,
      arbitrary: fc.tuple(tie("node"), fc.constantFrom("(", "(?:")).map(([node, open]) => `${open}${node})`),
    },
  ),
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("atom"),
    fc
      .tuple(tie("atom"), fc.constantFrom("", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,}"))
      .map((parts) => parts.join("")),
    fc.tuple(tie("node"), tie("node")).map((parts) => parts.join("")),
    fc.tuple(tie("node"), tie("node")).map((parts) => parts.join("|")),
  ),
})).node;

describe("LinearPattern", () => {
  it("finds what JavaScript's own engine finds, at the same place", () => {
    void fc.assert(
      fc.property(
        source,
        fc.constantFrom("", "^"),
        fc.constantFrom("", "$"),
        fc.array(fc.constantFrom("a", "b", "c", "1", "-", "ü", "😀"), { maxLength: 9 }).map((parts) => parts.join("")),
        (body, start, end, text) => {
          const pattern = `${start}(?:${body})${end}`;
          const match = new RegExp(pattern, "u").exec(text);
          const found = linear(pattern).find(text);
          // What a lazy loop in a loop makes of nothing differs from engine to engine.
          if (!/[*+]\?/.test(body)) expect(found && text.slice(found.start, found.end)).toEqual(match?.[0]);
          expect(found?.start).toEqual(match?.index);
          expect(linear(pattern).test(text)).toBe(match !== null);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ["(?i)HeLLo", "say hello", true],
    ["(?i:a)b", "Ab", true],
    ["(?i:a)b", "AB", false],
    ["\\Aab\\z", "ab", true],
    ["\\bfoo\\b", "a foo b", true],
    ["\\bfoo\\b", "afoo", false],
    ["[[:alpha:]]+", "12a", true],
    ["^[^[:digit:]]+$", "a1", false],
    ["\\p{Lu}", "aÄ", true],
    ["\\pN", "x5", true],
    ["\\x{1F600}", "😀", true],
    ["(?P<year>\\d{4})-(?P<month>\\d\\d)", "2026-11", true],
    ["(?s)a.b", "a\nb", true],
    ["a.b", "a\nb", false],
    ["(?m)^b$", "a\nb\nc", true],
    ["", "", true],
  ])("reads %s", (pattern, text, expected) => {
    expect(linear(pattern).test(text)).toBe(expected);
    expect(compilePattern(pattern)?.test(text)).toBe(expected);
  });

  it("starts looking where it is told to", () => {
    expect(linear("a+").find("aa b aaa", 2)).toEqual({ start: 5, end: 8 });
    expect(linear("^a").find("aa", 1)).toBeUndefined();
  });
});

describe("compilePattern", () => {
  it.each([
    "(a+)+$",
    "^(a|a)*$",
    "(a*)*b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "a*a*a*a*a*a*b",
    "(.*)(.*)(.*)(.*)(.*)x",
    "(a?){40}a{40}b",
  ])("does not run away with %s", (pattern) => {
    const text = `${"a".repeat(20_000)}!`;
    // Of the processor, not of the clock: others may be busy. One that runs away would take years.
    const since = process.cpuUsage();
    expect(compilePattern(pattern)?.test(text)).toBe(false);
    expect(process.cpuUsage(since).user).toBeLessThan(15_000_000);
  });

  it.each(["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "(", "a**b)", "[", "a{2,1}", "((a{1000}){1000}){1000}"])(
    "refuses %s, as the server does",
    (pattern) => {
      expect(compilePattern(pattern)).toBeUndefined();
    },
  );
});
