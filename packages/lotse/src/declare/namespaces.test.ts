import { ConfigError } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseNamespaces } from "./namespaces.ts";

const NAMES = ["default", "kube-system", "team-a", "team-b", "team-x", "myapp-live", "myapp-pr-123", "myapp-pr-456"];

const matching = (patterns: (string | RegExp)[], names: readonly string[] = NAMES) => {
  const filter = parseNamespaces(patterns);
  return names.filter((name) => filter.matches(name));
};

describe("namespace patterns", () => {
  it.each<[string, (string | RegExp)[], string[]]>([
    ["a name", ["team-a"], ["team-a"]],
    ["a list of names", ["team-a, team-b"], ["team-a", "team-b"]],
    ["several patterns", ["team-a", "default"], ["default", "team-a"]],
    ["a star", ["team-*"], ["team-a", "team-b", "team-x"]],
    ["a star alone", ["*"], NAMES],
    ["stars in a row", ["team**"], ["team-a", "team-b", "team-x"]],
    ["a question mark", ["team-?"], ["team-a", "team-b", "team-x"]],
    ["a question mark for exactly one character", ["team-a?"], []],
    ["a set", ["team-[ab]"], ["team-a", "team-b"]],
    ["a range", ["team-[b-z]"], ["team-b", "team-x"]],
    ["the opposite of a set", ["team-[!ab]"], ["team-x"]],
    ["a negation", ["!team-*"], ["default", "kube-system", "myapp-live", "myapp-pr-123", "myapp-pr-456"]],
    ["a negation behind a glob", ["team-*, !team-x"], ["team-a", "team-b"]],
    ["a negation behind several globs", ["team-*, default, !team-x"], ["default", "team-a", "team-b"]],
    ["a negation with room", [" team-* , ! team-x "], ["team-a", "team-b"]],
    ["a glob behind a negation, which takes in again", ["myapp-*,!*-pr-*,*pr-123"], ["myapp-live", "myapp-pr-123"]],
    [
      "a negation of one in another pattern, which takes out nothing",
      ["team-x", "!team-*,!kube-*,!my*"],
      ["default", "team-x"],
    ],
    ["a regular expression, which matches the whole name", [/team-[ab]|myapp/], ["team-a", "team-b"]],
    ["a regular expression with memory", [/team-./g], ["team-a", "team-b", "team-x"]],
  ])("can be %s", (_, patterns, expected) => {
    expect(matching(patterns)).toEqual(expected);
  });

  it("take in again only what the beginning of the pattern meant", () => {
    expect(matching(["myapp-*, !*-pr-*, *pr-123"], ["otherapp-pr-123"])).toEqual([]);
    expect(matching(["!*-pr-*, *pr-123"], ["otherapp-pr-123", "myapp-pr-456"])).toEqual(["otherapp-pr-123"]);
  });

  it("treat a dash in a glob as a dash, and compare the whole name", () => {
    expect(matching(["a-*"], ["a-b", "ab", "x-a-b", "a-"])).toEqual(["a-b", "a-"]);
  });

  it.each<[string, string[], RegExp]>([
    ["no pattern at all", [], /no namespace is given/],
    ["an empty pattern", [""], /empty part/],
    ["an empty part", ["a,,b"], /empty part/],
    ["a negation of nothing", ["!"], /empty part/],
    ["capital letters", ["Team-a"], /no namespace can match: Team-a/],
    ["a room inside a name", ["team a"], /no namespace can match: team a/],
    ["a dot", ["a.b*"], /no namespace can match: a\.b\*/],
    ["a dash at the end of a name", ["team-"], /no namespace can match: team-/],
    ["an open bracket", ["team-[ab"], /no namespace can match/],
    ["an empty set", ["team-[]"], /no namespace can match/],
    ["a range that runs backwards", ["team-[z-a]"], /set of characters/],
    ["two negations in front of one name", ["!!team-a"], /no namespace can match/],
    ["names that are all taken out again", ["team-a, !team-*"], /takes out every namespace/],
  ])("refuse %s", (_, patterns, message) => {
    expect(() => parseNamespaces(patterns)).toThrow(ConfigError);
    expect(() => parseNamespaces(patterns)).toThrow(message);
  });
});

describe("namespaces that are named in full", () => {
  it.each<[(string | RegExp)[], string[] | undefined, string[]]>([
    [["team-a"], ["team-a"], ["team-a"]],
    [
      ["team-a", "team-b,team-a"],
      ["team-a", "team-b"],
      ["team-a", "team-b"],
    ],
    [["team-a, team-b, !team-b"], ["team-a"], ["team-a"]],
    [["team-a", "kube-*"], undefined, ["team-a"]],
    [["team-a, kube-*"], undefined, ["team-a"]],
    [["kube-*, !team-x"], undefined, []],
    [["!team-x"], undefined, []],
    [["!team-x, team-x"], undefined, []],
    [["team-[a]"], undefined, []],
    [[/team-a/], undefined, []],
  ])("of %s are %j when these are all, and %j in any case", (patterns, exact, named) => {
    const filter = parseNamespaces(patterns);
    expect(filter.exact).toEqual(exact);
    expect(filter.named).toEqual(named);
  });
});

/** The rule as it is told to users, without regular expressions. */
function obeys(name: string, pattern: string): boolean {
  const globs = pattern.split(",");
  const start = globs[0]?.startsWith("!") ? ["*", ...globs] : globs;
  const end = start.findIndex((glob) => glob.startsWith("!"));
  const candidate = start.slice(0, end < 0 ? undefined : end).some((glob) => globMatches(glob, name));
  let taken = candidate;
  for (const glob of end < 0 ? [] : start.slice(end)) {
    if (glob.startsWith("!")) taken = taken && !globMatches(glob.slice(1), name);
    else taken = taken || (candidate && globMatches(glob, name));
  }
  return taken;
}

function globMatches(glob: string, name: string): boolean {
  if (glob === "") return name === "";
  if (glob.startsWith("*")) {
    return globMatches(glob.slice(1), name) || (name !== "" && globMatches(glob, name.slice(1)));
  }
  return name !== "" && (glob[0] === "?" || glob[0] === name[0]) && globMatches(glob.slice(1), name.slice(1));
}

describe("any pattern", () => {
  const name = fc.array(fc.constantFrom("a", "b", "1"), { minLength: 1, maxLength: 4 }).map((all) => all.join(""));
  const glob = fc
    .array(fc.constantFrom("a", "b", "1", "*", "?"), { minLength: 1, maxLength: 4 })
    .map((all) => all.join(""));
  const part = fc.tuple(fc.boolean(), glob).map(([negated, text]) => (negated ? `!${text}` : text));
  const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(","));
  const parse = (patterns: string[]) => {
    try {
      return parseNamespaces(patterns);
    } catch {
      return undefined;
    }
  };

  it("takes exactly the namespaces that the rule takes", () => {
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), fc.array(name), (patterns, names) => {
        const filter = parse(patterns);
        fc.pre(filter !== undefined);
        for (const one of names) {
          expect(filter.matches(one), `${one} in ${patterns.join(" | ")}`).toBe(patterns.some((p) => obeys(one, p)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("takes no namespace beside the exact ones, where there are exact ones", () => {
    fc.assert(
      fc.property(pattern, fc.array(name), (text, names) => {
        const filter = parse([text]);
        fc.pre(filter?.exact !== undefined);
        for (const one of names) expect(filter.matches(one)).toBe(filter.exact.includes(one));
        for (const one of filter.exact) expect(filter.matches(one)).toBe(true);
      }),
    );
  });
});
