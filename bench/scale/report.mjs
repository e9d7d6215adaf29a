// What the figures mean: the slope for each 1,000 objects, and whether what grows, grows with the objects and no faster.
import { drawTable } from "../measure.mjs";
import { fitLine } from "./line.mjs";

/** How far a figure may be from the line, in percent of the highest. */
const mostDeviation = 10;

const rows = [
  { key: "start.ms", what: "process start → all are known", unit: "ms", digits: 0, linear: true },
  { key: "start.cpu", what: "CPU of a start", unit: "ms", digits: 0, linear: true },
  { key: "start.mb", what: "memory after it", unit: "MiB", digits: 0 },
  { key: "settled.mb", what: "memory after changes and a collection", unit: "MiB", digits: 1, linear: true },
  { key: "change.cpu", what: "CPU for each change", unit: "ms", digits: 2, linear: true },
  { key: "start.writes", what: "writes of a start", unit: "", digits: 0, exact: 0 },
];

/** Whether a row keeps its bar, which is for Lotse alone; undefined where there is none. */
function judge({ linear, exact }, name, values, { deviation }) {
  if (name !== "lotse") return undefined;
  if (exact !== undefined) return { text: String(exact), holds: values.every((value) => value === exact) };
  if (linear) return { text: `linear, ≤ ${mostDeviation} %`, holds: deviation <= mostDeviation };
  return undefined;
}

/**
 * One table in Markdown for each contestant, the lines that it shows, and the bars that do not hold.
 *
 * @param {Record<string, { count: number, figures: Record<string, number> }[]>} results medians by contestant
 */
export function report(results) {
  const [tables, lines, broken] = [[], {}, []];
  for (const [name, steps] of Object.entries(results)) {
    lines[name] = {};
    const cells = rows.map((row) => {
      const { key, what, unit, digits } = row;
      const values = steps.map(({ figures }) => figures[key]);
      const line = fitLine(steps.map(({ count, figures }) => ({ x: count / 1000, y: figures[key] })));
      lines[name][key] = line;
      const verdict = judge(row, name, values, line);
      if (verdict?.holds === false) broken.push(what);
      return [
        unit ? `${what} (${unit})` : what,
        ...values.map((value) => value.toFixed(digits)),
        line.slope.toFixed(digits + 1),
        `${line.deviation.toFixed(1)} %`,
        verdict?.text ?? "",
        verdict === undefined ? "" : verdict.holds ? "yes" : "NO",
      ];
    });
    const counts = steps.map(({ count }) => `${count.toLocaleString("en")} objects`);
    const header = [name, ...counts, "each 1,000 more", "off the line", "bar for lotse", "holds"];
    tables.push(drawTable(header, cells));
  }
  return { tables, lines, broken };
}
