/** Which pods make room for a more important one. Pure. */
import { lookup, matchesLabels, parseLabelSelector, SelectorError } from "@lotse/client/meta";
import { type ApiObject, isRecord, listAt, objectAt } from "../../registry/index.ts";
import { type Demand, priorityOf } from "./scheduling-demand.ts";
import { loadRefusal, type Refusal } from "./scheduling-filters.ts";
import type { NodeLoad } from "./scheduling-ledger.ts";

/** One node, seen by a pod that would like to have it. */
export interface Place {
  readonly node: string;
  readonly allocatable: ReadonlyMap<string, number>;
  readonly load: NodeLoad;
  /** Pods that it is kept free for. */
  readonly others: readonly Demand[];
}

/** Pods that would have to go, the most important first. */
export interface Sacrifice {
  readonly node: string;
  readonly victims: readonly ApiObject[];
  /** How many of them a budget would like to keep. */
  readonly violations: number;
}

/** Who goes on one node so that `demand` fits there, or why that does not help. */
export function sacrificeOn(
  place: Place,
  demand: Demand,
  podAt: (key: string) => ApiObject | undefined,
  budgets: readonly ApiObject[],
): Sacrifice | Refusal {
  const lesser = [...place.load.pods.values()].filter(({ priority }) => priority < demand.priority);
  if (lesser.length === 0) return { reasons: ["No preemption victims found for incoming pod"], helped: false };
  const load = place.load.copy();
  for (const { key } of lesser) load.drop(key);
  const refusal = () => loadRefusal(place.allocatable, load, demand, place.others);
  const without = refusal();
  if (without) return without;
  const demands = new Map(lesser.map((one) => [one.key, one]));
  const pods = lesser
    .flatMap(({ key }) => {
      const pod = podAt(key);
      return pod ? [{ key, pod }] : [];
    })
    .sort((a, b) => moreImportant(a.pod, b.pod));
  const [kept, free] = byBudget(pods, budgets);
  const spared = new Set(kept);
  const victims: { readonly key: string; readonly pod: ApiObject }[] = [];
  let violations = 0;
  for (const one of [...kept, ...free]) {
    load.add(demands.get(one.key) as Demand);
    if (!refusal()) continue;
    load.drop(one.key);
    victims.push(one);
    if (spared.has(one)) violations++;
  }
  const sorted = victims.map(({ pod }) => pod).sort(moreImportant);
  return { node: place.node, victims: sorted, violations };
}

/** The least painful of them. */
export function leastPainful(options: readonly Sacrifice[]): Sacrifice | undefined {
  const scores: readonly ((one: Sacrifice) => number)[] = [
    ({ violations }) => violations,
    ({ victims }) => Math.max(...victims.map(priorityOf)),
    ({ victims }) => victims.reduce((sum, pod) => sum + priorityOf(pod) + 2 ** 31, 0),
    ({ victims }) => victims.length,
    ({ victims }) => {
      const highest = Math.max(...victims.map(priorityOf));
      return -Math.min(...victims.filter((pod) => priorityOf(pod) === highest).map(startOf));
    },
  ];
  let left = options;
  for (const score of scores) {
    const best = Math.min(...left.map(score));
    left = left.filter((one) => score(one) === best);
  }
  return left[0];
}

/** Those whose budgets would be overdrawn, and the others. */
function byBudget<T extends { readonly pod: ApiObject }>(
  pods: readonly T[],
  budgets: readonly ApiObject[],
): [T[], T[]] {
  const left = budgets.map((budget) => {
    const { disruptionsAllowed } = objectAt(budget, "status");
    return {
      budget,
      selects: selectorOf(budget),
      allowed: typeof disruptionsAllowed === "number" ? disruptionsAllowed : 0,
    };
  });
  const kept: T[] = [];
  const free: T[] = [];
  for (const one of pods) {
    const { namespace, name, labels } = one.pod.metadata;
    let overdrawn = false;
    for (const entry of left) {
      if (entry.budget.metadata.namespace !== namespace || !labels || !entry.selects(labels)) continue;
      if (lookup(objectAt(entry.budget, "status", "disruptedPods"), name) !== undefined) continue;
      if (--entry.allowed < 0) overdrawn = true;
    }
    (overdrawn ? kept : free).push(one);
  }
  return [kept, free];
}

/** Here an empty selector selects nothing. */
function selectorOf(budget: ApiObject): (labels: Readonly<Record<string, string>>) => boolean {
  const { selector } = objectAt(budget, "spec");
  try {
    const parsed = isRecord(selector) ? parseLabelSelector(selector) : [];
    return (labels) => parsed.length > 0 && matchesLabels(parsed, labels);
  } catch (error) {
    if (error instanceof SelectorError) return () => false;
    throw error;
  }
}

const startOf = (pod: ApiObject): number => {
  const { startTime } = objectAt(pod, "status");
  return typeof startTime === "string" ? Date.parse(startTime) : Number.POSITIVE_INFINITY;
};

function moreImportant(a: ApiObject, b: ApiObject): number {
  const [first, second] = [startOf(a), startOf(b)];
  return priorityOf(b) - priorityOf(a) || (first === second ? 0 : first - second);
}

/** Whether a pod is on its way out to make room for another one. */
export function isMakingRoom(pod: ApiObject): boolean {
  if (pod.metadata.deletionTimestamp === undefined) return false;
  const condition = listAt(pod, "status", "conditions").find(({ type }) => type === "DisruptionTarget");
  return condition?.status === "True" && condition.reason === "PreemptionByScheduler";
}
