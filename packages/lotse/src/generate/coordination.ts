/** How many processes of an operator are deployed, and how they share its work. Pure. */
import {
  type Coordination,
  type CoordinationPlan,
  type PeeringCoordination,
  planCoordination,
} from "../declare/index.ts";
import type { Need } from "./rbac.ts";

/** See the module comment. */
export interface Replication {
  readonly replicas: number;
  /** What they go by. */
  readonly plan: CoordinationPlan;
  /** What the operator says of itself: where that is something else, its processes have to be told. */
  readonly declared: CoordinationPlan["type"];
}

/** One process, and nothing that keeps a second one from working. */
export const ONE_ALONE: Replication = { replicas: 1, plan: { type: "alone" }, declared: "alone" };

/** By which variable a process is told. */
export const COORDINATION_VARIABLE = "LOTSE_RUN_COORDINATION";

/** How an operator can be told to share its work. */
export type CoordinationChoice = "alone" | "leader" | "shards";

/** What such a choice means for an operator: what it says itself, with names and times, where that is the same. */
export function planOfChoice(choice: CoordinationChoice, declared: Coordination | undefined): CoordinationPlan {
  const own = planCoordination(declared);
  if (own.type === choice) return own;
  return planCoordination(choice === "shards" ? { type: "shards", by: "uid" } : choice);
}

/** Whether there may be two at once: then the next one is ready before the last one goes. */
export function mayOverlap({ type }: Pick<CoordinationPlan, "type">): boolean {
  return type === "leader" || type === "shards";
}

/** What processes of `operator` have to be allowed so that they can coordinate; `serves`: all namespaces unless told. */
export function needsOfCoordination(plan: CoordinationPlan, operator: string, serves?: readonly string[]): Need[] {
  if (plan.type === "leader") return needsOfLeader(plan.name ?? operator, plan.namespace);
  if (plan.type === "shards") return needsOfShards(plan.namespace);
  if (plan.type === "peering") return needsOfPeering(plan, plan.clusterwide ?? serves === undefined);
  return [];
}

/** The object is the user's: nobody has to create it. Where only the legacy group is served, the log says what is missing. */
function needsOfPeering({ name = "default" }: PeeringCoordination, clusterWide: boolean): Need[] {
  const by = "the framework: has a record in the peering object, by which operators give way to each other";
  const resource = clusterWide ? "clusterkopfpeerings" : "kopfpeerings";
  return [{ group: "kopf.dev", resource, verbs: ["list", "patch", "watch"], names: [name], by, clusterWide }];
}

function needsOfLeader(name: string, namespace: string | undefined): Need[] {
  const by = "the framework: holds the Lease that says which process works";
  // No rule can allow to create by name. A watch of one object carries its name as a field selector, which a rule with
  // names allows.
  return [
    { ...lease(by, namespace), verbs: ["get", "list", "update", "watch"], names: [name] },
    { ...lease(by, namespace), verbs: ["create"] },
  ];
}

/** Each member has a Lease of its own, whose name nobody knows before it is there. */
function needsOfShards(namespace: string | undefined): Need[] {
  const by = "the framework: has a Lease for each process, by which they share the objects";
  return [{ ...lease(by, namespace), verbs: ["create", "get", "list", "update", "watch"] }];
}

function lease(by: string, namespace: string | undefined): Omit<Need, "verbs"> {
  return {
    group: "coordination.k8s.io",
    resource: "leases",
    by,
    clusterWide: false,
    inOwnNamespace: true,
    ...(namespace !== undefined && { namespace }),
  };
}

/**
 * How pods are replaced. With a Lease the new pod is ready, with all objects known, before an old one is asked to go
 * (`maxUnavailable: 0`), and one after another (`maxSurge: 1`): each hand-over is one from a pod that stops in order to one
 * that waits for it. There is no `preStop`: a process that is asked to stop works off what it has begun by itself, and
 * gives its Lease back when it has.
 */
export function strategyOf(plan: Pick<CoordinationPlan, "type">): object {
  if (mayOverlap(plan)) return { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
  // Two at once would work on the same objects: the old one has to be gone before the new one starts.
  return { type: "Recreate" };
}

/** Over what pods are spread, so that what takes one of them away leaves another. */
export const SPREAD_OVER = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"];

/** Pods of several lie on several nodes and zones, where there are as many; of one version of the Deployment, not of two. */
export function spreadOf(replicas: number, matchLabels: Readonly<Record<string, string>>): object[] | undefined {
  if (replicas < 2) return undefined;
  return SPREAD_OVER.map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels },
    matchLabelKeys: ["pod-template-hash"],
  }));
}

/** Keeps whoever empties nodes from taking several pods at once; one that is not ready anyway may always go. */
export function disruptionBudgetManifest(
  metadata: { readonly name: string; readonly namespace?: string; readonly labels: object },
  matchLabels: Readonly<Record<string, string>>,
): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels }, unhealthyPodEvictionPolicy: "AlwaysAllow" },
  };
}
