import type { Clock } from "@lotse/client/meta";
import type { PodConnection } from "../bytes/index.ts";
import { type Controller, type ControllerContext, EventRecorder } from "../controllers/index.ts";
import { type ApiObject, badRequest, fromStore, objectAt, storeKey } from "../registry/index.ts";
import { ComponentApi } from "./component-api.ts";
import type { ContainerRecord } from "./containers.ts";
import { NodeImages } from "./images.ts";
import type { ContainerLog } from "./log.ts";
import { type NodeDescription, nodeObject, nodeStatus } from "./node.ts";
import { type Rejection, rejectedStatus, rejectionOf } from "./node-admission.ts";
import { PodWorker, type PodWriter } from "./pod-worker.ts";
import type { Shortage } from "./resize.ts";
import type { ContainerRuntime, RunningContainer } from "./runtime.ts";
import { demandOf } from "./scheduling/scheduling-demand.ts";
import { allocatableOf } from "./scheduling/scheduling-filters.ts";
import { NodeLoad } from "./scheduling/scheduling-ledger.ts";

/** The node, its runtime, and what the kubelet writes through. */
export interface KubeletOptions {
  readonly context: ControllerContext;
  readonly node: NodeDescription;
  readonly runtime: ContainerRuntime;
}

/** What the API asks of a node about the pods that run there. */
export interface NodePods {
  readonly nodeName: string;
  /** The log of a container's present or previous run; a {@link StatusError} says why there is none. */
  log(pod: ApiObject, container: string, previous: boolean): ContainerLog;
  /** Undefined when the container does not run. */
  container(pod: ApiObject, container: string): RunningContainer | undefined;
  /** Connects to a port of the pod. */
  connect(pod: ApiObject, port: number): Promise<PodConnection>;
}

const RETRY_MS = 1_000;

/** One node: registers itself, and looks after the pods that were put on it. */
export class Kubelet implements Controller, NodePods {
  readonly #options: KubeletOptions;
  readonly #images: NodeImages;
  readonly #events: EventRecorder;
  readonly #workers = new Map<string, PodWorker>();
  readonly #api: ComponentApi;
  /** Pods that are being sent back. */
  readonly #rejecting = new Set<string>();
  /** Pods that could not be sent back yet, by uid: how to try that no more. */
  readonly #retries = new Map<string, () => void>();
  /** What the pods here were given. */
  readonly #load = new NodeLoad();
  /** Pods that were refused another size for now. */
  readonly #deferred = new Set<string>();
  #stopWatching = () => {};

  constructor(options: KubeletOptions) {
    const { backend, requester } = options.context;
    this.#options = options;
    this.#api = new ComponentApi(options.context, "kubelet");
    this.#images = new NodeImages(options.runtime.pullsImages);
    this.#events = new EventRecorder({ backend, requester: { ...requester, defaultManager: "kubelet" } });
  }

  get idle(): boolean {
    return (
      this.#events.idle && this.#rejecting.size === 0 && [...this.#workers.values()].every((worker) => worker.idle)
    );
  }

  get nodeName(): string {
    return this.#options.node.name;
  }

  start(): void {
    const { store } = this.#options.context.backend;
    this.#stopWatching = store.watch("pods", store.revision, (change) => {
      if (change.type === "deleted") this.#gone(change.key);
      else this.#seen(change.key, fromStore(change.object));
    });
    for (const entry of store.list("pods")) this.#seen(entry.key, fromStore(entry.object));
  }

  /** Makes the node known; called once, when namespaces are there. */
  async register(): Promise<void> {
    const { context, node } = this.#options;
    const { clock } = context.backend;
    await this.#api.create("nodes", undefined, nodeObject(node));
    const which = { table: "nodes", namespace: undefined, name: node.name, subresource: "status" };
    await this.#api.change(which, (object) => ({ ...object, status: nodeStatus(node, clock.now()) }));
    const time = new Date(clock.now()).toISOString().replace("Z", "000Z");
    await this.#api.create("leases.coordination.k8s.io", "kube-node-lease", {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: node.name, namespace: "kube-node-lease" },
      spec: { holderIdentity: node.name, leaseDurationSeconds: 40, renewTime: time },
    });
  }

  stop(): void {
    this.#api.close();
    this.#stopWatching();
    for (const cancel of this.#retries.values()) cancel();
  }

  /** Ends everything that runs on the node. */
  async close(): Promise<void> {
    this.stop();
    await Promise.all([...this.#workers.values()].map((worker) => worker.close()));
    await this.#options.runtime.close();
  }

  log(pod: ApiObject, name: string, previous: boolean): ContainerLog {
    const record = this.#workerOf(pod)?.record(name);
    const where = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata.name)}`;
    if (!record) throw badRequest(`${where} is not available`);
    if (previous) {
      // A container that waits to be started again has its last run behind it.
      const log = record.state.at === "waiting" || record.state.at === "starting" ? record.log : record.previousLog;
      if (record.last && log) return log;
      throw badRequest(`previous terminated ${where} not found`);
    }
    if (record.log) return record.log;
    throw badRequest(`${where} is waiting to start: ${waitingReason(record)}`);
  }

  container(pod: ApiObject, name: string): RunningContainer | undefined {
    const state = this.#workerOf(pod)?.record(name)?.state;
    return state?.at === "running" ? state.container : undefined;
  }

  async connect(pod: ApiObject, port: number): Promise<PodConnection> {
    const sandbox = this.#workerOf(pod)?.sandbox;
    if (!sandbox) throw new Error(`pod ${pod.metadata.name} does not run yet`);
    return sandbox.connect(port);
  }

  #workerOf(pod: ApiObject): PodWorker | undefined {
    const worker = this.#workers.get(storeKey(pod.metadata.namespace, pod.metadata.name));
    return worker?.uid === pod.metadata.uid ? worker : undefined;
  }

  #seen(key: string, pod: ApiObject): void {
    const { nodeName } = objectAt(pod, "spec");
    if (nodeName !== this.nodeName) return;
    const known = this.#workers.get(key);
    if (known?.uid === pod.metadata.uid) {
      const { phase } = objectAt(pod, "status");
      if (phase === "Succeeded" || phase === "Failed") this.#free(key);
      known.update(pod);
      return;
    }
    if (known) this.#gone(key);
    const { phase } = objectAt(pod, "status");
    // What has ended before this node came up stays as it is.
    if ((phase === "Succeeded" || phase === "Failed") && pod.metadata.deletionTimestamp === undefined) return;
    const { context, runtime, node } = this.#options;
    const clock: Clock = context.backend.clock;
    const rejection = phase === "Succeeded" || phase === "Failed" ? undefined : rejectionOf(pod);
    if (rejection) {
      this.#reject(key, pod, rejection);
      return;
    }
    const worker = new PodWorker(pod, {
      clock,
      runtime,
      images: this.#images,
      writer: this.#writerOf(pod),
      hostIp: node.ip,
      allocate: (wanted) => this.#allocate(key, wanted),
    });
    this.#workers.set(key, worker);
    this.#load.add(demandOf(key, pod));
    worker.wake();
  }

  #gone(key: string): void {
    const worker = this.#workers.get(key);
    this.#workers.delete(key);
    this.#deferred.delete(key);
    this.#free(key);
    worker?.close().catch((error: unknown) => this.#report(`what was left of pod ${key} could not be removed`, error));
  }

  #free(key: string): void {
    if (!this.#load.pods.has(key)) return;
    this.#load.drop(key);
    this.#retryDeferred();
  }

  /** Pods that wait for more than there was get another chance. */
  #retryDeferred(): void {
    const waiting = [...this.#deferred];
    this.#deferred.clear();
    for (const key of waiting) this.#workers.get(key)?.wake();
  }

  #allocate(key: string, pod: ApiObject): Shortage | undefined {
    const entry = this.#options.context.backend.store.get("nodes", this.nodeName);
    const allocatable = entry ? allocatableOf(fromStore(entry.object)) : new Map<string, number>();
    const own = this.#load.pods.get(key)?.requests;
    const demand = demandOf(key, pod);
    for (const [name, requested] of demand.requests) {
      const used = this.#load.used(name) - (own?.get(name) ?? 0);
      const capacity = allocatable.get(name) ?? 0;
      if (requested <= capacity - used || requested <= (own?.get(name) ?? 0)) continue;
      this.#deferred.add(key);
      const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
      return { message };
    }
    this.#load.add(demand);
    this.#retryDeferred();
    return undefined;
  }

  /** What a node sends back has failed, and is not looked at again. */
  #reject(key: string, pod: ApiObject, rejection: Rejection): void {
    const { uid } = pod.metadata;
    if (this.#rejecting.has(uid)) return;
    this.#rejecting.add(uid);
    const { clock, store } = this.#options.context.backend;
    const { event, report } = this.#writerOf(pod);
    event({ type: "Warning", ...rejection });
    const again = () => {
      this.#retries.delete(uid);
      const entry = store.get("pods", key);
      if (entry) this.#seen(key, fromStore(entry.object));
    };
    report((current) => rejectedStatus(current, rejection, clock.now()))
      .catch((error: unknown) => {
        this.#report(`the kubelet could not write that pod ${key} is sent back`, error);
        this.#retries.get(uid)?.();
        this.#retries.set(uid, clock.after(RETRY_MS, again));
      })
      .finally(() => this.#rejecting.delete(uid));
  }

  #report(work: string, error: unknown): void {
    this.#options.context.backend.troubles.report(work, error);
  }

  #writerOf(pod: ApiObject): PodWriter {
    const { name, namespace, uid } = pod.metadata;
    const which = { table: "pods", namespace, name };
    return {
      report: (next) =>
        this.#api.change({ ...which, subresource: "status" }, (object) =>
          object.metadata.uid === uid ? { ...object, status: next(object) } : object,
        ),
      erase: () => this.#api.remove(which, { gracePeriodSeconds: 0, preconditions: { uid } }),
      trouble: (work, error) => this.#options.context.backend.troubles.reportUnlessRace(work, error),
      event: (note) => void this.#events.record({ component: "kubelet", host: this.nodeName }, pod, note),
    };
  }
}

function waitingReason({ state }: ContainerRecord): string {
  if (state.at !== "waiting" && state.at !== "starting") return "ContainerCreating";
  switch (state.reason) {
    case "ErrImagePull":
      return "image can't be pulled";
    case "ImagePullBackOff":
      return "trying and failing to pull image";
    default:
      return state.reason;
  }
}
