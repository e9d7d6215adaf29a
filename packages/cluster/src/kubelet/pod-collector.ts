import { type Controller, type ControllerContext, WorkQueue } from "../controllers/index.ts";
import {
  type ApiObject,
  fromStore,
  listAt,
  objectAt,
  remove,
  StatusError,
  storeKey,
  type Target,
  timestamp,
  update,
} from "../registry/index.ts";

/** A node that was away this long will not come back to its pods. */
const QUARANTINE_MS = 40_000;
const WRITE = { dryRun: false, fieldManager: "kube-controller-manager", fieldValidation: "Ignore" } as const;
const REASON = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" } as const;

/** Deletes pods whose node is gone: nobody else is left who could say that they have ended. */
export class PodCollector implements Controller {
  readonly #context: ControllerContext;
  /** By the names of nodes. */
  readonly #queue: WorkQueue;
  readonly #watched = new Set<string>();
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue(context.backend, (node) => this.#collect(node));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    this.#stopWatching = [
      store.watch("pods", store.revision, ({ type, object }) => {
        if (type !== "deleted") this.#suspect(nodeOf(fromStore(object)));
      }),
      store.watch("nodes", store.revision, ({ type, key }) => {
        if (type === "deleted") this.#suspect(key);
      }),
    ];
    for (const { object } of store.list("pods")) this.#suspect(nodeOf(fromStore(object)));
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  #suspect(node: string): void {
    if (node === "" || this.#watched.has(node) || this.#isThere(node)) return;
    this.#watched.add(node);
    this.#queue.addAfter(node, QUARANTINE_MS);
  }

  #isThere(node: string): boolean {
    return this.#context.backend.store.get("nodes", node) !== undefined;
  }

  async #collect(node: string): Promise<void> {
    this.#watched.delete(node);
    if (this.#isThere(node)) return;
    for (const { object } of this.#context.backend.store.list("pods")) {
      const pod = fromStore(object);
      if (nodeOf(pod) !== node) continue;
      const rest = this.#context.backend.pace.rest();
      if (rest) await rest;
      await this.#delete(pod);
    }
  }

  async #delete({ metadata: { namespace, name, uid } }: ApiObject): Promise<void> {
    const { backend, scope } = this.#context;
    const endpoint = backend.catalog.storage("", "pods");
    if (!endpoint) return;
    const target: Target = { endpoint, namespace, name, subresource: undefined };
    const now = backend.clock.now();
    try {
      if (!backend.store.get("pods", storeKey(namespace, name))) return;
      await update(backend, scope, { ...target, subresource: "status" }, WRITE, {
        by: "patch",
        tracked: false,
        next: (pod) => structuredClone({ ...pod, status: failed(pod, now) }),
      });
      await remove(backend, scope, target, { gracePeriodSeconds: 0, preconditions: { uid }, dryRun: false });
    } catch (error) {
      // Somebody else was quicker, which is what was wanted.
      if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
    }
  }
}

const nodeOf = (pod: ApiObject): string => String(objectAt(pod, "spec").nodeName ?? "");

/** The status of a pod that ends with its node. One that has ended before keeps how it did. */
function failed(pod: ApiObject, now: number): Record<string, unknown> {
  const status = objectAt(pod, "status");
  if (status.phase === "Succeeded" || status.phase === "Failed") return status;
  const others = listAt(pod, "status", "conditions").filter(({ type }) => type !== "DisruptionTarget");
  const disrupted = { type: "DisruptionTarget", status: "True", ...REASON };
  const conditions = [...others, { ...disrupted, lastProbeTime: null, lastTransitionTime: timestamp(now) }];
  return { ...status, phase: "Failed", conditions };
}
