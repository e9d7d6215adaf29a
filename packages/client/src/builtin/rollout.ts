/** How far a rollout has come, told from the object alone as `kubectl rollout status` does. */
import type { appsv1 } from "../kinds/index.ts";

/** How far a rollout has come. */
export interface RolloutStatus {
  readonly done: boolean;
  /** It will not get on by itself. */
  readonly failed: boolean;
  readonly message: string;
}

const waiting = (message: string): RolloutStatus => ({ done: false, failed: false, message });
const done = (message: string): RolloutStatus => ({ done: true, failed: false, message });

const unseen = (body: { metadata?: { generation?: number }; status?: { observedGeneration?: number } }): boolean =>
  (body.metadata?.generation ?? 0) > (body.status?.observedGeneration ?? 0);

const UNSEEN = waiting("the controller has not seen the newest spec yet");

/** How far a Deployment's body says that its rollout has come; failed when its progress deadline has passed. */
export function deploymentRollout(body: appsv1.Deployment): RolloutStatus {
  if (unseen(body)) return UNSEEN;
  const { status = {} } = body;
  const wanted = body.spec?.replicas ?? 1;
  const progress = status.conditions?.find(({ type }) => type === "Progressing");
  if (progress?.reason === "ProgressDeadlineExceeded") {
    return { done: false, failed: true, message: "the rollout has exceeded its progress deadline" };
  }
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status;
  if (updatedReplicas < wanted) return waiting(`${updatedReplicas} of ${wanted} replicas are updated`);
  if (replicas > updatedReplicas) return waiting(`${replicas - updatedReplicas} old replicas have still to go`);
  if (availableReplicas < updatedReplicas) {
    return waiting(`${availableReplicas} of ${updatedReplicas} updated replicas are available`);
  }
  return done(`${updatedReplicas} replicas are updated and available`);
}

/** How far a DaemonSet's body says that its rollout has come. */
export function daemonSetRollout(body: appsv1.DaemonSet): RolloutStatus {
  if (unseen(body)) return UNSEEN;
  const { desiredNumberScheduled: wanted = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = body.status ?? {};
  if (body.spec?.updateStrategy?.type === "OnDelete") return done("pods are updated when a user deletes them");
  if (updatedNumberScheduled < wanted) return waiting(`${updatedNumberScheduled} of ${wanted} pods are updated`);
  if (numberAvailable < wanted) return waiting(`${numberAvailable} of ${wanted} updated pods are available`);
  return done(`${wanted} pods are updated and available`);
}

/** How far a StatefulSet's body says that its rollout has come; with a partition only its share has to be updated. */
export function statefulSetRollout(body: appsv1.StatefulSet): RolloutStatus {
  if (unseen(body)) return UNSEEN;
  const wanted = body.spec?.replicas ?? 1;
  const { readyReplicas = 0, updatedReplicas = 0, updateRevision, currentRevision } = body.status ?? { replicas: 0 };
  const strategy = body.spec?.updateStrategy;
  if (strategy?.type === "OnDelete") return done("pods are updated when a user deletes them");
  if (readyReplicas < wanted) return waiting(`${readyReplicas} of ${wanted} pods are ready`);
  const partition = strategy?.rollingUpdate?.partition ?? 0;
  if (partition > 0) {
    const share = Math.max(0, wanted - partition);
    if (updatedReplicas < share) return waiting(`${updatedReplicas} of ${share} pods of the partition are updated`);
    return done(`${updatedReplicas} pods of the partition are updated`);
  }
  if (updateRevision !== currentRevision) return waiting(`${updatedReplicas} of ${wanted} pods are updated`);
  return done(`${wanted} pods are updated and ready`);
}

/** For those that replace no pods by themselves: are all there? */
export function replicaRollout(body: {
  metadata?: { generation?: number };
  spec?: { replicas?: number };
  status?: { observedGeneration?: number; readyReplicas?: number };
}): RolloutStatus {
  if (unseen(body)) return UNSEEN;
  const wanted = body.spec?.replicas ?? 1;
  const { readyReplicas = 0 } = body.status ?? {};
  return readyReplicas < wanted
    ? waiting(`${readyReplicas} of ${wanted} pods are ready`)
    : done(`${wanted} pods are ready`);
}
