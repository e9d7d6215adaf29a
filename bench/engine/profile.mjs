// Reads what `node --cpu-prof` left: where a process spent its time.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const notWork = new Set(["(idle)", "(root)", "(program)"]);
const isOurs = (url) => /\/(packages|bench)\//.test(url);

function placeOf({ functionName, url, lineNumber }) {
  const place = url ? ` ${url.replace(/^.*\/(?=(packages|node_modules|bench)\/)/, "")}:${lineNumber + 1}` : "";
  return `${functionName || "(anonymous)"}${place}`;
}

/**
 * The costliest functions over all profiles of a folder, in milliseconds: `self` by themselves, and `charged` our own
 * functions together with everything of Node.js that they call, which tells whom to ask.
 */
export function topFunctions(folder, count = 30) {
  const self = new Map();
  const charged = new Map();
  let total = 0;
  const add = (map, key, ms) => map.set(key, (map.get(key) ?? 0) + ms);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"))) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path.join(folder, file), "utf8"));
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
    const payerOf = (id) => {
      for (let at = id; at !== undefined; at = parents.get(at)) {
        const { callFrame } = byId.get(at);
        if (isOurs(callFrame.url)) return placeOf(callFrame);
      }
      return "Node.js by itself";
    };
    for (const [index, id] of samples.entries()) {
      const { callFrame } = byId.get(id);
      const ms = Math.max(0, timeDeltas[index]) / 1000;
      if (notWork.has(callFrame.functionName)) continue;
      total += ms;
      add(self, placeOf(callFrame), ms);
      add(charged, payerOf(id), ms);
    }
  }
  const top = (map) =>
    [...map]
      .sort((a, b) => b[1] - a[1])
      .slice(0, count)
      .map(([what, ms]) => ({ what, ms, share: ms / total }));
  return { total, self: top(self), charged: top(charged) };
}
