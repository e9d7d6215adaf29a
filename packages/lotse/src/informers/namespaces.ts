/** Which of the cluster's namespaces begin and cease to be served. Pure. */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import type { NamespaceFilter } from "../declare/index.ts";

/** What matters of a namespace in the cluster. */
export interface NamespaceState {
  readonly name: string;
  /** It is being deleted and holds nothing any more. */
  readonly released: boolean;
}

/**
 * Reads a Namespace object. One that is being deleted still holds objects, some of which may wait for our finalizer to
 * be taken off, until its conditions have been reported and none of them tells of anything left.
 */
export function namespaceState(body: KubeBody): NamespaceState {
  const status = isObject(body.status) ? body.status : {};
  const conditions: unknown[] = Array.isArray(status.conditions) ? status.conditions : [];
  const pending = conditions.some((condition) => isObject(condition) && condition.status === "True");
  return {
    name: body.metadata?.name ?? "",
    released: body.metadata?.deletionTimestamp !== undefined && conditions.length > 0 && !pending,
  };
}

/** Where work begins and where it ends. */
export interface NamespaceChanges {
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

/**
 * What to begin and what to end when `before` is served and `namespaces` are all that the cluster has. A namespace that
 * was being deleted when the operator started is begun as well: this operator has to take its finalizers off.
 */
export function namespaceChanges(
  before: ReadonlySet<string>,
  namespaces: Iterable<NamespaceState>,
  filter: Pick<NamespaceFilter, "matches">,
): NamespaceChanges {
  const wanted = new Set<string>();
  for (const { name, released } of namespaces) {
    if (!released && filter.matches(name)) wanted.add(name);
  }
  return {
    opened: [...wanted].filter((name) => !before.has(name)),
    closed: [...before].filter((name) => !wanted.has(name)),
  };
}
