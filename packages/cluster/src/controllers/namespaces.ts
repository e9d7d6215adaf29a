import { deepEqual } from "@lotse/client/meta";
import {
  type ApiObject,
  create,
  fromStore,
  objectAt,
  type Resource,
  remove,
  StatusError,
  storageEndpoint,
  storeKey,
  type Target,
  timestamp,
  update,
} from "../registry/index.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";
import { knownOwner } from "./known-owner.ts";

const MANAGER = "kube-controller-manager";
const WRITE = { dryRun: false, fieldManager: MANAGER, fieldValidation: "Ignore" } as const;

const ROOT_CERTIFICATE = "kube-root-ca.crt";
const ROOT_FIELDS = { "f:data": { ".": {}, "f:ca.crt": {} } };

/** Furnishes new namespaces and empties those that are being deleted. */
export class NamespaceController implements Controller {
  readonly #context: ControllerContext;
  readonly #caPem: string;
  readonly #queue: WorkQueue;
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext, caPem: string) {
    this.#context = context;
    this.#caPem = caPem;
    this.#queue = new WorkQueue(context.backend, "the controller of namespaces", (name) => this.#work(name), {
      weigh: (name) => this.#weigh(name),
    });
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    for (const entry of store.list("namespaces")) this.#queue.add(entry.key);
    this.#stopWatching = [
      store.watchAll((table, change) => {
        if (table === "namespaces") {
          if (change.type !== "deleted") this.#queue.add(change.key);
          return;
        }
        const { namespace, name } = fromStore(change.object).metadata;
        if (namespace === undefined) return;
        // A client that changes the certificate finds it put right.
        const certificate = table === "configmaps" && name === ROOT_CERTIFICATE && change.type === "updated";
        if (change.type === "deleted" || certificate) this.#queue.wake(namespace);
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  /** A namespace that is being emptied is looked through from end to end. */
  #weigh(name: string): number {
    const { store } = this.#context.backend;
    const entry = store.get("namespaces", name);
    if (!entry || fromStore(entry.object).metadata.deletionTimestamp === undefined) return 0;
    return store.resources().reduce((total, table) => total + store.count(table), 0);
  }

  async #work(name: string): Promise<void> {
    const entry = this.#context.backend.store.get("namespaces", name);
    if (!entry) return;
    const namespace = fromStore(entry.object);
    if (namespace.metadata.deletionTimestamp === undefined) await this.#furnish(name);
    else await this.#empty(name);
  }

  /** Pods need an account to run as and the certificate to trust the server by. */
  async #furnish(namespace: string): Promise<void> {
    await this.#ensure("serviceaccounts", namespace, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace },
    });
    const managedFields = knownOwner(MANAGER, this.#context.backend.clock.now(), ROOT_FIELDS);
    const data = { "ca.crt": this.#caPem };
    await this.#ensure("configmaps", namespace, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: ROOT_CERTIFICATE, namespace, managedFields },
      data,
    });
    const found = this.#context.backend.store.get("configmaps", storeKey(namespace, ROOT_CERTIFICATE));
    if (!found || deepEqual(fromStore(found.object).data, data)) return;
    await this.#change("configmaps", { namespace, name: ROOT_CERTIFICATE }, (current) => ({ ...current, data }));
  }

  async #ensure(plural: string, namespace: string, object: Record<string, unknown>): Promise<void> {
    const { backend, requester } = this.#context;
    const endpoint = backend.catalog.storage("", plural);
    const name = String(objectAt(object, "metadata").name);
    if (!endpoint || backend.store.get(endpoint.resource.table, storeKey(namespace, name))) return;
    const target: Target = { endpoint, namespace, name: undefined, subresource: undefined };
    try {
      await create(backend, requester, target, object as unknown as ApiObject, WRITE, true);
    } catch (error) {
      // Another client made it first, or the namespace is going: both are fine.
      if (!(error instanceof StatusError && [403, 404, 409].includes(error.code))) throw error;
    }
  }

  async #empty(name: string): Promise<void> {
    const remaining = await this.#deleteContent(name);
    if (remaining.length > 0) return this.#report(name, remaining);
    await this.#change("namespaces", { name, subresource: "finalize" }, (current) => {
      const { finalizers, ...spec } = objectAt(current, "spec");
      const kept = (Array.isArray(finalizers) ? finalizers : []).filter((entry) => entry !== "kubernetes");
      return { ...current, spec: kept.length > 0 ? { ...spec, finalizers: kept } : spec };
    });
  }

  /** Pods first: what they still do on their way out may need the rest. Returns what finalizers or time keep. */
  async #deleteContent(namespace: string): Promise<Remaining[]> {
    const { backend, requester } = this.#context;
    const resources = [...backend.catalog.all()].filter((resource) => resource.namespaced && resource.table !== "");
    resources.sort((a, b) => Number(b.table === "pods") - Number(a.table === "pods"));
    const remaining: Remaining[] = [];
    for (const resource of resources) {
      const endpoint = storageEndpoint(resource);
      if (!endpoint) continue;
      for (const entry of backend.store.list(resource.table, `${namespace}/`)) {
        const { metadata } = fromStore(entry.object);
        if (metadata.deletionTimestamp !== undefined) continue;
        const target = { endpoint, namespace, name: metadata.name, subresource: undefined };
        const rest = backend.pace.rest();
        if (rest) await rest;
        try {
          await remove(backend, requester, target, { propagationPolicy: "Background", dryRun: false });
        } catch (error) {
          if (!(error instanceof StatusError && error.code === 404)) throw error;
        }
      }
      const objects = backend.store.list(resource.table, `${namespace}/`).map((entry) => fromStore(entry.object));
      if (objects.length > 0) remaining.push({ resource, objects });
      if (resource.table === "pods" && objects.length > 0) break;
    }
    return remaining;
  }

  async #report(name: string, remaining: readonly Remaining[]): Promise<void> {
    const conditions = stuckConditions(remaining, timestamp(this.#context.backend.clock.now()));
    await this.#change("namespaces", { name, subresource: "status" }, (current) => {
      const status = objectAt(current, "status");
      const known = Array.isArray(status.conditions) ? (status.conditions as Record<string, unknown>[]) : [];
      const merged = conditions.map((condition) => {
        const old = known.find((entry) => entry.type === condition.type);
        const same = old !== undefined && old.status === condition.status;
        return same ? { ...condition, lastTransitionTime: old.lastTransitionTime } : condition;
      });
      // What others say about the namespace stays.
      const others = known.filter((entry) => !conditions.some((condition) => condition.type === entry.type));
      merged.unshift(...others);
      return deepEqual(known, merged) ? current : { ...current, status: { ...status, conditions: merged } };
    });
  }

  async #change(plural: string, place: Place, next: (current: ApiObject) => ApiObject): Promise<void> {
    const { backend, requester } = this.#context;
    const endpoint = backend.catalog.storage("", plural);
    if (!endpoint) return;
    const target: Target = { endpoint, namespace: undefined, subresource: undefined, ...place };
    try {
      await update(backend, requester, target, WRITE, {
        by: "patch",
        tracked: false,
        next: (current) => structuredClone(next(current)),
      });
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }
}

type Place = Pick<Target, "name"> & Partial<Pick<Target, "namespace" | "subresource">>;

interface Remaining {
  readonly resource: Resource;
  readonly objects: readonly ApiObject[];
}

function stuckConditions(remaining: readonly Remaining[], now: string): Record<string, unknown>[] {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastTransitionTime: now,
    reason,
    message,
  });
  const counts = remaining.map(({ resource, objects }) => {
    const name = resource.group === "" ? `${resource.plural}.` : `${resource.plural}.${resource.group}`;
    return `${name} has ${objects.length} resource instances`;
  });
  const finalizers = new Map<string, number>();
  for (const { objects } of remaining) {
    for (const object of objects) {
      for (const finalizer of object.metadata.finalizers ?? []) {
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      }
    }
  }
  const held = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`);
  return [
    condition(
      "NamespaceDeletionDiscoveryFailure",
      "False",
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      "False",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    condition(
      "NamespaceDeletionContentFailure",
      "False",
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    condition(
      "NamespaceContentRemaining",
      "True",
      "SomeResourcesRemain",
      `Some resources are remaining: ${counts.join(", ")}`,
    ),
    held.length > 0
      ? condition(
          "NamespaceFinalizersRemaining",
          "True",
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${held.join(", ")}`,
        )
      : condition(
          "NamespaceFinalizersRemaining",
          "False",
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        ),
  ];
}
