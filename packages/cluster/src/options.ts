import type { Clock } from "@lotse/client/meta";
import type { AccessControllers } from "./access/index.ts";
import type { AdmissionPluginName } from "./admission/index.ts";
import type { KubeletMode, KubeletSettings, PodKeeperOptions } from "./kubelet/index.ts";
import type { OpenPort } from "./transport/index.ts";

/** Which controllers run. All do unless told otherwise. */
export interface ControllerOptions extends AccessControllers, PodKeeperOptions {
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
  /** Signs CertificateSigningRequests that were approved, with the cluster's own authority. */
  readonly certificates?: boolean;
  /** Looks for mistakes in the expressions of ValidatingAdmissionPolicies, and tells them in their status. */
  readonly policies?: boolean;
}

/** A certificate that the server shows instead of one of its own making; PEM texts. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
  /** What clients have to trust; the certificate itself unless told. */
  readonly ca?: string;
}

/** How the tokens of service accounts are made. */
export interface ServiceAccountOptions {
  /** Who signs them; `https://kubernetes.default.svc.cluster.local` unless told. */
  readonly issuer?: string;
  /** The private key to sign them with, PEM; a new one unless told. */
  readonly signingKey?: string;
  /** Public keys or certificates, PEM, whose tokens are good, too. */
  readonly keys?: readonly string[];
}

/** Which admission plugins look at writes, by the names that a real server gives them. */
export interface AdmissionChoice {
  readonly disable?: readonly AdmissionPluginName[];
  /**
   * All are on already, but for `ServiceAccount` in a cluster whose namespaces get no accounts from a controller
   * (`controllers: false`): here it can be had all the same.
   */
  readonly enable?: readonly AdmissionPluginName[];
}

/** The user whom a token stands for. */
export interface TokenUser {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** How a cluster starts. */
export interface ClusterOptions {
  /** The port to listen on; any free one unless told. */
  readonly port?: number;
  /** The address to listen on; `127.0.0.1` unless told. */
  readonly host?: string;
  /** A port that is open already, from before the cluster was loaded, instead of the two above: see `openPortEarly`. */
  readonly openPort?: OpenPort;
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
  /**
   * Called with one text for each thing that goes wrong inside the cluster where no request waits for an answer: a
   * controller that fails and is tried again, a disk that takes nothing more. The same work tells it once a minute at
   * most. Unless told, such texts are warnings of the process (`process.on("warning")`), which Node.js prints.
   */
  readonly onTrouble?: (text: string) => void;
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
   * Whether an answer waits until what it tells is on disk, in a cluster that is kept. `false`: it survives the end of
   * the process all the same, but not that of the machine, and writes are quicker. `true` unless told.
   */
  readonly sync?: boolean;
  /**
   * How many changes `cluster.history()` reaches back to, `true` for a million; of all objects together no more than
   * about 64 MiB of their JSON. Unless told, it tells what the cluster remembers anyway: the last minutes.
   */
  readonly history?: boolean | number;
  /** `false`: none at all, as a bare kube-apiserver without a kube-controller-manager. */
  readonly controllers?: ControllerOptions | false;
  /** The certificate of the server, where it shall not be of its own making. */
  readonly certificate?: ServingCertificate;
  /** Certificates of authorities, PEM, whose clients are believed, besides those of the cluster's own authority. */
  readonly clientCa?: string;
  /**
   * Certificates of authorities, PEM, whom the server believes when it calls a webhook that names none itself, besides
   * those that Node.js knows.
   */
  readonly webhookCa?: string;
  /**
   * Where the server says that it is reached, in the Endpoints of its own Service; `host` unless told, or
   * an address of the machine where that is a loopback one.
   */
  readonly advertiseAddress?: string;
  /** The range of addresses for Services; `10.96.0.0/16` unless told. The first one is the API server's. */
  readonly serviceRange?: string;
  readonly serviceAccounts?: ServiceAccountOptions;
  /** Bearer tokens, besides the administrator's, and whom each stands for. */
  readonly tokens?: Readonly<Record<string, TokenUser>>;
  readonly admission?: AdmissionChoice;
  /** What `/flagz` tells of how the server was started. */
  readonly flags?: Readonly<Record<string, string>>;
  /**
   * Whether pods run. `false`, the default: they stay Pending, as in a bare API server. `"simulate"`: they pretend, see
   * `cluster.pods`. `"process"`: the commands of their containers run as processes of this machine, and reach Services by
   * name.
   */
  readonly kubelet?: KubeletMode | KubeletSettings | false;
}

const NO_CONTROLLERS: ControllerOptions = {
  clusterRoleAggregation: false,
  serviceAccountTokens: false,
  workloads: false,
  garbageCollection: false,
  namespaces: false,
  quotas: false,
  policies: false,
  disruptionBudgets: false,
  podCollection: false,
  nodeTaints: false,
  certificates: false,
};

/** Which controllers shall run, also where all of them were switched off at once. */
export function chosenOf({ controllers = {} }: Pick<ClusterOptions, "controllers">): ControllerOptions {
  return controllers === false ? NO_CONTROLLERS : controllers;
}
