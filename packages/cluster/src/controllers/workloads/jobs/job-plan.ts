import { findCondition } from "../conditions.ts";
import { parseIndexes } from "../indexes.ts";
import { byLoss, isActive, isTerminating } from "../pods.ts";
import { isDeleting, type Job, type Pod, timeOf } from "../tables.ts";
import {
  allIndexFailures,
  endedAt,
  hasFailed,
  indexFailures,
  indexOf,
  isIndexed,
  isTracked,
  judgeFailure,
  waitsForEnd,
} from "./job-pods.ts";

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 600_000;
/** No more than this many pods come or go in one turn. */
const BURST = 500;

/** How a Job ends. */
export interface Finish {
  readonly success: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Failures in a row: the next pod waits the longer, the more there are. */
export interface Backoff {
  readonly failures: number;
  readonly last: number;
}

/** All that a plan for a Job is decided by. */
export interface JobPlanInput {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly backoff: Backoff;
  readonly now: number;
}

/** What to do about a Job now. */
export interface JobPlan {
  readonly finish: Finish | undefined;
  /** Pods that go. */
  readonly remove: readonly Pod[];
  /** They go without a trace: the Job does not count them as failed. */
  readonly uncounted: boolean;
  readonly create: readonly { readonly index: number | undefined; readonly replaced: Pod | undefined }[];
  /** Pods whose end is counted now, and that need not be kept any longer. */
  readonly untrack: readonly Pod[];
  readonly tally: Tally;
  readonly backoff: Backoff;
  readonly again: number | undefined;
}

/** What the pods of a Job amount to, those included that its status has counted. */
export interface Tally {
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  readonly succeeded: number;
  readonly failed: number;
  readonly succeededIndexes: ReadonlySet<number>;
  /** Undefined where indexes do not fail by themselves. */
  readonly failedIndexes: ReadonlySet<number> | undefined;
  /** The failed pod of an index that waits for its replacement. */
  readonly toReplace: ReadonlyMap<number, Pod>;
}

/** Whether a Job has to be without pods. */
export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true;

/** The condition by which a Job is over, for good. */
export const finishedCondition = (
  job: Job,
): NonNullable<NonNullable<Job["status"]>["conditions"]>[number] | undefined =>
  job.status?.conditions?.find(({ type, status }) => (type === "Complete" || type === "Failed") && status === "True");

/** Counts a Job's pods, with those that were counted into its status before and are gone. */
export function tallyOf(job: Job, pods: readonly Pod[]): Tally {
  const { status = {} } = job;
  const uncounted = status.uncountedTerminatedPods ?? {};
  const counts = (pod: Pod, known: ReadonlySet<string>) =>
    isTracked(pod) && !known.has(pod.metadata.uid) && (!isIndexed(job) || indexOf(job, pod) !== undefined);
  const [knownSucceeded, knownFailed] = [new Set(uncounted.succeeded), new Set(uncounted.failed)];
  const newSucceeded = pods.filter((pod) => pod.status?.phase === "Succeeded" && counts(pod, knownSucceeded));
  const newFailed = pods.filter((pod) => hasFailed(job, pod) && counts(pod, knownFailed));
  const completions = job.spec.completions ?? 0;
  const indexesOf = (some: readonly Pod[]) => some.flatMap((pod) => (isTracked(pod) ? (indexOf(job, pod) ?? []) : []));
  const ended = pods.filter((pod) => pod.status?.phase === "Succeeded");
  const succeededIndexes = new Set([...parseIndexes(status.completedIndexes, completions), ...indexesOf(ended)]);
  const active = pods.filter(isActive);
  const failedIndexes =
    job.spec.backoffLimitPerIndex === undefined
      ? undefined
      : new Set([
          ...parseIndexes(status.failedIndexes, completions),
          ...indexesOf(pods.filter((pod) => failsIndex(job, pod))),
        ]);
  return {
    active,
    terminating: pods.filter(isTerminating),
    newSucceeded,
    newFailed,
    succeeded: isIndexed(job)
      ? succeededIndexes.size
      : (status.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded?.length ?? 0),
    failed:
      (status.failed ?? 0) +
      newFailed.filter((pod) => judgeFailure(job, pod).counts).length +
      (uncounted.failed?.length ?? 0),
    succeededIndexes,
    failedIndexes,
    toReplace: failedIndexes ? waitingFor(job, pods, active, succeededIndexes, failedIndexes) : new Map(),
  };
}

/** An index gives up when its pods have failed too often, or when a rule says so. */
function failsIndex(job: Job, pod: Pod): boolean {
  if (!hasFailed(job, pod)) return false;
  const { action, counts } = judgeFailure(job, pod);
  return action === "FailIndex" || (counts && indexFailures(pod) >= (job.spec.backoffLimitPerIndex ?? 0));
}

function waitingFor(
  job: Job,
  pods: readonly Pod[],
  active: readonly Pod[],
  succeeded: ReadonlySet<number>,
  failed: ReadonlySet<number>,
): Map<number, Pod> {
  const busy = new Set(active.map((pod) => indexOf(job, pod)));
  const found = new Map<number, Pod>();
  for (const pod of pods) {
    const index = isTracked(pod) && hasFailed(job, pod) ? indexOf(job, pod) : undefined;
    if (index === undefined || succeeded.has(index) || failed.has(index) || busy.has(index)) continue;
    const known = found.get(index);
    if (!known || allIndexFailures(known) <= allIndexFailures(pod)) found.set(index, pod);
  }
  return found;
}

/** Pure: what a Job does next. */
export function planJob(input: JobPlanInput): JobPlan {
  const { job, now } = input;
  const tally = tallyOf(job, input.pods);
  const backoff = nextBackoff(input.backoff, tally);
  const given = decideFinish(job, input.pods, tally, now);
  const managed = given
    ? { remove: tally.active, uncounted: false, create: [], wait: undefined }
    : manage(job, tally, backoff, now);
  const left = tally.active.length - managed.remove.length + managed.create.length;
  const finish = given ?? completion(job, tally, left);
  const { activeDeadlineSeconds } = job.spec;
  const started = timeOf(job.status?.startTime);
  const deadline =
    !finish && activeDeadlineSeconds !== undefined && !isSuspended(job)
      ? (Number.isNaN(started) ? now : started) + activeDeadlineSeconds * 1_000 - now
      : undefined;
  const waits = [deadline, managed.wait].filter((wait) => wait !== undefined);
  return {
    finish,
    remove: managed.remove,
    uncounted: managed.uncounted,
    create: managed.create,
    untrack: input.pods.filter((pod) => isTracked(pod) && mayForget(job, tally, finish, pod)),
    tally,
    backoff,
    again: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

function mayForget(job: Job, { toReplace }: Tally, finish: Finish | undefined, pod: Pod): boolean {
  if (isDeleting(job) || finish || pod.status?.phase === "Succeeded") return true;
  if (!hasFailed(job, pod)) return false;
  const index = indexOf(job, pod);
  return index === undefined || toReplace.get(index)?.metadata.uid !== pod.metadata.uid;
}

function decideFinish(job: Job, pods: readonly Pod[], tally: Tally, now: number): Finish | undefined {
  const met = findCondition(job.status?.conditions, "SuccessCriteriaMet");
  if (met?.status === "True") return { success: true, reason: met.reason ?? "", message: met.message ?? "" };
  const target = findCondition(job.status?.conditions, "FailureTarget");
  if (target?.status === "True") return { success: false, reason: target.reason ?? "", message: target.message ?? "" };
  const fail = (reason: string, message: string): Finish => ({ success: false, reason, message });
  for (const pod of pods) {
    const message = hasFailed(job, pod) ? judgeFailure(job, pod).message : undefined;
    if (message !== undefined) return fail("PodFailurePolicy", message);
  }
  const { backoffLimit = 6, activeDeadlineSeconds, maxFailedIndexes, completions = 0 } = job.spec;
  if (tally.failed > backoffLimit || restartedTooOften(job, pods)) {
    return fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  const started = timeOf(job.status?.startTime);
  if (activeDeadlineSeconds !== undefined && !isSuspended(job) && now - started >= activeDeadlineSeconds * 1_000) {
    return fail("DeadlineExceeded", "Job was active longer than specified deadline");
  }
  const failed = tally.failedIndexes?.size ?? 0;
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes) {
    return fail("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  }
  if (failed > 0 && failed + tally.succeededIndexes.size >= completions) {
    return fail("FailedIndexes", "Job has failed indexes");
  }
  const rule = isIndexed(job) ? matchedSuccessRule(job, tally.succeededIndexes) : undefined;
  return rule === undefined
    ? undefined
    : { success: true, reason: "SuccessPolicy", message: `Matched rules at index ${rule}` };
}

/** Restarts inside a pod count, too, where its containers are restarted when they fail. */
function restartedTooOften(job: Job, pods: readonly Pod[]): boolean {
  if (job.spec.template.spec?.restartPolicy !== "OnFailure") return false;
  const { backoffLimit = 6 } = job.spec;
  const restarts = pods
    .filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending")
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((total, { restartCount }) => total + restartCount, 0);
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

function matchedSuccessRule(job: Job, succeeded: ReadonlySet<number>): number | undefined {
  const rules = succeeded.size > 0 ? (job.spec.successPolicy?.rules ?? []) : [];
  const at = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
    const wanted = parseIndexes(succeededIndexes, job.spec.completions ?? 0);
    const found = [...wanted].filter((index) => succeeded.has(index)).length;
    return wanted.size > 0 && (found === wanted.size || (succeededCount !== undefined && found >= succeededCount));
  });
  return at < 0 ? undefined : at;
}

function completion(job: Job, tally: Tally, active: number): Finish | undefined {
  if (active > 0) return undefined;
  const { completions } = job.spec;
  if (completions === undefined ? tally.succeeded === 0 : tally.succeeded < completions) return undefined;
  return { success: true, reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
}

interface Managed extends Pick<JobPlan, "remove" | "uncounted" | "create"> {
  readonly wait: number | undefined;
}

/** As many pods as the Job wants to have at once. */
function manage(job: Job, tally: Tally, backoff: Backoff, now: number): Managed {
  const nothing: Managed = { remove: [], uncounted: true, create: [], wait: undefined };
  if (isDeleting(job)) return nothing;
  if (isSuspended(job)) return { ...nothing, remove: tally.active };
  const { parallelism = 1, completions } = job.spec;
  const { active, succeeded } = tally;
  const wanted =
    completions === undefined
      ? succeeded > 0
        ? active.length
        : parallelism
      : Math.max(0, Math.min(completions - succeeded, parallelism));
  const remove = tooMany(job, active, active.length - wanted, now);
  if (remove.length > 0) return { ...nothing, remove };
  const missing = Math.min(wanted - active.length - (waitsForEnd(job) ? tally.terminating.length : 0), BURST);
  if (missing <= 0) return nothing;
  if (job.spec.backoffLimitPerIndex !== undefined) return replaceIndexes(job, tally, missing, now);
  const wait = delayAfter(backoff.failures, backoff.last, now);
  if (wait > 0) return { ...nothing, wait };
  const indexes: readonly (number | undefined)[] = isIndexed(job)
    ? openIndexes(job, tally, missing)
    : Array.from({ length: missing }, () => undefined);
  return { ...nothing, create: indexes.map((index) => ({ index, replaced: undefined })) };
}

/** Every index waits for itself. */
function replaceIndexes(job: Job, tally: Tally, missing: number, now: number): Managed {
  const open = openIndexes(job, tally, missing).map((index) => {
    const replaced = tally.toReplace.get(index);
    const wait = replaced ? delayAfter(allIndexFailures(replaced) + 1, endedAt(replaced), now) : 0;
    return { index, replaced, wait };
  });
  const create = open.filter(({ wait }) => wait === 0).map(({ index, replaced }) => ({ index, replaced }));
  const waits = open.map(({ wait }) => wait).filter((wait) => wait > 0);
  return { remove: [], uncounted: true, create, wait: waits.length > 0 ? Math.min(...waits) : undefined };
}

/** The lowest numbers that no pod works on and that have not ended. */
function openIndexes(job: Job, tally: Tally, count: number): number[] {
  const busy = waitsForEnd(job) ? [...tally.active, ...tally.terminating] : tally.active;
  const taken = new Set(busy.map((pod) => indexOf(job, pod)));
  const open: number[] = [];
  for (let index = 0; index < (job.spec.completions ?? 0) && open.length < count; index++) {
    if (!taken.has(index) && !tally.succeededIndexes.has(index) && !tally.failedIndexes?.has(index)) open.push(index);
  }
  return open;
}

/** Pods beyond the number, and those of an indexed Job that have no number or one that another has. */
function tooMany(job: Job, active: readonly Pod[], least: number, now: number): Pod[] {
  if (least <= 0 && !isIndexed(job)) return [];
  const sorted = byLoss(active, now).reverse();
  const seen = new Set<number>();
  const doubled = isIndexed(job)
    ? sorted.filter((pod) => {
        const index = indexOf(job, pod);
        if (index === undefined || seen.has(index)) return true;
        seen.add(index);
        return false;
      })
    : [];
  const gone = new Set(doubled);
  const rest = sorted.filter((pod) => !gone.has(pod)).reverse();
  return [...doubled, ...rest.slice(0, Math.max(0, least - doubled.length))].slice(0, BURST);
}

function delayAfter(failures: number, last: number, now: number): number {
  if (failures === 0) return 0;
  return Math.max(0, Math.min(FIRST_DELAY * 2 ** (failures - 1), LONGEST_DELAY) - (now - last));
}

/** A success forgives the failures before it. */
export function nextBackoff(before: Backoff, { newSucceeded, newFailed }: Tally): Backoff {
  const forgiven = Math.max(...newSucceeded.map(endedAt));
  const failures = newFailed.map(endedAt).filter((time) => newSucceeded.length === 0 || time > forgiven);
  const base = newSucceeded.length === 0 ? before : { failures: 0, last: 0 };
  if (failures.length === 0) return base;
  return { failures: base.failures + failures.length, last: Math.max(...failures) };
}
