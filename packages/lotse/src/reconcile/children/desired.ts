/** Reads what a function of `operator.children` returned: keys, order and mistakes. Pure. */
import { KubeObject } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { type ChildObject, type DesiredChildren, type ExternalChild, PermanentError } from "../../declare/index.ts";

/** One thing that shall be there, or shall not. */
export interface Desired {
  readonly key: string;
  readonly after: readonly string[];
  readonly readyWhen: ((live: never) => boolean) | undefined;
  readonly thing:
    | { readonly type: "object"; readonly child: ChildObject }
    | { readonly type: "external"; readonly external: ExternalChild };
}

/** See the module comment. */
export function readDesired(returned: DesiredChildren): Desired[] {
  const desired: Desired[] = [];
  for (const item of itemsOf(returned)) {
    if (item === undefined || item === null || item === false) continue;
    desired.push(readOne(item));
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

function readOne(item: unknown): Desired {
  if (item instanceof KubeObject) return objectOf(item as ChildObject, {});
  if (!isObject(item))
    throw new PermanentError(`${typeof item} is no child: return objects, manifests or external things`);
  if (typeof item.read === "function") return externalOf(item as unknown as ExternalChild);
  if (item.child !== undefined) {
    const { child, ...order } = item;
    if (!(child instanceof KubeObject) && !isManifest(child)) throw notAManifest(child);
    return objectOf(child as ChildObject, order);
  }
  if (isManifest(item)) return objectOf(item as unknown as ChildObject, {});
  throw notAManifest(item);
}

function notAManifest(item: unknown): PermanentError {
  const keys = isObject(item) ? Object.keys(item).slice(0, 5).join(", ") : typeof item;
  return new PermanentError(`a child needs apiVersion and kind, or { child: … }; this one has: ${keys}`);
}

function isManifest(item: unknown): boolean {
  return isObject(item) && typeof item.apiVersion === "string" && typeof item.kind === "string";
}

function objectOf(child: ChildObject, order: Record<string, unknown>): Desired {
  const body = child instanceof KubeObject ? child.body : child;
  const kind = body.kind ?? (child instanceof KubeObject ? child.description.kind : "");
  const name = body.metadata?.name;
  if (!name) {
    throw new PermanentError(
      `a ${kind} among the children has no name: a child is found again by its name, so generateName will not do`,
    );
  }
  const key = typeof order.key === "string" ? order.key : `${kind}/${name}`.toLowerCase();
  return { key, ...orderOf(order), thing: { type: "object", child } };
}

function externalOf(external: ExternalChild): Desired {
  const { key } = external;
  if (typeof key !== "string" || key === "")
    throw new PermanentError('an external thing needs a key: { key: "dns", read, … }');
  const missing = (["create", "delete"] as const).find((name) => typeof external[name] !== "function");
  if (missing) throw new PermanentError(`the external thing "${key}" has no function "${missing}"`);
  return { key, ...orderOf(external as unknown as Record<string, unknown>), thing: { type: "external", external } };
}

function orderOf({ after, readyWhen }: Record<string, unknown>): Pick<Desired, "after" | "readyWhen"> {
  const list = after === undefined ? [] : typeof after === "string" ? [after] : [...(after as Iterable<string>)];
  return { after: list, readyWhen: typeof readyWhen === "function" ? (readyWhen as Desired["readyWhen"]) : undefined };
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
