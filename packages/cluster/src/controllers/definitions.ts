import {
  asCrd,
  type BuiltinTables,
  type CelSlot,
  CLEANUP_FINALIZER,
  type Crd,
  conditionOf,
  customResource,
  decideNames,
  fromStore,
  type HookClient,
  isEstablished,
  remove,
  storageEndpoint,
  timestamp,
  toStore,
  trackUpdate,
  update,
  webhookConverter,
  withCondition,
} from "../registry/index.ts";
import type { Entry } from "../store/index.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";

const TABLE = "customresourcedefinitions.apiextensions.k8s.io";
const MANAGER = "kube-apiserver";

/**
 * Turns definitions into served resources. Accepting names and serving the resource happen inside the write that brought
 * the definition, so that the client that got its answer finds the resource there. Deleting one takes its objects with it.
 */
export class DefinitionController implements Controller {
  readonly #context: ControllerContext;
  readonly #tables: () => BuiltinTables;
  readonly #cel: CelSlot;
  readonly #hooks: HookClient;
  readonly #cleanups: WorkQueue;
  /** What each served definition looked like: a mere change of its status must not disturb its watches. */
  readonly #served = new Map<string, string>();
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext, tables: () => BuiltinTables, cel: CelSlot, hooks: HookClient) {
    this.#context = context;
    this.#tables = tables;
    this.#cel = cel;
    this.#hooks = hooks;
    this.#cleanups = new WorkQueue(
      context.backend,
      "the controller of custom resource definitions",
      (name) => this.#cleanUp(name),
      {
        weigh: (name) => context.backend.store.count(name),
      },
    );
  }

  get idle(): boolean {
    return this.#cleanups.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    for (const entry of store.list(TABLE)) this.#sync(entry.key);
    this.#stopWatching = [
      store.watch(TABLE, store.revision, (change) => this.#sync(change.key)),
      // An object of a definition that is being deleted went: perhaps it was the last one.
      store.watchAll((resource, change) => {
        if (change.type === "deleted" && this.#isTerminating(resource)) this.#cleanups.wake(resource);
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#cleanups.stop();
  }

  #isTerminating(name: string): boolean {
    const entry = this.#context.backend.store.get(TABLE, name);
    return entry !== undefined && fromStore(entry.object).metadata.deletionTimestamp !== undefined;
  }

  #sync(name: string): void {
    const { store, catalog, clock } = this.#context.backend;
    const entry = store.get(TABLE, name);
    if (!entry) {
      const dot = name.indexOf(".");
      catalog.unregister(name.slice(dot + 1), name.slice(0, dot));
      this.#served.delete(name);
      // Names that this definition held may be what another one waits for.
      for (const other of store.list(TABLE)) if (!this.#served.has(other.key)) this.#sync(other.key);
      return;
    }
    const crd = asCrd(fromStore(entry.object));
    const terminating = crd.metadata.deletionTimestamp !== undefined;
    const status = terminating ? crd.status : decideNames(catalog, crd, timestamp(clock.now()));
    this.#serve({ ...crd, status });
    if (terminating) this.#cleanups.add(name);
    else this.#writeStatus(entry, status);
  }

  #serve(crd: Crd): void {
    const { catalog } = this.#context.backend;
    const { name } = crd.metadata;
    if (!isEstablished(crd)) return;
    const looks = JSON.stringify([crd.spec, crd.status.acceptedNames]);
    const known = catalog.byTable(name);
    const closed = crd.metadata.deletionTimestamp !== undefined;
    if (this.#served.get(name) === looks) {
      // Nothing new may be created while it is being deleted; what is there stays as it is, and is still watched.
      if (known && known.closed !== closed) catalog.register({ ...known, closed });
      return;
    }
    const converter = webhookConverter(crd, this.#hooks, this.#context.backend.uuid);
    const resource = customResource(crd, this.#tables, this.#cel, converter);
    this.#served.set(name, looks);
    if (resource) catalog.register(resource);
    else catalog.unregister(crd.spec.group, crd.spec.names.plural);
  }

  #writeStatus(entry: Entry, status: Crd["status"]): void {
    const { store, catalog, clock } = this.#context.backend;
    const old = fromStore(entry.object);
    if (JSON.stringify(asCrd(old).status) === JSON.stringify(status)) return;
    const object = { ...old, metadata: { ...old.metadata }, status };
    const endpoint = catalog.storage("apiextensions.k8s.io", "customresourcedefinitions");
    if (endpoint) trackUpdate(endpoint, old, object, MANAGER, "status", clock.now());
    store.update(TABLE, entry.key, entry.revision, toStore(endpoint?.version.codec.inOrder(object) ?? object));
  }

  /** Says that the objects of a definition are being deleted. */
  #tellProgress(entry: Entry): void {
    const crd = asCrd(fromStore(entry.object));
    const { status } = crd;
    if (conditionOf(crd, "Terminating")?.reason === "InstanceDeletionInProgress") return;
    const conditions = withCondition(status.conditions, {
      type: "Terminating",
      status: "True",
      lastTransitionTime: timestamp(this.#context.backend.clock.now()),
      reason: "InstanceDeletionInProgress",
      message: "CustomResource deletion is in progress",
    });
    this.#writeStatus(entry, { ...status, conditions });
  }

  async #cleanUp(name: string): Promise<void> {
    const { backend, requester } = this.#context;
    const entry = backend.store.get(TABLE, name);
    if (!entry) return;
    const crd = asCrd(fromStore(entry.object));
    if (!crd.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    this.#tellProgress(entry);
    const resource = [...backend.catalog.all()].find((known) => known.table === name);
    const endpoint = resource && storageEndpoint(resource);
    for (const item of endpoint ? backend.store.list(name) : []) {
      const { metadata } = fromStore(item.object);
      if (!endpoint || metadata.deletionTimestamp !== undefined) continue;
      const target = { endpoint, namespace: metadata.namespace, name: metadata.name, subresource: undefined };
      const rest = backend.pace.rest();
      if (rest) await rest;
      await remove(backend, requester, target, { dryRun: false });
    }
    if (backend.store.count(name) > 0) return;
    const definitions = backend.catalog.storage("apiextensions.k8s.io", "customresourcedefinitions");
    if (!definitions) return;
    const target = { endpoint: definitions, namespace: undefined, name, subresource: undefined };
    const options = { dryRun: false, fieldManager: MANAGER, fieldValidation: "Ignore" } as const;
    await update(backend, requester, target, options, {
      by: "patch",
      tracked: true,
      next: (current) => {
        const finalizers = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
        const { finalizers: _, ...metadata } = current.metadata;
        return { ...current, metadata: finalizers.length > 0 ? { ...metadata, finalizers } : metadata };
      },
    });
  }
}
