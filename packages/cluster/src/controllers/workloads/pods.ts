import type { ApiObject } from "../../registry/index.ts";
import { findCondition } from "./conditions.ts";
import { controllerReference, isDeleting, type Pod, type PodTemplate, type Table, timeOf } from "./tables.ts";

/** Whether a pod says that it can serve. */
export const isReady = (pod: Pod): boolean => findCondition(pod.status?.conditions, "Ready")?.status === "True";

/** It has run to its end. */
export const isFinished = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";

/** It counts: it has not ended and is not on its way out. */
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isDeleting(pod);

/** It is on its way out, and its containers may still run. */
export const isTerminating = (pod: Pod): boolean => !isFinished(pod) && isDeleting(pod);

function readySince(pod: Pod): number {
  const ready = findCondition(pod.status?.conditions, "Ready");
  return ready?.status === "True" ? timeOf(ready.lastTransitionTime) : Number.NaN;
}

/** Ready for as long as its controller asks for. */
export function isAvailable(pod: Pod, minReadySeconds: number | undefined, now: number): boolean {
  if (!isReady(pod)) return false;
  return !minReadySeconds || readySince(pod) + minReadySeconds * 1_000 <= now;
}

/** How long until the next of these pods has been ready long enough; undefined when none is on its way there. */
export function nextAvailable(
  pods: readonly Pod[],
  minReadySeconds: number | undefined,
  now: number,
): number | undefined {
  const waits = pods
    .filter((pod) => isReady(pod) && !isAvailable(pod, minReadySeconds, now))
    .map((pod) => readySince(pod) + (minReadySeconds ?? 0) * 1_000 - now);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

const PHASES: readonly (string | undefined)[] = ["Pending", "Unknown", "Running"];

/**
 * Pods in such an order that those whose loss hurts least come first: not placed, pending, not ready, cheap by their own
 * annotation, young, often restarted. Each is looked at once, however often it is compared.
 */
export function byLoss(pods: readonly Pod[], now: number): Pod[] {
  const ranked = pods.map((pod) => ({ pod, ranks: lossRanks(pod, now) }));
  ranked.sort((a, b) => {
    for (const [at, rank] of a.ranks.entries()) if (rank !== b.ranks[at]) return rank - (b.ranks[at] as number);
    return a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1;
  });
  return ranked.map(({ pod }) => pod);
}

const lossRanks = (pod: Pod, now: number): readonly number[] => [
  pod.spec.nodeName ? 1 : 0,
  PHASES.indexOf(pod.status?.phase ?? "Pending"),
  isReady(pod) ? 1 : 0,
  Number(pod.metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? 0) || 0,
  isReady(pod) ? ageClass(readySince(pod), now) : 0,
  -restartsOf(pod),
  ageClass(timeOf(pod.metadata.creationTimestamp), now),
];

/** Ages that differ by less than a factor of two count as the same. */
const ageClass = (since: number, now: number): number => (now > since ? Math.floor(Math.log2(now - since)) : -1);

const restartsOf = (pod: Pod): number =>
  Math.max(0, ...(pod.status?.containerStatuses ?? []).map((status) => status.restartCount));

/** A pod made from a template, managed by `owner`. Its name is generated unless the caller sets one. */
export function podFromTemplate<T extends ApiObject>(template: PodTemplate, table: Table<T>, owner: T): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(finalizers ? { finalizers } : {}),
      ownerReferences: [controllerReference(table, owner)],
    },
    spec: template.spec,
  };
  // The metadata that is missing is what the server fills in.
  return structuredClone(pod) as unknown as Pod;
}
