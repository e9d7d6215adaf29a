import { expect, test } from "vitest";
import { readTemplates } from "./create.ts";
import { CreateError, checkFolder, checkName, planProject } from "./plan.ts";

const problemOf = (run: () => unknown): CreateError => {
  try {
    run();
  } catch (error) {
    if (error instanceof CreateError) return error;
    throw error;
  }
  throw new Error("it did not fail");
};

test("a project has everything that an operator needs, under its own name", async () => {
  const files = new Map(planProject("exchange-rates", await readTemplates()).map((file) => [file.path, file.content]));
  expect([...files.keys()].sort()).toEqual([
    ".dockerignore",
    ".gitignore",
    "README.md",
    "greeting.yaml",
    "operator.test.ts",
    "operator.ts",
    "package.json",
    "tsconfig.json",
  ]);
  expect(JSON.parse(files.get("package.json") ?? "")).toMatchObject({ name: "exchange-rates", type: "module" });
  expect(files.get("operator.ts")).toContain('new Operator({ name: "exchange-rates" })');
  expect(files.get("operator.ts")).toContain('group: "exchange-rates.example.com"');
  expect(files.get("greeting.yaml")).toContain("apiVersion: exchange-rates.example.com/v1");
  expect([...files.values()].join("")).not.toContain("my-operator");
});

test.each([
  ["Exchange Rates", "exchange-rates"],
  ["ExchangeRates", "exchange-rates"],
  ["-x-", "x"],
  ["Über_Wechsel", "uber-wechsel"],
  ["a.b", "a-b"],
  ["x".repeat(64), "x".repeat(63)],
])("%j is no name, and a better one is offered", (wrong, better) => {
  expect(problemOf(() => checkName(wrong)).hint).toContain(`--name ${better}`);
  expect(checkName(better)).toBe(better);
});

test.each(["", "---", "日本"])("%j is no name, and nothing is offered", (wrong) => {
  expect(problemOf(() => checkName(wrong)).hint).toBe("use lower case letters, digits and dashes");
});

test("a plan for a wrong name fails", () => {
  expect(() => planProject("../escape", new Map())).toThrow(CreateError);
});

test("a folder that is not empty is refused, unless it is forced", () => {
  const entries = ["src", "a.txt", "c", "b", ".git"];
  expect(problemOf(() => checkFolder("/x", entries, false)).message).toBe(
    "the folder /x is not empty: it has a.txt, b, c and 1 more",
  );
  expect(() => checkFolder("/x", entries, true)).not.toThrow();
});

test("a folder with nothing but a fresh repository counts as empty", () => {
  expect(() => checkFolder("/x", [".git"], false)).not.toThrow();
});
