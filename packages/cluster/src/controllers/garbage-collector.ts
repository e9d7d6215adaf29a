import {
  type ApiObject,
  type Endpoint,
  fromStore,
  type OwnerReference,
  type Propagation,
  type Resource,
  remove,
  StatusError,
  storageEndpoint,
  storeKey,
  type Target,
  update,
} from "../registry/index.ts";
import type { Change } from "../store/index.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";
import { OwnershipGraph, type Place, waitsForDependents } from "./ownership.ts";

const MANAGER = "kube-controller-manager";

interface Found {
  readonly object: ApiObject;
  readonly target: Target;
}

type OwnerState = "solid" | "absent" | "waiting" | "unknown";

/** Deletes objects whose owners are all gone, and lets owners go in the way that their deletion asked for. */
export class GarbageCollector implements Controller {
  readonly #context: ControllerContext;
  readonly #graph = new OwnershipGraph();
  readonly #queue: WorkQueue;
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue(context.backend, "the garbage collector", (key) => this.#work(parsePlace(key)), {
      weigh: (key) => this.#weigh(parsePlace(key)),
    });
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store, catalog } = this.#context.backend;
    // A cluster that was kept begins with objects.
    for (const { resource, ...row } of store.rows()) {
      this.#follow(resource, { type: "created", previous: undefined, ...row });
    }
    this.#stopWatching = [
      store.watchAll((table, change) => this.#follow(table, change)),
      // An owner's kind that the server did not know may be known now.
      catalog.onChange(() => {
        for (const place of this.#graph.all()) this.#add(place);
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  #follow(table: string, change: Change): void {
    this.#graph.apply(table, change);
    const { metadata } = fromStore(change.object);
    if (change.type === "deleted") for (const place of this.#graph.dependentsOf(metadata.uid)) this.#add(place);
    if (change.type === "deleted")
      for (const owner of metadata.ownerReferences ?? []) this.#addOwner(owner, metadata.namespace);
    else if (metadata.ownerReferences?.length || metadata.deletionTimestamp !== undefined) {
      this.#add({ table, key: change.key });
    }
  }

  #add(place: Place): void {
    this.#queue.add(formatPlace(place));
  }

  /** An owner that waits for its dependents has one less to wait for. */
  #addOwner(owner: OwnerReference, namespace: string | undefined): void {
    const found = this.#findOwner(owner, namespace);
    if (found && typeof found === "object" && waitsForDependents(found.object)) {
      const { resource } = found.target.endpoint;
      const key = storeKey(found.target.namespace, found.object.metadata.name);
      this.#queue.wake(formatPlace({ table: resource.table, key }));
    }
  }

  /** An owner that waits for its dependents looks at all of them. */
  #weigh({ table, key }: Place): number {
    const entry = this.#context.backend.store.get(table, key);
    return entry ? this.#graph.count(fromStore(entry.object).metadata.uid) : 0;
  }

  async #work(place: Place): Promise<void> {
    const found = this.#find(place);
    if (!found) return;
    const { metadata } = found.object;
    if (metadata.deletionTimestamp !== undefined) {
      if (metadata.finalizers?.includes("orphan")) return this.#orphanDependents(found);
      if (metadata.finalizers?.includes("foregroundDeletion")) return this.#deleteDependents(found);
      return;
    }
    await this.#deleteIfUnowned(found);
  }

  async #deleteIfUnowned(found: Found): Promise<void> {
    const { metadata } = found.object;
    const states = (metadata.ownerReferences ?? []).map((owner) => ({
      owner,
      state: this.#stateOf(owner, metadata.namespace),
    }));
    const having = (state: OwnerState) =>
      states.filter((entry) => entry.state === state).map((entry) => entry.owner.uid);
    if (states.length === 0 || having("unknown").length > 0) return;
    const gone = [...having("absent"), ...having("waiting")];
    if (having("solid").length > 0) {
      if (gone.length > 0) await this.#dropOwners(found, gone);
      return;
    }
    const dependents = having("waiting").length > 0 ? this.#graph.dependentsOf(metadata.uid) : [];
    if (dependents.length === 0) return this.#delete(found, policyOf(found.object));
    // Owners that wait for each other in a circle would wait for ever: the one that would close it holds no owner back.
    if (dependents.some((place) => this.#isWaiting(place))) await this.#unblockOwners(found);
    await this.#delete(found, "Foreground");
  }

  /** Foreground: dependents that block their owner go first, and take theirs with them. */
  async #deleteDependents(owner: Found): Promise<void> {
    const { uid } = owner.object.metadata;
    let blocked = false;
    for (const place of this.#graph.dependentsOf(uid)) {
      const found = this.#find(place);
      if (!found) continue;
      if (found.object.metadata.deletionTimestamp === undefined) await this.#deleteIfUnowned(found);
      if (this.#blocks(place, uid)) blocked = true;
    }
    if (!blocked) await this.#dropFinalizer(owner, "foregroundDeletion");
  }

  #isWaiting(place: Place): boolean {
    const found = this.#find(place);
    return found !== undefined && waitsForDependents(found.object);
  }

  /** Whether the object that is there now still holds back the owner with this uid. */
  #blocks(place: Place, uid: string): boolean {
    const references = this.#find(place)?.object.metadata.ownerReferences ?? [];
    return references.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
  }

  async #orphanDependents(owner: Found): Promise<void> {
    for (const place of this.#graph.dependentsOf(owner.object.metadata.uid)) {
      const found = this.#find(place);
      if (found) await this.#dropOwners(found, [owner.object.metadata.uid]);
    }
    await this.#dropFinalizer(owner, "orphan");
  }

  #stateOf(reference: OwnerReference, namespace: string | undefined): OwnerState {
    const owner = this.#findOwner(reference, namespace);
    if (owner === "unknown") return "unknown";
    if (!owner || owner.object.metadata.uid !== reference.uid) return "absent";
    return waitsForDependents(owner.object) ? "waiting" : "solid";
  }

  /** "unknown" when the reference names a kind that is not served, or one that cannot own this object. */
  #findOwner(reference: OwnerReference, namespace: string | undefined): Found | "unknown" | undefined {
    const slash = reference.apiVersion.indexOf("/");
    const group = slash < 0 ? "" : reference.apiVersion.slice(0, slash);
    const resource = this.#context.backend.catalog.byKind(group, reference.kind);
    if (!resource || (resource.namespaced && namespace === undefined)) return "unknown";
    const key = storeKey(resource.namespaced ? namespace : undefined, reference.name);
    return this.#find({ table: resource.table, key }, resource);
  }

  #find(place: Place, known?: Resource): Found | undefined {
    const { store, catalog } = this.#context.backend;
    const entry = store.get(place.table, place.key);
    const resource = known ?? catalog.byTable(place.table);
    const endpoint: Endpoint | undefined = resource && storageEndpoint(resource);
    if (!entry || !endpoint) return undefined;
    const object = fromStore(entry.object);
    const { namespace, name } = object.metadata;
    return { object, target: { endpoint, namespace, name, subresource: undefined } };
  }

  async #delete({ object, target }: Found, propagationPolicy: Propagation): Promise<void> {
    const { backend, requester } = this.#context;
    const rest = backend.pace.rest();
    if (rest) await rest;
    const preconditions = { uid: object.metadata.uid };
    await ignoreGone(remove(backend, requester, target, { propagationPolicy, preconditions, dryRun: false }));
  }

  async #dropOwners({ target }: Found, uids: readonly string[]): Promise<void> {
    await this.#change(target, (metadata) => {
      const kept = (metadata.ownerReferences ?? []).filter((owner) => !uids.includes(owner.uid));
      const { ownerReferences: _, ...rest } = metadata;
      return kept.length > 0 ? { ...rest, ownerReferences: kept } : rest;
    });
  }

  async #unblockOwners({ target }: Found): Promise<void> {
    await this.#change(target, ({ ownerReferences = [], ...rest }) => ({
      ...rest,
      ownerReferences: ownerReferences.map((owner) => ({ ...owner, blockOwnerDeletion: false })),
    }));
  }

  async #dropFinalizer({ target }: Found, finalizer: string): Promise<void> {
    await this.#change(target, (metadata) => {
      const kept = (metadata.finalizers ?? []).filter((entry) => entry !== finalizer);
      const { finalizers: _, ...rest } = metadata;
      return kept.length > 0 ? { ...rest, finalizers: kept } : rest;
    });
  }

  async #change(target: Target, next: (metadata: ApiObject["metadata"]) => ApiObject["metadata"]): Promise<void> {
    const { backend, requester } = this.#context;
    const options = { dryRun: false, fieldManager: MANAGER, fieldValidation: "Ignore" } as const;
    const rest = backend.pace.rest();
    if (rest) await rest;
    await ignoreGone(
      update(backend, requester, target, options, {
        by: "patch",
        tracked: false,
        next: (current) => ({ ...current, metadata: next(current.metadata) }),
      }),
    );
  }
}

/** An object's own finalizers say what becomes of its dependents when the request does not. */
function policyOf(object: ApiObject): Propagation {
  if (object.metadata.finalizers?.includes("orphan")) return "Orphan";
  return object.metadata.finalizers?.includes("foregroundDeletion") ? "Foreground" : "Background";
}

async function ignoreGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    // Deleted meanwhile, or deleted and made anew: either way there is nothing left to do here.
    if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
  }
}

const formatPlace = ({ table, key }: Place): string => `${table}\n${key}`;

function parsePlace(text: string): Place {
  const end = text.indexOf("\n");
  return { table: text.slice(0, end), key: text.slice(end + 1) };
}
