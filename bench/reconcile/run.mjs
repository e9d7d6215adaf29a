// Level-based operators side by side on a real kube-apiserver, each a process of its own with the same job: a Widget has
// three ConfigMaps, one of which tells its `spec.size`, and its `status.size` tells it too.
//
//   node bench/reconcile/run.mjs          1,000 parents, three interleaved rounds
//     --parents N       how many                         --rounds N              medians of N rounds
//     --quick           100 parents, one round, five seconds of changes: shows that it works, measures nothing
//     --seconds N, --rate N   how long, and changes a second
//     --contestants a,b       of controller-runtime, children, reconcile
//     --profile DIR     CPU profiles of the contestants on Node.js, with their costliest functions (slows them down)
//     --json            for programs                     --strict                exit code 1 above a bar
//
// Needs Go for the first run: it builds the servers (see tests/real) and the program with controller-runtime.
import { mkdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { root } from "../../scripts/workspace.mjs";
import { Bed } from "../engine/bed.mjs";
import { requireProc } from "../engine/contestant.mjs";
import { topFunctions } from "../engine/profile.mjs";
import { medians } from "../engine/report.mjs";
import { connections } from "../engine/workload.mjs";
import { report } from "./report.mjs";
import { runOnce } from "./workload.mjs";

const peer = "controller-runtime";
const contestants = [peer, "children", "reconcile"];

/** Progress goes where it disturbs no program that reads the result. */
const note = (line) => process.stderr.write(`${line}\n`);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

function readOptions() {
  const flag = { type: "boolean", default: false };
  const text = { type: "string" };
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        ...{ quick: flag, json: flag, strict: flag },
        ...{ parents: text, rounds: text, seconds: text, rate: text, contestants: text, profile: text },
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
  const { quick, json, strict, profile } = values;
  const names = values.contestants?.split(",") ?? contestants;
  const unknown = names.find((name) => !contestants.includes(name));
  if (unknown !== undefined) throw new Failure(`There is no ${unknown}, only ${contestants.join(", ")}.`, 2);
  return {
    ...{ json, strict, names, profile: profile && path.resolve(profile) },
    parents: number("parents", quick ? 100 : 1000),
    rounds: number("rounds", quick ? 1 : 3),
    seconds: number("seconds", quick ? 5 : 20),
    rate: number("rate", 50),
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

/** How each is started, given the namespace: none of them logs a line for each object. */
async function commandsOf(names) {
  const lotse = (file) => (namespace) => [
    process.execPath,
    [
      path.join(root, "packages", "lotse", "bin", "lotse.js"),
      ...["run", "--quiet", "--namespace", namespace, here(`contestants/${file}.mjs`)],
    ],
  ];
  const commands = { children: lotse("children"), reconcile: lotse("reconcile") };
  if (names.includes(peer)) {
    const { buildGoProgram } = await import("../../tests/clients/go/build.ts");
    const program = await buildGoProgram(here("go"), ["bench", "reconcile"], note);
    commands[peer] = () => [program, []];
  }
  return commands;
}

/** All rounds, everybody once in each. */
async function measure(bed, commands, options) {
  const { names, rounds } = options;
  const runs = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    // Everybody is first once: whoever is, meets a server that has rested.
    const shift = (round - 1) % names.length;
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
      const profile = options.profile && path.join(options.profile, name);
      if (profile) mkdirSync(profile, { recursive: true });
      const namespace = `${name}-${round}`;
      const figures = await runOnce(bed, { ...options, name, namespace, command: commands[name], profile });
      runs[name].push(figures);
      const shown = (key) => figures[key].toFixed(1);
      note(
        `round ${round}, ${name}: ${shown("create.rate")} creations/s, change → child p50 ${shown("change.child.p50")} ms, p99 ${shown("change.child.p99")} ms, back p99 ${shown("repair.p99")} ms`,
      );
    }
  }
  return runs;
}

function printProfiles({ profile, names }) {
  for (const name of names.filter((one) => one !== peer)) {
    const { total, self, charged } = topFunctions(path.join(profile, name));
    for (const [title, top] of Object.entries({ "by themselves": self, "with what they call of Node.js": charged })) {
      say(`\n${name}: ${total.toFixed(0)} ms of work; functions ${title}`);
      for (const { what, ms, share } of top) {
        say(`${ms.toFixed(0).padStart(7)} ms ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
      }
    }
  }
}

await main(async () => {
  const options = readOptions();
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
  const { parents, rounds, seconds, rate, names } = options;
  const bed = await Bed.start(connections, note);
  let runs;
  try {
    runs = await measure(bed, await commandsOf(names), options);
  } finally {
    await bed.stop();
  }
  const middle = Object.fromEntries(names.map((name) => [name, medians(runs[name])]));
  const { table, broken } = report(middle, peer);
  if (options.json) say(JSON.stringify({ machine, options, runs, medians: middle, broken }, null, 2));
  else {
    say(
      `${parents} parents by ${connections} connections, ${rate} changes/s for ${seconds} s, medians of ${rounds}\nNode.js ${machine.node}, ${machine.cores} cores (${machine.cpu}), load ${machine.load}, ${machine.date}\n\n${table}`,
    );
    if (options.profile) printProfiles(options);
  }
  leaveResults(names.length, 0);
  return options.strict && broken.length > 0 ? 1 : 0;
});
