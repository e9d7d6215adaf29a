import type { corev1 } from "@lotse/client/kinds";
import { scaled } from "../numbers.ts";
import { matchesNode, tolerates } from "../placement.ts";
import { isAvailable, isFinished, isReady, nextAvailable, podFromTemplate } from "../pods.ts";
import {
  DAEMON_SETS,
  type DaemonSet,
  isDeleting,
  type Node,
  type Pod,
  type PodTemplate,
  present,
  timeOf,
} from "../tables.ts";

/** The label that tells which template a pod was made from. */
export const POD_HASH = "controller-revision-hash";
const POD_GENERATION = "pod-template-generation";
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

/** Problems of a node that do not keep its daemons away. */
const TOLERATED: readonly (readonly [key: string, effect: "NoExecute" | "NoSchedule"])[] = [
  ["node.kubernetes.io/not-ready", "NoExecute"],
  ["node.kubernetes.io/unreachable", "NoExecute"],
  ["node.kubernetes.io/disk-pressure", "NoSchedule"],
  ["node.kubernetes.io/memory-pressure", "NoSchedule"],
  ["node.kubernetes.io/pid-pressure", "NoSchedule"],
  ["node.kubernetes.io/unschedulable", "NoSchedule"],
];
const NETWORK: readonly [string, "NoSchedule"] = ["node.kubernetes.io/network-unavailable", "NoSchedule"];

/** Something about a pod that goes, worth telling. */
export interface DaemonNote {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** What to do about the pods of a DaemonSet now. */
export interface DaemonPlan {
  /** Names of nodes that get a pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
  readonly notes: readonly DaemonNote[];
}

/** All that a plan for a DaemonSet is decided by. */
export interface DaemonSetPlanInput {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  /** The hash of the present template. */
  readonly hash: string;
  readonly now: number;
}

function tolerationsOf(spec: corev1.PodSpec | undefined): corev1.Toleration[] {
  const wanted = spec?.hostNetwork === true ? [...TOLERATED, NETWORK] : TOLERATED;
  const own = spec?.tolerations ?? [];
  const added = wanted
    .map(([key, effect]): corev1.Toleration => ({ key, operator: "Exists", effect }))
    .filter(
      (one) =>
        !own.some(({ key, operator, effect }) => key === one.key && operator === "Exists" && effect === one.effect),
    );
  return [...own, ...added];
}

/** Whether a node should get a daemon, and whether one that is there may stay. */
export function belongs(node: Node, { spec }: DaemonSet): { readonly runs: boolean; readonly stays: boolean } {
  const template = spec.template.spec;
  if (template?.nodeName !== undefined && template.nodeName !== node.metadata.name)
    return { runs: false, stays: false };
  if (!matchesNode(node, template)) return { runs: false, stays: false };
  const tolerations = tolerationsOf(template);
  const shut = (node.spec?.taints ?? []).filter((taint) => !tolerates(tolerations, taint));
  return {
    runs: shut.every(({ effect }) => effect === "PreferNoSchedule"),
    stays: shut.every(({ effect }) => effect !== "NoExecute"),
  };
}

/** The node that a daemon is made for: where it runs, or the one that its affinity names. */
export function targetOf(pod: Pod): string | undefined {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const term of required?.nodeSelectorTerms ?? []) {
    const named = term.matchFields?.find(({ key, operator }) => key === "metadata.name" && operator === "In");
    if (named?.values?.length === 1) return named.values[0];
  }
  return undefined;
}

function byNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const found = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = isFinished(pod) && isDeleting(pod) ? undefined : targetOf(pod);
    if (node === undefined) continue;
    const known = found.get(node);
    if (known) known.push(pod);
    else found.set(node, [pod]);
  }
  for (const list of found.values()) list.sort(byAge);
  return found;
}

const byAge = (a: Pod, b: Pod): number =>
  Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName)) ||
  timeOf(a.metadata.creationTimestamp) - timeOf(b.metadata.creationTimestamp) ||
  (a.metadata.name < b.metadata.name ? -1 : 1);

const surgeOf = ({ spec }: DaemonSet, nodes: number): number =>
  spec.updateStrategy?.type === "OnDelete" ? 0 : scaled(spec.updateStrategy?.rollingUpdate?.maxSurge, nodes, "up");

const isUpdated = (pod: Pod, hash: string): boolean => pod.metadata.labels?.[POD_HASH] === hash;

/** Pure: one daemon for each node that belongs, then the next ones of an update. */
export function planDaemonSet(input: DaemonSetPlanInput): DaemonPlan {
  const { set, nodes } = input;
  if (isDeleting(set)) return { create: [], remove: [], notes: [] };
  const onNodes = byNode(input.pods);
  const create: string[] = [];
  const remove: Pod[] = [];
  const notes: DaemonNote[] = [];
  for (const node of nodes) {
    const part = planNode(input, node, onNodes.get(node.metadata.name) ?? []);
    create.push(...part.create);
    remove.push(...part.remove);
    notes.push(...part.notes);
  }
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const [name, pods] of onNodes) if (!names.has(name)) remove.push(...pods.filter(({ spec }) => !spec.nodeName));
  if (create.length > 0 || remove.length > 0 || set.spec.updateStrategy?.type === "OnDelete") {
    return { create, remove, notes };
  }
  return { ...planUpdate(input, onNodes), notes };
}

function planNode({ set, hash, now }: DaemonSetPlanInput, node: Node, pods: readonly Pod[]): DaemonPlan {
  const { runs, stays } = belongs(node, set);
  const staying = pods.filter((pod) => !isDeleting(pod));
  if (runs && pods.length === 0) return { create: [node.metadata.name], remove: [], notes: [] };
  if (!stays) return { create: [], remove: staying, notes: [] };
  const ended = staying.filter(isFinished);
  const notes = ended.map((pod) => endedNote(pod, node));
  const running = staying.filter((pod) => !isFinished(pod));
  if (surgeOf(set, 1) === 0) return { create: [], remove: [...ended, ...running.slice(1)], notes };
  if (running.length <= 1) {
    return { create: running.length === 0 && runs ? [node.metadata.name] : [], remove: ended, notes };
  }
  const [fresh, ...moreFresh] = running.filter((pod) => isUpdated(pod, hash));
  const [old, ...moreOld] = running.filter((pod) => !isUpdated(pod, hash));
  const replaced = fresh && old && (!isReady(old) || isAvailable(fresh, set.spec.minReadySeconds, now)) ? [old] : [];
  return { create: [], remove: [...ended, ...moreFresh, ...moreOld, ...replaced], notes };
}

function endedNote({ metadata, status }: Pod, node: Node): DaemonNote {
  const where = `${metadata.namespace}/${metadata.name} on node ${node.metadata.name}`;
  return status?.phase === "Failed"
    ? { type: "Warning", reason: "FailedDaemonPod", message: `Found failed daemon pod ${where}, will try to kill it` }
    : {
        type: "Normal",
        reason: "SucceededDaemonPod",
        message: `Found succeeded daemon pod ${where}, will try to delete it`,
      };
}

/** Replaces daemons of an older template, as many at once as may be missing, or as may be there twice. */
function planUpdate(
  { set, nodes, hash, now }: DaemonSetPlanInput,
  onNodes: Map<string, Pod[]>,
): Omit<DaemonPlan, "notes"> {
  const desired = nodes.filter((node) => belongs(node, set).runs).length;
  const surge = surgeOf(set, desired);
  const { maxUnavailable } = set.spec.updateStrategy?.rollingUpdate ?? {};
  // Without either, nothing could ever move.
  const most = Math.max(scaled(maxUnavailable, desired, "up"), surge === 0 ? 1 : 0);
  const well = (pod: Pod) => isAvailable(pod, set.spec.minReadySeconds, now);
  const places = [...onNodes].map(([name, pods]) => {
    const staying = pods.filter((pod) => !isDeleting(pod));
    const [fresh, old] = [staying.find((pod) => isUpdated(pod, hash)), staying.find((pod) => !isUpdated(pod, hash))];
    return { name, fresh, old };
  });
  const outdated = places.filter(({ fresh, old }) => old && !fresh);
  const sick = outdated.filter(({ old }) => old && !well(old));
  const candidates = outdated.filter((place) => !sick.includes(place));
  if (surge > 0) {
    const busy = places.filter(({ fresh, old }) => fresh && old && !well(fresh)).length;
    const next = [...sick, ...candidates.slice(0, Math.max(0, surge - busy))];
    return { create: next.map(({ name }) => name), remove: [] };
  }
  const missing = places.filter(({ fresh, old }) => (fresh ? !well(fresh) : !old)).length + sick.length;
  const next = [...sick, ...candidates.slice(0, Math.max(0, most - missing))];
  return { create: [], remove: next.flatMap(({ old }) => old ?? []) };
}

/** The pod for one node: it goes there and nowhere else. */
export function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const generation = set.metadata.annotations?.[TEMPLATE_GENERATION];
  const template: PodTemplate = set.spec.template;
  const pod = podFromTemplate(template, DAEMON_SETS, set);
  const labels = { ...pod.metadata.labels, [POD_HASH]: hash, ...(generation ? { [POD_GENERATION]: generation } : {}) };
  const terms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [node] }] }];
  const nodeAffinity = {
    ...pod.spec.affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...pod.spec, affinity: { ...pod.spec.affinity, nodeAffinity }, tolerations: tolerationsOf(template.spec) },
  };
}

/** Pure: the status, and how long until a daemon that is ready counts as available. */
export function daemonStatus({ set, nodes, pods, hash, now }: DaemonSetPlanInput, collisionCount: number) {
  const onNodes = byNode(pods);
  const { minReadySeconds } = set.spec;
  const wanted = nodes.filter((node) => belongs(node, set).runs);
  const found = wanted.flatMap((node) => onNodes.get(node.metadata.name)?.[0] ?? []);
  const strays = nodes.filter((node) => !wanted.includes(node) && onNodes.has(node.metadata.name));
  const available = found.filter((pod) => isAvailable(pod, minReadySeconds, now)).length;
  const status = {
    currentNumberScheduled: found.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: strays.length,
    numberReady: found.filter(isReady).length,
    observedGeneration: set.metadata.generation ?? 0,
    ...present({
      updatedNumberScheduled: found.filter((pod) => isUpdated(pod, hash)).length,
      numberAvailable: available,
      numberUnavailable: wanted.length - available,
      collisionCount,
    }),
  };
  return { status, again: nextAvailable(found, minReadySeconds, now) };
}
