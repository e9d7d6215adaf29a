// docs/kopf.md has one row for each feature of Kopf, and each row names the tests that prove it. A row rots when its test
// is renamed or removed, so every row is looked up in the sources of the tests.
import ts from "@typescript/typescript6";

/** How many features each area of Kopf has; the ids are numbered from 01. */
const AREAS = {
  H: 37,
  S: 13,
  F: 10,
  A: 11,
  P: 9,
  C: 22,
  PS: 12,
  E: 9,
  B: 7,
  W: 10,
  D: 13,
  PE: 10,
  AD: 15,
  I: 5,
  M: 3,
  EM: 3,
  EV: 5,
  L: 4,
  HI: 6,
  CL: 5,
  SE: 2,
  AU: 7,
  T: 2,
  O: 2,
};

/** Every feature, in the order of the page. */
export const FEATURES = Object.entries(AREAS).flatMap(([area, count]) =>
  Array.from({ length: count }, (_, i) => `${area}${String(i + 1).padStart(2, "0")}`),
);

/** The features that may be put off, and until when. */
const LATER = {
  admission: /^(AD\d\d|H27|H28|A06|M03)$/,
  peering: /^PE\d\d$/,
  commands: /^(CL\d\d|O01|O02)$/,
};

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {number} line where it is, from 1
 * @property {string[]} cells feature, how it is written in Lotse, proof
 */

/** @returns {Row[]} the rows of the page's checklist: those that begin with something like an id */
export function featureRows(text) {
  return text.split("\n").flatMap((line, i) => {
    const [, id, rest] = /^\| ?([A-Z]{1,2}\d\d) ?\|(.*)\|\s*$/.exec(line) ?? [];
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
 * What is wrong with the page, each with what to do about it.
 *
 * @param {string} text the page
 * @param {(file: string) => string | undefined} read gives a file of the repository
 * @param {readonly string[]} features
 * @returns {string[]}
 */
export function problemsOf(text, read, features = FEATURES) {
  const rows = featureRows(text);
  const files = new Map();
  const tests = (file) => {
    if (!files.has(file)) {
      const source = read(file);
      files.set(file, source === undefined ? undefined : testsIn(source));
    }
    return files.get(file);
  };
  return [...misplaced(rows, features), ...rows.flatMap((row) => problemsOfRow(row, tests))];
}

function misplaced(rows, features) {
  const problems = [];
  const lines = new Map();
  for (const { id, line } of rows) {
    if (!features.includes(id)) problems.push(`${id} (line ${line}): there is no such feature → remove the row`);
    else if (lines.has(id))
      problems.push(`${id} (line ${line}): is there twice → merge it with the row in line ${lines.get(id)}`);
    else lines.set(id, line);
  }
  for (const [i, id] of features.entries()) {
    if (!lines.has(id)) {
      problems.push(`${id}: has no row → add one after ${features[i - 1] ?? "the head of the first table"}`);
      continue;
    }
    const before = features.slice(0, i).findLast((other) => lines.has(other));
    if (before !== undefined && lines.get(before) > lines.get(id))
      problems.push(`${id} (line ${lines.get(id)}): stands before ${before} → move it behind that row`);
  }
  return problems;
}

function problemsOfRow({ id, line, cells }, tests) {
  const at = `${id} (line ${line})`;
  if (cells.length !== 3 || cells.includes(""))
    return [`${at}: needs three cells with text → write feature, how it is written in Lotse, and proof`];
  const [feature, lotse, proof] = cells;
  const until = Object.keys(LATER).find((name) => LATER[name].test(id));
  if (proof.startsWith("later:")) {
    if (until === undefined) return [`${at}: may not be put off → build it, and name the test that proves it`];
    return proof === `later: ${until}` ? [] : [`${at}: is put off for something else → write "later: ${until}"`];
  }
  const problems = [];
  if (/\blater\b/i.test(`${feature} ${lotse}`))
    problems.push(`${at}: says "later", which only rows that are put off may → say what there is today`);
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

/** Every setting of Kopf 1.45. */
export const KOPF_SETTINGS = Object.entries({
  process: ["ultimate_exiting_timeout"],
  posting: [
    "enabled",
    "loggers",
    "level",
    "reporting_component",
    "reporting_instance",
    "event_name_prefix",
    "default_backoffs",
    "logging_backoffs",
    "worker_limit",
    "idle_timeout",
  ],
  peering: ["name", "stealth", "priority", "lifetime", "mandatory", "standalone", "clusterwide", "namespaced"],
  watching: [
    "server_timeout",
    "client_timeout",
    "connect_timeout",
    "reconnect_backoff",
    "inactivity_timeout",
    "chunk_size",
    "initial_streaming",
    "label_selectors",
    "field_selectors",
    "shard_selectors",
  ],
  queueing: ["worker_limit", "idle_timeout", "exit_timeout", "error_delays", "batch_window"],
  scanning: ["disabled"],
  admission: ["server", "managed"],
  execution: ["default_backoff", "executor", "max_workers"],
  background: ["cancellation_polling", "instant_exit_timeout", "instant_exit_zero_time_cycles"],
  networking: ["request_timeout", "connect_timeout", "error_backoffs", "enforce_retry_after", "trust_env"],
  persistence: ["finalizer", "progress_storage", "diffbase_storage", "consistency_timeout"],
}).flatMap(([group, names]) => names.map((name) => `${group}.${name}`));

/**
 * What is wrong with the page's table of settings.
 *
 * @param {string} text the page
 * @param {Readonly<Record<string, object>>} settings those of Lotse, by group
 * @param {readonly string[]} kopf
 * @returns {string[]}
 */
export function settingProblems(text, settings, kopf = KOPF_SETTINGS) {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const [, table = ""] = /^\| in Kopf \| in Lotse \|\n([\s\S]*?)\n(?!\|)/m.exec(prose) ?? [];
  const rows = table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const named = (cell = "") => [...cell.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name]) => name);
  const problems = [];
  for (const name of kopf) {
    const found = rows.filter(([, cell]) => named(cell).includes(name));
    if (found.length !== 1) {
      problems.push(
        `${name}: is in ${found.length} rows → give it one, with its name in Lotse or why it has no meaning`,
      );
      continue;
    }
    const [, , lotse = ""] = found[0];
    const put = /^(peering|admission)\./.exec(name)?.[1];
    if (lotse.startsWith("later:") ? lotse !== `later: ${put}` : lotse === "")
      problems.push(`${name}: "${lotse}" is no answer → write its name in Lotse, or "no meaning, because …"`);
  }
  for (const [, group, key] of prose.matchAll(/`settings\.(\w+)(?:\.(\w+))?/g)) {
    if (!(group in settings) || (key !== undefined && !(key in settings[group])))
      problems.push(
        `settings.${group}${key ? `.${key}` : ""}: Lotse has no such setting → write the name that it has now`,
      );
  }
  for (const [group, keys] of Object.entries(settings)) {
    for (const key of Object.keys(keys)) {
      if (!prose.includes(`settings.${group}.${key}`))
        problems.push(`settings.${group}.${key}: is not on the page → add it to the table, or to the list below it`);
    }
  }
  return problems;
}
