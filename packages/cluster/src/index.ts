/** An embedded Kubernetes cluster for development and tests. */
export { type RequestEntry, RequestLog } from "./api/index.ts";
export { Cluster, type ClusterOptions, type ControllerOptions } from "./cluster.ts";
export type { Kubeconfig } from "@lotse/client";
