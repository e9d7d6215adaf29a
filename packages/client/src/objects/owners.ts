import { apiVersionOf, type ObjectBody, type OwnerReference } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import type { ObjectBase } from "./object-base.ts";

/** What kind of owner it shall be. */
export interface OwnerOptions {
  /** The owner that manages the object; there can be one. Default `true`. */
  readonly controller?: boolean | undefined;
  /** The owner's foreground deletion waits for this object. Default `true`. */
  readonly blockOwnerDeletion?: boolean | undefined;
  /** `false`: the owner takes the place of all others. Default `true`. */
  readonly append?: boolean | undefined;
}

/**
 * The body of `child` with `owner` among its owners. Refuses what the garbage collector would punish: an owner in
 * another namespace counts as absent, and the child is deleted.
 */
export function withOwner<B extends ObjectBody>(
  child: ObjectBase<B>,
  owner: ObjectBase<ObjectBody>,
  o: OwnerOptions = {},
): B {
  const reference = referenceTo(owner, o);
  const ownerNamespace = owner.description.namespaced ? owner.namespace : undefined;
  if (ownerNamespace !== undefined) {
    if (!child.description.namespaced) {
      throw new ConfigError(`${owner} lives in a namespace and cannot own the cluster-wide ${child}`, {
        hint: "use a finalizer and delete the object yourself, or make the owner cluster-scoped",
      });
    }
    const childNamespace = child.metadata.namespace ?? ownerNamespace;
    if (childNamespace !== ownerNamespace) {
      throw new ConfigError(`${owner} cannot own ${child}: an owner must be in the same namespace`, {
        hint: "the garbage collector would delete the object; use labels and a finalizer instead",
      });
    }
  }
  const before = o.append === false ? [] : (child.metadata.ownerReferences ?? []);
  const others = before.filter(({ uid }) => uid !== reference.uid);
  const rival = reference.controller ? others.find(({ controller }) => controller) : undefined;
  if (rival) {
    throw new ConfigError(`${child} is controlled by ${rival.kind} ${rival.name} already`, {
      hint: "pass { controller: false } to become a second owner, or { append: false } to replace it",
    });
  }
  return {
    ...child.body,
    metadata: {
      ...child.metadata,
      ...(ownerNamespace === undefined ? {} : { namespace: ownerNamespace }),
      ownerReferences: [...others, reference],
    },
  };
}

/** The reference that names `owner`. */
export function referenceTo(owner: ObjectBase<ObjectBody>, o: OwnerOptions = {}): OwnerReference {
  if (owner.uid === undefined) {
    throw new ConfigError(`${owner} has no uid yet and cannot own anything`, {
      hint: "create it first, or read it from the server",
    });
  }
  return {
    apiVersion: apiVersionOf(owner.description),
    kind: owner.description.kind,
    name: owner.name,
    uid: owner.uid,
    controller: o.controller ?? true,
    blockOwnerDeletion: o.blockOwnerDeletion ?? true,
  };
}
