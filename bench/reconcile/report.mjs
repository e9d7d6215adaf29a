// What the figures mean: ratios to controller-runtime, and the bars that Lotse has to keep.
import { drawTable } from "../measure.mjs";

/** The rows of the table. `bar` is the highest ratio to controller-runtime's, `exact` the value that Lotse has to have. */
const rows = [
  { key: "start.ms", what: "process start → first parent settled (ms)", digits: 0 },
  { key: "create.rate", what: "creations settled a second", digits: 0 },
  { key: "create.ms", what: "all creations settled (ms)", digits: 0, bar: 1.25 },
  { key: "create.cpu", what: "CPU for each creation (ms)", digits: 2 },
  { key: "create.writes", what: "writes for each creation", digits: 2, exact: 4 },
  { key: "change.child.p50", what: "change sent → child updated, p50 (ms)", digits: 2, bar: 1.25 },
  { key: "change.child.p99", what: "change sent → child updated, p99 (ms)", digits: 2, bar: 1.25 },
  { key: "change.status.p50", what: "change sent → status, p50 (ms)", digits: 2 },
  { key: "change.status.p99", what: "change sent → status, p99 (ms)", digits: 2 },
  { key: "change.cpu", what: "CPU for each change (ms)", digits: 2 },
  { key: "change.writes", what: "writes for each change", digits: 2, exact: 2 },
  { key: "repair.p50", what: "child deleted → back, p50 (ms)", digits: 2 },
  { key: "repair.p99", what: "child deleted → back, p99 (ms)", digits: 2 },
  { key: "repair.writes", what: "writes for each deleted child", digits: 2, exact: 1 },
  { key: "change.mb", what: "memory after creations and changes (MiB)", digits: 0 },
  { key: "peak.mb", what: "highest memory (MiB)", digits: 0 },
  { key: "restart.ms", what: "restart → first parent settled (ms)", digits: 0 },
  { key: "restart.cpu", what: "CPU of a restart (ms)", digits: 0 },
  { key: "restart.mb", what: "memory, everything settled (MiB)", digits: 0 },
  { key: "restart.writes", what: "writes of a restart", digits: 0, exact: 0 },
];

function judge({ key, bar, exact }, peer, figures) {
  const value = figures[key];
  // A hundredth: a change that was overtaken by the next one is handled together with it.
  if (exact !== undefined) return { text: String(exact), holds: Math.abs(value - exact) <= 0.01 };
  if (bar === undefined || peer === undefined) return undefined;
  return { text: `≤ ${bar} ×`, holds: value <= bar * peer[key] };
}

/**
 * A table in Markdown, and the bars that do not hold.
 *
 * @param {Record<string, Record<string, number>>} results medians by contestant
 * @param {string} peer whom the others are compared with
 */
export function report(results, peer) {
  const others = Object.keys(results).filter((name) => name !== peer);
  const base = results[peer];
  const broken = [];
  const cells = rows.map((row) => {
    const { key, what, digits } = row;
    const verdicts = others.map((name) => judge(row, base, results[name]));
    for (const [at, verdict] of verdicts.entries()) {
      if (verdict?.holds === false) broken.push(`${others[at]}: ${what}`);
    }
    const show = (name) => results[name][key].toFixed(digits);
    const ratio = (name) => (base?.[key] ? `${(results[name][key] / base[key]).toFixed(2)} ×` : "");
    const failing = others.filter((_, at) => verdicts[at]?.holds === false);
    return [
      what,
      ...(base ? [show(peer)] : []),
      ...others.flatMap((name) => (base ? [show(name), ratio(name)] : [show(name)])),
      verdicts[0]?.text ?? "",
      verdicts[0] === undefined ? "" : failing.length === 0 ? "yes" : `NO: ${failing.join(", ")}`,
    ];
  });
  const header = [
    "three ConfigMaps and a status",
    ...(base ? [peer] : []),
    ...others.flatMap((name) => (base ? [name, "ratio"] : [name])),
    "bar",
    "holds",
  ];
  return { table: drawTable(header, cells), broken };
}
