// Circles of files that import each other, types included: who reads one of them has to read all.
import path from "node:path";

/**
 * One violation for each circle of files in a package, told along a shortest round trip, and one for each folder that is
 * accepted to have circles and has none.
 *
 * @param {{ name: string, dir: string }} pkg
 * @param {import("./rooms.mjs").Edge[]} edges
 * @param {readonly string[]} accepted folders below src
 */
export function fileCycleViolations(pkg, edges, accepted) {
  const src = path.join(pkg.dir, "src");
  const next = new Map();
  for (const edge of edges) {
    if (!next.has(edge.from)) next.set(edge.from, []);
    next.get(edge.from).push(edge);
  }
  const violations = [];
  const needed = new Set();
  for (const files of circles(next)) {
    const folder = accepted.find((one) => files.every((file) => file.startsWith(path.join(src, one) + path.sep)));
    if (folder !== undefined) {
      needed.add(folder);
      continue;
    }
    const trip = shortestTrip(next, new Set(files), files[0]);
    const names = [...trip.map(({ from }) => from), files[0]].map((file) => path.relative(src, file));
    const more = files.length > trip.length ? ` (${files.length} files in all)` : "";
    violations.push({
      file: trip[0].file,
      line: trip[0].line,
      what: `files of ${pkg.name} import each other: ${names.join(" → ")}${more}`,
      fix: `cut one of ${trip.map(({ file, line, specifier }) => `${file}:${line} ("${specifier}")`).join(", ")}`,
    });
  }
  for (const folder of accepted.filter((one) => !needed.has(one))) {
    violations.push({
      file: "scripts/rooms.mjs",
      line: 1,
      what: `no files of ${pkg.name} import each other in ${folder} any more`,
      fix: "take the folder out of acceptedCycles, so that it stays so",
    });
  }
  return violations;
}

/** The groups of files that reach each other, by Tarjan's algorithm; each sorted. */
function circles(next) {
  const order = new Map();
  const low = new Map();
  const open = [];
  const found = [];
  const visit = (file) => {
    order.set(file, order.size);
    low.set(file, order.get(file));
    open.push(file);
    for (const { to } of next.get(file) ?? []) {
      if (!order.has(to)) visit(to);
      if (open.includes(to)) low.set(file, Math.min(low.get(file), low.get(to)));
    }
    if (low.get(file) !== order.get(file)) return;
    const group = open.splice(open.indexOf(file));
    if (group.length > 1 || next.get(file)?.some(({ to }) => to === file)) found.push(group.sort());
  };
  for (const file of [...next.keys()].sort()) if (!order.has(file)) visit(file);
  return found;
}

function shortestTrip(next, within, start) {
  const cameBy = new Map();
  const queue = [start];
  for (const file of queue) {
    for (const edge of next.get(file) ?? []) {
      if (edge.to === start) {
        const trip = [edge];
        for (let at = file; at !== start; at = cameBy.get(at).from) trip.unshift(cameBy.get(at));
        return trip;
      }
      if (!within.has(edge.to) || cameBy.has(edge.to)) continue;
      cameBy.set(edge.to, edge);
      queue.push(edge.to);
    }
  }
  return [];
}
