import { timestamp } from "../../../registry/index.ts";
import { type Condition, findCondition, withCondition, withoutCondition } from "../conditions.ts";
import { MAX_INT32 } from "../numbers.ts";
import { type Deployment, isDeleting, present, type ReplicaSet, timeOf } from "../tables.ts";

/** A Deployment's ReplicaSets as a turn leaves them. */
export interface RolloutView {
  readonly sets: readonly { readonly set: ReplicaSet; readonly replicas: number; readonly isNew: boolean }[];
  /** The name of the ReplicaSet that this turn makes. */
  readonly created: string | undefined;
  readonly newName: string | undefined;
  readonly rollout: boolean;
  /** How many replicas may be missing. */
  readonly unavailable: number;
}

/** The status to write, and after how long to look again although nothing changes. */
export interface StatusResult {
  readonly status: Record<string, unknown>;
  /** Every wanted replica is there, is of the present template and works. */
  readonly complete: boolean;
  readonly again: number | undefined;
}

interface Counts {
  readonly replicas: number;
  readonly updated: number;
  readonly ready: number;
  readonly available: number;
}

type Verdict = Parameters<typeof withCondition>[1];

const PROGRESSING = "Progressing";
const AVAILABLE = "Available";

const verdict = (type: string, status: string, reason: string, message: string): Verdict => ({
  type,
  status,
  reason,
  message,
});

/** Pure: the status of a Deployment, and when its progress has to be looked at again. */
export function deploymentStatus(deployment: Deployment, view: RolloutView, now: number): StatusResult {
  const sets = view.sets.map(({ set }) => set);
  const count = (
    of: readonly ReplicaSet[],
    key: "replicas" | "readyReplicas" | "availableReplicas" | "terminatingReplicas",
  ) => of.reduce((total, set) => total + (set.status?.[key] ?? 0), 0);
  const wanted = deployment.spec.replicas ?? 1;
  const fresh = view.sets.filter(({ isNew }) => isNew).map(({ set }) => set);
  const counts: Counts = {
    replicas: count(sets, "replicas"),
    updated: count(fresh, "replicas"),
    ready: count(sets, "readyReplicas"),
    available: count(sets, "availableReplicas"),
  };
  const planned = view.sets.reduce((total, { replicas }) => total + replicas, 0);
  const complete = counts.updated === wanted && counts.replicas === wanted && counts.available === wanted;

  let conditions: Condition[] = [...(deployment.status?.conditions ?? [])];
  conditions = pauseConditions(deployment, conditions, now);
  conditions = announceSet(deployment, conditions, view, now);
  const enough = counts.available >= wanted - view.unavailable;
  conditions = withCondition(
    conditions,
    enough
      ? verdict(AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
      : verdict(AVAILABLE, "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
    now,
  );
  if (view.rollout) conditions = progressConditions(deployment, conditions, view, counts, complete, now);
  if (view.rollout) conditions = replicaFailures(conditions, fresh, sets, now);

  const status = {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...present({
      replicas: counts.replicas,
      updatedReplicas: counts.updated,
      readyReplicas: counts.ready,
      availableReplicas: counts.available,
      unavailableReplicas: Math.max(0, planned - counts.available),
      collisionCount: deployment.status?.collisionCount,
    }),
    terminatingReplicas: count(sets, "terminatingReplicas"),
    conditions,
  };
  return { status, complete, again: view.rollout ? recheck(deployment, conditions, complete, now) : undefined };
}

const hasDeadline = ({ spec }: Deployment): boolean =>
  spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== MAX_INT32;

/** While a Deployment is paused, no progress is expected of it. */
function pauseConditions(deployment: Deployment, conditions: Condition[], now: number): Condition[] {
  const before = findCondition(conditions, PROGRESSING);
  if (!hasDeadline(deployment) || isDeleting(deployment) || before?.reason === "ProgressDeadlineExceeded") {
    return conditions;
  }
  const noted = before?.reason === "DeploymentPaused";
  if (deployment.spec.paused === true && !noted) {
    return withCondition(conditions, verdict(PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused"), now);
  }
  if (deployment.spec.paused !== true && noted) {
    return withCondition(
      conditions,
      verdict(PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed"),
      now,
    );
  }
  return conditions;
}

/** A new ReplicaSet is progress, made or found. */
function announceSet(deployment: Deployment, conditions: Condition[], view: RolloutView, now: number): Condition[] {
  if (!hasDeadline(deployment) || view.newName === undefined) return conditions;
  if (view.created !== undefined) {
    const text = `Created new replica set "${view.created}"`;
    return withCondition(conditions, verdict(PROGRESSING, "True", "NewReplicaSetCreated", text), now);
  }
  if (findCondition(conditions, PROGRESSING)) return conditions;
  const text = `Found new replica set "${view.newName}"`;
  return withCondition(conditions, verdict(PROGRESSING, "True", "FoundNewReplicaSet", text), now);
}

function progressConditions(
  deployment: Deployment,
  conditions: Condition[],
  view: RolloutView,
  counts: Counts,
  complete: boolean,
  now: number,
): Condition[] {
  const before = findCondition(conditions, PROGRESSING);
  if (!hasDeadline(deployment)) return withoutCondition(conditions, PROGRESSING);
  // A rollout that was complete stays so when pods come and go, until there are pods of another template.
  if (counts.replicas === counts.updated && before?.reason === "NewReplicaSetAvailable") return conditions;
  const what = view.newName === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${view.newName}"`;
  if (complete) {
    const text = `${what} has successfully progressed.`;
    return withCondition(conditions, verdict(PROGRESSING, "True", "NewReplicaSetAvailable", text), now);
  }
  if (hasProgressed(deployment, counts)) {
    // The time of the last progress is written even though nothing else changes about the condition.
    const time = timestamp(now);
    const condition: Condition = {
      ...verdict(PROGRESSING, "True", "ReplicaSetUpdated", `${what} is progressing.`),
      lastUpdateTime: time,
      lastTransitionTime: before?.status === "True" ? (before.lastTransitionTime ?? time) : time,
    };
    return [...withoutCondition(conditions, PROGRESSING), condition];
  }
  if (!before || !isOverdue(deployment, before, now)) return conditions;
  const text = `${what} has timed out progressing.`;
  return withCondition(conditions, verdict(PROGRESSING, "False", "ProgressDeadlineExceeded", text), now);
}

function hasProgressed({ status = {} }: Deployment, counts: Counts): boolean {
  const oldOnes = (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    counts.updated > (status.updatedReplicas ?? 0) ||
    counts.replicas - counts.updated < oldOnes ||
    counts.ready > (status.readyReplicas ?? 0) ||
    counts.available > (status.availableReplicas ?? 0)
  );
}

function isOverdue({ spec }: Deployment, progressing: Condition, now: number): boolean {
  if (progressing.reason === "NewReplicaSetAvailable") return false;
  if (progressing.reason === "ProgressDeadlineExceeded") return true;
  return timeOf(progressing.lastUpdateTime) + (spec.progressDeadlineSeconds ?? 600) * 1_000 < now;
}

/** What a ReplicaSet cannot do is told by its Deployment, the newest first. */
function replicaFailures(
  conditions: Condition[],
  fresh: readonly ReplicaSet[],
  all: readonly ReplicaSet[],
  now: number,
): Condition[] {
  const type = "ReplicaFailure";
  const failures = [...fresh, ...all].flatMap(({ status }) => findCondition(status?.conditions, type) ?? []);
  const failure = failures[0];
  if (!failure) return withoutCondition(conditions, type);
  const { status, reason = "", message = "" } = failure;
  return withCondition(conditions, { type, status, reason, message }, timeOf(failure.lastTransitionTime) || now);
}

/** A rollout that stands still has to be looked at when its time is up. */
function recheck(
  deployment: Deployment,
  conditions: readonly Condition[],
  complete: boolean,
  now: number,
): number | undefined {
  const progressing = findCondition(conditions, PROGRESSING);
  if (!hasDeadline(deployment) || !progressing || complete) return undefined;
  if (progressing.reason === "ProgressDeadlineExceeded" || progressing.reason === "NewReplicaSetAvailable") {
    return undefined;
  }
  const due = timeOf(progressing.lastUpdateTime) + (deployment.spec.progressDeadlineSeconds ?? 600) * 1_000;
  return Math.max(0, due - now) + 1_000;
}
