import type { Clock } from "@lotse/client/meta";
import type { AccessControllers } from "./access/index.ts";
import type { KubeletMode, KubeletSettings } from "./kubelet/index.ts";

/** Which controllers run. All do unless told otherwise. */
export interface ControllerOptions extends AccessControllers {
  /** All controllers of workloads, from `deployments` to `volumes`; what is said about a single one counts more. */
  readonly workloads?: boolean;
  /** Rolls Deployments out by means of ReplicaSets. */
  readonly deployments?: boolean;
  /** Makes the pods of ReplicaSets and ReplicationControllers. */
  readonly replicaSets?: boolean;
  /** Makes the pods of StatefulSets, and their claims, in order. */
  readonly statefulSets?: boolean;
  /** Makes a pod on each node for DaemonSets. */
  readonly daemonSets?: boolean;
  /** Runs Jobs to their end, and deletes those that are over when they ask for it. */
  readonly jobs?: boolean;
  /** Makes the Jobs of CronJobs when it is time. */
  readonly cronJobs?: boolean;
  /** Writes the Endpoints and EndpointSlices of Services. */
  readonly endpoints?: boolean;
  /** Binds PersistentVolumeClaims to volumes, which it makes where there are none; brings the class `standard`. */
  readonly volumes?: boolean;
  /** Deletes objects whose owners are gone. */
  readonly garbageCollection?: boolean;
  /** Furnishes new namespaces and empties deleted ones. */
  readonly namespaces?: boolean;
  /** Counts what ResourceQuotas limit. */
  readonly quotas?: boolean;
}

/** How a cluster starts. */
export interface ClusterOptions {
  /** The port to listen on; any free one unless told. */
  readonly port?: number;
  /** The address to listen on; `127.0.0.1` unless told. */
  readonly host?: string;
  /** HTTPS with a certificate authority of its own, or plain HTTP; HTTPS unless told. */
  readonly tls?: boolean;
  /**
   * Whether roles decide who may do what, as in a real cluster. `false`, the default: everybody who sends credentials, as
   * each kubeconfig of this cluster does, may do everything.
   */
  readonly rbac?: boolean;
  /**
   * Who it is that sends no credentials. `"admin"`: the administrator, who may do everything; for tests of programs that
   * cannot send any, as every program of the machine then owns the cluster, and whatever its pods run. Unless told,
   * `system:anonymous`, as in a real cluster, who may ask for the server's health and version.
   *
   * @example
   * ```ts
   * await using cluster = await Cluster.start({ tls: false, anonymous: "admin" });
   * const answer = await fetch(`${cluster.url}/api/v1/namespaces`); // 200, without a token
   * ```
   */
  readonly anonymous?: "admin";
  /** Time as the cluster sees it: timestamps, bookmarks, retries. */
  readonly clock?: Clock;
  /** Numbers in [0, 1) from which uids and generated names are made; give a seeded one for the same names each run. */
  readonly random?: () => number;
  /** The name of the cluster, its user and its context in the kubeconfig; `lotse` unless told. */
  readonly name?: string;
  /**
   * The folder in which the cluster is kept: started again with it, it is the same cluster, even after a crash. Without
   * one it lives in memory and goes with the process.
   */
  readonly data?: string;
  /**
   * How many changes `cluster.history()` reaches back to, `true` for a million. Unless told, it tells what the cluster
   * remembers anyway: the last minutes.
   */
  readonly history?: boolean | number;
  readonly controllers?: ControllerOptions;
  /**
   * Whether pods run. `false`, the default: they stay Pending, as in a bare API server. `"simulate"`: they pretend, see
   * `cluster.pods`. `"process"`: the commands of their containers run as processes of this machine, and reach Services by
   * name.
   */
  readonly kubelet?: KubeletMode | KubeletSettings | false;
}
