// What the figures mean: medians over the rounds, ratios to the floor, and the bars that Lotse has to keep.
import { drawTable, median } from "../measure.mjs";

/**
 * The rows of the table. `bar` is the highest ratio of Lotse to the floor, `exact` the value that Lotse has to have.
 * The two latencies differ in where the clock starts: at the event that shows the change, or at its request.
 */
const rows = (child) => [
  { key: "start.ms", what: "process start → first status", unit: "ms", digits: 0, bar: 2 },
  { key: "start.mb", what: "memory at start", unit: "MiB", digits: 0 },
  { key: "create.ms", what: "all creations handled", unit: "ms", digits: 0, bar: 1.25 },
  { key: "create.cpu", what: "CPU for each creation", unit: "ms", digits: 2, bar: 1.25 },
  { key: "create.writes", what: "writes for each creation", unit: "", digits: 2, exact: child ? 2 : 1 },
  { key: "change.seen.p50", what: "change seen → status, p50", unit: "ms", digits: 2, bar: 1.25 },
  { key: "change.seen.p99", what: "change seen → status, p99", unit: "ms", digits: 2, bar: 2 },
  { key: "change.sent.p50", what: "change sent → status, p50", unit: "ms", digits: 2 },
  { key: "change.sent.p99", what: "change sent → status, p99", unit: "ms", digits: 2 },
  { key: "change.cpu", what: "CPU for each change", unit: "ms", digits: 2 },
  { key: "change.writes", what: "writes for each change", unit: "", digits: 2, exact: child ? 2 : 1 },
  { key: "hot.rate", what: "one hot object: its changes a second", unit: "", digits: 0 },
  { key: "hot.seen.p99", what: "others beside it, p99", unit: "ms", digits: 2 },
  { key: "hot.slowdown", what: "others' p99 with : without it", unit: "×", digits: 2, atMost: 1.2 },
  { key: "change.mb", what: "memory after creations and changes", unit: "MiB", digits: 0 },
  { key: "restart.ms", what: "restart → first status", unit: "ms", digits: 0 },
  { key: "restart.writes", what: "writes of a restart", unit: "", digits: 0, exact: 0 },
  { key: "restart.cpu", what: "CPU of a restart", unit: "ms", digits: 0 },
  { key: "restart.mb", what: "memory, everything settled", unit: "MiB", digits: 0, bar: memoryBar },
  { key: "delete.cpu", what: "CPU for each deletion", unit: "ms", digits: 2 },
  { key: "delete.writes", what: "writes for each deletion", unit: "", digits: 2, exact: 0 },
  { key: "delete.mb", what: "memory after deletion", unit: "MiB", digits: 0 },
];

/** At most one and a half times the floor's and what keeping the objects costs, as a ratio to the floor's. */
function memoryBar(floor) {
  return 1.5 + floor["store.mb"] / floor["restart.mb"];
}

/** The median of each figure over the rounds of one contestant. */
export function medians(runs) {
  const result = {};
  for (const key of Object.keys(runs[0] ?? {})) {
    result[key] = median(runs.map((run) => run[key]));
  }
  if (result["hot.seen.p99"] !== undefined) result["hot.slowdown"] = result["hot.seen.p99"] / result["change.seen.p99"];
  return result;
}

/** Whether Lotse keeps the bar of a row; undefined where there is none, or nothing to compare with. */
function judge({ key, bar, exact, atMost }, floor, lotse) {
  const value = lotse?.[key];
  if (value === undefined) return undefined;
  // A hundredth: a change that was overtaken by the next one is handled together with it.
  if (exact !== undefined) return { text: String(exact), holds: Math.abs(value - exact) <= 0.01 };
  if (atMost !== undefined) return { text: `≤ ${atMost}`, holds: value <= atMost };
  if (bar === undefined || floor === undefined) return undefined;
  const limit = typeof bar === "function" ? bar(floor) : bar;
  return { text: `≤ ${limit.toFixed(2)} ×`, holds: value <= limit * floor[key] };
}

/**
 * The result of one mode: a table in Markdown, and the bars that do not hold.
 *
 * @param {Record<string, Record<string, number>>} results medians by contestant
 */
export function report(results, child) {
  const { floor, lotse } = results;
  const names = Object.keys(results);
  const others = names.filter((name) => name !== "floor");
  const broken = [];
  const cells = rows(child)
    .filter(({ key }) => names.some((name) => results[name][key] !== undefined))
    .map((row) => {
      const { key, what, unit, digits } = row;
      const verdict = judge(row, floor, lotse);
      if (verdict?.holds === false) broken.push(what);
      const show = (name) => results[name][key]?.toFixed(digits) ?? "";
      const ratio = (name) => (floor?.[key] ? `${(results[name][key] / floor[key]).toFixed(2)} ×` : "");
      return [
        unit ? `${what} (${unit})` : what,
        ...(floor ? [show("floor")] : []),
        ...others.flatMap((name) => (floor ? [show(name), ratio(name)] : [show(name)])),
        verdict?.text ?? "",
        verdict === undefined ? "" : verdict.holds ? "yes" : "NO",
      ];
    });
  const header = [
    child ? "status and one ConfigMap" : "status only",
    ...(floor ? ["floor"] : []),
    ...others.flatMap((name) => (floor ? [name, "ratio"] : [name])),
    "bar for lotse",
    "holds",
  ];
  return { table: drawTable(header, cells), broken };
}
