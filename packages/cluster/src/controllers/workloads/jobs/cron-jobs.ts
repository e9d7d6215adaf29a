import type { corev1 } from "@lotse/client/kinds";
import { isTimeZone, parseSchedule, type Schedule, ScheduleError } from "@lotse/client/meta";
import { timestamp } from "../../../registry/index.ts";
import { type Workload, watchChildren } from "../engine.ts";
import { CRON_JOBS, type CronJob, controllerOf, JOBS, type Job, present } from "../tables.ts";
import { isNamespaceGoing, isStatus, keyOf, type WorkloadApi } from "../workload-api.ts";
import { planCronJob } from "./cron-job-plan.ts";

/** CronJobs: a Job whenever it is time for one. */
export function cronJobs(api: WorkloadApi): Workload {
  return {
    table: CRON_JOBS.name,
    watches: [watchChildren(CRON_JOBS, JOBS, () => undefined)],
    weigh: (key) => api.countOf(JOBS, api.read(CRON_JOBS, key)?.metadata.uid),
    async reconcile(key) {
      const cron = api.read(CRON_JOBS, key);
      if (!cron) return undefined;
      const jobs = api.ofOwner(JOBS, cron.metadata.uid);
      const plan = planCronJob({ cron, jobs, schedule: await scheduleOf(api, cron), now: api.now });
      for (const { type, reason, message } of plan.notes) await api.event(cron, type, reason, message);
      for (const job of plan.remove) {
        if (!(await api.remove(JOBS, job, "Background"))) continue;
        await api.event(cron, "Normal", "SuccessfulDelete", `Deleted job ${job.metadata.name}`);
      }
      const made = plan.create && (await createJob(api, cron, plan.create));
      const scheduled = made && plan.scheduled !== undefined ? timestamp(plan.scheduled) : undefined;
      const status = present({
        active: [...plan.active, ...(made ? [referenceTo(made)] : [])],
        lastScheduleTime: scheduled ?? cron.status?.lastScheduleTime,
        lastSuccessfulTime: plan.lastSuccessful,
      });
      await api.report(CRON_JOBS, cron, status);
      return plan.again;
    },
  };
}

/** Undefined when the CronJob does not fire; unless it is suspended, it is told why. */
async function scheduleOf(api: WorkloadApi, cron: CronJob): Promise<Schedule | undefined> {
  const { schedule, timeZone, suspend } = cron.spec;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    const text = `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`;
    await api.event(cron, "Warning", "UnknownTimeZone", text);
    return undefined;
  }
  if (suspend === true) return undefined;
  try {
    return parseSchedule(schedule, timeZone);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    const text = `unparseable schedule: "${schedule}" : ${error.message}`;
    await api.event(cron, "Warning", "UnparseableSchedule", text);
    return undefined;
  }
}

/** The Job that was made, or the one that was made before and forgotten. */
async function createJob(api: WorkloadApi, cron: CronJob, job: Job): Promise<Job | undefined> {
  try {
    const made = await api.create(JOBS, job);
    await api.event(cron, "Normal", "SuccessfulCreate", `Created job ${made.metadata.name}`);
    return made;
  } catch (error) {
    if (isNamespaceGoing(error)) throw error;
    if (isStatus(error, 409)) {
      const found = api.read(JOBS, keyOf(job));
      return found && controllerOf(found)?.uid === cron.metadata.uid ? found : undefined;
    }
    const text = error instanceof Error ? error.message : String(error);
    await api.event(cron, "Warning", "FailedCreate", `Error creating job: ${text}`);
    throw error;
  }
}

function referenceTo({ metadata }: Job): corev1.ObjectReference {
  const { namespace = "", name, uid, resourceVersion } = metadata;
  return { kind: JOBS.kind, namespace, name, uid, apiVersion: JOBS.apiVersion, resourceVersion };
}
