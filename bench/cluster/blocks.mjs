// Whether any controller keeps the event loop of an embedded cluster to itself: each gets 500 pods to look after, in a
// process of its own that is measured turn by turn. Requests come from this process.
//
//   node bench/cluster/blocks.mjs
//     --pods N      for each (500)                     --only TEXT   those whose name has it; several times for more
//     --rounds N    the best of so many (1)            --json        for programs
//     --profile     where long turns went by
//     --check       exit code 1 when a turn of the best of three rounds is above the bar
import { build } from "../../scripts/build.mjs";
import { ensureInstalled } from "../../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../../scripts/process.mjs";
import { Api } from "../engine/api.mjs";
import { drawTable } from "../measure.mjs";
import { flag, readArguments, text } from "./options.mjs";
import { scenarios, warmUp } from "./scenarios.mjs";
import { startServer } from "./server-process.mjs";

const BAR_MS = 20;

async function measure({ name, prepare, run }, pods, profile) {
  const server = await startServer();
  try {
    const api = new Api(server.kubeconfig, 10);
    await warmUp(api);
    await prepare?.(api, pods);
    await server.tell("start", { profile });
    const since = performance.now();
    await run(api, pods);
    const seconds = (performance.now() - since) / 1_000;
    const { loop } = await server.tell("stop");
    api.close?.();
    return { name, seconds, ...loop };
  } finally {
    await server.end();
  }
}

function readOptions() {
  const only = { type: "string", multiple: true, default: [""] };
  const options = { pods: text, only, rounds: text, json: flag, profile: flag, check: flag };
  const { values, number } = readArguments(options);
  const has = (name, part) => name.toLowerCase().includes(part.toLowerCase());
  const stranger = values.only.find((part) => !scenarios.some(({ name }) => has(name, part)));
  if (stranger !== undefined) throw new Failure(`nothing is called ${stranger}; there is:\n${names()}`, 2);
  const chosen = scenarios.filter(({ name }) => values.only.some((part) => has(name, part)));
  return { ...values, chosen, pods: number("pods", 500), rounds: number("rounds", values.check ? 3 : 1) };
}

const names = () => scenarios.map(({ name }) => `  ${name}`).join("\n");

await main(async () => {
  const { chosen, pods, rounds, json, profile, check } = readOptions();
  await ensureInstalled();
  await build({ types: false });
  const results = [];
  for (const scenario of chosen) {
    let best;
    for (let round = 0; round < rounds; round++) {
      const one = await measure(scenario, pods, profile);
      if (!best || one.longest < best.longest) best = one;
      // What held once can be held: whatever was longer in another round is the machine's.
      if (check && best.longest <= BAR_MS) break;
    }
    results.push(best);
    for (const turn of profile ? best.turns.slice(0, 4) : []) {
      say(`${best.name}: a turn of ${turn.ms.toFixed(1)} ms, ${turn.collecting.toFixed(1)} of them collecting garbage`);
      for (const [what, ms] of turn.stacks) say(`  ${ms.toFixed(1).padStart(6)} ${what}`);
    }
  }
  if (json) say(JSON.stringify(results));
  else {
    const rows = results.map(({ name, seconds, count, longest, own, turns }) => [
      name,
      seconds.toFixed(1),
      count,
      longest.toFixed(1),
      own.toFixed(1),
      turns.filter(({ ms }) => ms > BAR_MS).length,
      longest <= BAR_MS ? "yes" : "NO",
    ]);
    say(drawTable(["work", "seconds", "turns", "longest ms", "without GC ms", `above ${BAR_MS} ms`, "held"], rows));
  }
  const failed = results.filter(({ longest }) => longest > BAR_MS).length;
  leaveResults(results.length - failed, failed);
  return check && failed > 0 ? 1 : 0;
});
