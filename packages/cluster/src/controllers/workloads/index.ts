import { lookup } from "@lotse/client/meta";
import { type ApiObject, create, fromStore, objectAt, StatusError } from "../../registry/index.ts";
import type { Controller, ControllerContext } from "../controller.ts";
import type { WorkloadName } from "./names.ts";

export { type EventNote, EventRecorder, type EventSource } from "./events.ts";
export type { WorkloadName } from "./names.ts";
export { matchesNode } from "./placement.ts";

interface Trigger {
  readonly for: WorkloadName;
  readonly when?: (object: ApiObject) => boolean;
}

/** The server's own Endpoints carry it; the mirror does not look at them. */
const SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";

/** Objects whose arrival means that there is work for a controller. */
const TRIGGERS: Readonly<Record<string, Trigger>> = {
  "deployments.apps": { for: "deployments" },
  "replicasets.apps": { for: "replicaSets" },
  replicationcontrollers: { for: "replicaSets" },
  "statefulsets.apps": { for: "statefulSets" },
  "daemonsets.apps": { for: "daemonSets" },
  "jobs.batch": { for: "jobs" },
  "cronjobs.batch": { for: "cronJobs" },
  persistentvolumeclaims: { for: "volumes" },
  persistentvolumes: { for: "volumes" },
  endpoints: { for: "endpoints", when: ({ metadata }) => metadata.labels?.[SKIP_MIRROR] !== "true" },
  services: { for: "endpoints", when: (service) => objectAt(service, "spec").selector !== undefined },
};

const STORAGE_CLASSES = "storageclasses.storage.k8s.io";

/** The storage class of claims that name none. */
const STANDARD_CLASS = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: "lotse.dev/simulated",
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
};

/**
 * The controllers that make pods out of workloads, addresses out of services and volumes out of claims. They are loaded
 * when the first object comes that one of them is for: a cluster that holds nothing of the kind does not pay for them.
 */
export class WorkloadControllers implements Controller {
  readonly #context: ControllerContext;
  readonly #isOn: (name: WorkloadName) => boolean;
  #controllers: Controller | undefined;
  #busy = 0;
  #loading = false;
  #stopped = false;
  #stopWatching: (() => void) | undefined;

  constructor(context: ControllerContext, isOn: (name: WorkloadName) => boolean) {
    this.#context = context;
    this.#isOn = isOn;
  }

  get idle(): boolean {
    return this.#busy === 0 && (this.#controllers?.idle ?? true);
  }

  start(): void {
    const { store, provisions } = this.#context.backend;
    const triggered = (table: string, object: ApiObject) => {
      const trigger = lookup(TRIGGERS, table);
      return trigger !== undefined && this.#isOn(trigger.for) && trigger.when?.(object) !== false;
    };
    this.#stopWatching = store.watchAll((table, change) => {
      if (change.type !== "deleted" && triggered(table, fromStore(change.object))) this.#load();
    });
    for (const table of Object.keys(TRIGGERS)) {
      if (store.list(table).some(({ object }) => triggered(table, fromStore(object)))) this.#load();
    }
    if (this.#isOn("volumes")) provisions?.set(STORAGE_CLASSES, () => this.#makeStandardClass());
  }

  stop(): void {
    this.#stopped = true;
    this.#stopWatching?.();
    this.#controllers?.stop();
  }

  async #startControllers(): Promise<void> {
    const { createControllers } = await import("./controllers.ts");
    await this.#context.backend.provisions?.need(STORAGE_CLASSES);
    if (this.#stopped) return;
    const controllers = createControllers(this.#context, this.#isOn);
    this.#controllers = controllers;
    try {
      controllers.start();
    } catch (error) {
      controllers.stop();
      throw error;
    }
    this.#stopWatching?.();
  }

  async #makeStandardClass(): Promise<void> {
    const { backend, requester } = this.#context;
    const endpoint = backend.catalog.storage("storage.k8s.io", "storageclasses");
    if (!endpoint || backend.store.get(endpoint.resource.table, STANDARD_CLASS.metadata.name)) return;
    const target = { endpoint, namespace: undefined, name: undefined, subresource: undefined };
    const options = { dryRun: false, fieldManager: requester.defaultManager, fieldValidation: "Ignore" } as const;
    try {
      await create(backend, requester, target, structuredClone(STANDARD_CLASS) as unknown as ApiObject, options);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  }

  #load(): void {
    if (this.#loading) return;
    this.#loading = true;
    this.#busy++;
    this.#startControllers()
      .catch((error: unknown) => {
        this.#context.backend.troubles.report("the controllers of workloads do not run", error);
        // The next object that needs them has them tried again.
        this.#controllers = undefined;
        this.#loading = false;
      })
      .finally(() => this.#busy--);
  }
}
