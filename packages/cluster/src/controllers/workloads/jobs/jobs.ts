import { storeKey } from "../../../registry/index.ts";
import { matcher } from "../claim.ts";
import { slowStart, type Watch, type Workload, watchChildren } from "../engine.ts";
import { createPod, deletePod } from "../pod-control.ts";
import { isActive, isReady, isTerminating } from "../pods.ts";
import { controllerOf, JOBS, type Job, PODS, type Pod } from "../tables.ts";
import { isNamespaceGoing, keyOf, type WorkloadApi } from "../workload-api.ts";
import { type Backoff, finishedCondition, isSuspended, type JobPlan, planJob } from "./job-plan.ts";
import { isTracked, jobPod, TRACKING } from "./job-pods.ts";
import { type JobCounts, type JobStatus, noteEnds, settleEnds } from "./job-status.ts";

const POD_KEY = "pod:";
const OWN_CONTROLLER = "kubernetes.io/job-controller";
const NO_FAILURES: Backoff = { failures: 0, last: 0 };

/** Jobs: pods that run until enough of them have succeeded, or too many have failed. */
export function jobs(api: WorkloadApi): Workload {
  const backoffs = new Map<string, Backoff>();
  return {
    table: JOBS.name,
    watches: [watchChildren(JOBS, PODS, ({ spec }) => spec.selector), strays, deletedJobs],
    weigh: (key) => api.countOf(PODS, api.read(JOBS, key)?.metadata.uid),
    async reconcile(key) {
      if (key.startsWith(POD_KEY)) return letGo(api, key.slice(POD_KEY.length));
      const job = api.read(JOBS, key);
      if (!job || finishedCondition(job)) backoffs.delete(key);
      if (!job || finishedCondition(job)) return undefined;
      if ((job.spec.managedBy ?? OWN_CONTROLLER) !== OWN_CONTROLLER) return undefined;
      const matches = matcher(job.spec.selector);
      const pods = await api.claim(JOBS, job, PODS, matches);
      const plan = planJob({ job, pods, backoff: backoffs.get(key) ?? NO_FAILURES, now: api.now });
      const failure = await movePods(api, job, plan);
      await track(api, job, plan);
      backoffs.set(key, plan.backoff);
      if (failure !== undefined) throw failure;
      return plan.again;
    },
  };
}

/** A pod that is held for a Job that is not there, or that manages it no more, is let go. */
const strays: Watch = {
  table: PODS.name,
  wakes: ({ type, object }, api) => {
    const pod = object as Pod;
    return type !== "deleted" && isTracked(pod) && !jobOf(api, pod) ? [POD_KEY + keyOf(pod)] : [];
  },
};

const deletedJobs: Watch = {
  table: JOBS.name,
  wakes: ({ type, object }, api) =>
    type === "deleted" ? api.ofOwner(PODS, object.metadata.uid).map((pod) => POD_KEY + keyOf(pod)) : [],
};

function jobOf(api: WorkloadApi, pod: Pod): Job | undefined {
  const controller = controllerOf(pod);
  if (controller?.kind !== JOBS.kind) return undefined;
  const job = api.read(JOBS, storeKey(pod.metadata.namespace, controller.name));
  return job?.metadata.uid === controller.uid ? job : undefined;
}

async function letGo(api: WorkloadApi, key: string): Promise<undefined> {
  const pod = api.read(PODS, key);
  if (pod && isTracked(pod) && !jobOf(api, pod)) await untrack(api, pod);
  return undefined;
}

async function untrack(api: WorkloadApi, pod: Pod): Promise<void> {
  await api.changeMeta(PODS, pod, ({ finalizers = [], ...meta }) => {
    const kept = finalizers.filter((finalizer) => finalizer !== TRACKING);
    return kept.length > 0 ? { ...meta, finalizers: kept } : meta;
  });
}

/** Deletes and creates pods; gives back what went wrong, because what happened before has to be written down first. */
async function movePods(api: WorkloadApi, job: Job, plan: JobPlan): Promise<unknown> {
  try {
    for (const pod of plan.remove) {
      if (plan.uncounted) await untrack(api, pod);
      await deletePod(api, job, pod);
    }
    await slowStart(plan.create.length, async (at) => {
      const next = plan.create[at];
      if (next) await createPod(api, job, jobPod(job, next.index, next.replaced));
    });
    return undefined;
  } catch (error) {
    return isNamespaceGoing(error) ? undefined : error;
  }
}

async function track(api: WorkloadApi, job: Job, plan: JobPlan): Promise<void> {
  const noted = await api.report(JOBS, job, noteEnds(job, plan, count(api, job), api.now));
  if (!noted) return;
  await tellSuspension(api, job, noted);
  for (const pod of plan.untrack) await untrack(api, pod);
  const held = new Set(
    api
      .ofOwner(PODS, job.metadata.uid)
      .filter(isTracked)
      .map(({ metadata }) => metadata.uid),
  );
  const { status, finished } = settleEnds(
    job,
    (noted.status ?? {}) as JobStatus,
    held,
    plan.finish,
    count(api, job),
    api.now,
  );
  const written = await api.report(JOBS, noted, status);
  if (!finished || !written || !plan.finish) return;
  if (plan.finish.success) await api.event(job, "Normal", "Completed", "Job completed");
  else await api.event(job, "Warning", plan.finish.reason, plan.finish.message);
}

async function tellSuspension(api: WorkloadApi, before: Job, after: Job): Promise<void> {
  const of = (job: Job) => job.status?.conditions?.find(({ type }) => type === "Suspended")?.status;
  if (of(before) === of(after)) return;
  if (isSuspended(after)) await api.event(after, "Normal", "Suspended", "Job suspended");
  else await api.event(after, "Normal", "Resumed", "Job resumed");
}

function count(api: WorkloadApi, job: Job): JobCounts {
  const pods = api.ofOwner(PODS, job.metadata.uid);
  const active = pods.filter(isActive);
  return {
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
  };
}
