import { storeKey } from "../../../registry/index.ts";
import { matcher } from "../claim.ts";
import { type Watch, type Workload, watchChildren } from "../engine.ts";
import { isFinished } from "../pods.ts";
import { controllerOf, DEPLOYMENTS, type Deployment, PODS, REPLICA_SETS, type ReplicaSet } from "../tables.ts";
import { isNamespaceGoing, isStatus, keyOf, type WorkloadApi } from "../workload-api.ts";
import { findNewSet, planDeployment, REVISION, type ReplicaSetChange, sameTemplate } from "./deployment-plan.ts";

/** Deployments: one ReplicaSet for each template, of which the newest takes over at the pace that the spec allows. */
export function deployments(api: WorkloadApi): Workload {
  return {
    table: DEPLOYMENTS.name,
    watches: [watchChildren(DEPLOYMENTS, REPLICA_SETS, ({ spec }) => spec.selector), lastPods],
    async reconcile(key) {
      const deployment = api.read(DEPLOYMENTS, key);
      if (!deployment) return undefined;
      const matches = matcher(deployment.spec.selector);
      const sets = await api.claim(DEPLOYMENTS, deployment, REPLICA_SETS, matches);
      const plan = planDeployment({ deployment, sets, oldPodsRun: oldPodsRun(api, deployment, sets), now: api.now });
      if (plan.create && !(await createSet(api, deployment, plan.create))) return undefined;
      for (const change of plan.changes) await changeSet(api, deployment, sets, change);
      for (const set of plan.remove) await api.remove(REPLICA_SETS, set, "Background");
      const annotations = plan.revision === undefined ? undefined : { [REVISION]: plan.revision };
      await api.report(DEPLOYMENTS, deployment, plan.status, annotations);
      return plan.again;
    },
  };
}

/** A Deployment that recreates its pods waits for the last one to be gone. */
const lastPods: Watch = {
  table: PODS.name,
  wakes: ({ type, object }, api) => {
    const controller = type === "deleted" ? controllerOf(object) : undefined;
    if (controller?.kind !== REPLICA_SETS.kind) return [];
    const set = api.read(REPLICA_SETS, storeKey(object.metadata.namespace, controller.name));
    const owner = set && controllerOf(set);
    const key = storeKey(object.metadata.namespace, owner?.name ?? "");
    const deployment = owner?.kind === DEPLOYMENTS.kind ? api.read(DEPLOYMENTS, key) : undefined;
    return deployment?.spec.strategy?.type === "Recreate" ? [key] : [];
  },
};

function oldPodsRun(api: WorkloadApi, deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  if (deployment.spec.strategy?.type !== "Recreate") return false;
  const fresh = findNewSet(deployment, sets);
  return sets
    .filter((set) => set !== fresh)
    .some((set) => api.ofOwner(PODS, set.metadata.uid).some((pod) => !isFinished(pod)));
}

/** Whether the ReplicaSet is there now. A name that another template has taken is counted, so that the next one differs. */
async function createSet(api: WorkloadApi, deployment: Deployment, set: ReplicaSet): Promise<boolean> {
  const { name } = set.metadata;
  try {
    await api.create(REPLICA_SETS, set);
  } catch (error) {
    if (isNamespaceGoing(error)) throw error;
    if (isStatus(error, 409)) return isOurs(api, deployment, set) || (await countCollision(api, deployment));
    const reason = "ReplicaSetCreateError";
    const text = `Failed to create new replica set "${name}": ${error instanceof Error ? error.message : String(error)}`;
    await api.event(deployment, "Warning", reason, text);
    throw error;
  }
  const replicas = set.spec.replicas ?? 1;
  if (replicas > 0) {
    await api.event(deployment, "Normal", "ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${replicas}`);
  }
  return true;
}

function isOurs(api: WorkloadApi, deployment: Deployment, set: ReplicaSet): boolean {
  const found = api.read(REPLICA_SETS, keyOf(set));
  return (
    found !== undefined &&
    controllerOf(found)?.uid === deployment.metadata.uid &&
    sameTemplate(found.spec.template, set.spec.template)
  );
}

async function countCollision(api: WorkloadApi, deployment: Deployment): Promise<false> {
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  await api.report(DEPLOYMENTS, deployment, { ...deployment.status, collisionCount });
  return false;
}

async function changeSet(
  api: WorkloadApi,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  { name, from, replicas, annotations, minReadySeconds }: ReplicaSetChange,
): Promise<void> {
  const set = sets.find(({ metadata }) => metadata.name === name);
  if (!set) return;
  await api.change(REPLICA_SETS, set, (current) => {
    const { minReadySeconds: _, ...spec } = current.spec;
    return {
      ...current,
      metadata: { ...current.metadata, annotations: { ...annotations } },
      spec: { ...spec, ...(minReadySeconds === undefined ? {} : { minReadySeconds }), replicas },
    };
  });
  if (from === replicas) return;
  const direction = replicas > from ? "up" : "down";
  const text = `Scaled ${direction} replica set ${name} from ${from} to ${replicas}`;
  await api.event(deployment, "Normal", "ScalingReplicaSet", text);
}
