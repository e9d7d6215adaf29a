// The order of rooms: of each package from the bottom up, and which circles of files are still accepted. A room may import
// what stands before it, by types too, and nothing else. "." stands for the files that lie beside the rooms; the
// published entry points are above everything.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isTest, listFiles } from "./workspace.mjs";

/** By package, and by `package:folder` for a room that has rooms. A name may stand here before its folder is there. */
export const roomOrder = {
  "@lotse/client": [
    "meta",
    "certificates",
    "config",
    "transport",
    "kinds",
    "streams",
    "pods",
    "objects",
    "builtin",
    "client",
    ".",
  ],
  // What speaks HTTP/1.1 knows nothing of Kubernetes.
  "@lotse/client:transport": ["http1", "."],
  // A request walks down: transport → access → api → admission → registry → store.
  "@lotse/cluster": [
    "compiled",
    "bytes",
    "store",
    "registry",
    "protobuf",
    "admission",
    "controllers",
    "kubelet",
    "api",
    "access",
    "transport",
    ".",
    "envtest",
  ],
  // What handlers get speaks of the logger, and every later room reports: hence `report` is low.
  lotse: [
    "schema",
    "report",
    "declare",
    "runtime",
    "informers",
    "queue",
    "turn",
    "background",
    "reconcile",
    "admission",
    "coordination",
    "shadow",
    "generate",
    "install",
    "operator",
    "tape",
    "cli",
    ".",
  ],
  "@lotse/testing": ["chaos", "replay", "world", "objects", "oracles", "matchers", ".", "explore", "transitions"],
  "lotse:admission": [
    "certificates",
    "server",
    "reach",
    "conversion",
    "configurations",
    "policies",
    "review",
    "registration",
    ".",
  ],
  "lotse:cli": [
    "terminal",
    "local-cluster",
    "project",
    "scan",
    "connect",
    "recording",
    "review",
    "permissions",
    "explain",
    "profiling",
    "profile",
    "tape",
    "run",
    "dev",
    "check",
    "chaos",
    "generate",
    "init",
    ".",
  ],
};

/** Imports that the order would allow, and the plan does not: what speaks HTTP knows nothing of pods. */
export const forbiddenImports = { "@lotse/cluster": ["transport → kubelet"] };

/** Imports against the order that are still accepted. The check fails when one is not needed any more: then it goes. */
export const acceptedImports = {};

/**
 * Folders whose files still import each other in a circle. The check accepts circles inside of them, and fails when a
 * folder has none any more: then its line goes.
 */
export const acceptedCycles = {};

/** Folders of a package's sources that only tests use. */
const forTests = new Set(["fixtures"]);

/**
 * @typedef {object} Edge an import of one file of a package by another
 * @property {string} from       absolute
 * @property {string} to         absolute
 * @property {string} file       `from`, relative to the repository
 * @property {number} line
 * @property {string} specifier
 */

/**
 * Imports that point up the order of rooms, or lead into or out of a room that has no place in it.
 *
 * @param {string} folder whose rooms these are, absolute
 * @param {readonly string[]} order
 * @param {Edge[]} edges
 * @param {{ isAbove: (file: string) => boolean, forbidden?: readonly string[], accepted?: readonly string[] }} rules
 *   `isAbove`: the published entry points; the others as in {@link forbiddenImports} and {@link acceptedImports}
 */
export function orderViolations(folder, order, edges, { isAbove, forbidden = [], accepted = [] }) {
  const violations = [];
  const unlisted = new Set();
  const needed = new Set();
  for (const { from, to, file, line, specifier } of edges) {
    const [upper, lower] = [roomIn(folder, from), roomIn(folder, to)];
    if (upper === undefined || lower === undefined || upper === lower || isAbove(from)) continue;
    const way = `${upper} → ${lower}`;
    const missing = [upper, lower].find((room) => !order.includes(room));
    if (missing !== undefined) {
      if (unlisted.has(missing)) continue;
      unlisted.add(missing);
      violations.push({
        file,
        line,
        what: `the room ${missing} has no place in the order of rooms`,
        fix: "give it one in scripts/rooms.mjs",
      });
      continue;
    }
    const up = order.indexOf(lower) > order.indexOf(upper);
    if (!up && !forbidden.includes(way)) continue;
    needed.add(way);
    if (accepted.includes(way)) continue;
    violations.push({
      file,
      line,
      what: up ? `"${specifier}": ${lower} is above ${upper}` : `"${specifier}": ${upper} knows nothing of ${lower}`,
      fix: `imports point down only: ${[...order].reverse().join(" > ")}; move what both need into the lower one`,
    });
  }
  for (const way of accepted.filter((one) => !needed.has(one))) {
    violations.push({
      file: "scripts/rooms.mjs",
      line: 1,
      what: `nothing imports ${way} any more`,
      fix: "take it out of acceptedImports, so that it stays so",
    });
  }
  return violations;
}

/** The room of a file below `folder`; `.` for a file beside the rooms, undefined for one that is elsewhere. */
function roomIn(folder, file) {
  const steps = path.relative(folder, file).split(path.sep);
  if (steps[0] === "..") return undefined;
  return steps.length === 1 ? "." : steps[0];
}

/** Rooms of a package that its README does not tell of, and rows of its table that have no folder. */
export function readmeViolations(base, pkg) {
  const src = path.join(pkg.dir, "src");
  const folders = existsSync(src)
    ? readdirSync(src, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !forTests.has(entry.name))
        .map(({ name }) => name)
        .filter((name) => listFiles(path.join(src, name), (file) => /\.ts$/.test(file) && !isTest(file)).length > 0)
    : [];
  const readme = path.join(pkg.dir, "README.md");
  const text = existsSync(readme) ? readFileSync(readme, "utf8") : "";
  const start = text.search(/^## Rooms/m);
  const rows = new Map();
  if (start >= 0) {
    const before = text.slice(0, start).split("\n").length;
    const [section] = text.slice(start + 2).split(/^## /m);
    for (const [i, line] of section.split("\n").entries()) {
      const [, name] = /^\| `([\w-]+)\/`/.exec(line) ?? [];
      if (name !== undefined) rows.set(name, before + i);
    }
  }
  const file = path.relative(base, readme);
  return [
    ...folders
      .filter((name) => !rows.has(name))
      .map((name) => ({
        file,
        line: text.slice(0, Math.max(start, 0)).split("\n").length,
        what: `the table of rooms has no row for src/${name}`,
        fix: `add a row that begins with | \`${name}/\` | below "## Rooms", and say its question`,
      })),
    ...[...rows]
      .filter(([name]) => !folders.includes(name))
      .map(([name, line]) => ({ file, line, what: `there is no room src/${name}`, fix: "take its row out" })),
  ];
}
