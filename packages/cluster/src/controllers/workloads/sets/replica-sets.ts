import { lookup } from "@lotse/client/meta";
import { type ApiObject, timestamp } from "../../../registry/index.ts";
import { matcher } from "../claim.ts";
import { type Condition, findCondition, withoutCondition } from "../conditions.ts";
import { slowStart, type Workload, watchChildren } from "../engine.ts";
import { createPod, deletePod } from "../pod-control.ts";
import { byLoss, isActive, isAvailable, isReady, isTerminating, nextAvailable, podFromTemplate } from "../pods.ts";
import { isDeleting, PODS, type Pod, type PodTemplate, present, type ReplicaSet, type Table } from "../tables.ts";
import { isNamespaceGoing, type WorkloadApi } from "../workload-api.ts";

/** No more than this many pods come or go in one turn. */
const BURST = 500;

/** How many pods are missing, or which ones are too many. */
export interface ReplicaPlan {
  readonly create: number;
  readonly remove: readonly Pod[];
}

/** Pure: what brings `active` pods to the number that the spec wants. */
export function planReplicas(set: ReplicaSet, active: readonly Pod[], now: number): ReplicaPlan {
  if (isDeleting(set)) return { create: 0, remove: [] };
  const missing = (set.spec.replicas ?? 1) - active.length;
  if (missing >= 0) return { create: Math.min(missing, BURST), remove: [] };
  return { create: 0, remove: byLoss(active, now).slice(0, Math.min(-missing, BURST)) };
}

/** Why replicas could not be made or taken away. */
export interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

/** Pure: what a status says about these pods. */
export function replicaStatus(
  set: ReplicaSet,
  pods: readonly Pod[],
  failure: ReplicaFailure | undefined,
  now: number,
  countsTerminating: boolean,
): Record<string, unknown> {
  const active = pods.filter(isActive);
  const wanted = Object.entries(set.spec.template?.metadata?.labels ?? {});
  const labelled = active.filter(({ metadata }) =>
    wanted.every(([key, value]) => lookup(metadata.labels, key) === value),
  );
  const { minReadySeconds } = set.spec;
  const conditions = replicaConditions(set.status?.conditions ?? [], failure, now);
  return {
    replicas: active.length,
    ...present({
      fullyLabeledReplicas: labelled.length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    }),
    ...(countsTerminating ? { terminatingReplicas: pods.filter(isTerminating).length } : {}),
    observedGeneration: set.metadata.generation ?? 0,
    ...present({ conditions }),
  };
}

function replicaConditions(
  conditions: readonly Condition[],
  failure: ReplicaFailure | undefined,
  now: number,
): Condition[] {
  const type = "ReplicaFailure";
  if (!failure) return withoutCondition(conditions, type);
  if (findCondition(conditions, type)) return [...conditions];
  return [...conditions, { type, status: "True", lastTransitionTime: timestamp(now), ...failure }];
}

/** ReplicaSets and their elder siblings, ReplicationControllers, which differ in the form of the selector only. */
export function replicaSets(api: WorkloadApi, table: Table<ReplicaSet>): Workload {
  return {
    table: table.name,
    watches: [watchChildren(table, PODS, (set) => set.spec.selector)],
    weigh: (key) => api.countOf(PODS, api.read(table, key)?.metadata.uid),
    async reconcile(key) {
      const set = api.read(table, key);
      if (!set?.spec.template) return undefined;
      const matches = matcher(set.spec.selector);
      const claimed = await api.claim(table, set, PODS, matches, isActive);
      const plan = planReplicas(set, claimed.filter(isActive), api.now);
      const failed = await carryOut(api, table, set, set.spec.template, plan);
      await api.pause();
      const failure = failed && { reason: failed.reason, message: failed.message };
      const pods = api.ofOwner(PODS, set.metadata.uid).filter(({ metadata }) => matches(metadata.labels));
      const status = replicaStatus(set, pods, failure, api.now, table.kind === "ReplicaSet");
      await api.report(table, set, status);
      if (failed) throw failed.error;
      return nextAvailable(pods.filter(isActive), set.spec.minReadySeconds, api.now);
    },
  };
}

async function carryOut<T extends ApiObject>(
  api: WorkloadApi,
  table: Table<T>,
  set: T,
  template: PodTemplate,
  { create, remove }: ReplicaPlan,
): Promise<(ReplicaFailure & { readonly error: unknown }) | undefined> {
  try {
    await slowStart(create, () => createPod(api, set, podFromTemplate(template, table, set)));
    for (const pod of remove) await deletePod(api, set, pod);
    return undefined;
  } catch (error) {
    if (isNamespaceGoing(error)) return undefined;
    const message = error instanceof Error ? error.message : String(error);
    return { reason: create > 0 ? "FailedCreate" : "FailedDelete", message, error };
  }
}
