import { type ApiObject, storeKey } from "../../registry/index.ts";
import type { Store } from "../../store/index.ts";
import { LabelIndex } from "../label-index.ts";
import { StoreIndex } from "../store-index.ts";
import { CLAIMS, type Claim, controllerOf, PODS, type Pod, type Table, VOLUMES, type Volume } from "./tables.ts";

/** No uid has a slash in it. */
const orphans = (namespace: string | undefined): string => `/${namespace ?? ""}`;

/** Which objects of one kind are managed by whom: finding an owner's objects must not mean reading all of them. */
export class Children {
  readonly #index: StoreIndex;

  constructor(store: Store, table: string) {
    this.#index = new StoreIndex(store, table, (object) => [
      controllerOf(object)?.uid ?? orphans(object.metadata.namespace),
    ]);
  }

  /** How many objects were looked up so far. */
  get reads(): number {
    return this.#index.reads;
  }

  stop(): void {
    this.#index.stop();
  }

  /** What `owner` manages, and what has no manager in its namespace, in order of their names. */
  candidates(owner: ApiObject): ApiObject[] {
    const { uid, namespace } = owner.metadata;
    return this.#index.atEither(uid, orphans(namespace));
  }

  ofOwner(uid: string): ApiObject[] {
    return this.#index.at(uid);
  }

  count(uid: string): number {
    return this.#index.count(uid);
  }
}

/** The names of the claims that a pod mounts, also of those that are made for it alone. */
export const claimNames = ({ metadata, spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => [
    ...(persistentVolumeClaim ? [persistentVolumeClaim.claimName] : []),
    ...(ephemeral ? [`${metadata.name}-${name}`] : []),
  ]);

/** Volumes without a claim: no claim has a key without a slash. */
const FREE = "free";
const UNBOUND = "unbound";

/** Which volumes are whose, and which claims have none: each claim that comes would look at all of them otherwise. */
export class ClaimIndexes {
  readonly #volumes: StoreIndex;
  readonly #claims: StoreIndex;

  constructor(store: Store) {
    this.#volumes = new StoreIndex(store, VOLUMES.name, (object) => {
      const { claimRef } = (object as Volume).spec;
      return [claimRef ? storeKey(claimRef.namespace, claimRef.name ?? "") : FREE];
    });
    this.#claims = new StoreIndex(store, CLAIMS.name, (object) =>
      (object as Claim).status?.phase === "Bound" ? [] : [UNBOUND],
    );
  }

  stop(): void {
    this.#volumes.stop();
    this.#claims.stop();
  }

  /** The volumes that say that they are for the claim with this key. */
  volumesOf(key: string): Volume[] {
    return this.#volumes.at(key) as Volume[];
  }

  /** The volumes that no claim has, or that the claim with this key has. */
  candidates(key: string): Volume[] {
    return this.#volumes.atEither(key, FREE) as Volume[];
  }

  unbound(): Claim[] {
    return this.#claims.at(UNBOUND) as Claim[];
  }
}

/** The indexes by which controllers find objects, each made when it is first needed and shared by all. */
export class ChildIndexes {
  readonly #store: Store;
  readonly #children = new Map<string, Children>();
  readonly #labels = new Map<string, LabelIndex>();
  #mounts: StoreIndex | undefined;
  #claims: ClaimIndexes | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  of<T extends ApiObject>(table: Table<T>): Children {
    return known(this.#children, table.name, () => new Children(this.#store, table.name));
  }

  /** By labels. */
  labels<T extends ApiObject>(table: Table<T>): LabelIndex {
    return known(this.#labels, table.name, () => new LabelIndex(this.#store, table.name));
  }

  /** Pods by the keys of the claims that they mount. */
  get mounts(): StoreIndex {
    this.#mounts ??= new StoreIndex(this.#store, PODS.name, (pod) =>
      claimNames(pod as Pod).map((name) => storeKey(pod.metadata.namespace, name)),
    );
    return this.#mounts;
  }

  get claims(): ClaimIndexes {
    this.#claims ??= new ClaimIndexes(this.#store);
    return this.#claims;
  }

  stop(): void {
    this.#claims?.stop();
    for (const index of this.#children.values()) index.stop();
    for (const index of this.#labels.values()) index.stop();
    this.#mounts?.stop();
  }
}

function known<T>(entries: Map<string, T>, key: string, make: () => T): T {
  let found = entries.get(key);
  if (found === undefined) {
    found = make();
    entries.set(key, found);
  }
  return found;
}
