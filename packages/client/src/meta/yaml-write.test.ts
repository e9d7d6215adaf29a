import fc from "fast-check";
import { load, loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { Commented, toYaml, toYamlStream } from "./yaml-write.ts";

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
    expect(toYaml({ script: "a\n  b\n\nc" })).toBe("script: |-\n  a\n    b\n\n  c\n");
    expect(toYaml({ list: [{ file: "color=blue\nsize=3\n" }] })).toBe(
      "list:\n  - file: |\n      color=blue\n      size=3\n",
    );
    expect(load(toYaml({ script: "a\n  b\n\nc" }))).toEqual({ script: "a\n  b\n\nc" });
  });

  it("writes no character that a reader would refuse or take for something else", () => {
    expect(toYaml({ k: "a\u0007b" })).toBe('k: "a\\u0007b"\n');
    expect(toYaml("one\u2028two\n\u0085")).toBe('"one\\u2028two\\n\\u0085"\n');
    expect(toYaml({ "<<": { a: 1 } })).toBe('"<<":\n  a: 1\n');
  });

  it("keeps comments in comments, whatever is in them", () => {
    const comment = "one\rtwo\u2028three\u0085four\u0007five\r\nsix";
    expect(toYaml({ k: new Commented(comment, 1) })).toBe("# one\n# two\n# three\n# four\\u0007five\n# six\nk: 1\n");
    expect(load(toYaml({ k: new Commented(comment, 1) }))).toEqual({ k: 1 });
  });

  it("is read back as it was written, whatever it is", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."a :#-'\"1.|é", "\n", "\t", "\u2028") }),
      fc.constantFrom(
        "null",
        "Yes",
        "0x1f",
        "1e3",
        "1_000",
        "12:30:00",
        "2026-01-01",
        "<<",
        "---",
        "...",
        ".5",
        ".inf",
      ),
      fc.constantFrom(".NaN", "-", "&a", "*a", "!t", "a\n", "a\n\n", "\n", "a\n b", " a\nb", "a\n\tb", "a: b\nc"),
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
