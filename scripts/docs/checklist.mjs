// A checklist is a table of a page with one row for each feature, and each row names the tests that prove it. A row rots
// when its test is renamed or removed, so every row is looked up in the sources of the tests.
import ts from "@typescript/typescript6";

/**
 * @typedef {object} Checklist
 * @property {readonly string[]} ids one for each row, in the order of the page
 * @property {RegExp} row what the first cell of such a row looks like
 * @property {readonly string[]} cells what stands in the cells after the id; the last one is the proof
 */

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {number} line where it is, from 1
 * @property {string[]} cells those after the id
 */

/** @returns {Row[]} the rows of a checklist: those that begin with something like an id */
export function rowsOf(text, { row }) {
  const begin = new RegExp(`^\\| ?(${row.source}) ?\\|(.*)\\|\\s*$`);
  return text.split("\n").flatMap((line, i) => {
    const [, id, rest] = begin.exec(line) ?? [];
    if (id === undefined) return [];
    return [{ id, line: i + 1, cells: rest.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")) }];
  });
}

/** @returns {{ file: string, title: string }[] | undefined} undefined when the cell has another form */
export function proofsIn(cell) {
  const proofs = cell.split("<br>").map((one) => /^`([^`]+)` › (.+)$/.exec(one.trim()));
  return proofs.includes(null) ? undefined : proofs.map(([, file, title]) => ({ file, title: title.trim() }));
}

/**
 * The titles of a file's tests. Tests that are skipped prove nothing and are left out.
 *
 * @returns {{ titles: string[], literals: ReadonlySet<string> }} `literals`: the texts of the file that may fill the
 *   placeholders of a title
 */
export function testsIn(source) {
  const titles = [];
  const literals = new Set();
  const visit = (node) => {
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) literals.add(node.text);
    if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword)
      literals.add(ts.tokenToString(node.kind));
    if (ts.isCallExpression(node)) {
      const words = calledName(node.expression);
      if (words.includes("skip") || words.includes("todo")) return;
      const [title] = node.arguments;
      if ((words[0] === "it" || words[0] === "test") && title && ts.isStringLiteralLike(title)) titles.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("test.ts", source, ts.ScriptTarget.Latest));
  return { titles, literals };
}

/** `it.each([...])` is called `it each`. */
function calledName(expression) {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isPropertyAccessExpression(expression)) return [...calledName(expression.expression), expression.name.text];
  if (ts.isCallExpression(expression)) return calledName(expression.expression);
  if (ts.isTaggedTemplateExpression(expression)) return calledName(expression.tag);
  return [];
}

const PLACEHOLDER = /%[sdifjoO]|\$[\w.]+/;

/** Whether a file has a test of this title: literally, or one of a table whose row fills the placeholders. */
export function hasTest({ titles, literals }, title) {
  if (titles.includes(title)) return true;
  return titles.some((template) => {
    const parts = template.split(PLACEHOLDER);
    if (parts.length === 1) return false;
    const filled = new RegExp(`^${parts.map(escaped).join("(.+)")}$`, "s").exec(title);
    return filled?.slice(1).every((text) => literals.has(text)) ?? false;
  });
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/**
 * What is wrong with a checklist, each with what to do about it.
 *
 * @param {string} text the page
 * @param {(file: string) => string | undefined} read gives a file of the repository
 * @param {Checklist} list
 * @returns {string[]}
 */
export function checklistProblems(text, read, list) {
  const rows = rowsOf(text, list);
  const files = new Map();
  const tests = (file) => {
    if (!files.has(file)) {
      const source = read(file);
      files.set(file, source === undefined ? undefined : testsIn(source));
    }
    return files.get(file);
  };
  return [...misplaced(rows, list.ids), ...rows.flatMap((row) => problemsOfRow(row, tests, list))];
}

function misplaced(rows, ids) {
  const problems = [];
  const lines = new Map();
  for (const { id, line } of rows) {
    if (!ids.includes(id)) problems.push(`${id} (line ${line}): there is no such feature → remove the row`);
    else if (lines.has(id))
      problems.push(`${id} (line ${line}): is there twice → merge it with the row in line ${lines.get(id)}`);
    else lines.set(id, line);
  }
  for (const [i, id] of ids.entries()) {
    if (!lines.has(id)) {
      problems.push(`${id}: has no row → add one after ${ids[i - 1] ?? "the head of the first table"}`);
      continue;
    }
    const before = ids.slice(0, i).findLast((other) => lines.has(other));
    if (before !== undefined && lines.get(before) > lines.get(id))
      problems.push(`${id} (line ${lines.get(id)}): stands before ${before} → move it behind that row`);
  }
  return problems;
}

const COUNTS = ["no", "one", "two", "three", "four", "five"];

function problemsOfRow({ id, line, cells }, tests, list) {
  const at = `${id} (line ${line})`;
  if (cells.length !== list.cells.length || cells.includes("")) {
    const wanted = `${list.cells.slice(0, -1).join(", ")}, and ${list.cells.at(-1)}`;
    return [`${at}: needs ${COUNTS[list.cells.length]} cells with text → write ${wanted}`];
  }
  const proof = cells.at(-1);
  if (proof.startsWith("later:")) return [`${at}: may not be put off → build it, and name the test that proves it`];
  const problems = [];
  if (/\blater\b/i.test(cells.slice(0, -1).join(" "))) problems.push(`${at}: says "later" → say what there is today`);
  const proofs = proofsIn(proof);
  if (proofs === undefined)
    return [...problems, `${at}: has no proof but "${proof}" → write \`path/of.test.ts\` › the name of its test`];
  for (const { file, title } of proofs) {
    const found = tests(file);
    if (found === undefined) problems.push(`${at}: there is no file ${file} → name the file that has the test now`);
    else if (!hasTest(found, title)) {
      problems.push(
        `${at}: ${file} has no test "${title}" → if it was renamed, write its new name${nearest(title, found.titles)}; ` +
          "if it was removed, name another test that proves the row, or write one",
      );
    }
  }
  return problems;
}

/** The title that shares most words, where it shares any that are worth it. */
function nearest(title, titles) {
  const words = (text) => new Set(text.toLowerCase().match(/\w{3,}/g));
  const wanted = words(title);
  const scored = titles.map((other) => ({ other, score: [...words(other)].filter((word) => wanted.has(word)).length }));
  const [best] = scored.sort((a, b) => b.score - a.score);
  return best && best.score > 1 ? ` (perhaps "${best.other}")` : "";
}
