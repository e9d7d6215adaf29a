import { describe, expect, it } from "vitest";
import { decodeYaml } from "./yaml-decode.ts";
import { composeYaml, type YamlNode } from "./yaml-nodes.ts";
import { parseYaml, YamlTextError } from "./yaml-text.ts";

const value = (text: string) => parseYaml(text).value;
const complaint = (text: string): string => {
  try {
    parseYaml(text);
  } catch (error) {
    if (error instanceof YamlTextError) return error.message;
    throw error;
  }
  return "none";
};
/** Far more than any of these takes: what is quadratic takes minutes. */
const PATIENCE_MS = 20_000;

describe("YAML that means what it means to a real server", () => {
  it.each([
    ["a: 1\nb: [x, 'y', \"z\"]\n", { a: 1, b: ["x", "y", "z"] }],
    ["a: yes\nb: Off\nc: 'yes'\nd: ~\ne:\n", { a: true, b: false, c: "yes", d: null, e: null }],
    ["a: 010\nb: 0x1F\nc: 0b11\nd: 1_000\ne: 08\nf: 0o17", { a: 8, b: 31, c: 3, d: 1_000, e: 8, f: 15 }],
    ["a: 1.5\nb: .5\nc: 1e3\nd: 1e999\ne: -0\nf: +7", { a: 1.5, b: 0.5, c: 1_000, d: "1e999", e: 0, f: 7 }],
    ["a: 2026-01-01\nb: 1.2.3\nc: 1-2\nd: -x", { a: "2026-01-01", b: "1.2.3", c: "1-2", d: "-x" }],
    ["1: a\ntrue: b\n", { "1": "a", true: "b" }],
    ["a: !!str 1\nb: !!int '2'\nc: !!binary aGk=\nd: !own x", { a: "1", b: 2, c: "hi", d: "x" }],
    ["a: |\n  one\n  two\nb: >-\n  three\n  four\n", { a: "one\ntwo\n", b: "three four" }],
    ["a: &x {k: 1}\nb: *x\n", { a: { k: 1 }, b: { k: 1 } }],
    ["a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n", { a: { k: 1, l: 2 }, b: { k: 3, l: 2 } }],
    ["a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc: {<<: [*x, *y]}\n", { a: { k: 1 }, b: { k: 2, m: 3 }, c: { k: 1, m: 3 } }],
    ["# first\n---\na: 1\n---\n{ never looked at", { a: 1 }],
    ["a: 1\n...\n%%%", { a: 1 }],
    ["# nothing", null],
    ["", null],
  ])("%j", (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it("gives each alias a copy of its own", () => {
    const { a, b } = value("a: &x {k: {l: 1}}\nb: *x\n") as { a: { k: object }; b: { k: object } };
    expect(a).not.toBe(b);
    expect(a.k).not.toBe(b.k);
  });

  it("keeps a key called __proto__ as a key", () => {
    const read = value("__proto__: {polluted: 1}\nconstructor: 2\n") as Record<string, unknown>;
    expect(Object.keys(read)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    ["a: *nobody", "yaml: unknown anchor 'nobody' referenced"],
    ["a: &a [*a]", "yaml: anchor 'a' value contains itself"],
    ["a: &a\n  b: &b\n    c: *a\n", "yaml: anchor 'a' value contains itself"],
    ["a: &x 1\nb: {<<: *x}", "yaml: map merge requires map or sequence of maps as the value"],
    ["a: !!int x", "yaml: cannot decode !!str `x` as a !!int"],
    ["a: .inf", "json: unsupported value: +Inf"],
    ["a: b: c\n", "yaml: mapping values are not allowed in this context"],
    ["a: \u0001", "yaml: control characters are not allowed"],
  ])("%j is refused in its words", (text, expected) => {
    expect(complaint(text)).toBe(expected);
  });

  it("tells where each key that was there already has its value", () => {
    const text = "a: 1\nb:\n  c: 1\n  d: x\n  c: |\n    text\na: {k: 1, k: 2}\n7: x\n7:\n  z: 1\n";
    const { value: read, complaints } = parseYaml(text);
    expect(complaints).toEqual([
      'line 5: key "c" already set in map',
      'line 7: key "k" already set in map',
      'line 7: key "a" already set in map',
      "line 10: key 7 already set in map",
    ]);
    expect(read).toEqual({ a: { k: 2 }, b: { c: "text\n", d: "x" }, "7": { z: 1 } });
  });
});

describe("YAML that tries to grow", () => {
  const bomb = (levels: number, width: number) =>
    [
      "a0: &a0 [x]",
      ...Array.from({ length: levels }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(width).fill(`*a${i}`).join(",")}]`),
    ].join("\n");

  it("by aliases is refused after as many nodes as a real server reads", () => {
    const text = bomb(9, 9);
    expect(text.length).toBeLessThan(500);
    expect(complaint(text)).toBe("yaml: document contains excessive aliasing");
    // The same is read as long as it is small: nearly all of it may come from aliases.
    const small = decodeYaml(composeYaml(bomb(3, 9), 1_000) as YamlNode, 1_000);
    expect(small.decodes).toBeGreaterThan(1_500);
    expect(small.decodes).toBeLessThan(4_000);
  });

  it("by merges is refused as well", () => {
    const levels = Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} {<<: [*a${i}, *a${i}]}`);
    expect(complaint(["a0: &a0 {k: v}", ...levels].join("\n"))).toBe("yaml: document contains excessive aliasing");
  });

  it("by depth is refused, however it nests", () => {
    const chain = Array.from({ length: 850 }, (_, i) => `a${i + 1}: &a${i + 1} [[*a${i}]]`);
    for (const text of [
      "[".repeat(200_000),
      "{a: ".repeat(200_000),
      "- ".repeat(200_000),
      "? ".repeat(200_000),
      Array.from({ length: 2_000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
    ]) {
      expect(complaint(text)).toBe("yaml: exceeded max depth of 10000");
    }
    expect(complaint(["a0: &a0 [x]", ...chain].join("\n"))).toMatch(/exceeded max depth|excessive aliasing/);
  });
});

describe("a megabyte of YAML", () => {
  const lines = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i)).join("");

  it.each<[string, string, number]>([
    ["keys that are all different", lines(50_000, (i) => `key-${i}: value-${i}\n`), 0],
    ["keys that are all the same", lines(100_000, () => "key: value\n"), 99_999],
    ["short keys, twice", lines(66_000, (i) => `k${i % 33_000}: 1\n`), 33_000],
    ["a flow mapping", `{${lines(66_000, (i) => `"k${i % 33_000}": 1,`)}}`, 33_000],
    ["a list of pairs", `[${lines(66_000, (i) => `k${i}: 1,`)}]`, 0],
    ["anchors and as many aliases", lines(20_000, (i) => `a${i}: &x${i} v\nb${i}: *x${i}\n`), 0],
    ["documents", "---\na: 1\n".repeat(100_000), 0],
    ["one long text", `a: |\n${"  line\n".repeat(130_000)}`, 0],
    ["one long text with folds", `a: "${"word\n  ".repeat(130_000)}"`, 0],
    ["one long number", `a: ${"1".repeat(1_000_000)}`, 0],
    ["merges", `base: &b {k: 1}\n${lines(20_000, (i) => `m${i}: {<<: *b}\n`)}`, 0],
  ])(
    "of %s is read in one go",
    (_name, text, complaints) => {
      const since = process.cpuUsage();
      expect(parseYaml(text).complaints).toHaveLength(complaints);
      expect(process.cpuUsage(since).user / 1_000).toBeLessThan(PATIENCE_MS);
    },
    120_000,
  );
});
