// What the number of objects costs Lotse, on a real kube-apiserver: a start (until all are known, and its CPU), a change,
// and memory; beside the floor of bench/engine, which keeps the objects here too (BENCH_KEEP).
//
//   node bench/scale/run.mjs              1,000, 10,000 and 50,000 objects, three starts of each
//     --objects a,b,c   how many                         --rounds N              medians of N starts
//     --changes N       changes of each start (200)      --rate N                changes a second (50)
//     --quick           200 and 400 objects, one start, 50 changes: shows that it works, measures nothing
//     --contestants a,b of floor, lotse                  --json                  for programs
//     --strict          exit code 1 above a bar, or when a start wrote anything
//     --help            this text
//
// The objects are there before a contestant starts, and settled: nobody has anything to write. Needs Go for the first run:
// it builds the servers, see tests/real.
import { readFileSync } from "node:fs";
import os from "node:os";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { Bed } from "../engine/bed.mjs";
import { requireProc } from "../engine/contestant.mjs";
import { medians } from "../engine/report.mjs";
import { connections } from "../engine/workload.mjs";
import { Objects, settledByLotse } from "./objects.mjs";
import { report } from "./report.mjs";
import { contestants, runOnce } from "./workload.mjs";

const namespace = "scale";

/** Progress goes where it disturbs no program that reads the result. */
const note = (line) => process.stderr.write(`${line}\n`);

function readOptions() {
  const flag = { type: "boolean", default: false };
  const text = { type: "string" };
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        ...{ quick: flag, json: flag, strict: flag, help: flag },
        ...{ objects: text, rounds: text, changes: text, rate: text, contestants: text },
      },
    }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const isCount = (value) => Number.isInteger(value) && value >= 1;
  const number = (name, usual) => {
    const value = Number(values[name] ?? usual);
    if (!isCount(value)) throw new Failure(`--${name} takes a number from 1 up.`, 2);
    return value;
  };
  const { quick, json, strict, help } = values;
  const counts = (values.objects ?? (quick ? "200,400" : "1000,10000,50000")).split(",").map(Number);
  // The namespace only grows, and a line needs two points.
  if (counts.length < 2 || !counts.every((count, at) => isCount(count) && count > (counts[at - 1] ?? 0))) {
    throw new Failure("--objects takes two numbers or more, each higher than the one before: 1000,10000", 2);
  }
  const names = [...new Set(values.contestants?.split(",") ?? Object.keys(contestants))];
  const unknown = names.find((name) => !Object.hasOwn(contestants, name));
  if (unknown !== undefined) {
    throw new Failure(`There is no ${unknown}, only ${Object.keys(contestants).join(", ")}.`, 2);
  }
  return {
    ...{ json, strict, help, counts, names },
    rounds: number("rounds", quick ? 1 : 3),
    changes: number("changes", quick ? 50 : 200),
    rate: number("rate", 50),
  };
}

/** The comment at the top of this file. */
function helpText() {
  const lines = readFileSync(new URL(import.meta.url), "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join("\n");
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

/** Medians of each contestant for each number of objects. */
async function measure(bed, { counts, names, rounds, changes, rate }) {
  const seed = await settledByLotse(bed);
  await bed.createNamespace(namespace);
  const objects = new Objects(bed.api, namespace, seed);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (const count of counts) {
    await objects.grow(count, connections, note);
    const runs = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const name of names) {
        const figures = await runOnce(bed, objects, { name, namespace, count, changes, rate, connections });
        runs[name].push(figures);
        note(
          `${count} objects, round ${round}, ${name}: known after ${figures["start.ms"].toFixed(0)} ms, ${figures["settled.mb"].toFixed(0)} MiB`,
        );
      }
    }
    for (const name of names) results[name].push({ count, figures: medians(runs[name]) });
  }
  return results;
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
  const machine = {
    node: process.versions.node,
    cores: os.availableParallelism(),
    cpu: os.cpus()[0]?.model ?? "unknown",
    load: Number(os.loadavg()[0].toFixed(1)),
    date: new Date().toISOString().slice(0, 10),
  };
  const bed = await Bed.start(connections, note);
  let results;
  try {
    results = await measure(bed, options);
  } finally {
    await bed.stop();
  }
  const { tables, lines, broken } = report(results);
  if (options.json) say(JSON.stringify({ machine, options, results, lines, broken }, null, 2));
  else {
    say(
      `settled objects, ${options.changes} changes at ${options.rate}/s, medians of ${options.rounds}\nNode.js ${machine.node}, ${machine.cores} cores (${machine.cpu}), load ${machine.load}, ${machine.date}`,
    );
    for (const table of tables) say(`\n${table}`);
    if (options.counts.length === 2) say("\nTwo numbers of objects are always on a line: the bar says nothing here.");
  }
  leaveResults(Object.keys(results).length, 0);
  return options.strict && broken.length > 0 ? 1 : 0;
});
