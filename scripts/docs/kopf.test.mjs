import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Client } from "@lotse/client";
import { Operator, PermanentError } from "lotse";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { root } from "../workspace.mjs";
import { hasTest, testsIn } from "./checklist.mjs";
import { defaultProblems, FEATURES, problemsOf, settingProblems } from "./kopf.mjs";

const PAGE = "docs/kopf.md";

const page = () => readFileSync(path.join(root, PAGE), "utf8");

function read(file) {
  const where = path.join(root, file);
  return /\.test\.(ts|mjs)$/.test(file) && existsSync(where) ? readFileSync(where, "utf8") : undefined;
}

describe(PAGE, () => {
  it("has every feature of Kopf, each with tests that exist", () => {
    const problems = problemsOf(page(), read);
    expect(problems, `${PAGE} is not true any more:\n${problems.join("\n")}\n`).toEqual([]);
  });

  it("has every setting of Kopf, with names that exist in Lotse", async () => {
    const problems = settingProblems(page(), await settingsOfLotse());
    expect(problems, `${PAGE} is not true any more:\n${problems.join("\n")}\n`).toEqual([]);
  });

  it("has every setting of Lotse, with the default that it has", async () => {
    const problems = defaultProblems(page(), await settingsOfLotse());
    expect(problems, `${PAGE} is not true any more:\n${problems.join("\n")}\n`).toEqual([]);
  });

  it("is about 222 features", () => {
    expect(FEATURES).toHaveLength(222);
    expect([FEATURES[0], FEATURES[37], FEATURES.at(-1)]).toEqual(["H01", "S01", "O02"]);
  });
});

/** The settings as a startup handler gets them; nothing is sent to anybody. */
async function settingsOfLotse() {
  vi.stubEnv("POD_NAME", "");
  onTestFinished(() => vi.unstubAllEnvs());
  const operator = new Operator({ name: "shops" });
  let seen = {};
  operator.on.startup(({ settings }) => {
    seen = settings;
    throw new PermanentError("that is all");
  });
  const transport = { request: () => Promise.reject(new Error("nobody is there")), close: async () => {} };
  const client = await Client.connect({ url: "http://nobody.example.com", transport });
  await expect(operator.start({ client, log: () => {} }).stopped).rejects.toThrow("that is all");
  return seen;
}

describe("the checker of the page", () => {
  const source = `
    describe("things", () => {
      it("are made", () => {});
      it.each([["red", 1], ["blue", 2]])("are painted %s", () => {});
      // it("are commented out", () => {});
      it.skip("are skipped", () => {});
      describe.skip("all", () => { it("are skipped as well", () => {}); });
    });
    describeOn(clustersUnderTest(), "things", () => { it.for(cases)("are $title", () => {}); test("are tested", () => {}); });
    const cases = [{ title: "counted" }];
    expect("are only a text");
  `;
  const files = { "a.test.ts": source };
  const features = ["A01", "A02", "PE01"];
  const pageOf = (...rows) =>
    `# Page\n\n| id | feature | Lotse | proof |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
  const good = [
    "| A01 | making | `make()` | `a.test.ts` › are made |",
    "| A02 | painting | `paint()` | `a.test.ts` › are painted blue<br>`a.test.ts` › are counted |",
    "| PE01 | asking | `ask()` | `a.test.ts` › are tested |",
  ];
  const problems = (...rows) => problemsOf(pageOf(...rows), (file) => files[file], features);

  it("has nothing to say about a page that is right", () => {
    expect(problems(...good)).toEqual([]);
  });

  it.each([
    ["a missing row", [good[0], good[2]], "A02: has no row → add one after A01"],
    ["a row that is there twice", [...good, good[0]], "A01 (line 8): is there twice → merge it with the row in line 5"],
    ["rows in another order", [good[1], good[0], good[2]], "A02 (line 5): stands before A01 → move it behind that row"],
    [
      "a row that nobody knows",
      [...good, "| A03 | x | y | `a.test.ts` › are made |"],
      "A03 (line 8): there is no such feature → remove the row",
    ],
    [
      "a renamed test",
      [good[0].replace("are made", "things are being made"), good[1], good[2]],
      'A01 (line 5): a.test.ts has no test "things are being made" → if it was renamed, write its new name (perhaps "are made"); if it was removed, name another test that proves the row, or write one',
    ],
    [
      "a row of a table that is gone",
      [good[0], good[1].replace("painted blue", "painted green"), good[2]],
      /A02 \(line 6\): a\.test\.ts has no test "are painted green" → .* \(perhaps "are painted %s"\)/,
    ],
    [
      "a file that is gone",
      [good[0].replace("a.test.ts", "b.test.ts"), good[1], good[2]],
      "A01 (line 5): there is no file b.test.ts → name the file that has the test now",
    ],
    [
      "a row without a proof",
      [good[0].replace(/`a.*made/, "(pending)"), good[1], good[2]],
      'A01 (line 5): has no proof but "(pending)" → write `path/of.test.ts` › the name of its test',
    ],
    [
      "an empty cell",
      [good[0].replace("making", ""), good[1], good[2]],
      "A01 (line 5): needs three cells with text → write feature, how it is written in Lotse, and proof",
    ],
    [
      "a feature that may not be put off",
      [good[0].replace(/`a.*made/, "later: peering"), good[1], good[2]],
      "A01 (line 5): may not be put off → build it, and name the test that proves it",
    ],
    [
      "a feature that says in other words that it is put off",
      [good[0].replace("making", "making comes later"), good[1], good[2]],
      'A01 (line 5): says "later" → say what there is today',
    ],
  ])("tells of %s, and what to do", (_name, rows, expected) => {
    expect(problems(...rows)).toEqual([typeof expected === "string" ? expected : expect.stringMatching(expected)]);
  });

  it.each(["are made", "are painted %s", "are painted red", "are tested", "are counted"])(
    "finds the test %j",
    (title) => {
      expect(hasTest(testsIn(source), title)).toBe(true);
    },
  );

  it.each(["are commented out", "are skipped", "are skipped as well", "are only a text", "are painted", "are 3"])(
    "does not take %j for a test",
    (title) => {
      expect(hasTest(testsIn(source), title)).toBe(false);
    },
  );

  describe("of settings", () => {
    const settings = { queueing: { concurrency: 10 } };
    const kopf = ["queueing.limit", "peering.name", "queueing.idle"];
    const table = (...rows) => `| in Kopf | in Lotse |\n| --- | --- |\n${rows.join("\n")}\n\nThe end.\n`;
    const right = [
      "| `queueing.limit` | `settings.queueing.concurrency` |",
      "| `peering.name` | `peering({ name })` |",
      "| `queueing.idle` | no meaning, because nobody idles |",
    ];
    const problemsWith = (...rows) => settingProblems(table(...rows), settings, kopf);

    it("has nothing to say about a table that is right", () => {
      expect(problemsWith(...right)).toEqual([]);
    });

    it.each([
      [
        "a setting that is missing",
        [right[0], right[1]],
        "queueing.idle: is in 0 rows → give it one, with its name in Lotse or why it has no meaning",
      ],
      [
        "a setting without an answer",
        [right[0], right[1], "| `queueing.idle` | |"],
        'queueing.idle: "" is no answer → write its name in Lotse, or "no meaning, because …"',
      ],
      [
        "a setting that may not be put off",
        [right[0], right[1], "| `queueing.idle` | later: peering |"],
        'queueing.idle: "later: peering" is no answer → write its name in Lotse, or "no meaning, because …"',
      ],
      [
        "a setting that Lotse does not have",
        [...right, "`settings.queueing.workers`"],
        "settings.queueing.workers: Lotse has no such setting → write the name that it has now",
      ],
      [
        "a setting of Lotse that is not there",
        ["| `queueing.limit` | no meaning |", right[1], right[2]],
        "settings.queueing.concurrency: is not on the page → add it to the table, or to the list below it",
      ],
    ])("tells of %s", (_name, rows, expected) => {
      expect(problemsWith(...rows)).toEqual([expected]);
    });
  });

  describe("of defaults", () => {
    const settings = { queueing: { limit: 10, wait: { initial: "1s", steps: ["a"] }, first: undefined, none: {} } };
    const right = [
      "| `settings.queueing.limit` | `10` | how many |",
      '| `settings.queueing.wait` | `{ initial: "1s", steps: ["a"] }` | how long |',
      "| `settings.queueing.first` | – | who |",
      "| `settings.queueing.none` | `{}` | nothing |",
    ];
    const problemsWith = (...rows) => defaultProblems(rows.join("\n"), settings);

    it("has nothing to say about a table that is right", () => {
      expect(problemsWith(...right)).toEqual([]);
    });

    it("tells of a row that is missing, wrong, or about nothing", () => {
      expect(
        problemsWith(right[0].replace("10", "9"), right[1], right[2], "| `settings.queueing.last` | `1` | x |"),
      ).toEqual([
        "settings.queueing.limit: its default is not `9` → write `10`",
        "settings.queueing.none: has no row → add one, with its default `{}`",
        "settings.queueing.last: Lotse has no such setting → remove the row",
      ]);
    });
  });
});
