import type { Workload } from "../engine.ts";
import { isDeleting, JOBS, type Job, timeOf } from "../tables.ts";
import type { WorkloadApi } from "../workload-api.ts";
import { finishedCondition } from "./job-plan.ts";

/** Pure: how long a finished Job still has; undefined when it stays for ever, or has not finished. */
export function timeLeft(job: Job, now: number): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  const finished = finishedCondition(job);
  if (ttlSecondsAfterFinished === undefined || !finished || isDeleting(job)) return undefined;
  return Math.max(0, timeOf(finished.lastTransitionTime) + ttlSecondsAfterFinished * 1_000 - now);
}

/** Deletes Jobs that have been over for as long as they asked for, and what is left of their pods with them. */
export function finishedJobs(api: WorkloadApi): Workload {
  return {
    table: JOBS.name,
    watches: [],
    async reconcile(key) {
      const job = api.read(JOBS, key);
      const left = job && timeLeft(job, api.now);
      if (!job || left === undefined || left > 0) return left;
      await api.remove(JOBS, job, "Foreground");
      return undefined;
    },
  };
}
