// docs/kopf.md has one row for each feature of Kopf, and each row names the tests that prove it.
import { checklistProblems } from "./checklist.mjs";

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

/**
 * What is wrong with the page, each with what to do about it.
 *
 * @param {string} text the page
 * @param {(file: string) => string | undefined} read gives a file of the repository
 * @param {readonly string[]} features
 * @returns {string[]}
 */
export function problemsOf(text, read, features = FEATURES) {
  return checklistProblems(text, read, {
    ids: features,
    row: /[A-Z]{1,2}\d\d/,
    cells: ["feature", "how it is written in Lotse", "proof"],
  });
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
    if (lotse.startsWith("later") || lotse === "")
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

/**
 * What is wrong with the page's table of defaults: one row for each setting of Lotse, with the value that it has.
 *
 * @param {string} text the page
 * @param {Readonly<Record<string, object>>} settings those of Lotse, by group, as they are when nobody says anything
 * @returns {string[]}
 */
export function defaultProblems(text, settings) {
  const rows = new Map(
    [...text.matchAll(/^\| `settings\.(\w+\.\w+)` \| (.*?) \|/gm)].map(([, name, cell]) => [name, cell]),
  );
  const problems = [];
  for (const [group, values] of Object.entries(settings)) {
    for (const [key, value] of Object.entries(values)) {
      const said = rows.get(`${group}.${key}`);
      const wanted = value === undefined ? "–" : `\`${inOneLine(value)}\``;
      rows.delete(`${group}.${key}`);
      if (said === undefined)
        problems.push(`settings.${group}.${key}: has no row → add one, with its default ${wanted}`);
      else if (said !== wanted) problems.push(`settings.${group}.${key}: its default is not ${said} → write ${wanted}`);
    }
  }
  for (const name of rows.keys()) problems.push(`settings.${name}: Lotse has no such setting → remove the row`);
  return problems;
}

/** A value as somebody writes it: `{ initial: "1s", factor: 2 }`. */
function inOneLine(value) {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${key}: ${inOneLine(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
