import { type Controller, type ControllerContext, WorkQueue } from "../controllers/index.ts";
import { type ApiObject, fromStore, listAt, objectAt } from "../registry/index.ts";
import { ComponentApi } from "./component-api.ts";
import { disruptedPod } from "./status.ts";

/** A node that was away this long will not come back to its pods. */
const QUARANTINE_MS = 40_000;
/** How long others have for what they leave to this one in the end. */
const PATIENCE_MS = 20_000;
/** So many pods that have ended are kept. */
const KEPT = 12_500;
const TERMINATED = "terminated";
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

/**
 * Deletes pods that no kubelet and no other controller will: those whose node is gone, those that were deleted and whose
 * node is out of service, those that were deleted before any node had them and are still there, and the oldest of those
 * that have ended when they are too many.
 */
export class PodCollector implements Controller {
  readonly #context: ControllerContext;
  readonly #api: ComponentApi;
  readonly #kept: number;
  /** By `node/NAME`, `pod/KEY` and `terminated`. */
  readonly #queue: WorkQueue;
  readonly #waiting = new Set<string>();
  readonly #terminated = new Set<string>();
  #stopWatching: (() => void)[] = [];

  /** `kept`: how many pods that have ended may stay. */
  constructor(context: ControllerContext, kept = KEPT) {
    this.#context = context;
    this.#kept = kept;
    this.#api = new ComponentApi(context, "kube-controller-manager");
    this.#queue = new WorkQueue(context.backend, "the collector of pods", (key) => this.#collect(key));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    this.#stopWatching = [
      store.watch("pods", store.revision, ({ type, key, object }) => {
        if (type === "deleted") this.#terminated.delete(key);
        else this.#see(key, fromStore(object));
      }),
      store.watch("nodes", store.revision, ({ type, key, object }) => {
        if (type === "deleted") this.#suspect(key);
        else if (isOutOfService(fromStore(object))) this.#strand(key);
      }),
    ];
    for (const { key, object } of store.list("pods")) this.#see(key, fromStore(object));
  }

  stop(): void {
    this.#api.close();
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  #see(key: string, pod: ApiObject): void {
    this.#suspect(nodeOf(pod));
    if (this.#isStranded(pod)) this.#later(`pod/${key}`, PATIENCE_MS);
    if (hasEnded(pod)) {
      this.#terminated.add(key);
      if (this.#terminated.size > this.#kept) this.#later(TERMINATED, PATIENCE_MS);
    } else if (isLeftOver(pod)) this.#later(`pod/${key}`, PATIENCE_MS);
  }

  /** Whether it is to go and its node, which is out of service, will not say when it has. */
  #isStranded(pod: ApiObject): boolean {
    if (pod.metadata.deletionTimestamp === undefined) return false;
    const node = this.#context.backend.store.get("nodes", nodeOf(pod));
    return node !== undefined && isOutOfService(fromStore(node.object));
  }

  #strand(node: string): void {
    for (const { key, object } of this.#context.backend.store.list("pods")) {
      const pod = fromStore(object);
      if (pod.metadata.deletionTimestamp !== undefined && nodeOf(pod) === node) this.#later(`pod/${key}`, PATIENCE_MS);
    }
  }

  #suspect(node: string): void {
    if (node !== "" && !this.#isThere(node)) this.#later(`node/${node}`, QUARANTINE_MS);
  }

  #later(what: string, ms: number): void {
    if (this.#waiting.has(what)) return;
    this.#waiting.add(what);
    this.#queue.addAfter(what, ms);
  }

  #isThere(node: string): boolean {
    return this.#context.backend.store.get("nodes", node) !== undefined;
  }

  async #collect(what: string): Promise<void> {
    this.#waiting.delete(what);
    if (what === TERMINATED) return this.#collectTerminated();
    const name = what.slice(what.indexOf("/") + 1);
    if (what.startsWith("node/")) return this.#collectNode(name);
    const pod = this.#podAt(name);
    if (pod && (isLeftOver(pod) || this.#isStranded(pod))) await this.#delete(pod);
  }

  async #collectNode(node: string): Promise<void> {
    if (this.#isThere(node)) return;
    for (const { object } of this.#context.backend.store.list("pods")) {
      const pod = fromStore(object);
      if (nodeOf(pod) === node) await this.#delete(pod, "PodGC: node no longer exists");
    }
  }

  async #collectTerminated(): Promise<void> {
    const pods = [...this.#terminated].flatMap((key) => this.#podAt(key) ?? []);
    for (const pod of pods.sort(dispensableFirst).slice(0, Math.max(0, pods.length - this.#kept)))
      await this.#delete(pod);
  }

  #podAt(key: string): ApiObject | undefined {
    const entry = this.#context.backend.store.get("pods", key);
    return entry && fromStore(entry.object);
  }

  /** One that has not ended yet has failed. */
  async #delete(pod: ApiObject, because?: string): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const which = { table: "pods", namespace, name };
    const now = this.#context.backend.clock.now();
    await this.#api.change({ ...which, subresource: "status" }, (current) => {
      if (current.metadata.uid !== uid || hasEnded(current)) return current;
      const told = because === undefined ? current : disruptedPod(current, "DeletionByPodGC", because, now);
      return { ...told, status: { ...objectAt(told, "status"), phase: "Failed" } };
    });
    await this.#api.remove(which, { gracePeriodSeconds: 0, preconditions: { uid } });
  }
}

/** It is not ready, and an administrator has said that it will not come back as it was. */
function isOutOfService(node: ApiObject): boolean {
  const ready = listAt(node, "status", "conditions").some(({ type, status }) => type === "Ready" && status === "True");
  return !ready && listAt(node, "spec", "taints").some(({ key }) => key === OUT_OF_SERVICE);
}

const nodeOf = (pod: ApiObject): string => String(objectAt(pod, "spec").nodeName ?? "");

function hasEnded(pod: ApiObject): boolean {
  const { phase } = objectAt(pod, "status");
  return phase === "Succeeded" || phase === "Failed";
}

/** Whether it was deleted before a node had it, and something holds it still. */
const isLeftOver = (pod: ApiObject): boolean =>
  pod.metadata.deletionTimestamp !== undefined && nodeOf(pod) === "" && !hasEnded(pod);

/** Evicted ones first, then the oldest. */
function dispensableFirst(a: ApiObject, b: ApiObject): number {
  const evicted = (pod: ApiObject) => (objectAt(pod, "status").reason === "Evicted" ? 0 : 1);
  const made = ({ metadata }: ApiObject) => `${metadata.creationTimestamp} ${metadata.name}`;
  return evicted(a) - evicted(b) || (made(a) < made(b) ? -1 : 1);
}
