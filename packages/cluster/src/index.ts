/** An embedded Kubernetes cluster for development and tests. */

export type { Kubeconfig } from "@lotse/client";
export { type RequestEntry, RequestLog } from "./api/index.ts";
export { Cluster, type ClusterOptions, type ControllerOptions } from "./cluster.ts";
