// Which tests are in a hurry: `vi.waitFor` gives up after a second unless it is told otherwise, and a busy machine may take
// longer. `expect.poll` has its patience from the configuration. `npm run check` fails on any.
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "@typescript/typescript6";
import { isTest, listFiles, root } from "./workspace.mjs";

const WAITS = new Set(["vi.waitFor", "vi.waitUntil"]);

/**
 * The lines of a test file that wait for no longer than Vitest does by default.
 *
 * @param {string} text
 * @returns {number[]}
 */
export function hastyWaits(text) {
  if (!text.includes("vi.wait")) return [];
  const source = ts.createSourceFile("test.ts", text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && WAITS.has(node.expression.getText(source)) && node.arguments.length < 2) {
      found.push(source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The same for all tests: `tests/real/a.test.ts:3`. */
export function hastyTests(base = root) {
  return ["packages", "examples", "scripts", "tests"].flatMap((folder) =>
    listFiles(path.join(base, folder), isTest).flatMap((file) =>
      hastyWaits(readFileSync(file, "utf8")).map((line) => `${path.relative(base, file)}:${line}`),
    ),
  );
}
