/** What is to be watched of an operator, and how its series are found. Pure. */
import type { CoordinationPlan } from "../../declare/index.ts";

/** See the module comment. */
export interface Monitored {
  /** The operator's name. */
  readonly name: string;
  /** What picks the operator's series, as it stands between braces: `pod=~"rates-.*"`. */
  readonly select: string;
  /** How its processes share the work. */
  readonly coordination: CoordinationPlan["type"];
  /** Whether API servers ask it. */
  readonly asked: boolean;
  /** Whether something is done by the clock. */
  readonly schedules: boolean;
  /** Whether a kind promises how soon its objects are ready. */
  readonly objectives: boolean;
}

/** The pods of its Deployment, by the label that nearly everybody's scrapes bring. */
export function usualSelect(name: string): string {
  return `pod=~"${name}-.+"`;
}

/** A series of the operator: `series("lotse_objects", 'kind="Lamp"')`. */
export type Series = (metric: string, more?: string) => string;

/** Names series with what picks the operator's. */
export function seriesOf({ select }: Pick<Monitored, "select">): Series {
  return (metric, more) => `${metric}{${[select, ...(more === undefined ? [] : [more])].join(",")}}`;
}

/** What Prometheus tells in one line for each of `labels`: `sum by (kind) (…)`. */
export function by(how: "sum" | "max" | "min", labels: readonly string[], expression: string): string {
  return labels.length === 0 ? `${how}(${expression})` : `${how} by (${labels.join(", ")}) (${expression})`;
}

/** What share of something `part` is of `whole`, over a window, for each of `labels`. */
export function share(labels: readonly string[], window: string, part: string, whole: string): string {
  const rate = (series: string) => by("sum", labels, `rate(${series}[${window}])`);
  return `${rate(part)} / ${rate(whole)}`;
}

/** A quantile of a histogram, for each of `labels`. */
export function quantile(q: number, labels: readonly string[], window: string, buckets: string): string {
  return `histogram_quantile(${q}, ${by("sum", ["le", ...labels], `rate(${buckets}[${window}])`)})`;
}
