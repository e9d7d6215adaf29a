/** Who may own whom. Wrong owner references are not refused by the API server: the garbage collector deletes the child. */
import {
  apiVersionOf,
  type KindDescription,
  KubeObject,
  type ObjectBody,
  type OwnerReference,
  parseApiVersion,
} from "@lotse/client";
import { builtinKinds } from "@lotse/client/kinds";
import { ConfigError } from "@lotse/client/meta";
import { type Child, titleOf, withMetadata } from "./children.ts";

/** The object that children belong to. */
export interface Owner {
  readonly body: {
    readonly metadata?:
      | {
          readonly name?: string;
          readonly namespace?: string;
          readonly uid?: string;
          readonly labels?: Readonly<Record<string, string>>;
        }
      | undefined;
  };
  readonly kind: KindDescription;
}

/** Whether a kind is namespaced; undefined when that is not known. */
export type ScopeLookup = (apiVersion: string, kind: string) => boolean | undefined;

/** What kind of owner it shall be. */
export interface OwnerReferenceOptions {
  readonly owner: Owner;
  /**
   * The owner that manages the child; there can be one. `true` insists and fails where another one does. By default the
   * owner becomes the controller where there is none, and one owner more where there is.
   */
  readonly controller?: boolean | undefined;
  /** The owner's foreground deletion waits for the child. Default `true`. */
  readonly blockOwnerDeletion?: boolean | undefined;
  /** Whether a kind is namespaced, where neither the child nor the tables of built-in kinds can tell. */
  readonly isNamespaced?: ScopeLookup | undefined;
}

/** The reference to `owner` that goes into its children. */
export function buildOwnerReference(
  owner: Owner,
  o: Pick<OwnerReferenceOptions, "controller" | "blockOwnerDeletion"> = {},
): OwnerReference {
  return {
    apiVersion: apiVersionOf(owner.kind),
    kind: owner.kind.kind,
    name: owner.body.metadata?.name ?? "",
    uid: ownerUid(owner),
    controller: o.controller ?? true,
    blockOwnerDeletion: o.blockOwnerDeletion ?? true,
  };
}

/** The uid of an owner; an error when it has none. */
export function ownerUid({ body, kind }: Owner): string {
  const { uid, name } = body.metadata ?? {};
  if (uid) return uid;
  throw new ConfigError(
    `${titleOf({ kind: kind.kind, metadata: name ? { name } : {} })} has no uid and cannot own anything`,
    {
      hint: "create it first, or read it from the server",
    },
  );
}

/** The body of `child` with the owner among its owners. */
export function withOwner(body: ObjectBody, child: Child, o: OwnerReferenceOptions): ObjectBody {
  const wanted = buildOwnerReference(o.owner, o);
  assertMayOwn(o.owner, body, isNamespaced(body, child, o.isNamespaced));
  const references = body.metadata?.ownerReferences ?? [];
  const present = references.find(({ uid }) => uid === wanted.uid);
  const rival = references.find(({ uid, controller }) => controller && uid !== wanted.uid);
  if (rival && o.controller === true) {
    throw new ConfigError(`${titleOf(body)} is controlled by ${rival.kind} ${rival.name} already`, {
      hint: "leave `controller` out to become one owner more, or remove the other owner first",
    });
  }
  if (!present) {
    const added = rival ? { ...wanted, controller: false } : wanted;
    return withMetadata(body, { ownerReferences: [...references, added] });
  }
  const flags = {
    ...(o.controller !== undefined && { controller: o.controller }),
    ...(o.blockOwnerDeletion !== undefined && { blockOwnerDeletion: o.blockOwnerDeletion }),
  };
  const changed = { ...present, ...flags };
  if (changed.controller === present.controller && changed.blockOwnerDeletion === present.blockOwnerDeletion)
    return body;
  return withMetadata(body, { ownerReferences: references.map((one) => (one === present ? changed : one)) });
}

/** The body without the owner of this uid. */
export function withoutOwner(body: ObjectBody, owner: string): ObjectBody {
  const references = body.metadata?.ownerReferences ?? [];
  const kept = references.filter(({ uid }) => uid !== owner);
  // An empty list, not an absent one: a merge patch made of the body has to say that it is empty.
  return kept.length === references.length ? body : withMetadata(body, { ownerReferences: kept });
}

function assertMayOwn({ body: { metadata }, kind }: Owner, child: ObjectBody, namespaced: boolean | undefined): void {
  const owner = titleOf({ kind: kind.kind, metadata: { ...metadata } as NonNullable<ObjectBody["metadata"]> });
  if (child.metadata?.uid !== undefined && child.metadata.uid === metadata?.uid) {
    throw new ConfigError(`${owner} cannot own itself`, { hint: "pass the child, not the object that is handled" });
  }
  if (!kind.namespaced) return;
  if (namespaced === false) {
    throw new ConfigError(`${owner} lives in a namespace and cannot own the cluster-wide ${titleOf(child)}`, {
      hint: "the garbage collector would delete the child: delete it yourself in an on.delete handler, or make the owner cluster-scoped",
    });
  }
  const place = child.metadata?.namespace;
  if (place && metadata?.namespace && place !== metadata.namespace) {
    throw new ConfigError(`${owner} cannot own ${titleOf(child)}: an owner must be in the same namespace`, {
      hint: "the garbage collector would delete the child: put it into the owner's namespace, or use labels and an on.delete handler",
    });
  }
}

/** Whether the child's kind is namespaced, as far as that is known without asking the server. */
export function isNamespaced(body: ObjectBody, child: Child, lookup: ScopeLookup | undefined): boolean | undefined {
  if (child instanceof KubeObject && child.hasDescription) return child.description.namespaced;
  const { apiVersion, kind } = body;
  if (!apiVersion || !kind) return undefined;
  const told = lookup?.(apiVersion, kind);
  if (told !== undefined) return told;
  const { group } = parseApiVersion(apiVersion);
  return builtinKinds.find((one) => one.group === group && one.kind === kind)?.namespaced;
}
