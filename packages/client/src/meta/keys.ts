/**
 * Keys of objects and kinds, for maps and queues: texts that only the functions of this module put together and take
 * apart. No name of Kubernetes contains a slash, so a key can always be taken apart again.
 */

declare const sort: unique symbol;

/** `namespace/name`, or `/name` without a namespace: an object among those of its kind, whichever has the name now. */
export type ObjectKey = string & { readonly [sort]: "object" };

/** `namespace/name/uid`: one object for its life. One that is deleted and created again is another one. */
export type IdentityKey = string & { readonly [sort]: "identity" };

/** `deployments.apps`, or `pods` in the core group: a kind, whatever its version, as kubectl spells it. */
export type KindKey = string & { readonly [sort]: "kind" };

/** `apps/v1/Deployment`, or `/v1/Pod` in the core group: a kind in one of its versions. */
export type VersionedKindKey = string & { readonly [sort]: "versioned kind" };

/** What a key is made from. */
export interface KeyedBody {
  readonly metadata?:
    | {
        readonly namespace?: string | undefined;
        readonly name?: string | undefined;
        readonly uid?: string | undefined;
      }
    | undefined;
}

/** The key of a body. */
export function objectKey({ metadata }: KeyedBody): ObjectKey {
  return objectKeyOf(metadata?.namespace, metadata?.name ?? "");
}

/** The key of the object of this name. */
export function objectKeyOf(namespace: string | undefined, name: string): ObjectKey {
  return `${namespace ?? ""}/${name}` as ObjectKey;
}

/** The key of a body for its life. */
export function identityKey(body: KeyedBody): IdentityKey {
  return identityKeyOf(objectKey(body), body.metadata?.uid ?? "");
}

/** The key of the object that has this name and this uid. */
export function identityKeyOf(key: ObjectKey, uid: string): IdentityKey {
  return `${key}/${uid}` as IdentityKey;
}

/** The key by name in an {@link IdentityKey}: the same for every object that has had that name. */
export function objectKeyIn(key: IdentityKey): ObjectKey {
  return key.slice(0, key.lastIndexOf("/")) as ObjectKey;
}

/** The namespace in a key; undefined for objects of the whole cluster. */
export function namespaceIn(key: ObjectKey | IdentityKey): string | undefined {
  return key.slice(0, key.indexOf("/")) || undefined;
}

/** The name in a key. */
export function nameIn(key: ObjectKey | IdentityKey): string {
  return key.split("/", 2)[1] ?? "";
}

/** The uid in a key. */
export function uidIn(key: IdentityKey): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

/** The key of a kind, the same for all of its versions. */
export function kindKey({ plural, group }: { readonly plural: string; readonly group: string }): KindKey {
  return (group === "" ? plural : `${plural}.${group}`) as KindKey;
}

/** The key of a kind in one of its versions. */
export function versionedKindKey(kind: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): VersionedKindKey {
  return `${kind.group}/${kind.version}/${kind.kind}` as VersionedKindKey;
}
