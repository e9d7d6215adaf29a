// How much of each package's own code `npm test` runs: a table with a line for each room.
//
//   node scripts/coverage.mjs                  the packages that have a bar, by the tests of all packages
//   node scripts/coverage.mjs cluster client   these packages, by their own tests
//
// Exit code 1 when a package stays below its bar. Tables and tests are no code of their own and do not count.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ensureInstalled } from "./install.mjs";
import { Failure, foreground, leaveResults, main, say } from "./process.mjs";
import { root } from "./workspace.mjs";

/** The least part of its lines that the tests of a package run. */
const bars = { cluster: 0.9 };

const notCode = ["**/*.test.ts", "**/test-*.ts", "**/*.golden.ts", "**/*-table.ts", "**/tables/{protobuf,schemas}.ts"];

/**
 * Sums vitest's coverage up by room: the folder below src, or the package itself for files directly in it.
 * @param {Record<string, { statementMap: Record<string, { start: { line: number } }>, s: Record<string, number> }>} files
 */
export function sumUp(files, base = root) {
  const rooms = new Map();
  for (const [file, { statementMap, s }] of Object.entries(files)) {
    const [, name, , ...rest] = path.relative(base, file).split(path.sep);
    const room = rest.length > 1 ? `${name}/${rest[0]}` : name;
    // A line counts as run when any statement that begins on it is.
    const lines = new Map();
    for (const [id, { start }] of Object.entries(statementMap)) {
      lines.set(start.line, lines.get(start.line) || s[id] > 0);
    }
    const sum = rooms.get(room) ?? { room, lines: 0, run: 0 };
    sum.lines += lines.size;
    sum.run += [...lines.values()].filter(Boolean).length;
    rooms.set(room, sum);
  }
  return [...rooms.values()].sort((a, b) => (a.room < b.room ? -1 : 1));
}

/** The sum of a package's rooms. */
export function totalOf(name, rooms) {
  const own = rooms.filter(({ room }) => room.split("/")[0] === name);
  const lines = own.reduce((sum, one) => sum + one.lines, 0);
  const run = own.reduce((sum, one) => sum + one.run, 0);
  return { lines, run, part: lines === 0 ? 0 : run / lines };
}

async function measure(names, filters) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-coverage-"));
  try {
    const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");
    const flags = [
      "--coverage.enabled",
      // Code that is counted runs slower, which is no failure.
      "--testTimeout=60000",
      "--coverage.reporter=json",
      `--coverage.reportsDirectory=${folder}`,
      ...names.map((name) => `--coverage.include=packages/${name}/src/**/*.ts`),
      ...notCode.map((pattern) => `--coverage.exclude=${pattern}`),
    ];
    const exitCode = await foreground(process.execPath, [vitest, "run", "--reporter=dot", ...flags, ...filters], {
      cwd: root,
    });
    if (exitCode !== 0) throw new Failure("Some tests fail: the coverage would be that of a broken product.", exitCode);
    return sumUp(JSON.parse(readFileSync(path.join(folder, "coverage-final.json"), "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const percent = (part) => `${(part * 100).toFixed(1)} %`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const chosen = process.argv.slice(2);
    const names = chosen.length > 0 ? chosen : Object.keys(bars);
    await ensureInstalled();
    const rooms = await measure(
      names,
      chosen.map((name) => `packages/${name}/`),
    );
    for (const { room, lines, run } of rooms) {
      say(`${room.padEnd(28)} ${String(run).padStart(6)} of ${String(lines).padStart(6)}  ${percent(run / lines)}`);
    }
    let failed = 0;
    for (const name of names) {
      const { lines, run, part } = totalOf(name, rooms);
      const bar = bars[name];
      const short = bar !== undefined && part < bar;
      if (short) failed++;
      const told = bar === undefined ? "" : `, ${short ? "BELOW" : "at least"} ${percent(bar)}`;
      say(`packages/${name}: ${run} of ${lines} lines, ${percent(part)}${told}`);
    }
    leaveResults(names.length - failed, failed);
    return failed > 0 ? 1 : 0;
  });
}
