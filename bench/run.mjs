// `npm run bench`: measures and prints a table. `npm run bench -- cluster` measures the embedded cluster beside a real
// one, with options of its own: see cluster/run.mjs.
//   --quick    fewer samples      --json    machine-readable      --strict    exit code 1 above a bar
import os from "node:os";
import { build } from "../scripts/build.mjs";
import { ensureInstalled } from "../scripts/install.mjs";
import { Failure, leaveResults, main, say } from "../scripts/process.mjs";
import { drawTable } from "./measure.mjs";
import { bars, measureCluster, measureImports } from "./startup.mjs";

const known = ["--quick", "--json", "--strict"];

const isAbove = ({ name, ms, rss }) => {
  const bar = bars[name] ?? {};
  return ms.median > (bar.ms ?? Infinity) || (rss?.median ?? 0) > (bar.mb ?? Infinity);
};

function row(result) {
  const { name, ms, rss, heap } = result;
  const bar = bars[name] ?? {};
  const text = [bar.ms && `${bar.ms} ms`, bar.mb && `${bar.mb} MB`].filter(Boolean).join(", ");
  return [
    name,
    ms.median,
    `${ms.low} to ${ms.high}`,
    rss?.median ?? "",
    heap?.median ?? "",
    text,
    isAbove(result) ? "NO" : "yes",
  ];
}

/** Keeps progress lines out of what a program reads. */
async function quietly(quiet, body) {
  if (!quiet) return body();
  const write = process.stdout.write;
  process.stdout.write = () => true;
  try {
    return await body();
  } finally {
    process.stdout.write = write;
  }
}

await main(async () => {
  const flags = process.argv.slice(2);
  if (flags[0] === "cluster") {
    const { benchCluster } = await import("./cluster/run.mjs");
    return benchCluster(flags.slice(1));
  }
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) throw new Failure(`Unknown option ${unknown}. There are ${known.join(", ")}.`, 2);
  const json = flags.includes("--json");
  const quick = flags.includes("--quick");
  await ensureInstalled();
  await quietly(json, () => build({ types: false }));

  const results = [];
  if (!json)
    say(`Node.js ${process.versions.node}, ${os.availableParallelism()} cores, load ${os.loadavg()[0].toFixed(1)}`);
  results.push(...(await measureImports(["lotse/client", "lotse"], quick ? 5 : 15)));
  results.push(await measureCluster(quick ? 3 : 15));

  const above = results.filter((result) => isAbove(result));
  if (json) say(JSON.stringify({ node: process.versions.node, results, bars }, null, 2));
  else say(drawTable(["what", "ms", "middle half", "RSS MB", "heap MB", "bar", "holds"], results.map(row)));
  // A busy machine is no defect of ours: the bars count only when asked for.
  leaveResults(results.length, 0);
  return flags.includes("--strict") && above.length > 0 ? 1 : 0;
});
