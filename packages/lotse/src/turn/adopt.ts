import { apiVersionOf, type KindDescription, type KubeBody, KubeObject, type OwnerReference } from "@lotse/client";
import type { Adoptable } from "../declare/index.ts";

/** The reference that makes `owner` the controlling owner of something. */
export function ownerReference(owner: KubeBody, kind: KindDescription): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: owner.metadata?.name ?? "",
    uid: owner.metadata?.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * Makes `children` belong to `owner`: the owner reference (so that Kubernetes deletes them with it), the owner's
 * namespace where they have none, and a generated name with the owner's as prefix where they have none.
 * Children are changed in place, and what is there already is kept.
 */
export function adopt<T extends Adoptable | readonly Adoptable[]>(
  owner: KubeBody,
  kind: KindDescription,
  children: T,
): T {
  for (const child of Array.isArray(children) ? (children as readonly Adoptable[]) : [children as Adoptable]) {
    const body = (child instanceof KubeObject ? child.body : child) as KubeBody;
    const metadata = body.metadata ?? {};
    const reference = ownerReference(owner, kind);
    const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid);
    body.metadata = {
      ...metadata,
      ...(metadata.namespace === undefined &&
        owner.metadata?.namespace !== undefined && {
          namespace: owner.metadata.namespace,
        }),
      ...(!metadata.name && !metadata.generateName && { generateName: `${owner.metadata?.name}-` }),
      // Only one owner can be the controller; a child that has one keeps it.
      ownerReferences: [...others, others.some(({ controller }) => controller) ? secondary(reference) : reference],
    };
  }
  return children;
}

function secondary({ controller: _controller, ...reference }: OwnerReference): OwnerReference {
  return reference;
}
