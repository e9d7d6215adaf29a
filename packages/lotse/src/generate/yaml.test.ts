import fc from "fast-check";
import { load, loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { Commented, toYaml, toYamlStream } from "./yaml.ts";

describe("YAML", () => {
  it("is written as people write it, with comments where asked for", () => {
    const rules = [
      new Commented("the framework\nand others", { verbs: ["get", "list"], resources: [], left: undefined }),
    ];
    expect(toYaml({ kind: "Role", metadata: { name: "shop", labels: {} }, rules })).toBe(
      [
        "kind: Role",
        "metadata:",
        "  name: shop",
        "  labels: {}",
        "rules:",
        "  # the framework",
        "  # and others",
        "  - verbs:",
        "      - get",
        "      - list",
        "    resources: []",
        "",
      ].join("\n"),
    );
  });

  it("quotes what would be read as something else", () => {
    const tricky = [
      "yes",
      "1",
      "",
      "null",
      "a: b",
      "# c",
      "- d",
      "*",
      "0x1",
      "1e3",
      " e",
      "f\n",
      "2026-01-01",
      "~",
      "=",
      "y",
    ];
    expect(load(toYaml(tricky))).toEqual(tricky);
  });

  it("keeps texts of several lines readable", () => {
    expect(toYaml({ script: "a\n  b\n\nc" })).toBe("script: |-\n  a\n    b\n  \n  c\n");
    expect(load(toYaml({ script: "a\n  b\n\nc" }))).toEqual({ script: "a\n  b\n\nc" });
  });

  it("is read back as it was written, whatever it is", () => {
    const key = fc.string({ minLength: 1 }).filter((text) => text !== "__proto__" && text !== "<<");
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(key, tie("any"), { maxKeys: 3 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, (one) => {
        expect(load(toYaml(one))).toEqual(one);
      }),
      { numRuns: 500 },
    );
  });

  it("can be several documents", () => {
    expect(loadAll(toYamlStream([{ a: 1 }, { b: [] }]))).toEqual([{ a: 1 }, { b: [] }]);
  });
});
