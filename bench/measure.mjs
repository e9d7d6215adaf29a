// Measuring child processes: each sample is a process of its own, so that nothing is warm that a user finds cold.
import { spawn } from "node:child_process";

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const asNumber = (value, digits = 1) => Number(value.toFixed(digits));

/** Median and the range of the middle half, which tells how far to trust the median. */
export function summarize(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return {
    median: asNumber(median(values)),
    low: asNumber(at(0.25)),
    high: asNumber(at(0.75)),
    samples: values.length,
  };
}

/**
 * Runs a module file in a fresh Node.js process and returns the JSON that it writes. A file and not `node --eval`,
 * whose first import of a file costs some 7 ms more than a user's program pays; and without V8 flags, which make Node.js
 * throw away the code that it has compiled beforehand for its own modules.
 */
export function sample(file) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.on("error", reject);
    child.on("close", (exitCode) =>
      exitCode === 0 ? resolve(JSON.parse(stdout)) : reject(new Error(stderr || stdout)),
    );
  });
}

/** Takes `count` rounds of all samplers in turn, so that a busy moment of the machine hits all of them alike. */
export async function interleave(count, samplers) {
  const rounds = [];
  for (let round = 0; round < count; round++) {
    const row = {};
    for (const [name, take] of Object.entries(samplers)) row[name] = await take();
    rounds.push(row);
  }
  return rounds;
}

/** Draws rows as a table with aligned columns. */
export function drawTable(header, rows) {
  const all = [header, ...rows].map((row) => row.map(String));
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const draw = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [draw(all[0]), draw(widths.map((width) => "-".repeat(width))), ...all.slice(1).map(draw)].join("\n");
}
