/** What a query asks for, read by the grammar of Prometheus itself: for tests. */
import { parser } from "@prometheus-io/lezer-promql";

/** A metric with the labels by which it is picked or grouped. */
export interface AskedMetric {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** Everything that a query names. Throws when it is no query. */
export function askedOf(query: string): AskedMetric[] {
  // What Grafana fills in before Prometheus sees it.
  const text = query.replaceAll("$__rate_interval", "5m");
  const metrics: { metric: string; labels: string[] }[] = [];
  const grouped: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const said = () => text.slice(from, to);
      if (type.isError)
        throw new Error(`${text}\nis no query at ${from}: ${JSON.stringify(text.slice(from, from + 20))}`);
      if (type.name === "VectorSelector") {
        const name = node.getChild("Identifier");
        if (!name) throw new Error(`${text}: a selector without a metric`);
        metrics.push({ metric: text.slice(name.from, name.to), labels: [] });
      } else if (type.name === "LabelName" && node.parent?.type.name === "GroupingLabels") {
        grouped.push(said());
      } else if (type.name === "LabelName") {
        metrics.at(-1)?.labels.push(said());
      }
    },
  });
  return metrics.map(({ metric, labels }) => ({ metric, labels: [...labels, ...grouped] }));
}
