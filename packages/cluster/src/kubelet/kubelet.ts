import { type Clock, deepClone } from "@lotse/client/meta";
import { type Controller, type ControllerContext, EventRecorder } from "../controllers/index.ts";
import {
  type ApiObject,
  badRequest,
  create,
  fromStore,
  objectAt,
  remove,
  StatusError,
  type Target,
  update,
  type WriteOptions,
} from "../registry/index.ts";
import type { PodConnection } from "./bytes.ts";
import { claimKeys, claimRefusal } from "./claims.ts";
import type { ContainerRecord } from "./containers.ts";
import { NodeImages } from "./images.ts";
import type { ContainerLog } from "./log.ts";
import { type NodeFacts, nodeObject, nodeStatus, refusal } from "./node.ts";
import { PodWorker, type PodWriter } from "./pod-worker.ts";
import type { ContainerRuntime, RunningContainer } from "./runtime.ts";
import { type Placement, schedulingEvent } from "./scheduling-events.ts";
import { bindPod, scheduledCondition, unschedulablePod } from "./status.ts";

export interface KubeletOptions {
  readonly context: ControllerContext;
  readonly node: NodeFacts;
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

const write = (fieldManager: string): WriteOptions => ({ dryRun: false, fieldManager, fieldValidation: "Ignore" });

/** One node: registers itself, takes every pod that nobody has taken, and looks after those that are its own. */
export class Kubelet implements Controller, NodePods {
  readonly #options: KubeletOptions;
  readonly #images: NodeImages;
  readonly #events: EventRecorder;
  readonly #workers = new Map<string, PodWorker>();
  /** Pods that were told why nobody takes them, and wait for the node or a claim to change. */
  readonly #refused = new Set<string>();
  #binding = 0;
  #placements = 0;
  #stopWatching: (() => void)[] = [];
  #stopped = false;

  constructor(options: KubeletOptions) {
    const { backend, scope } = options.context;
    this.#options = options;
    this.#images = new NodeImages(options.runtime.pullsImages);
    this.#events = new EventRecorder({ backend, scope: { ...scope, defaultManager: "kubelet" } });
  }

  get idle(): boolean {
    return this.#binding === 0 && this.#events.idle && [...this.#workers.values()].every((worker) => worker.idle);
  }

  get nodeName(): string {
    return this.#options.node.name;
  }

  start(): void {
    const { store } = this.#options.context.backend;
    this.#stopWatching = [
      store.watch("pods", store.revision, (change) => {
        if (change.type === "deleted") this.#gone(change.key);
        else this.#seen(change.key, fromStore(change.object));
      }),
      store.watch("nodes", store.revision, () => this.#lookAgain(() => true)),
      // Each claim has few pods that wait for it, and many others may wait for theirs.
      store.watch("persistentvolumeclaims", store.revision, ({ key }) =>
        this.#lookAgain((pod) => claimKeys(pod).includes(key)),
      ),
    ];
    for (const entry of store.list("pods")) this.#seen(entry.key, fromStore(entry.object));
  }

  /** Makes the node known; called once, when namespaces are there. */
  async register(): Promise<void> {
    const { context, node } = this.#options;
    const { clock } = context.backend;
    await this.#create("nodes", undefined, nodeObject(node));
    await this.#change("nodes", undefined, node.name, "status", (object) => ({
      ...object,
      status: nodeStatus(node, clock.now()),
    }));
    const time = new Date(clock.now()).toISOString().replace("Z", "000Z");
    await this.#create("leases.coordination.k8s.io", "kube-node-lease", {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: node.name, namespace: "kube-node-lease" },
      spec: { holderIdentity: node.name, leaseDurationSeconds: 40, renewTime: time },
    });
    for (const key of [...this.#refused]) this.#look(key);
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stopWatching) stop();
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
    const worker = this.#workers.get(`${pod.metadata.namespace}/${pod.metadata.name}`);
    return worker?.uid === pod.metadata.uid ? worker : undefined;
  }

  /** Pods without a node, of those that something has changed for. */
  #lookAgain(concerns: (pod: ApiObject) => boolean): void {
    const { store } = this.#options.context.backend;
    for (const key of [...this.#refused]) {
      const entry = store.get("pods", key);
      if (entry && !concerns(fromStore(entry.object))) continue;
      this.#refused.delete(key);
      this.#look(key);
    }
  }

  #look(key: string): void {
    const entry = this.#options.context.backend.store.get("pods", key);
    if (entry) this.#seen(key, fromStore(entry.object));
  }

  #seen(key: string, pod: ApiObject): void {
    const { nodeName } = objectAt(pod, "spec");
    if (nodeName === undefined || nodeName === "") {
      if (pod.metadata.deletionTimestamp === undefined) void this.#schedule(key, pod);
      return;
    }
    if (nodeName !== this.nodeName) return;
    const known = this.#workers.get(key);
    if (known?.uid === pod.metadata.uid) {
      known.update(pod);
      return;
    }
    if (known) this.#gone(key);
    const { phase } = objectAt(pod, "status");
    // What has ended before this node came up stays as it is.
    if ((phase === "Succeeded" || phase === "Failed") && pod.metadata.deletionTimestamp === undefined) return;
    const { context, runtime, node } = this.#options;
    const clock: Clock = context.backend.clock;
    const worker = new PodWorker(pod, {
      clock,
      runtime,
      images: this.#images,
      writer: this.#writerOf(pod),
      hostIp: node.ip,
    });
    this.#workers.set(key, worker);
    worker.wake();
  }

  #gone(key: string): void {
    this.#refused.delete(key);
    const worker = this.#workers.get(key);
    this.#workers.delete(key);
    void worker?.close();
  }

  async #schedule(key: string, pod: ApiObject): Promise<void> {
    const { backend } = this.#options.context;
    const entry = backend.store.get("nodes", this.nodeName);
    const { namespace, name } = pod.metadata;
    if (!entry) {
      this.#refused.add(key);
      return;
    }
    const why = refusal(fromStore(entry.object), pod, claimRefusal(backend.store, pod));
    if (why) this.#refused.add(key);
    this.#binding++;
    try {
      // The writer of the pod gets the answer first.
      await Promise.resolve();
      if (this.#stopped) return;
      const now = backend.clock.now();
      if (why) {
        // What was said before is not said again each time that somebody looks.
        const said = scheduledCondition(pod);
        if (said?.message === why.message && said?.reason === why.reason) return;
        if (said?.message !== why.message) await this.#tellPlacement(pod, { refused: why.message });
        await this.#change("pods", namespace, name, "status", (object) =>
          unschedulablePod(object, why.reason, why.message, now),
        );
      } else {
        await this.#change("pods", namespace, name, "binding", (object) =>
          objectAt(object, "spec").nodeName ? object : bindPod(object, this.nodeName, now),
        );
        await this.#tellPlacement(pod, { node: this.nodeName });
      }
    } catch {
      // Refused for now, by admission for instance; the next change of the pod or the node brings it back.
      this.#refused.add(key);
    } finally {
      this.#binding--;
    }
  }

  #writerOf(pod: ApiObject): PodWriter {
    const { name, namespace, uid } = pod.metadata;
    return {
      report: (next) =>
        this.#change("pods", namespace, name, "status", (object) =>
          object.metadata.uid === uid ? { ...object, status: next(object) } : object,
        ),
      erase: () => this.#erase(namespace, name, uid),
      event: (note) => void this.#events.record({ component: "kubelet", host: this.nodeName }, pod, note),
    };
  }

  async #erase(namespace: string | undefined, name: string, uid: string): Promise<void> {
    const { backend, scope } = this.#options.context;
    const target = this.#target("pods", namespace, name, undefined);
    if (!target) return;
    const options = { gracePeriodSeconds: 0, preconditions: { uid }, dryRun: false };
    const rest = backend.pace.rest();
    if (rest) await rest;
    await ignoring([404, 409], remove(backend, scope, target, options));
  }

  /** Nobody depends on events: one that cannot be written is not worth a word. */
  async #tellPlacement(pod: ApiObject, placement: Placement): Promise<void> {
    const now = this.#options.context.backend.clock.now();
    const event = schedulingEvent(pod, placement, this.nodeName, now, this.#placements++);
    await this.#create("events", pod.metadata.namespace, event, "kube-scheduler").catch(() => {});
  }

  #target(table: string, namespace: string | undefined, name: string | undefined, subresource: string | undefined) {
    const [plural = "", ...group] = table.split(".");
    const endpoint = this.#options.context.backend.catalog.storage(group.join("."), plural);
    return endpoint && ({ endpoint, namespace, name, subresource } satisfies Target);
  }

  async #create(
    table: string,
    namespace: string | undefined,
    object: Record<string, unknown>,
    manager = "kubelet",
  ): Promise<void> {
    const { backend, scope } = this.#options.context;
    const target = this.#target(table, namespace, undefined, undefined);
    if (!target || this.#stopped) return;
    const rest = backend.pace.rest();
    if (rest) await rest;
    await ignoring([409], create(backend, scope, target, object as unknown as ApiObject, write(manager)));
  }

  async #change(
    table: string,
    namespace: string | undefined,
    name: string,
    subresource: string,
    next: (object: ApiObject) => ApiObject,
  ): Promise<void> {
    const { backend, scope } = this.#options.context;
    const target = this.#target(table, namespace, name, subresource);
    if (!target || this.#stopped) return;
    const manager = subresource === "binding" ? "kube-scheduler" : "kubelet";
    const change = {
      by: "patch",
      tracked: false,
      next: (current: ApiObject) => deepClone(next(current)),
    } as const;
    const rest = backend.pace.rest();
    if (rest) await rest;
    await ignoring([404], update(backend, scope, target, write(manager), change));
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

/** Gone meanwhile, or made anew: there is nothing left to do. */
async function ignoring(codes: readonly number[], work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StatusError && codes.includes(error.code))) throw error;
  }
}
