/** Whether a node can take a pod, and the scheduler's words for why not. Pure. */
import { matchesNode } from "../../controllers/index.ts";
import { type ApiObject, listAt, objectAt, readAmounts } from "../../registry/index.ts";
import { type Demand, unitsOf } from "./scheduling-demand.ts";
import type { NodeLoad } from "./scheduling-ledger.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Why a node does not take a pod. */
export interface Refusal {
  readonly reasons: readonly string[];
  /** Whether it would help if other pods went. */
  readonly helped: boolean;
}

const CORDON = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" } as const;

/** What of a node does not depend on its pods; undefined when it takes the pod. */
export function nodeRefusal(node: ApiObject, pod: ApiObject): Refusal | undefined {
  const tolerations = listAt(pod, "spec", "tolerations");
  const refuse = (reason: string) => ({ reasons: [reason], helped: false });
  if (objectAt(node, "spec").unschedulable === true && !tolerates(tolerations, CORDON)) {
    return refuse("node(s) were unschedulable");
  }
  const taint = listAt(node, "spec", "taints").find(
    (one) => one.effect !== "PreferNoSchedule" && !tolerates(tolerations, one),
  );
  if (taint) return refuse("node(s) had untolerated taint(s)");
  return matchesNode(node, pod.spec) ? undefined : refuse("node(s) didn't match Pod's node affinity/selector");
}

/** What of a node its pods leave for another one, `others` being those that it is kept free for. */
export function loadRefusal(
  allocatable: ReadonlyMap<string, number>,
  load: NodeLoad,
  demand: Demand,
  others: readonly Demand[] = [],
): Refusal | undefined {
  const held = [...demand.ports].some(
    (port) => load.isTaken(port) || others.some(({ ports }) => ports.some(({ name }) => name === port.name)),
  );
  if (held) return { reasons: ["node(s) didn't have free ports for the requested pod ports"], helped: true };
  const reasons: string[] = [];
  let helped = true;
  if (load.pods.size + others.length + 1 > (allocatable.get("pods") ?? 0)) reasons.push("Too many pods");
  for (const [name, wanted] of inOrder(demand.requests)) {
    if (wanted <= 0) continue;
    const all = allocatable.get(name) ?? 0;
    const used = others.reduce((sum, { requests }) => sum + (requests.get(name) ?? 0), load.used(name));
    if (wanted <= all - used) continue;
    reasons.push(`Insufficient ${name}`);
    if (wanted > all) helped = false;
  }
  return reasons.length === 0 ? undefined : { reasons, helped };
}

const FIRST = ["cpu", "memory", "ephemeral-storage"];

function inOrder(requests: ReadonlyMap<string, number>): (readonly [string, number])[] {
  const rest = [...requests].filter(([name]) => !FIRST.includes(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...FIRST.flatMap((name) => (requests.has(name) ? [[name, requests.get(name) as number] as const] : [])),
    ...rest,
  ];
}

/** What a node has for pods. */
export function allocatableOf(node: ApiObject): Map<string, number> {
  return unitsOf(readAmounts(objectAt(node, "status").allocatable));
}

/** Whether any of the tolerations covers the taint. */
export function tolerates(tolerations: readonly Fields[], taint: Fields): boolean {
  return tolerations.some((toleration) => toleratesTaint(toleration, taint));
}

/** Whether this toleration covers the taint. */
export function toleratesTaint({ key, operator, value, effect }: Fields, taint: Fields): boolean {
  return (
    (!effect || effect === taint.effect) &&
    (key === undefined || key === "" ? operator === "Exists" : key === taint.key) &&
    (operator === "Exists" || ((operator || "Equal") === "Equal" && (value ?? "") === (taint.value ?? "")))
  );
}

/** How much a pod would like to be elsewhere: taints that it should avoid, and affinities that it does not find. */
export function dislike(node: ApiObject, pod: ApiObject): number {
  const tolerations = listAt(pod, "spec", "tolerations");
  const avoided = listAt(node, "spec", "taints").filter(
    (taint) => taint.effect === "PreferNoSchedule" && !tolerates(tolerations, taint),
  ).length;
  const liked = listAt(pod, "spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
    .filter(({ preference }) => {
      const required = { nodeSelectorTerms: [preference] };
      return matchesNode(node, {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
      });
    })
    .reduce((sum, { weight }) => sum + (typeof weight === "number" ? weight : 0), 0);
  return avoided * 300 - liked;
}

/** The sentence in which a scheduler sums up what its nodes said. */
export function unavailable(reasonsByNode: readonly (readonly string[])[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasonsByNode.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const told = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  const nodes = `0/${reasonsByNode.length} nodes are available:`;
  return told.length === 0 ? nodes : `${nodes} ${told.join(", ")}.`;
}
