import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../workspace.mjs";
import { DEFECTS, FEATURES, problemsOf, provingFiles } from "./client.mjs";

const PAGE = "docs/client.md";
const text = (file) => readFileSync(path.join(root, file), "utf8");

function read(file) {
  return /\.(test\.(ts|mjs)|contract\.ts)$/.test(file) && existsSync(path.join(root, file)) ? text(file) : undefined;
}

describe(PAGE, () => {
  it("has every feature and every defect of kr8s, each with tests that exist", () => {
    const problems = problemsOf(text(PAGE), read);
    expect(problems, `${PAGE} is not true any more:\n${problems.join("\n")}\n`).toEqual([]);
  });

  it("is about 67 features and 20 defects", () => {
    expect([FEATURES.ids.length, FEATURES.ids.at(-1)]).toEqual([67, "67"]);
    expect([DEFECTS.ids.length, DEFECTS.ids.at(-1)]).toEqual([20, "W20"]);
  });
});

describe("the checker of the page", () => {
  const features = { ...FEATURES, ids: ["1", "2"] };
  const defects = { ...DEFECTS, ids: ["W1"] };
  const files = { "a.contract.ts": 'export const a = () => { it("does", () => {}); it("does more", () => {}); };' };
  const good = [
    "| 1 | doing | `do()` | `do()` | `a.contract.ts` › does |",
    "| 2 | more | – | `do({ more })` | `a.contract.ts` › does more<br>`a.contract.ts` › does |",
    "| W1 | does nothing | does | `a.contract.ts` › does |",
  ];
  const problems = (...rows) => problemsOf(rows.join("\n"), (file) => files[file], [features, defects]);

  it("has nothing to say about a page that is right", () => {
    expect(problems(...good)).toEqual([]);
    expect(provingFiles(good.join("\n"), [features, defects])).toEqual(["a.contract.ts"]);
  });

  it.each([
    ["a missing row", [good[0], good[2]], "2: has no row → add one after 1"],
    ["a missing defect", [good[0], good[1]], "W1: has no row → add one after the head of the first table"],
    [
      "a row that is put off",
      [good[0].replace(/`a\..*does/, "later: exec"), good[1], good[2]],
      "1 (line 1): may not be put off → build it, and name the test that proves it",
    ],
    [
      "a row without all cells",
      [good[0].replace("| `do()` | `do()`", "| `do()`"), good[1], good[2]],
      "1 (line 1): needs four cells with text → write feature, how it is in kr8s, how it is written in Lotse, and proof",
    ],
    [
      "a renamed test",
      [good[0], good[1], good[2].replace("› does", "› did it")],
      /^W1 \(line 3\): a\.contract\.ts has no test "did it"/,
    ],
  ])("tells of %s", (_name, rows, expected) => {
    expect(problems(...rows)).toEqual([typeof expected === "string" ? expected : expect.stringMatching(expected)]);
  });
});
