import { type Controller, type ControllerContext, EventRecorder, WorkQueue } from "../../controllers/index.ts";
import { type ApiObject, fromStore, listAt, objectAt } from "../../registry/index.ts";
import { ComponentApi } from "../component-api.ts";
import { disruptedPod } from "../status.ts";
import { toleratesTaint } from "./scheduling-filters.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Makes pods go from nodes whose taints say so: at once, or when the time is over for which they tolerate it. */
export class TaintEviction implements Controller {
  readonly #context: ControllerContext;
  readonly #api: ComponentApi;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  /** Nodes with such taints: few, and mostly none. */
  readonly #tainted = new Map<string, readonly Fields[]>();
  /** When the time began for the pods that have some. */
  readonly #since = new Map<string, { readonly uid: string; readonly time: number; readonly due: number }>();
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#api = new ComponentApi(context, "kube-controller-manager");
    this.#events = new EventRecorder(context);
    this.#queue = new WorkQueue(context.backend, "the taint eviction controller", (key) => this.#sync(key));
  }

  get idle(): boolean {
    return this.#queue.idle && this.#events.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    this.#stopWatching = [
      store.watch("nodes", store.revision, ({ type, key, object }) => {
        this.#see(key, type === "deleted" ? [] : noExecute(fromStore(object)));
      }),
      store.watch("pods", store.revision, ({ type, key, object }) => {
        if (type === "deleted") this.#since.delete(key);
        else if (this.#tainted.has(nodeOf(fromStore(object)))) this.#queue.add(key);
      }),
    ];
    for (const { key, object } of store.list("nodes")) this.#see(key, noExecute(fromStore(object)));
  }

  stop(): void {
    this.#api.close();
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  #see(node: string, taints: readonly Fields[]): void {
    const before = this.#tainted.get(node) ?? [];
    if (JSON.stringify(before) === JSON.stringify(taints)) return;
    if (taints.length > 0) this.#tainted.set(node, taints);
    else this.#tainted.delete(node);
    for (const { key, object } of this.#context.backend.store.list("pods")) {
      if (nodeOf(fromStore(object)) === node) this.#queue.add(key);
    }
  }

  async #sync(key: string): Promise<void> {
    const { store, clock } = this.#context.backend;
    const entry = store.get("pods", key);
    const pod = entry && fromStore(entry.object);
    if (!pod || pod.metadata.deletionTimestamp !== undefined) {
      this.#since.delete(key);
      return;
    }
    const time = tolerated(listAt(pod, "spec", "tolerations"), this.#tainted.get(nodeOf(pod)) ?? []);
    const known = this.#since.get(key);
    const running = known?.uid === pod.metadata.uid ? known : undefined;
    if (time === undefined) {
      this.#since.delete(key);
      if (running) this.#tell(pod, `Cancelling deletion of Pod ${key}`);
      return;
    }
    const now = clock.now();
    const since = running?.time ?? now;
    // More time than there was at first is not given.
    const due = Math.min(running?.due ?? Number.POSITIVE_INFINITY, since + time * 1_000);
    if (due <= now) {
      this.#since.delete(key);
      await this.#evict(pod, key);
      return;
    }
    this.#since.set(key, { uid: pod.metadata.uid, time: since, due });
    this.#queue.addAfter(key, due - now);
  }

  async #evict(pod: ApiObject, key: string): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const which = { table: "pods", namespace, name };
    const now = this.#context.backend.clock.now();
    this.#tell(pod, `Marking for deletion Pod ${key}`);
    const why = "Taint manager: deleting due to NoExecute taint";
    await this.#api.change({ ...which, subresource: "status" }, (current) =>
      current.metadata.uid === uid ? disruptedPod(current, "DeletionByTaintManager", why, now) : current,
    );
    await this.#api.remove(which, { preconditions: { uid } });
  }

  #tell(pod: ApiObject, message: string): void {
    const note = { type: "Normal", reason: "TaintManagerEviction", message } as const;
    void this.#events.record({ component: "taint-eviction-controller" }, pod, note);
  }
}

const nodeOf = (pod: ApiObject): string => String(objectAt(pod, "spec").nodeName ?? "");

const noExecute = (node: ApiObject): Fields[] =>
  listAt(node, "spec", "taints").filter(({ effect }) => effect === "NoExecute");

/** How many seconds a pod may stay on a node with these taints; undefined: for ever. Pure. */
export function tolerated(tolerations: readonly Fields[], taints: readonly Fields[]): number | undefined {
  let least: number | undefined;
  for (const taint of taints) {
    const toleration = tolerations.find((one) => toleratesTaint(one, taint));
    if (!toleration) return 0;
    const { tolerationSeconds } = toleration;
    if (typeof tolerationSeconds === "number")
      least = Math.min(least ?? Number.POSITIVE_INFINITY, Math.max(0, tolerationSeconds));
  }
  return least;
}
