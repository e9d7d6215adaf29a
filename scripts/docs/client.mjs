// docs/client.md has one row for each feature of kr8s, and one for each of its defects; each row names the tests that
// prove what the client does instead.
import { checklistProblems, proofsIn, rowsOf } from "./checklist.mjs";

const numbered = (count, letter = "") => Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);

/** @type {import("./checklist.mjs").Checklist} */
export const FEATURES = {
  ids: numbered(67),
  row: /\d+/,
  cells: ["feature", "how it is in kr8s", "how it is written in Lotse", "proof"],
};

/** @type {import("./checklist.mjs").Checklist} */
export const DEFECTS = {
  ids: numbered(20, "W"),
  row: /W\d+/,
  cells: ["what goes wrong in kr8s", "what happens in Lotse", "proof"],
};

/**
 * What is wrong with the page, each with what to do about it.
 *
 * @param {string} text the page
 * @param {(file: string) => string | undefined} read gives a file of the repository
 * @param {readonly import("./checklist.mjs").Checklist[]} lists
 * @returns {string[]}
 */
export function problemsOf(text, read, lists = [FEATURES, DEFECTS]) {
  return lists.flatMap((list) => checklistProblems(text, read, list));
}

/** The files that the page names as proofs. */
export function provingFiles(text, lists = [FEATURES, DEFECTS]) {
  const proofs = lists.flatMap((list) => rowsOf(text, list)).flatMap(({ cells }) => proofsIn(cells.at(-1)) ?? []);
  return [...new Set(proofs.map(({ file }) => file))].sort();
}
