/** Which changes of an object count for its reconciler, and which objects a change of another kind concerns. Pure. */
import { type KindDescription, type KubeBody, parseApiVersion } from "@lotse/client";
import { deepEqual, type IdentityKey, identityKeyOf, type ObjectKey, objectKeyOf } from "@lotse/client/meta";
import type { ChangeFilter, Mapped } from "../declare/index.ts";

/** Whether a change of the object itself counts; one of several filters is enough, and none lets everything pass. */
export function isCounted(
  filters: readonly ChangeFilter<KubeBody>[],
  before: KubeBody | undefined,
  now: KubeBody,
): boolean {
  if (filters.length === 0 || !before) return true;
  const [was, is] = [before.metadata ?? {}, now.metadata ?? {}];
  if (was.uid !== is.uid || was.deletionTimestamp !== is.deletionTimestamp) return true;
  return filters.some((filter) => {
    if (filter === "generation") return was.generation !== is.generation;
    if (filter === "labels") return !deepEqual(was.labels, is.labels);
    if (filter === "annotations") return !deepEqual(was.annotations, is.annotations);
    return filter(now as never, before as never);
  });
}

/** The objects that a mapping function names. */
export function mappedKeys(mapped: Mapped, from: KubeBody, target: KindDescription): ObjectKey[] {
  if (mapped === undefined || mapped === null) return [];
  const list = typeof mapped === "string" || !Array.isArray(mapped) ? [mapped] : mapped;
  return list
    .filter((one) => one !== undefined && one !== null && one !== "")
    .map((one) => {
      const { name, namespace = from.metadata?.namespace } = typeof one === "string" ? { name: one } : one;
      return objectKeyOf(target.namespaced ? namespace : undefined, name);
    });
}

/** The owners of an object that are of this kind, by their identity. */
export function ownersOf(body: KubeBody | undefined, { group, kind, namespaced }: KindDescription): IdentityKey[] {
  const { ownerReferences, namespace } = body?.metadata ?? {};
  if (!ownerReferences) return [];
  return ownerReferences
    .filter((owner) => owner.kind === kind && parseApiVersion(owner.apiVersion).group === group)
    .map(({ name, uid }) => identityKeyOf(objectKeyOf(namespaced ? namespace : undefined, name), uid));
}
