/** What an operator needs whose metrics are for those who may read them, and what these need. Pure. */
import { labelsOf } from "./deployment.ts";
import type { Need } from "./rbac.ts";

/** Both questions are about nothing that has a namespace. */
export function needsOfMetricsAuth(): Need[] {
  const by = "the framework: asks who reads its metrics, and whether they may";
  return [
    { group: "authentication.k8s.io", resource: "tokenreviews", verbs: ["create"], by, clusterWide: true },
    { group: "authorization.k8s.io", resource: "subjectaccessreviews", verbs: ["create"], by, clusterWide: true },
  ];
}

/** The name of the role for those who read the metrics of an operator. */
export function metricsReaderName(operator: string): string {
  return `${operator}-metrics-reader`;
}

/** A role that lets whoever it is bound to read metrics: of this operator, and of all others that ask the same way. */
export function metricsReaderManifest(name: string): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: metricsReaderName(name), labels: labelsOf(name) },
    rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
  };
}
