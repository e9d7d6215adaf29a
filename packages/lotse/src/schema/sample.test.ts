import { isObject } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import type { SchemaNode } from "./node.ts";
import { samplePattern } from "./pattern-sample.ts";
import { seeded } from "./random.ts";
import { SchemaSampler } from "./sample.ts";
import { shrinkValue } from "./shrink.ts";
import { EVERYTHING } from "./test-schemas.ts";
import { validateValue } from "./validate.ts";

type Fields = Record<string, unknown>;

describe("values of a schema", () => {
  it("fit it, all of them, without a gap", () => {
    const sampler = new SchemaSampler(EVERYTHING, "spec");
    const values = [...sampler.samples({ runs: 1_000 })];
    expect(sampler.gaps).toEqual([]);
    expect(values).toHaveLength(1_000);
    for (const value of values) expect(validateValue(value, EVERYTHING, { path: "spec" })).toEqual([]);
  });

  it("are the same for the same seed, and others for another one", () => {
    const values = (seed: number) => Array.from({ length: 50 }, (_, i) => new SchemaSampler(EVERYTHING).any(seed, i));
    expect(values(1)).toEqual(values(1));
    expect(values(1)).not.toEqual(values(2));
  });

  it("begin with the smallest", () => {
    expect(new SchemaSampler(EVERYTHING).minimal()).toEqual({
      name: "a",
      size: 4,
      ports: [{ name: "a", number: 1 }],
      target: 0,
    });
  });

  it("reach every bound, every member of an enum, and have every optional field and not", () => {
    const values = new SchemaSampler(EVERYTHING).boundaries() as Fields[];
    const all = (pick: (value: Fields) => unknown) => new Set(values.map(pick).map((one) => JSON.stringify(one)));
    expect(all(({ size }) => size)).toEqual(new Set(["4", "10"]));
    expect(all(({ enabled }) => enabled)).toEqual(new Set(["true", "false", undefined]));
    expect(all(({ note }) => note).has("null")).toBe(true);
    expect(all(({ name }) => (name as string).length)).toContain("12");
    expect(all(({ source }) => isObject(source) && source.kind)).toEqual(new Set(['"git"', '"disk"', "false"]));
    expect(all(({ ports }) => (ports as unknown[]).length).size).toBeGreaterThan(1);
    for (const name of Object.keys(EVERYTHING.properties as object)) {
      expect(
        values.some((value) => name in value),
        name,
      ).toBe(true);
    }
  });

  it("of which none can be made are told as a gap; a field that may be left out is", () => {
    const schema: SchemaNode = {
      type: "object",
      properties: { word: { type: "string", pattern: "^(?=a)b$" }, other: { type: "integer" } },
    };
    const sampler = new SchemaSampler(schema, "spec");
    expect([...sampler.samples({ runs: 20 })].every((value) => !("word" in (value as Fields)))).toBe(true);
    expect(sampler.gaps).toEqual([
      {
        path: "spec.word",
        what: "no text was found that matches ^(?=a)b$",
        todo: "give the field an example, or test it with an object of your own",
      },
    ]);
    expect(new SchemaSampler({ ...schema, required: ["word"] }).minimal()).toBeUndefined();
  });

  it("are taken from the example where nothing else helps", () => {
    const schema: SchemaNode = { type: "string", pattern: "^(?=ab)a.*$", example: "abc" };
    expect(new SchemaSampler(schema).minimal()).toBe("abc");
    expect(new SchemaSampler(schema).any(1, 1)).toBe("abc");
  });
});

describe("texts of a pattern", () => {
  it.each([
    "^[A-Z]{3}$",
    "^a+b*c?$",
    "^(foo|ba[rz])-[^a-z\\d]{2}$",
    "^(?:[0-9]{1,3}\\.){3}\\d+$",
    "^[\\w.+-]+@\\S+$",
    "^\\$\\{[[:alpha:]]{2,}\\}$",
    "^(?P<year>\\d{4})-(?<month>[01]\\d)$",
    "^[^\\s]*$",
    "^[]a-]+$",
    "x\\x41\\u0042",
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)(\\.[a-z]+)*$",
  ])("match it: %s", (pattern) => {
    const sampler = samplePattern(pattern);
    const tested = new RegExp(
      pattern.replace("(?P<", "(?<").replace("[[:alpha:]]", "[A-Za-z]").replace("[]a-]", "[\\]a-]"),
      "u",
    );
    expect(sampler?.shortest()).toMatch(tested);
    for (let i = 0; i < 50; i++) expect(sampler?.any(seeded(i), 4)).toMatch(tested);
  });

  it.each(["(?=a)", "(a)\\1", "\\p{L}", "(", "[z-a]", "*"])("are not made of what it cannot read: %s", (pattern) => {
    expect(samplePattern(pattern)).toBeUndefined();
  });
});

describe("a value that shows a mistake", () => {
  it("is made as small as the mistake needs it", () => {
    const large = [...new SchemaSampler(EVERYTHING).samples({ runs: 500 })].find((value) =>
      Object.values((value as { labels?: Fields }).labels ?? {}).some((text) => String(text).includes("b")),
    ) as Fields;
    const fails = ({ labels }: Fields) => Object.values(labels ?? {}).some((text) => String(text).includes("b"));
    const small = shrinkValue(large, EVERYTHING, fails);
    expect(Object.keys(small).sort()).toEqual(["labels", "name", "ports", "size", "target"]);
    expect(Object.values(small.labels as Fields)).toEqual(["b"]);
    expect(small).toMatchObject({ name: "0", size: 4, ports: [{ name: "a", number: 1 }], target: 0 });
  });

  it("stays valid, and ends after so many tries", () => {
    let calls = 0;
    const value = { name: "abcdef", size: 10, ports: [{ name: "x", number: 80 }], target: "a", weight: 123.456 };
    const small = shrinkValue(value, EVERYTHING, () => ++calls > 0, 7);
    expect(calls).toBeLessThanOrEqual(7);
    expect(validateValue(small, EVERYTHING)).toEqual([]);
  });
});
