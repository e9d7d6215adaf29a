// What the figures mean: medians over the rounds, the bars, and who has to be beaten.
import { drawTable, median } from "../measure.mjs";

/**
 * The rows of the table. Every row with peers has the bar "better than each of them"; `most`, `ofFloor` (at least this
 * part of what the floor does) and `mostOfFloor` (at most this part) come on top of it. More is better where `more` says so.
 */
export const rows = [
  { key: "import.ms", what: "import, over bare Node.js", unit: "ms", digits: 0, most: 40 },
  { key: "import.mb", what: "memory after import, over bare Node.js", unit: "MB", digits: 1, most: 15 },
  { key: "install.packages", what: "packages installed", unit: "", digits: 0, most: 5 },
  { key: "install.mb", what: "size on disk", unit: "MB", digits: 1, most: 5 },
  ...[1, 50, 500].flatMap((width) => [
    { key: `requests${width}.perSecond`, what: `GET, ${width} at a time`, unit: "/s", digits: 0, more: true },
    {
      ...{ key: `requests${width}.cpuUs`, what: `CPU for each, ${width} at a time`, unit: "µs", digits: 0 },
      mostOfFloor: 0.5,
    },
  ]),
  { key: "watch.perSecond", what: "watch", unit: "events/s", digits: 0, more: true, ofFloor: 0.9 },
  { key: "watch.cpuUs", what: "CPU for each event", unit: "µs", digits: 0 },
  { key: "list.ms", what: "list of 5,000 Pods", unit: "ms", digits: 0 },
  { key: "list.cpuMs", what: "CPU for it", unit: "ms", digits: 0 },
  { key: "list.peakMb", what: "highest memory of the process", unit: "MB", digits: 0 },
  { key: "list.blockMs", what: "longest block of the event loop", unit: "ms", digits: 0, most: 60 },
];

/** The median of each figure over the rounds of one contestant. */
export function medians(rounds) {
  const result = {};
  for (const key of Object.keys(rounds[0] ?? {})) result[key] = median(rounds.map((round) => round[key]));
  return result;
}

/** Whether our figure keeps all bars of its row; undefined where there is none. */
function judge({ key, more, most, ofFloor, mostOfFloor }, { floor, lotse, ...peers }) {
  const value = lotse?.[key];
  if (value === undefined) return undefined;
  const beaten = Object.values(peers).map((peer) => peer[key]);
  const verdicts = [];
  if (most !== undefined) verdicts.push({ text: `≤ ${most}`, holds: value <= most });
  if (ofFloor !== undefined && floor) {
    verdicts.push({ text: `≥ ${ofFloor} × node:https`, holds: value >= ofFloor * floor[key] });
  }
  if (mostOfFloor !== undefined && floor) {
    verdicts.push({ text: `≤ ${mostOfFloor} × node:https`, holds: value <= mostOfFloor * floor[key] });
  }
  if (beaten.length > 0) {
    const text = more ? "more than both" : "less than both";
    verdicts.push({ text, holds: beaten.every((other) => (more ? value > other : value < other)) });
  }
  if (verdicts.length === 0) return undefined;
  return { text: verdicts.map(({ text }) => text).join(", "), holds: verdicts.every(({ holds }) => holds) };
}

const shown = (value, digits) =>
  value === undefined
    ? ""
    : value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/**
 * A table in Markdown, and the rows whose bars do not hold.
 *
 * @param {Record<string, Record<string, number>>} results medians by contestant
 * @param {(name: string) => string} titleOf
 */
export function report(results, titleOf) {
  const names = Object.keys(results);
  const broken = [];
  const cells = rows
    .filter(({ key }) => names.some((name) => results[name][key] !== undefined))
    .map((row) => {
      const verdict = judge(row, results);
      if (verdict?.holds === false) broken.push(row.what);
      return [
        row.unit ? `${row.what} (${row.unit})` : row.what,
        ...names.map((name) => shown(results[name][row.key], row.digits)),
        verdict?.text ?? "",
        verdict === undefined ? "" : verdict.holds ? "yes" : "NO",
      ];
    });
  return { table: drawTable(["what", ...names.map(titleOf), "bar for us", "holds"], cells), broken };
}
