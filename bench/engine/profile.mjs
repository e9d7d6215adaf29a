// Reads what `node --cpu-prof` left: where a process spent its time by itself.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const idle = new Set(["(idle)", "(root)", "(program)"]);

/** The functions with the highest self time over all profiles of a folder, in milliseconds. */
export function topFunctions(folder, count = 30) {
  const selfMs = new Map();
  let total = 0;
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"))) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path.join(folder, file), "utf8"));
    const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
    for (const [index, id] of samples.entries()) {
      const { functionName, url, lineNumber } = byId.get(id);
      const ms = Math.max(0, timeDeltas[index]) / 1000;
      if (idle.has(functionName)) continue;
      total += ms;
      const place = url ? `${url.replace(/^.*\/(?=(packages|node_modules|bench)\/)/, "")}:${lineNumber + 1}` : "";
      const key = `${functionName || "(anonymous)"} ${place}`.trim();
      selfMs.set(key, (selfMs.get(key) ?? 0) + ms);
    }
  }
  const top = [...selfMs].sort((a, b) => b[1] - a[1]).slice(0, count);
  return { total, top: top.map(([what, ms]) => ({ what, ms, share: ms / total })) };
}
