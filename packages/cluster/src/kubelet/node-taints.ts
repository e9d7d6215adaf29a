import { deepEqual } from "@lotse/client/meta";
import { type Controller, type ControllerContext, WorkQueue } from "../controllers/index.ts";
import { type ApiObject, fromStore, listAt, objectAt } from "../registry/index.ts";
import { ComponentApi } from "./component-api.ts";

type Taint = Readonly<Record<string, unknown>>;

/** Which taint each state of a condition stands for. */
const BY_CONDITION: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: "not-ready", Unknown: "unreachable" },
  MemoryPressure: { True: "memory-pressure" },
  DiskPressure: { True: "disk-pressure" },
  NetworkUnavailable: { True: "network-unavailable" },
  PIDPressure: { True: "pid-pressure" },
};
const OWN: ReadonlySet<unknown> = new Set(
  Object.values(BY_CONDITION).flatMap((states) => Object.values(states).map((name) => `node.kubernetes.io/${name}`)),
);

/** The taints that a node should have: those that others gave it, and one for each condition that keeps pods away. */
export function taintsOf(node: ApiObject): Taint[] {
  const present = listAt(node, "spec", "taints");
  const wanted = new Set(
    listAt(node, "status", "conditions").flatMap(({ type, status }) => {
      const name = BY_CONDITION[String(type)]?.[String(status)];
      return name === undefined ? [] : [`node.kubernetes.io/${name}`];
    }),
  );
  const isOwn = ({ key, effect }: Taint) => OWN.has(key) && effect === "NoSchedule";
  const kept = present.filter((taint) => !isOwn(taint) || wanted.has(String(taint.key)));
  const there = new Set(kept.filter(isOwn).map(({ key }) => key));
  const added = [...wanted].filter((key) => !there.has(key)).map((key) => ({ key, effect: "NoSchedule" }));
  return [...kept, ...added];
}

/** Takes the taint of new nodes away when they are ready, and gives one to those that are not, or are short of something. */
export class NodeTaints implements Controller {
  readonly #context: ControllerContext;
  readonly #api: ComponentApi;
  readonly #queue: WorkQueue;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#api = new ComponentApi(context, "kube-controller-manager");
    this.#queue = new WorkQueue(context.backend, "the taints of nodes", (name) => this.#look(name));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    this.#queue.follow("nodes");
  }

  stop(): void {
    this.#api.close();
    this.#queue.stop();
  }

  async #look(key: string): Promise<void> {
    const entry = this.#context.backend.store.get("nodes", key);
    if (!entry) return;
    const node = fromStore(entry.object);
    if (deepEqual(taintsOf(node), listAt(node, "spec", "taints"))) return;
    await this.#api.change({ table: "nodes", namespace: undefined, name: node.metadata.name }, (current) => {
      const { taints: _, ...spec } = objectAt(current, "spec");
      const taints = taintsOf(current);
      return { ...current, spec: taints.length > 0 ? { ...spec, taints } : spec };
    });
  }
}
