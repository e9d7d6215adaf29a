// `npm test` and its sisters. Installs when needed, then runs vitest; further arguments go to vitest.
//
//   node scripts/test.mjs             the unit tests: nothing but Node.js and npm
//   node scripts/test.mjs full        what they leave out, and in full what they try in part: still nothing but Node.js
//   node scripts/test.mjs kubectl     the embedded cluster under the real kubectl
//   node scripts/test.mjs real        the whole product on a real kube-apiserver (needs Go for its first build)
import { mkdirSync } from "node:fs";
import path from "node:path";
import { ensureInstalled } from "./install.mjs";
import { foreground, main } from "./process.mjs";
import { root } from "./workspace.mjs";

const suites = {
  unit: { config: "vitest.config.ts" },
  full: { config: "vitest.full.config.ts" },
  kubectl: { config: "vitest.kubectl.config.ts", prepare: "tests/kubectl/kubectl.ts", built: true },
  real: { config: "vitest.real.config.ts", prepare: "tests/real/build.ts", built: true },
};
const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");

await main(async () => {
  const [first, ...rest] = process.argv.slice(2);
  const named = first !== undefined && Object.hasOwn(suites, first);
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
  return foreground(process.execPath, argumentsOf(suite.config, extra, results), { cwd: root });
});

/** .ci/run reads vitest's own JSON, from the file that it names in LOTSE_RESULTS. */
function argumentsOf(config, extra, results) {
  if (results) mkdirSync(path.dirname(results), { recursive: true });
  const reporters = results ? ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`] : [];
  return [vitest, "run", "--config", config, ...reporters, ...extra];
}
