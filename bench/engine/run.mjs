// Operators side by side on a real kube-apiserver, each a process of its own with the same job: `spec.size` of a Widget
// becomes its `status.size`; in the second mode a ConfigMap is applied for each as well.
//
//   node bench/engine/run.mjs             1,000 objects, three interleaved rounds, both modes
//     --large           10,000 objects (or --objects N)
//     --quick           200 objects, one round, five seconds of changes: shows that it works, measures nothing
//     --rounds N        medians of N rounds              --seconds N, --rate N   how long, and changes a second
//     --mode M          status, child or both
//     --contestants a,b of floor, kopf, lotse (these by default), controller-runtime, kube-rs; or all
//     --hot             also: one object changed all the time beside the others, as often as the server takes it
//     --profile DIR     CPU profiles of the contestants on Node.js, with their costliest functions (slows them down)
//     --stages          where the time of a change goes inside of Lotse, p50, p99 and max of each stage (slows it down)
//     --json            for programs                     --help                  this text
//     --strict          exit code 1 above a bar, 2 where a contestant cannot be had
//
// Needs Go for the first run: it builds the servers, see tests/real. Python 3 is for Kopf, Go for controller-runtime and
// cargo for kube-rs: a contestant that cannot be had is left out. The programs are made once, into the cache folder.
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { Bed } from "./bed.mjs";
import { contestants, onNode, requireProc, usualContestants } from "./contestant.mjs";
import { topFunctions } from "./profile.mjs";
import { makeProgram, ProgramMissingError } from "./programs.mjs";
import { medians, report } from "./report.mjs";
import { drawStages, readTurns, summarizeStages } from "./stages.mjs";
import { connections, runOnce } from "./workload.mjs";

/** Progress goes where it disturbs no program that reads the result. */
const note = (line) => process.stderr.write(`${line}\n`);

function readOptions() {
  const flag = { type: "boolean", default: false };
  const text = { type: "string" };
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        ...{ quick: flag, large: flag, hot: flag, json: flag, strict: flag, stages: flag, help: flag },
        ...{ objects: text, rounds: text, seconds: text, rate: text, mode: text, contestants: text, profile: text },
      },
    }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const number = (name, usual) => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Failure(`--${name} takes a number from 1 up.`, 2);
    return value;
  };
  const { quick, large, hot, json, strict, stages, help, mode = "both", profile } = values;
  if (!["status", "child", "both"].includes(mode)) throw new Failure("--mode is status, child or both.", 2);
  const asked = values.contestants === "all" ? contestants : values.contestants?.split(",");
  const names = [...new Set(asked ?? usualContestants)];
  const unknown = names.find((name) => !contestants.includes(name));
  if (unknown !== undefined) throw new Failure(`There is no ${unknown}, only ${contestants.join(", ")}.`, 2);
  if (stages && !names.includes("lotse")) throw new Failure("--stages are those of lotse: name it a contestant.", 2);
  if (stages && hot) throw new Failure("--stages are of even changes: not together with --hot.", 2);
  return {
    ...{ hot, json, strict, stages, help, names, profile: profile && path.resolve(profile) },
    objects: number("objects", large ? 10_000 : quick ? 200 : 1000),
    rounds: number("rounds", quick ? 1 : 3),
    seconds: number("seconds", quick ? 5 : 20),
    rate: number("rate", 50),
    modes: mode === "both" ? [false, true] : [mode === "child"],
  };
}

/** The build tells its progress on standard output, which is for the result alone. */
async function buildQuietly() {
  const { write } = process.stdout;
  process.stdout.write = (...args) => process.stderr.write(...args);
  try {
    await build({ types: false });
  } finally {
    process.stdout.write = write;
  }
}

/** The comment at the top of this file. */
function helpText() {
  const lines = readFileSync(new URL(import.meta.url), "utf8").split("\n");
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith("//")),
    )
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join("\n");
}

/** Those who can take part, each with its program where it has one. */
async function gather({ names, strict }) {
  const programs = new Map();
  for (const name of names) {
    try {
      programs.set(name, await makeProgram(name, note));
    } catch (error) {
      if (!(error instanceof ProgramMissingError)) throw error;
      if (strict) throw new Failure(error.message, 2);
      note(`${error.message}\n${name} is left out.`);
    }
  }
  return programs;
}

/** All rounds of one mode, everybody once in each round. */
async function measure(bed, child, programs, options, folder) {
  const names = [...programs.keys()];
  const runs = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 1; round <= options.rounds; round++) {
    // Everybody is first once: whoever is, meets a server that has rested.
    const shift = (round - 1) % names.length;
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
      const mode = child ? "child" : "status";
      const namespace = `${mode}-${name}-${round}`;
      const profile = options.profile && path.join(options.profile, `${mode}-${name}`);
      if (profile) mkdirSync(profile, { recursive: true });
      const program = programs.get(name);
      const stages = options.stages && name === "lotse" ? folder : undefined;
      const figures = await runOnce(bed, { ...options, name, namespace, child, program, profile, stages });
      runs[name].push(figures);
      const shown = (key) => figures[key].toFixed(1);
      note(
        `${mode}, round ${round}, ${name}: creations ${shown("create.ms")} ms, change p50 ${shown("change.seen.p50")} ms, p99 ${shown("change.seen.p99")} ms`,
      );
    }
  }
  return runs;
}

function printProfiles({ profile, modes, names }) {
  for (const child of modes) {
    for (const name of names.filter((one) => onNode.includes(one))) {
      const mode = child ? "child" : "status";
      const { total, self, charged } = topFunctions(path.join(profile, `${mode}-${name}`));
      for (const [title, top] of Object.entries({ "by themselves": self, "with what they call of Node.js": charged })) {
        say(`\n${name}, ${mode}: ${total.toFixed(0)} ms of work; functions ${title}`);
        for (const { what, ms, share } of top) {
          say(`${ms.toFixed(0).padStart(7)} ms ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
        }
      }
    }
  }
}

await main(async () => {
  const options = readOptions();
  if (options.help) {
    say(helpText());
    return 0;
  }
  requireProc();
  await ensureInstalled();
  await buildQuietly();
  const programs = await gather(options);
  const names = [...programs.keys()];
  if (names.length === 0) throw new Failure("Nobody is left to be measured.", 2);
  const machine = {
    node: process.versions.node,
    cores: os.availableParallelism(),
    cpu: os.cpus()[0]?.model ?? "unknown",
    load: Number(os.loadavg()[0].toFixed(1)),
    date: new Date().toISOString().slice(0, 10),
  };
  const { objects, rounds, seconds, rate } = options;
  const title = `${objects} objects by ${connections} connections, ${rate} changes/s for ${seconds} s, medians of ${rounds}`;

  const results = [];
  const bed = await Bed.start(connections, note);
  try {
    for (const child of options.modes) {
      const folder = mkdtempSync(path.join(bed.folder, "stages-"));
      const runs = await measure(bed, child, programs, options, folder);
      const middle = Object.fromEntries(names.map((name) => [name, medians(runs[name])]));
      const stages = options.stages ? summarizeStages(readTurns(folder)) : undefined;
      results.push({ child, runs, medians: middle, stages, ...report(middle, child) });
    }
  } finally {
    await bed.stop();
  }

  if (options.json) say(JSON.stringify({ machine, options, results }, null, 2));
  else {
    say(
      `${title}\nNode.js ${machine.node}, ${machine.cores} cores (${machine.cpu}), load ${machine.load}, ${machine.date}`,
    );
    for (const { table } of results) say(`\n${table}`);
    for (const { child, stages } of results) {
      if (stages) say(`\n${drawStages(stages, child ? "status and one ConfigMap" : "status only")}`);
    }
    if (options.profile) printProfiles({ ...options, names });
  }
  leaveResults(results.length, 0);
  const broken = results.some((result) => result.broken.length > 0);
  return options.strict && broken ? 1 : 0;
});
