import type { batchv1 } from "@lotse/client/kinds";
import { findCondition } from "../conditions.ts";
import { podFromTemplate } from "../pods.ts";
import { isDeleting, JOBS, type Job, type Pod, timeOf } from "../tables.ts";

/** The finalizer that keeps a pod until its end is counted in the Job's status. */
export const TRACKING = "batch.kubernetes.io/job-tracking";
const INDEX = "batch.kubernetes.io/job-completion-index";
const FAILURES = "batch.kubernetes.io/job-index-failure-count";
const IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";
const LONGEST_NAME = 63;
const SUFFIX = 5;

/** Whether the end of a pod has still to be counted. */
export const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(TRACKING) === true;

/** Whether each pod of a Job has a number of its own. */
export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === "Indexed";

/** The number of an indexed Job's pod; undefined when it has none that counts. */
export function indexOf(job: Job, pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[INDEX];
  const index = text === undefined ? Number.NaN : Number(text);
  return Number.isInteger(index) && index >= 0 && index < (job.spec.completions ?? 0) ? index : undefined;
}

/** Pods are replaced only when their containers have ended, not already when they are told to. */
export const waitsForEnd = ({ spec }: Job): boolean =>
  spec.podReplacementPolicy === "Failed" || spec.podFailurePolicy !== undefined;

/** Whether a pod counts as failed: one that is on its way out does, unless its Job waits for the end. */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !waitsForEnd(job) && isDeleting(pod) && pod.status?.phase !== "Succeeded";
}

/** When a pod ended, as near as can be told. */
export function endedAt(pod: Pod): number {
  const times = (pod.status?.containerStatuses ?? []).map((status) => timeOf(status.state?.terminated?.finishedAt));
  if (times.length > 0 && times.every((time) => !Number.isNaN(time))) return Math.max(...times);
  const ready = findCondition(pod.status?.conditions, "Ready");
  if (ready?.status === "False" && ready.lastTransitionTime) return timeOf(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  if (deletionTimestamp) return timeOf(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;
  return timeOf(creationTimestamp);
}

/** How often the pods of an index have failed before this one. */
export const indexFailures = (pod: Pod): number => Number(pod.metadata.annotations?.[FAILURES] ?? 0) || 0;
const ignoredFailures = (pod: Pod): number => Number(pod.metadata.annotations?.[IGNORED_FAILURES] ?? 0) || 0;

/** All failures of an index so far, those that do not count included. */
export const allIndexFailures = (pod: Pod): number => indexFailures(pod) + ignoredFailures(pod);

/** What a failure policy says about a failed pod. */
export interface FailureVerdict {
  readonly counts: boolean;
  readonly action: batchv1.PodFailurePolicyRule["action"] | undefined;
  /** Why the whole Job fails. */
  readonly message: string | undefined;
}

/** Pure: the first rule that fits a failed pod decides. */
export function judgeFailure(job: Job, pod: Pod): FailureVerdict {
  const rules = job.spec.podFailurePolicy?.rules ?? [];
  for (const [at, rule] of rules.entries()) {
    const reason = rule.onExitCodes ? byExitCode(rule.onExitCodes, pod) : byCondition(rule.onPodConditions ?? [], pod);
    if (reason === undefined) continue;
    const message = `${reason} matching ${rule.action} rule at index ${at}`;
    return {
      counts: rule.action !== "Ignore",
      action: rule.action,
      message: rule.action === "FailJob" ? message : undefined,
    };
  }
  return { counts: true, action: undefined, message: undefined };
}

function byExitCode(wanted: batchv1.PodFailurePolicyOnExitCodesRequirement, pod: Pod): string | undefined {
  const { namespace, name } = pod.metadata;
  for (const status of [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]) {
    const code = status.state?.terminated?.exitCode;
    if (code === undefined || code === 0) continue;
    if (wanted.containerName !== undefined && wanted.containerName !== status.name) continue;
    if (wanted.values.includes(code) !== (wanted.operator === "In")) continue;
    return `Container ${status.name} for pod ${namespace}/${name} failed with exit code ${code}`;
  }
  return undefined;
}

function byCondition(
  patterns: readonly batchv1.PodFailurePolicyOnPodConditionsPattern[],
  pod: Pod,
): string | undefined {
  const found = (pod.status?.conditions ?? []).find(({ type, status }) =>
    patterns.some((pattern) => pattern.type === type && (pattern.status ?? "True") === status),
  );
  return found && `Pod ${pod.metadata.namespace}/${pod.metadata.name} has condition ${found.type}`;
}

/** The next pod of a Job; `replaced` is the failed one of the same index that it stands in for. */
export function jobPod(job: Job, index: number | undefined, replaced: Pod | undefined): Pod {
  const pod = podFromTemplate(job.spec.template, JOBS, job);
  const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), TRACKING])];
  if (index === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers } };
  const { name } = job.metadata;
  const tail = `-${index}-`;
  const annotations = {
    ...pod.metadata.annotations,
    [INDEX]: String(index),
    ...(job.spec.backoffLimitPerIndex === undefined ? {} : failureCounts(job, replaced)),
  };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      finalizers,
      generateName: name.slice(0, LONGEST_NAME - SUFFIX - tail.length) + tail,
      annotations,
      labels: { ...pod.metadata.labels, [INDEX]: String(index) },
    },
    spec: { ...pod.spec, hostname: `${name}-${index}`, ...containersWithIndex(pod.spec) },
  };
}

function failureCounts(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (!replaced) return { [FAILURES]: "0" };
  const counts = judgeFailure(job, replaced).counts;
  const ignored = ignoredFailures(replaced) + (counts ? 0 : 1);
  return {
    [FAILURES]: String(indexFailures(replaced) + (counts ? 1 : 0)),
    ...(ignored > 0 ? { [IGNORED_FAILURES]: String(ignored) } : {}),
  };
}

/** Every container learns its number from the environment. */
function containersWithIndex(spec: Pod["spec"]): Pick<Pod["spec"], "containers" | "initContainers"> {
  const name = "JOB_COMPLETION_INDEX";
  const variable = { name, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX}']` } } };
  const add = (containers: Pod["spec"]["containers"]) =>
    containers.map((container) =>
      container.env?.some((one) => one.name === name)
        ? container
        : { ...container, env: [...(container.env ?? []), variable] },
    );
  return {
    containers: add(spec.containers),
    ...(spec.initContainers ? { initContainers: add(spec.initContainers) } : {}),
  };
}
