/** Objects and kinds as texts, for the keys of maps. Made and taken apart here only. */
import type { ObjectBody } from "./body.ts";
import type { KindDescription } from "./description.ts";

/** `namespace/name`, or `/name` without a namespace. */
export type StoreKey = string;

/** Where an object is among those of its kind. */
export interface ObjectPlace {
  /** Undefined: of a kind without namespaces. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The key of a body. */
export function storeKey({ metadata }: ObjectBody): StoreKey {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

/** The key of an object by its place. */
export function placeKey({ namespace = "", name }: ObjectPlace): StoreKey {
  return `${namespace}/${name}`;
}

/** The place that a key stands for: what {@link placeKey} was given. */
export function parseStoreKey(key: StoreKey): ObjectPlace {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  return slash > 0 ? { namespace: key.slice(0, slash), name } : { name };
}

/** The key of a kind in one of its versions: `apps/v1/Deployment`, `/v1/Pod`. */
export function kindKey({ group, version, kind }: Pick<KindDescription, "group" | "version" | "kind">): string {
  return `${group}/${version}/${kind}`;
}
