/**
 * Indexes: what is known of all objects of a kind, always up to date, for handlers of other kinds and for probes. All of
 * them are filled before the first handler runs.
 */
import { Operator } from "lotse";
import { Pod } from "lotse/client";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-indexing" });

const isRunning = operator.index(
  Pod,
  { id: "isRunning" },
  ({ namespace, name, status }) => new Map([[[namespace, name] as const, status.phase === "Running"]]),
);

const byLabel = operator.index(
  Pod,
  { id: "byLabel" },
  ({ labels, name }) => new Map(Object.entries(labels).map((label) => [label, name])),
);

operator.on.probe(function podCount({ indexes }) {
  return indexes(isRunning).size;
});

operator.on.probe(function podNames({ indexes }) {
  return [...indexes(isRunning).keys()].map(([, name]) => name).sort();
});

operator.timer(KopfExample, { interval: "5s" }, function intervalled({ indexes, patch, logger }) {
  logger.debug("pods by label", { pods: [...indexes(byLabel)] });
  const running = [...indexes(isRunning)].filter(([, [is]]) => is);
  patch.status.runningPods = running.map(([[namespace, name]]) => `${namespace}/${name}`).sort();
});

export default operator;
