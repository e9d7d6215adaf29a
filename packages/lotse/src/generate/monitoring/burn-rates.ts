/**
 * How fast an operator uses up what its objectives allow: at a burn rate of 1 a month's late changes are used up in a
 * month. Two windows have to agree on each alert, a long one that it matters and a short one that it still goes on. Pure.
 */
import { by, type Monitored, seriesOf } from "./monitored.ts";
import type { AlertRule, RecordingRule, Severity } from "./rules.ts";

/** So much of a month's allowance is gone when the long window is full at that rate. */
interface Burning {
  readonly alert: string;
  readonly severity: Severity;
  readonly long: string;
  readonly short: string;
  readonly rate: number;
  readonly gone: string;
}

const BURNING: readonly Burning[] = [
  { alert: "LotseObjectiveBurnsFast", severity: "critical", long: "1h", short: "5m", rate: 14.4, gone: "in two days" },
  { alert: "LotseObjectiveBurns", severity: "critical", long: "6h", short: "30m", rate: 6, gone: "in five days" },
  { alert: "LotseObjectiveBurnsSlowly", severity: "warning", long: "1d", short: "2h", rate: 3, gone: "in ten days" },
  {
    alert: "LotseObjectiveMissed",
    severity: "warning",
    long: "3d",
    short: "6h",
    rate: 1,
    gone: "before the month ends",
  },
];

/** All windows, shortest first. */
const WINDOWS = ["5m", "30m", "1h", "2h", "6h", "1d", "3d"];

/** The series of a burn rate, which is computed beforehand. */
export function burnRate(window: string): string {
  return `lotse:objective_burn:rate${window}`;
}

/** The rules: what is computed, and what wakes somebody. */
export function burnRates(monitored: Monitored): { readonly records: RecordingRule[]; readonly alerts: AlertRule[] } {
  const { name } = monitored;
  const series = seriesOf(monitored);
  const labels = { operator: name };
  const changes = (window: string, more?: string) =>
    by("sum", ["kind"], `rate(${series("lotse_objective_changes_total", more)}[${window}])`);
  const allowed = `(1 - ${by("max", ["kind"], series("lotse_objective_target"))})`;
  const records = WINDOWS.map((window) => ({
    record: burnRate(window),
    expr: `(${changes(window, 'result="late"')} / ${changes(window)}) / ${allowed}`,
    labels,
  }));
  const alerts = BURNING.map(({ alert, severity, long, short, rate, gone }) => {
    const above = (window: string) => `${burnRate(window)}{operator="${name}"} > ${rate}`;
    return {
      alert,
      expr: `${above(long)} and ${above(short)}`,
      for: "2m",
      labels: { ...labels, severity },
      annotations: {
        summary: `${name}: {{ $labels.kind }} is late so often that what its objective allows in a month is used up ${gone}`,
        description:
          "What to do: lotse_objective_late says how many objects are late now; lotse explain tells of one of them what it waits for.",
      },
    };
  });
  return { records, alerts };
}
