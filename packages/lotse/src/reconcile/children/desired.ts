/** Reads what a function of `operator.children` returned: keys, order and mistakes. Pure. */
import { KubeObject } from "@lotse/client";
import { type DesiredChildren, PermanentError } from "../../declare/index.ts";
import { type Desired, readItem } from "./item.ts";

export type { Desired };

/** See the module comment. */
export function readDesired(returned: DesiredChildren): Desired[] {
  const desired: Desired[] = [];
  let position = 0;
  for (const item of itemsOf(returned)) {
    position++;
    if (item === undefined || item === null || item === false) continue;
    desired.push(readItem(item, position));
  }
  const keys = new Set<string>();
  for (const { key } of desired) {
    if (keys.has(key))
      throw new PermanentError(`two children are called "${key}": give one of them another name or key`);
    keys.add(key);
  }
  for (const { key, after } of desired) {
    const unknown = after.find((one) => !keys.has(one));
    if (unknown !== undefined) {
      throw new PermanentError(`the child "${key}" comes after "${unknown}", which is not among the children`);
    }
  }
  const circle = circleIn(desired);
  if (circle) throw new PermanentError(`children wait for each other in a circle: ${circle.join(" → ")}`);
  return desired;
}

function itemsOf(returned: unknown): Iterable<unknown> {
  if (returned === undefined || returned === null || returned === false) return [];
  const list = typeof returned === "object" && Symbol.iterator in returned && !(returned instanceof KubeObject);
  return list ? (returned as Iterable<unknown>) : [returned];
}

function circleIn(desired: readonly Desired[]): string[] | undefined {
  const byKey = new Map(desired.map((one) => [one.key, one]));
  const done = new Set<string>();
  const visit = (key: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(key)) return [...path.slice(path.indexOf(key)), key];
    if (done.has(key)) return undefined;
    for (const next of byKey.get(key)?.after ?? []) {
      const circle = visit(next, [...path, key]);
      if (circle) return circle;
    }
    done.add(key);
    return undefined;
  };
  for (const { key } of desired) {
    const circle = visit(key, []);
    if (circle) return circle;
  }
  return undefined;
}
