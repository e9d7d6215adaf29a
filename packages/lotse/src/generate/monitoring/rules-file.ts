/** Rules as they are given to Prometheus: in a file of its own, or as an object of its operator. Pure. */
import { toYaml } from "@lotse/client/meta";
import { labelsOf } from "../deployment.ts";
import type { RuleGroup } from "./rules.ts";

/** What Prometheus itself reads. */
export function plainRules(groups: readonly RuleGroup[]): string {
  return toYaml({ groups });
}

/** What the operator of Prometheus reads, in the namespace of the operator. */
export function prometheusRule(name: string, namespace: string, groups: readonly RuleGroup[]): string {
  return toYaml({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { groups },
  });
}
