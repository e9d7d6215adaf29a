import { matcher } from "./claim.ts";
import { type Desk, isNamespaceGoing, keyOf } from "./desk.ts";
import { slowStart, type Watch, type Workload, watchChildren } from "./engine.ts";
import { type Backoff, finishedCondition, isSuspended, type JobPlan, planJob } from "./job-plan.ts";
import { isTracked, jobPod, TRACKING } from "./job-pods.ts";
import { type JobCounts, type JobStatus, noteEnds, settleEnds } from "./job-status.ts";
import { createPod, deletePod } from "./pod-control.ts";
import { isActive, isReady, isTerminating } from "./pods.ts";
import { controllerOf, JOBS, type Job, PODS, type Pod } from "./tables.ts";

const POD_KEY = "pod:";
const OWN_CONTROLLER = "kubernetes.io/job-controller";
const NO_FAILURES: Backoff = { failures: 0, last: 0 };

/** Jobs: pods that run until enough of them have succeeded, or too many have failed. */
export function jobs(desk: Desk): Workload {
  const backoffs = new Map<string, Backoff>();
  return {
    table: JOBS.name,
    watches: [watchChildren(JOBS, PODS, ({ spec }) => spec.selector), strays, deletedJobs],
    weigh: (key) => desk.countOf(PODS, desk.read(JOBS, key)?.metadata.uid),
    async reconcile(key) {
      if (key.startsWith(POD_KEY)) return letGo(desk, key.slice(POD_KEY.length));
      const job = desk.read(JOBS, key);
      if (!job || finishedCondition(job)) backoffs.delete(key);
      if (!job || finishedCondition(job)) return undefined;
      if ((job.spec.managedBy ?? OWN_CONTROLLER) !== OWN_CONTROLLER) return undefined;
      const matches = matcher(job.spec.selector);
      const pods = await desk.claim(JOBS, job, PODS, matches);
      const plan = planJob({ job, pods, backoff: backoffs.get(key) ?? NO_FAILURES, now: desk.now });
      const failure = await movePods(desk, job, plan);
      await track(desk, job, plan);
      backoffs.set(key, plan.backoff);
      if (failure !== undefined) throw failure;
      return plan.again;
    },
  };
}

/** A pod that is held for a Job that is not there, or that manages it no more, is let go. */
const strays: Watch = {
  table: PODS.name,
  wakes: ({ type, object }, desk) => {
    const pod = object as Pod;
    return type !== "deleted" && isTracked(pod) && !jobOf(desk, pod) ? [POD_KEY + keyOf(pod)] : [];
  },
};

const deletedJobs: Watch = {
  table: JOBS.name,
  wakes: ({ type, object }, desk) =>
    type === "deleted" ? desk.ofOwner(PODS, object.metadata.uid).map((pod) => POD_KEY + keyOf(pod)) : [],
};

function jobOf(desk: Desk, pod: Pod): Job | undefined {
  const controller = controllerOf(pod);
  if (controller?.kind !== JOBS.kind) return undefined;
  const job = desk.read(JOBS, `${pod.metadata.namespace}/${controller.name}`);
  return job?.metadata.uid === controller.uid ? job : undefined;
}

async function letGo(desk: Desk, key: string): Promise<undefined> {
  const pod = desk.read(PODS, key);
  if (pod && isTracked(pod) && !jobOf(desk, pod)) await untrack(desk, pod);
  return undefined;
}

async function untrack(desk: Desk, pod: Pod): Promise<void> {
  await desk.changeMeta(PODS, pod, ({ finalizers = [], ...meta }) => {
    const kept = finalizers.filter((finalizer) => finalizer !== TRACKING);
    return kept.length > 0 ? { ...meta, finalizers: kept } : meta;
  });
}

/** Deletes and creates pods; gives back what went wrong, because what happened before has to be written down first. */
async function movePods(desk: Desk, job: Job, plan: JobPlan): Promise<unknown> {
  try {
    for (const pod of plan.remove) {
      if (plan.uncounted) await untrack(desk, pod);
      await deletePod(desk, job, pod);
    }
    await slowStart(plan.create.length, async (at) => {
      const next = plan.create[at];
      if (next) await createPod(desk, job, jobPod(job, next.index, next.replaced));
    });
    return undefined;
  } catch (error) {
    return isNamespaceGoing(error) ? undefined : error;
  }
}

async function track(desk: Desk, job: Job, plan: JobPlan): Promise<void> {
  const noted = await desk.report(JOBS, job, noteEnds(job, plan, count(desk, job), desk.now));
  if (!noted) return;
  await tellSuspension(desk, job, noted);
  for (const pod of plan.untrack) await untrack(desk, pod);
  const held = new Set(
    desk
      .ofOwner(PODS, job.metadata.uid)
      .filter(isTracked)
      .map(({ metadata }) => metadata.uid),
  );
  const { status, finished } = settleEnds(
    job,
    (noted.status ?? {}) as JobStatus,
    held,
    plan.finish,
    count(desk, job),
    desk.now,
  );
  const written = await desk.report(JOBS, noted, status);
  if (!finished || !written || !plan.finish) return;
  if (plan.finish.success) await desk.event(job, "Normal", "Completed", "Job completed");
  else await desk.event(job, "Warning", plan.finish.reason, plan.finish.message);
}

async function tellSuspension(desk: Desk, before: Job, after: Job): Promise<void> {
  const of = (job: Job) => job.status?.conditions?.find(({ type }) => type === "Suspended")?.status;
  if (of(before) === of(after)) return;
  if (isSuspended(after)) await desk.event(after, "Normal", "Suspended", "Job suspended");
  else await desk.event(after, "Normal", "Resumed", "Job resumed");
}

function count(desk: Desk, job: Job): JobCounts {
  const pods = desk.ofOwner(PODS, job.metadata.uid);
  const active = pods.filter(isActive);
  return {
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
  };
}
