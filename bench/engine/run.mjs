// Operators side by side on a real kube-apiserver, each a process of its own with the same job: `spec.size` of a Widget
// becomes its `status.size`; in the second mode a ConfigMap is applied for each as well.
//
//   node bench/engine/run.mjs             1,000 objects, three interleaved rounds, both modes
//     --large           10,000 objects (or --objects N)
//     --quick           200 objects, one round, five seconds of changes: shows that it works, measures nothing
//     --rounds N        medians of N rounds              --seconds N, --rate N   how long, and changes a second
//     --mode M          status, child or both            --contestants a,b       of floor, kopf, lotse
//     --hot             also: one object changed all the time beside the others, as often as the server takes it
//     --profile DIR     CPU profiles of the contestants on Node.js, with their costliest functions (slows them down)
//     --json            for programs                     --strict                exit code 1 above a bar, or without Kopf
//
// Needs Go for the first run (it builds the servers, see tests/real) and Python 3 for Kopf, which is skipped without.
import { mkdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { Bed } from "./bed.mjs";
import { contestants, requireProc } from "./contestant.mjs";
import { topFunctions } from "./profile.mjs";
import { installKopf, KopfMissingError } from "./python.mjs";
import { medians, report } from "./report.mjs";
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
        ...{ quick: flag, large: flag, hot: flag, json: flag, strict: flag },
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
  const { quick, large, hot, json, strict, mode = "both", profile } = values;
  if (!["status", "child", "both"].includes(mode)) throw new Failure("--mode is status, child or both.", 2);
  const names = values.contestants?.split(",") ?? contestants;
  const unknown = names.find((name) => !contestants.includes(name));
  if (unknown !== undefined) throw new Failure(`There is no ${unknown}, only ${contestants.join(", ")}.`, 2);
  return {
    ...{ hot, json, strict, names, profile: profile && path.resolve(profile) },
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

async function findPython({ names, strict }) {
  if (!names.includes("kopf")) return undefined;
  try {
    return await installKopf(note);
  } catch (error) {
    if (!(error instanceof KopfMissingError)) throw error;
    if (strict) throw new Failure(error.message, 2);
    note(`${error.message}\nKopf is left out.`);
    return undefined;
  }
}

/** All rounds of one mode, everybody once in each round. */
async function measure(bed, child, names, options, python) {
  const runs = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 1; round <= options.rounds; round++) {
    // Everybody is first once: whoever is, meets a server that has rested.
    const shift = (round - 1) % names.length;
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
      const mode = child ? "child" : "status";
      const namespace = `${mode}-${name}-${round}`;
      const profile = options.profile && path.join(options.profile, `${mode}-${name}`);
      if (profile) mkdirSync(profile, { recursive: true });
      const figures = await runOnce(bed, { ...options, name, namespace, child, python, profile });
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
    for (const name of names.filter((one) => one !== "kopf")) {
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
  requireProc();
  await ensureInstalled();
  await buildQuietly();
  const python = await findPython(options);
  const names = options.names.filter((name) => name !== "kopf" || python !== undefined);
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
      const runs = await measure(bed, child, names, options, python);
      const middle = Object.fromEntries(names.map((name) => [name, medians(runs[name])]));
      results.push({ child, runs, medians: middle, ...report(middle, child) });
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
    if (options.profile) printProfiles({ ...options, names });
  }
  leaveResults(results.length, 0);
  const broken = results.some((result) => result.broken.length > 0);
  return options.strict && broken ? 1 : 0;
});
