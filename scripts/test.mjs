// `npm test` and its sisters. Installs when needed, then runs vitest; further arguments go to vitest.
//
//   node scripts/test.mjs             the unit tests: nothing but Node.js and npm
//   node scripts/test.mjs kubectl     the embedded cluster under the real kubectl
//   node scripts/test.mjs real        the whole product on a real kube-apiserver (needs Go for its first build), and
//                                     beside it in full what the unit tests try in part
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ensureInstalled } from "./install.mjs";
import { capture, foreground, main, say } from "./process.mjs";
import { root } from "./workspace.mjs";

const suites = {
  unit: { config: "vitest.config.ts" },
  kubectl: { config: "vitest.kubectl.config.ts", prepare: "tests/kubectl/kubectl.ts", built: true },
  real: {
    config: "vitest.real.config.ts",
    prepare: "tests/real/build.ts",
    built: true,
    beside: "vitest.full.config.ts",
  },
};
const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");

await main(async () => {
  const [first, ...rest] = process.argv.slice(2);
  const named = first === "kubectl" || first === "real";
  const suite = suites[named ? first : "unit"];
  const extra = named || first === undefined ? rest : [first, ...rest];
  await ensureInstalled();
  if (suite.built) {
    // These suites start the `lotse` command as a user does, from what is published.
    const { build } = await import("./build.mjs");
    await build({ types: false });
  }
  if (suite.prepare) {
    const exitCode = await foreground(process.execPath, ["--import", "./scripts/typescript.mjs", suite.prepare], {
      cwd: root,
    });
    if (exitCode !== 0) return exitCode;
  }
  const { LOTSE_RESULTS: results } = process.env;
  if (!suite.beside) return foreground(process.execPath, argumentsOf(suite.config, extra, results), { cwd: root });
  // Real servers leave a core idle for most of the time.
  const some = extra.length > 0 ? [...extra, "--passWithNoTests"] : extra;
  const parts = results && [`${results}.1`, `${results}.2`];
  const [exitCode, beside] = await Promise.all([
    foreground(process.execPath, argumentsOf(suite.config, some, parts?.[0]), { cwd: root }),
    capture(process.execPath, argumentsOf(suite.beside, some, parts?.[1]), { cwd: root }),
  ]);
  say(`${beside.stdout}${beside.stderr}`);
  if (parts) writeFileSync(results, JSON.stringify(sumOf(parts.map((file) => JSON.parse(readFileSync(file, "utf8"))))));
  return exitCode || beside.exitCode;
});

/** .ci/run reads vitest's own JSON, from the file that it names in LOTSE_RESULTS. */
function argumentsOf(config, extra, results) {
  if (results) mkdirSync(path.dirname(results), { recursive: true });
  const reporters = results ? ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`] : [];
  return [vitest, "run", "--config", config, ...reporters, ...extra];
}

/** What .ci/run reads, of several runs. */
function sumOf(runs) {
  const sum = (key) => runs.reduce((total, run) => total + run[key], 0);
  return {
    numPassedTests: sum("numPassedTests"),
    numFailedTests: sum("numFailedTests"),
    testResults: runs.flatMap(({ testResults }) => testResults),
  };
}
