import type { corev1 } from "@lotse/client/kinds";
import type { Schedule } from "@lotse/client/meta";
import { timestamp } from "../../../registry/index.ts";
import { CRON_JOBS, type CronJob, controllerReference, isDeleting, JOBS, type Job, timeOf } from "../tables.ts";
import { finishedCondition } from "./job-plan.ts";

const SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** So late after its time a CronJob is looked at that the time has surely come. */
const DELTA = 100;
const MANY = 100;

/** An Event that a plan posts about its CronJob. */
export interface CronNote {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** What to do about a CronJob now. */
export interface CronPlan {
  /** Jobs that make room: for their successor, or because there are enough of their kind. */
  readonly remove: readonly Job[];
  readonly create: Job | undefined;
  /** The time that `create` is for. */
  readonly scheduled: number | undefined;
  readonly active: readonly corev1.ObjectReference[];
  readonly lastSuccessful: string | undefined;
  readonly notes: readonly CronNote[];
  readonly again: number | undefined;
}

/** All that a plan for a CronJob is decided by. */
export interface CronPlanInput {
  readonly cron: CronJob;
  /** The jobs that it manages. */
  readonly jobs: readonly Job[];
  /** Undefined when it does not fire: it is suspended, or its schedule makes no sense. */
  readonly schedule: Schedule | undefined;
  readonly now: number;
}

const wasSuccessful = (job: Job): boolean => finishedCondition(job)?.type === "Complete";

/** Pure: what a CronJob does now, and when it wants to be asked again. */
export function planCronJob(input: CronPlanInput): CronPlan {
  const { cron, jobs, schedule, now } = input;
  const notes: CronNote[] = [];
  const outlived = [
    ...oldest(jobs.filter(wasSuccessful), cron.spec.successfulJobsHistoryLimit ?? 3),
    ...oldest(
      jobs.filter((job) => finishedCondition(job)?.type === "Failed"),
      cron.spec.failedJobsHistoryLimit ?? 1,
    ),
  ];
  let active = stillActive(cron, jobs, notes);
  const lastSuccessful = latestSuccess(cron, jobs);
  const plan = { remove: outlived, create: undefined, scheduled: undefined, active, lastSuccessful, notes };
  if (!schedule || isDeleting(cron)) return { ...plan, again: undefined };
  const due = latestDue(cron, schedule, now, notes);
  const again = (nextTime(cron, schedule, now) ?? Number.NaN) + DELTA - now;
  const later = { ...plan, again: Number.isNaN(again) ? undefined : Math.max(DELTA, again) };
  if (due === undefined) return later;

  const { startingDeadlineSeconds, concurrencyPolicy } = cron.spec;
  if (startingDeadlineSeconds !== undefined && due + startingDeadlineSeconds * 1_000 < now) {
    const time = new Date(due).toUTCString().replace("GMT", "+0000");
    notes.push({ type: "Warning", reason: "MissSchedule", message: `Missed scheduled time to start a job: ${time}` });
    return later;
  }
  const next = jobOf(cron, due);
  const known = active.some(({ name }) => name === next.metadata.name);
  if (known || timeOf(cron.status?.lastScheduleTime) === due) return later;
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    notes.push({ type: "Normal", reason: "JobAlreadyActive", message });
    return later;
  }
  const replaced = concurrencyPolicy === "Replace" ? active : [];
  active = active.filter((one) => !replaced.includes(one));
  const remove = [...outlived, ...jobs.filter(({ metadata }) => replaced.some(({ uid }) => uid === metadata.uid))];
  return { ...later, remove, create: next, scheduled: due, active };
}

function oldest(jobs: readonly Job[], limit: number): Job[] {
  const started = (job: Job) => timeOf(job.status?.startTime) || 0;
  const sorted = [...jobs].sort((a, b) => started(a) - started(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  return sorted.slice(0, Math.max(0, jobs.length - limit)).filter((job) => !isDeleting(job));
}

/** The jobs that its status lists and that have not ended; what became of the others is told. */
function stillActive(cron: CronJob, jobs: readonly Job[], notes: CronNote[]): corev1.ObjectReference[] {
  const listed = cron.status?.active ?? [];
  for (const job of jobs) {
    if (finishedCondition(job) || listed.some(({ uid }) => uid === job.metadata.uid)) continue;
    const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
    notes.push({ type: "Warning", reason: "UnexpectedJob", message });
  }
  return listed.filter(({ uid, name }) => {
    const job = jobs.find(({ metadata }) => metadata.uid === uid);
    const ended = job && finishedCondition(job);
    if (job && !ended) return true;
    const [reason, message] = ended
      ? ["SawCompletedJob", `Saw completed job: ${name}, condition: ${ended.type}`]
      : ["MissingJob", `Active job went missing: ${name}`];
    notes.push({ type: "Normal", reason, message });
    return false;
  });
}

function latestSuccess(cron: CronJob, jobs: readonly Job[]): string | undefined {
  let latest = cron.status?.lastSuccessfulTime;
  for (const job of jobs) {
    const time = wasSuccessful(job) ? job.status?.completionTime : undefined;
    if (time !== undefined && (latest === undefined || timeOf(time) > timeOf(latest))) latest = time;
  }
  return latest;
}

/** Since when times count that have not been served. */
function servedUntil(cron: CronJob, now: number, withDeadline: boolean): number {
  const { startingDeadlineSeconds } = cron.spec;
  const served = timeOf(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp);
  if (!withDeadline || startingDeadlineSeconds === undefined) return served;
  return Math.max(served, now - startingDeadlineSeconds * 1_000);
}

/** The last time that has come and was not served, if there is one: of several that were missed, only one is made up for. */
function latestDue(cron: CronJob, schedule: Schedule, now: number, notes: CronNote[]): number | undefined {
  const { due, missed } = walk(schedule, servedUntil(cron, now, true), now);
  if (due !== undefined && missed > MANY) {
    const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    notes.push({ type: "Warning", reason: "TooManyMissedTimes", message });
  }
  return due;
}

function walk(schedule: Schedule, since: number, now: number): { due: number | undefined; missed: number } {
  const first = schedule.next(since);
  if (first === undefined || first > now) return { due: undefined, missed: 0 };
  const second = schedule.next(first);
  if (second === undefined || second > now) return { due: first, missed: 0 };
  // After a long time there are too many to count: most are skipped by reckoning.
  const missed = Math.floor((now - first) / (second - first)) + 1;
  let due = first;
  for (
    let time = schedule.next(Math.max(first, first + (missed - 2) * (second - first)));
    time !== undefined && time <= now;
  ) {
    due = time;
    time = schedule.next(time);
  }
  return { due, missed };
}

function nextTime(cron: CronJob, schedule: Schedule, now: number): number | undefined {
  const since = servedUntil(cron, now, false);
  return schedule.next(walk(schedule, since, now).due ?? since);
}

function jobOf(cron: CronJob, scheduled: number): Job {
  const { metadata = {}, spec } = cron.spec.jobTemplate;
  const job = {
    apiVersion: JOBS.apiVersion,
    kind: JOBS.kind,
    metadata: {
      name: `${cron.metadata.name}-${Math.floor(scheduled / 60_000)}`,
      namespace: cron.metadata.namespace,
      ...(metadata.labels ? { labels: metadata.labels } : {}),
      annotations: { ...metadata.annotations, [SCHEDULED_AT]: localTimestamp(scheduled, cron.spec.timeZone) },
      ownerReferences: [controllerReference(CRON_JOBS, cron)],
    },
    spec,
  };
  return structuredClone(job) as unknown as Job;
}

/** The time as the zone's clocks show it, with its distance from UTC. */
function localTimestamp(time: number, timeZone: string | undefined): string {
  if (timeZone === undefined) return timestamp(time);
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const name = format.formatToParts(time).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  const [, sign = "+", hours = "00", minutes = "00"] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  if (offset === 0) return timestamp(time);
  return timestamp(time + offset * 60_000).replace("Z", `${sign}${hours}:${minutes}`);
}
