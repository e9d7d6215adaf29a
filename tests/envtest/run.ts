// controller-runtime's own suites with the programs of `lotse cluster --envtest`:
//   npm run test:envtest                     all suites
//   npm run test:envtest -- pkg/client       those whose name contains a word
//   npm run test:envtest -- --real           also with the real programs, to see the seconds of both
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { installEnvtest } from "@lotse/cluster";
import { binFolder, isBuilt } from "../real/build.ts";
import { type StartCost, startCost } from "./start.ts";
import { buildSuites, execute, GoMissingError, type Suite, version } from "./suites.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);

interface Tally {
  passed: number;
  failed: number;
  seconds: number;
}

/** Tests of pkg/client/apiutil that download the programs of Kubernetes 1.28 for themselves, whatever they are told. */
const SKIP = "--test.skip=.*/aggregatedDiscovery=false";

async function runAll(suites: readonly Suite[], assets: string): Promise<Tally> {
  const all: Tally = { passed: 0, failed: 0, seconds: 0 };
  for (const suite of suites) {
    const outcome = await execute(suite.program, ["--test.timeout=20m", SKIP], suite.folder, {
      KUBEBUILDER_ASSETS: assets,
      // A machine that is busy must not decide.
      KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: "120s",
    });
    const [, passed = "0", failed = "0"] =
      /(\d+) Passed \| (\d+) Failed/.exec(stripVTControlCharacters(outcome.output)) ?? [];
    const broken = outcome.exitCode !== 0 && failed === "0" ? 1 : Number(failed);
    all.passed += Number(passed);
    all.failed += broken;
    all.seconds += outcome.seconds;
    const ok = outcome.exitCode === 0 ? "ok    " : "FAILED";
    say(`${ok} ${suite.name.padEnd(44)} ${passed.padStart(4)} specs ${outcome.seconds.toFixed(1).padStart(7)} s`);
    if (outcome.exitCode !== 0) say(outcome.output.split("\n").slice(-60).join("\n"));
  }
  return all;
}

const ROUNDS = 5;

/** What a start costs with the programs of each folder, by turns, so that what else the machine does hits all alike. */
async function medians(folders: readonly string[]): Promise<StartCost[]> {
  const costs = folders.map((): StartCost[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, folder] of folders.entries()) costs[i]?.push(await startCost(folder));
  }
  return costs.map((list) => list.sort((a, b) => a.seconds - b.seconds)[Math.floor(ROUNDS / 2)] as StartCost);
}

async function tellStarts(assets: string): Promise<void> {
  const [own, theirs] = await medians(isBuilt() ? [assets, binFolder()] : [assets]);
  say(`start of a control plane: ${told(own as StartCost)}`);
  if (own && theirs) {
    say(`with the real programs:   ${told(theirs)} (${(theirs.seconds / own.seconds).toFixed(1)} times as long)`);
  } else say("with the real programs:   not measured; `npm run test:real` builds them");
}

const told = ({ seconds, megabytes }: StartCost): string => `${seconds.toFixed(2)} s, ${Math.round(megabytes)} MB`;

async function main(): Promise<number> {
  const words = process.argv.slice(2);
  const real = words.includes("--real");
  const suites = await buildSuites(
    words.filter((word) => !word.startsWith("--")),
    say,
  );
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-envtest-"));
  try {
    const launch = [path.resolve("packages/cluster/dist/envtest.cjs")];
    const assets = (await installEnvtest(folder, { launch })).folder;
    await tellStarts(assets);
    say(`\ncontroller-runtime ${version}`);
    const { passed, failed, seconds } = await runAll(suites, assets);
    say(`${passed} of ${passed + failed} specs passed in ${Math.round(seconds)} s`);
    if (real && isBuilt()) {
      say("\nthe same with the real programs");
      const beside = await runAll(suites, binFolder());
      say(`${beside.passed} of ${beside.passed + beside.failed} specs passed in ${Math.round(beside.seconds)} s`);
    }
    leaveResults(passed, failed);
    return failed > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** For whoever names a file in LOTSE_RESULTS. */
function leaveResults(passed: number, failed: number): void {
  const file = process.env.LOTSE_RESULTS;
  if (!file) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ passed, failed }));
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof GoMissingError ? 2 : 1;
}
