/** The workload controllers, one by one. */
export type WorkloadName =
  | "deployments"
  | "replicaSets"
  | "statefulSets"
  | "daemonSets"
  | "jobs"
  | "cronJobs"
  | "endpoints"
  | "volumes";
