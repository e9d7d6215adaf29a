// Kubernetes' own conformance suite with the embedded cluster and pods that are simulated:
//   npm run test:conformance                      the specs that must pass (tests/conformance/must-pass.txt)
//   npm run test:conformance -- --all             all conformance specs, to see which could be added
//   npm run test:conformance -- [--all] IPAddress those whose name contains a word; --without DNS: and not this one
//   --runners 3   so many clusters at a time      --limit 90   seconds for each spec
//   --report FILE every outcome, as JSON          --write      makes the list anew of what passed
//   --without-kubelet   on a control plane without any node: the specs that need no container
//                       (tests/conformance/container-free.txt), with --all those that must pass, to see which do
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { GoMissingError } from "../real/build.ts";
import { run } from "../run.ts";
import { buildSuite, version } from "./build.ts";
import { runSpecs } from "./runner.ts";
import { bySig, deal, formatList, type Outcome, parseList, parseListing } from "./specs.ts";

/** A list of specs: where it is, and what stands above it. */
interface List {
  readonly file: string;
  readonly head: readonly string[];
}

const listIn = (name: string, ...head: string[]): List => ({
  file: fileURLToPath(new URL(name, import.meta.url)),
  head,
});
const MUST_PASS = listIn(
  "./must-pass.txt",
  `The conformance specs of Kubernetes ${version} that must pass with simulated pods.`,
  "Made by: npm run test:conformance -- --all --write",
);
const CONTAINER_FREE = listIn(
  "./container-free.txt",
  `The conformance specs of Kubernetes ${version} that must pass on a control plane without any node.`,
  "Made by: npm run test:conformance -- --without-kubelet --all --runners 8 --write",
);

const read = ({ file }: List): string[] => parseList(readFileSync(file, "utf8"));

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: "boolean", default: false },
      runners: { type: "string", default: "4" },
      limit: { type: "string", default: "900" },
      report: { type: "string" },
      without: { type: "string", multiple: true, default: [] },
      "without-kubelet": { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  });
  const programs = await buildSuite(say);
  const existing = parseListing((await run(programs.suite, ["--list-tests"])).stdout);
  const kubelet = !values["without-kubelet"];
  const list = kubelet ? MUST_PASS : CONTAINER_FREE;
  const wanted = read(list);
  const unknown = wanted.filter((spec) => !existing.includes(spec));
  if (unknown.length > 0) throw new Error(`Kubernetes ${version} has no such spec:\n${unknown.join("\n")}`);
  const tried = kubelet ? existing : read(MUST_PASS);
  const chosen = (values.all ? tried : wanted).filter(
    (spec) =>
      (positionals.length === 0 || positionals.some((word) => spec.includes(word))) &&
      !values.without.some((word) => spec.includes(word)),
  );
  say(`Kubernetes ${version}: ${chosen.length} of ${existing.length} conformance specs, ${wanted.length} must pass`);
  const since = performance.now();
  const outcomes: Outcome[] = [];
  const onOutcome = (outcome: Outcome) => {
    outcomes.push(outcome);
    const place = `${outcomes.length}/${chosen.length}`.padStart(7);
    say(`${place} ${outcome.state.padEnd(8)} ${outcome.seconds.toFixed(1).padStart(6)} s  ${outcome.spec}`);
    if (outcome.state !== "passed" && outcome.message) say(indent(outcome.message));
    if (values.report) writeFileSync(values.report, JSON.stringify(outcomes, null, 1));
  };
  const hands = deal(chosen, Number(values.runners));
  const options = { programs, limitSeconds: Number(values.limit), kubelet, onOutcome };
  await Promise.all(hands.map((specs) => runSpecs(specs, options)));
  tell(outcomes);
  say(`${Math.round((performance.now() - since) / 1_000)} s`);
  if (values.write) {
    const kept = wanted.filter((spec) => !chosen.includes(spec));
    writeFileSync(list.file, formatList([...passed(outcomes), ...kept], list.head));
  }
  const broken = outcomes.filter(({ spec, state }) => state !== "passed" && wanted.includes(spec));
  if (broken.length > 0) say(`\nThese must pass, and did not:\n${broken.map(({ spec }) => `  ${spec}`).join("\n")}`);
  leaveResults(passed(outcomes).length, broken.length);
  return broken.length > 0 ? 1 : 0;
}

const passed = (outcomes: readonly Outcome[]): string[] =>
  outcomes.filter(({ state }) => state === "passed").map(({ spec }) => spec);

const indent = (text: string): string =>
  text
    .split("\n")
    .slice(0, 12)
    .map((line) => `          ${line.slice(0, 400)}`)
    .join("\n");

function tell(outcomes: readonly Outcome[]): void {
  say("");
  for (const [sig, group] of bySig(outcomes, ({ spec }) => spec)) {
    say(`${sig.padEnd(22)} ${String(passed(group).length).padStart(4)} of ${String(group.length).padStart(4)} passed`);
  }
  say(
    `${"all".padEnd(22)} ${String(passed(outcomes).length).padStart(4)} of ${String(outcomes.length).padStart(4)} passed`,
  );
}

/** For whoever names a file in LOTSE_RESULTS. */
function leaveResults(passed: number, failed: number): void {
  const file = process.env.LOTSE_RESULTS;
  if (!file) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ passed, failed }));
}

// Whoever ends this ends the suites that it has started, too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(130));

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof GoMissingError ? 2 : 1;
}
