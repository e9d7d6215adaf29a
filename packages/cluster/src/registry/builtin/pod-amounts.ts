import { isRecord, listAt, objectAt } from "../object.ts";
import { type Amount, addAmounts, NOTHING, readAmount } from "../quantity-form.ts";

/** Amounts by the name of what they are of: `cpu`, `requests.storage`, `pods`. */
export type Amounts = ReadonlyMap<string, Amount>;

/** A map of quantities, by the name of the resource. */
export function readAmounts(value: unknown): Map<string, Amount> {
  return new Map(Object.entries(isRecord(value) ? value : {}).map(([name, amount]) => [name, readAmount(amount)]));
}

/** The sum of two maps of quantities. */
export function addAll(a: Amounts, b: Amounts): Map<string, Amount> {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, addAmounts(sum.get(name) ?? NOTHING, amount));
  return sum;
}

function largest(a: Amounts, b: Amounts): Map<string, Amount> {
  const result = new Map(a);
  for (const [name, amount] of b) {
    if (amount.nanos > (result.get(name)?.nanos ?? -1n)) result.set(name, amount);
  }
  return result;
}

/**
 * What a pod asks for (`requests`) or may use (`limits`) as a whole: all containers together, or the hungriest of the
 * init containers, which run before them one by one, beside those that keep running.
 */
export function podAmounts(pod: unknown, which: "requests" | "limits"): Map<string, Amount> {
  const own = (container: unknown) => readAmounts(objectAt(container, "resources")[which]);
  let total = new Map<string, Amount>();
  for (const container of listAt(pod, "spec", "containers")) total = addAll(total, own(container));
  let running = new Map<string, Amount>();
  let peak = new Map<string, Amount>();
  for (const container of listAt(pod, "spec", "initContainers")) {
    let needed = own(container);
    if (container.restartPolicy === "Always") {
      total = addAll(total, needed);
      running = addAll(running, needed);
      needed = running;
    } else needed = addAll(needed, running);
    peak = largest(peak, needed);
  }
  const result = largest(total, peak);
  // Resources of the pod itself count instead of those of its containers.
  for (const [name, amount] of readAmounts(objectAt(pod, "spec", "resources")[which])) result.set(name, amount);
  return which === "requests" ? addAll(result, readAmounts(objectAt(pod, "spec").overhead)) : result;
}
