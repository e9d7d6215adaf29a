import { isAvailable, isFinished, isReady, nextAvailable, podFromTemplate } from "../pods.ts";
import {
  type Claim,
  type ControllerRevision,
  isDeleting,
  type Pod,
  type PodTemplate,
  present,
  STATEFUL_SETS,
  type StatefulSet,
} from "../tables.ts";
import { templateOf } from "./revisions.ts";

/** The label that tells which revision of the set a pod was made from. */
export const POD_REVISION = "controller-revision-hash";
const POD_NAME = "statefulset.kubernetes.io/pod-name";
const POD_INDEX = "apps.kubernetes.io/pod-index";

/** The revisions that a set stands between: the one that it comes from and the one that it goes to. */
export interface Revisions {
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
}

/** What to do about the pods of a StatefulSet now. */
export interface StatefulPlan {
  readonly create: readonly Pod[];
  readonly remove: readonly Pod[];
  /** How long until a pod that is ready counts as available. */
  readonly again: number | undefined;
}

const startOf = ({ spec }: StatefulSet): number => spec.ordinals?.start ?? 0;
const replicasOf = ({ spec }: StatefulSet): number => spec.replicas ?? 1;
const revisionOf = (pod: Pod): string | undefined => pod.metadata.labels?.[POD_REVISION];

/** The number at the end of a pod's name; undefined when its name is not one that the set gives. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const { name } = set.metadata;
  const match = /^(.*)-(\d+)$/.exec(pod.metadata.name);
  return match?.[1] === name ? Number(match[2]) : undefined;
}

/** Whether the set wants a pod of this number. */
export function isInRange(set: StatefulSet, ordinal: number): boolean {
  return ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set);
}

/** Pure: which pods come and go next. In an ordered set nothing moves before all that come first are well. */
export function planStatefulSet(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  now: number,
): StatefulPlan {
  const again = nextAvailable(pods, set.spec.minReadySeconds, now);
  if (isDeleting(set)) return { create: [], remove: [], again };
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const ordinals = Array.from({ length: replicasOf(set) }, (_, at) => startOf(set) + at);
  const moves =
    set.spec.podManagementPolicy === "Parallel"
      ? parallelMoves(set, ordinals, byOrdinal, revisions)
      : orderedMoves(set, ordinals, byOrdinal, revisions, now);
  if (moves.more) return { ...moves, again: 0 };
  if (moves.create.length > 0 || moves.remove.length > 0 || moves.waits) return { ...moves, again };
  const replicas = ordinals.flatMap((ordinal) => byOrdinal.get(ordinal) ?? []);
  return { create: [], remove: planUpdate(set, replicas, revisions, now), again };
}

/** Making the pods takes time, and all of them are made before the first is created. */
const BURST = 64;

interface Moves {
  readonly create: readonly Pod[];
  readonly remove: readonly Pod[];
  /** Something that was begun is not done yet. */
  readonly waits: boolean;
  /** There are more pods to create than one turn does. */
  readonly more: boolean;
}

function orderedMoves(
  set: StatefulSet,
  ordinals: readonly number[],
  pods: ReadonlyMap<number | undefined, Pod>,
  revisions: Revisions,
  now: number,
): Moves {
  const wait: Moves = { create: [], remove: [], waits: true, more: false };
  const unwell = (pod: Pod) => isDeleting(pod) || !isAvailable(pod, set.spec.minReadySeconds, now);
  for (const ordinal of ordinals) {
    const pod = pods.get(ordinal);
    if (!pod) return { ...wait, create: [newPod(set, ordinal, revisions)] };
    if (isFinished(pod)) return { ...wait, remove: isDeleting(pod) ? [] : [pod] };
    if (unwell(pod)) return wait;
  }
  const condemned = condemnedOf(set, pods);
  // The first one that is not well does not have to get well before it goes.
  const firstUnwell = [...condemned].reverse().find(unwell);
  const next = condemned[0];
  if (!next) return { ...wait, waits: false };
  if (isDeleting(next) || (unwell(next) && next !== firstUnwell)) return wait;
  return { ...wait, remove: [next] };
}

function parallelMoves(
  set: StatefulSet,
  ordinals: readonly number[],
  pods: ReadonlyMap<number | undefined, Pod>,
  revisions: Revisions,
): Moves {
  const known = ordinals.flatMap((ordinal) => pods.get(ordinal) ?? []);
  const ended = known.filter((pod) => isFinished(pod) && !isDeleting(pod));
  const missing = ordinals.filter((ordinal) => !pods.has(ordinal));
  return {
    create: missing.slice(0, BURST).map((ordinal) => newPod(set, ordinal, revisions)),
    remove: [...ended, ...condemnedOf(set, pods).filter((pod) => !isDeleting(pod))],
    waits: false,
    more: missing.length > BURST,
  };
}

/** Pods beyond the wanted number, the highest first. */
function condemnedOf(set: StatefulSet, pods: ReadonlyMap<number | undefined, Pod>): Pod[] {
  return [...pods]
    .filter(([ordinal]) => ordinal !== undefined && !isInRange(set, ordinal))
    .sort(([a = 0], [b = 0]) => b - a)
    .map(([, pod]) => pod);
}

/** The next pod of an older revision that goes: from the highest down to the partition, each after the one before is well. */
function planUpdate(set: StatefulSet, replicas: readonly Pod[], { update }: Revisions, now: number): Pod[] {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  for (const pod of replicas.slice(rollingUpdate?.partition ?? 0).reverse()) {
    if (isDeleting(pod)) return [];
    if (revisionOf(pod) !== update.metadata.name) return [pod];
    if (!isAvailable(pod, set.spec.minReadySeconds, now)) return [];
  }
  return [];
}

/** The pod with this number: of the old template where the partition, or a rollout on its way, says so. */
function newPod(set: StatefulSet, ordinal: number, { current, update }: Revisions): Pod {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  const kept = rollingUpdate
    ? (rollingUpdate.partition ?? 0)
    : type === "RollingUpdate"
      ? (set.status?.currentReplicas ?? 0)
      : 0;
  const revision = ordinal < startOf(set) + kept ? current : update;
  return statefulPod(set, ordinal, templateOf(revision), revision.metadata.name);
}

function statefulPod(set: StatefulSet, ordinal: number, template: PodTemplate, revision: string): Pod {
  const name = `${set.metadata.name}-${ordinal}`;
  const pod = podFromTemplate(template, STATEFUL_SETS, set);
  const claims = claimsOf(set, ordinal);
  const volumes = [...claims].map(([volume, claim]) => ({
    name: volume,
    persistentVolumeClaim: { claimName: claim.metadata.name },
  }));
  const kept = (pod.spec.volumes ?? []).filter((volume) => !claims.has(volume.name));
  const labels = { ...pod.metadata.labels, [POD_NAME]: name, [POD_INDEX]: String(ordinal), [POD_REVISION]: revision };
  return {
    ...pod,
    metadata: { ...pod.metadata, name, labels },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}),
      ...(volumes.length + kept.length > 0 ? { volumes: [...volumes, ...kept] } : {}),
    },
  };
}

/** The claims of the pod with this number, by the name of their volume. */
export function claimsOf(set: StatefulSet, ordinal: number): Map<string, Claim> {
  const claims = (set.spec.volumeClaimTemplates ?? []).map((template) => {
    const { name = "", labels, annotations } = template.metadata ?? {};
    // It stays as it is: what is created is a copy.
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name: `${name}-${set.metadata.name}-${ordinal}`,
        namespace: set.metadata.namespace,
        labels: { ...labels, ...set.spec.selector.matchLabels },
        ...(annotations ? { annotations } : {}),
      },
      spec: template.spec,
    };
    return [name, claim as unknown as Claim] as const;
  });
  return new Map(claims);
}

/** Pure: what the status says about these pods. */
export function statefulStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  { current, update }: Revisions,
  collisionCount: number,
  now: number,
): Record<string, unknown> {
  const wanted = replicasOf(set);
  const staying = pods.filter((pod) => !isDeleting(pod));
  const of = (revision: ControllerRevision) =>
    staying.filter((pod) => revisionOf(pod) === revision.metadata.name).length;
  const ready = pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod)).length;
  const updated = of(update);
  const rolls = set.spec.updateStrategy?.type !== "OnDelete";
  const done = rolls && updated === wanted && ready === wanted && pods.length === wanted;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    ...present({
      readyReplicas: ready,
      currentReplicas: done ? updated : of(current),
      updatedReplicas: updated,
      currentRevision: (done ? update : current).metadata.name,
      updateRevision: update.metadata.name,
    }),
    availableReplicas: pods.filter((pod) => isAvailable(pod, set.spec.minReadySeconds, now)).length,
    collisionCount,
  };
}
