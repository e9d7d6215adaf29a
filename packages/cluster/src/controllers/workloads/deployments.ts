import { matcher } from "./claim.ts";
import { findNewSet, planDeployment, REVISION, type ReplicaSetChange, sameTemplate } from "./deployment-plan.ts";
import { type Desk, isNamespaceGoing, isStatus, keyOf } from "./desk.ts";
import { type Watch, type Workload, watchChildren } from "./engine.ts";
import { isFinished } from "./pods.ts";
import { controllerOf, DEPLOYMENTS, type Deployment, PODS, REPLICA_SETS, type ReplicaSet } from "./tables.ts";

/** Deployments: one ReplicaSet for each template, of which the newest takes over at the pace that the spec allows. */
export function deployments(desk: Desk): Workload {
  return {
    table: DEPLOYMENTS.name,
    watches: [watchChildren(DEPLOYMENTS, REPLICA_SETS, ({ spec }) => spec.selector), lastPods],
    async reconcile(key) {
      const deployment = desk.read(DEPLOYMENTS, key);
      if (!deployment) return undefined;
      const matches = matcher(deployment.spec.selector);
      const sets = await desk.claim(DEPLOYMENTS, deployment, REPLICA_SETS, matches);
      const plan = planDeployment({ deployment, sets, oldPodsRun: oldPodsRun(desk, deployment, sets), now: desk.now });
      if (plan.create && !(await createSet(desk, deployment, plan.create))) return undefined;
      for (const change of plan.changes) await changeSet(desk, deployment, sets, change);
      for (const set of plan.remove) await desk.remove(REPLICA_SETS, set, "Background");
      const annotations = plan.revision === undefined ? undefined : { [REVISION]: plan.revision };
      await desk.report(DEPLOYMENTS, deployment, plan.status, annotations);
      return plan.again;
    },
  };
}

/** A Deployment that recreates its pods waits for the last one to be gone. */
const lastPods: Watch = {
  table: PODS.name,
  wakes: ({ type, object }, desk) => {
    const controller = type === "deleted" ? controllerOf(object) : undefined;
    if (controller?.kind !== REPLICA_SETS.kind) return [];
    const set = desk.read(REPLICA_SETS, `${object.metadata.namespace}/${controller.name}`);
    const owner = set && controllerOf(set);
    const key = `${object.metadata.namespace}/${owner?.name}`;
    const deployment = owner?.kind === DEPLOYMENTS.kind ? desk.read(DEPLOYMENTS, key) : undefined;
    return deployment?.spec.strategy?.type === "Recreate" ? [key] : [];
  },
};

function oldPodsRun(desk: Desk, deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  if (deployment.spec.strategy?.type !== "Recreate") return false;
  const fresh = findNewSet(deployment, sets);
  return sets
    .filter((set) => set !== fresh)
    .some((set) => desk.ofOwner(PODS, set.metadata.uid).some((pod) => !isFinished(pod)));
}

/** Whether the ReplicaSet is there now. A name that another template has taken is counted, so that the next one differs. */
async function createSet(desk: Desk, deployment: Deployment, set: ReplicaSet): Promise<boolean> {
  const { name } = set.metadata;
  try {
    await desk.create(REPLICA_SETS, set);
  } catch (error) {
    if (isNamespaceGoing(error)) throw error;
    if (isStatus(error, 409)) return isOurs(desk, deployment, set) || (await countCollision(desk, deployment));
    const reason = "ReplicaSetCreateError";
    const text = `Failed to create new replica set "${name}": ${error instanceof Error ? error.message : String(error)}`;
    await desk.event(deployment, "Warning", reason, text);
    throw error;
  }
  const replicas = set.spec.replicas ?? 1;
  if (replicas > 0) {
    await desk.event(deployment, "Normal", "ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${replicas}`);
  }
  return true;
}

function isOurs(desk: Desk, deployment: Deployment, set: ReplicaSet): boolean {
  const found = desk.read(REPLICA_SETS, keyOf(set));
  return (
    found !== undefined &&
    controllerOf(found)?.uid === deployment.metadata.uid &&
    sameTemplate(found.spec.template, set.spec.template)
  );
}

async function countCollision(desk: Desk, deployment: Deployment): Promise<false> {
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  await desk.report(DEPLOYMENTS, deployment, { ...deployment.status, collisionCount });
  return false;
}

async function changeSet(
  desk: Desk,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  { name, from, replicas, annotations, minReadySeconds }: ReplicaSetChange,
): Promise<void> {
  const set = sets.find(({ metadata }) => metadata.name === name);
  if (!set) return;
  await desk.change(REPLICA_SETS, set, (current) => {
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
  await desk.event(deployment, "Normal", "ScalingReplicaSet", text);
}
