/** A dashboard of an operator, as Grafana imports it. Pure. */
import type { Monitored } from "./monitored.ts";
import { type Panel, type Row, rowsOf } from "./panels.ts";

/** The screen has 24 columns. */
const [COLUMNS, ACROSS, HEIGHT] = [24, 3, 8];

/** The document that Grafana imports. */
export function dashboard(monitored: Monitored): object {
  const { name } = monitored;
  return {
    title: `${name} (Lotse)`,
    uid: `lotse-${name}`.slice(0, LONGEST_UID),
    tags: ["lotse", "operator"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus", current: {} }],
    },
    panels: placed(rowsOf(monitored)),
  };
}

/** The most that Grafana takes. */
const LONGEST_UID = 40;

const DATASOURCE = { type: "prometheus", uid: "$datasource" };

/** Panels with their places: so many beside each other, each row below the last. */
function placed(rows: readonly Row[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: inside } of rows) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
    });
    y += 1;
    for (const [i, panel] of inside.entries()) {
      const w = COLUMNS / ACROSS;
      const gridPos = { x: (i % ACROSS) * w, y: y + Math.floor(i / ACROSS) * HEIGHT, w, h: HEIGHT };
      panels.push({ id: panels.length + 1, gridPos, ...panelOf(panel) });
    }
    y += Math.ceil(inside.length / ACROSS) * HEIGHT;
  }
  return panels;
}

function panelOf({ title, description, type = "timeseries", unit = "short", queries }: Panel): object {
  return {
    type,
    title,
    description,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(([expr, legendFormat], i) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + i),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}
