import type { batchv1 } from "@lotse/client/kinds";
import { timestamp } from "../../../registry/index.ts";
import { type Condition, findCondition } from "../conditions.ts";
import { formatIndexes } from "../indexes.ts";
import { isDeleting, type Job, present } from "../tables.ts";
import { type Finish, isSuspended, type JobPlan } from "./job-plan.ts";
import { hasFailed, indexOf, isIndexed, judgeFailure } from "./job-pods.ts";

/** The status as the API has it; the plan writes it as a whole. */
export type JobStatus = batchv1.JobStatus;

/** Pods that there are at the moment. */
export interface JobCounts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

function condition(type: string, status: string, { reason, message }: Omit<Finish, "success">, now: number): Condition {
  const time = timestamp(now);
  return {
    type,
    status,
    lastProbeTime: time,
    lastTransitionTime: time,
    ...(reason ? { reason } : {}),
    ...(message ? { message } : {}),
  };
}

/** The condition in the list, new or in place of another; the same list when it says the same already. */
function ensure(conditions: readonly Condition[], next: Condition): Condition[] {
  const before = findCondition(conditions, next.type);
  if (!before) return next.status === "False" ? [...conditions] : [...conditions, next];
  const same = before.status === next.status && before.reason === next.reason && before.message === next.message;
  return same ? [...conditions] : conditions.map((one) => (one === before ? next : one));
}

/**
 * Pure: what is written before pods are let go. Their ends are noted by uid first and counted when they are no longer
 * held, so that whatever happens in between, each counts once.
 */
export function noteEnds(job: Job, plan: JobPlan, counts: JobCounts, now: number): Record<string, unknown> {
  const { finish, tally } = plan;
  const status = settleUncounted(job.status ?? {}, new Set(plan.untrack.map(({ metadata }) => metadata.uid)));
  const succeeded = [...(status.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(status.uncountedTerminatedPods?.failed ?? [])];
  for (const pod of plan.untrack) {
    const { uid } = pod.metadata;
    if (pod.status?.phase === "Succeeded") {
      if (!isIndexed(job) && !succeeded.includes(uid)) succeeded.push(uid);
    } else if (hasFailed(job, pod) || (finish && !finish.success)) {
      const known = failed.includes(uid) || (isIndexed(job) && indexOf(job, pod) === undefined);
      if (!known && judgeFailure(job, pod).counts) failed.push(uid);
    }
  }
  const startTime = status.startTime ?? (isSuspended(job) ? undefined : timestamp(now));
  const next: JobStatus = {
    ...status,
    ...(startTime === undefined ? {} : { startTime }),
    uncountedTerminatedPods: present({ succeeded, failed }),
    ...(isIndexed(job)
      ? { completedIndexes: formatIndexes(tally.succeededIndexes), succeeded: tally.succeededIndexes.size }
      : {}),
    ...(tally.failedIndexes ? { failedIndexes: formatIndexes(tally.failedIndexes) } : {}),
    active: counts.active,
    ready: counts.ready,
    terminating: counts.terminating,
  };
  return shown(withConditions(job, next, finish, now), tally.failedIndexes !== undefined);
}

function withConditions(job: Job, status: JobStatus, finish: Finish | undefined, now: number): JobStatus {
  const conditions: readonly Condition[] = status.conditions ?? [];
  if (finish) {
    const type = finish.success ? "SuccessCriteriaMet" : "FailureTarget";
    return { ...status, conditions: ensure(conditions, condition(type, "True", finish, now)) };
  }
  if (isDeleting(job)) return status;
  const suspended = isSuspended(job);
  const said = suspended
    ? condition("Suspended", "True", { reason: "JobSuspended", message: "Job suspended" }, now)
    : condition("Suspended", "False", { reason: "JobResumed", message: "Job resumed" }, now);
  const next = ensure(conditions, said);
  const changed = findCondition(next, "Suspended")?.status !== findCondition(conditions, "Suspended")?.status;
  const { startTime: _, ...rest } = status;
  if (!changed) return { ...status, conditions: next };
  // The time that a Job may take begins anew when it is resumed.
  return suspended ? { ...rest, conditions: next } : { ...rest, conditions: next, startTime: timestamp(now) };
}

/** Pure: counts the pods that are no longer held; `held` are the uids of those that are. */
export function settleUncounted(status: JobStatus, held: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const still = (uids: readonly string[]) => uids.filter((uid) => held.has(uid));
  const [heldSucceeded, heldFailed] = [still(succeeded), still(failed)];
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - heldSucceeded.length,
    failed: (status.failed ?? 0) + failed.length - heldFailed.length,
    uncountedTerminatedPods: present({ succeeded: heldSucceeded, failed: heldFailed }),
  };
}

/** Pure: what is written after pods were let go: their numbers, and the end of the Job when nothing of it is left. */
export function settleEnds(
  job: Job,
  noted: JobStatus,
  held: ReadonlySet<string>,
  finish: Finish | undefined,
  counts: JobCounts,
  now: number,
): { readonly status: Record<string, unknown>; readonly finished: boolean } {
  const settled = { ...settleUncounted(noted, held), ...counts };
  const { succeeded = [], failed = [] } = settled.uncountedTerminatedPods ?? {};
  const finished = finish !== undefined && succeeded.length + failed.length === 0 && counts.terminating === 0;
  const perIndex = job.spec.backoffLimitPerIndex !== undefined;
  if (!finished) return { status: shown(settled, perIndex), finished };
  const last = condition(finish.success ? "Complete" : "Failed", "True", finish, now);
  const conditions = ensure(settled.conditions ?? [], last);
  const completed = finish.success ? { completionTime: timestamp(now) } : {};
  return { status: shown({ ...settled, ...completed, conditions }, perIndex), finished };
}

/** As the API shows it: some numbers even when they are 0. */
function shown(status: JobStatus, perIndex: boolean): Record<string, unknown> {
  return {
    ...present({ ...status }),
    ...(perIndex ? { failedIndexes: status.failedIndexes ?? "" } : {}),
    ready: status.ready ?? 0,
    terminating: status.terminating ?? 0,
    uncountedTerminatedPods: status.uncountedTerminatedPods ?? {},
  };
}
