import type { Controller, ControllerContext } from "../../controllers/index.ts";
import { type ApiObject, fromStore, listAt, objectAt, StatusError } from "../../registry/index.ts";
import { claimKeys, claimRefusal } from "../claims.ts";
import { ComponentApi } from "../component-api.ts";
import { bindPod, disruptedPod, nominatedPod, scheduledCondition, unschedulablePod } from "../status.ts";
import { type Demand, demandOf, priorityOf, sameDemand, signatureOf } from "./scheduling-demand.ts";
import { type Placement, schedulingEvent } from "./scheduling-events.ts";
import { allocatableOf, dislike, loadRefusal, nodeRefusal, type Refusal, unavailable } from "./scheduling-filters.ts";
import { Ledger } from "./scheduling-ledger.ts";
import { isMakingRoom, leastPainful, type Place, type Sacrifice, sacrificeOn } from "./scheduling-preemption.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";

/** The name that pods ask for it by. */
const NAME = "default-scheduler";
const RETRY_MS = 1_000;
/** So many decisions are made before others get their turn. */
const AT_ONCE = 16;
/** So many verdicts are remembered at most. */
const VERDICTS = 1_024;
const NOT_HELPFUL = "Preemption is not helpful for scheduling";
const BUDGETS = "poddisruptionbudgets.policy";

interface KnownNode {
  readonly node: ApiObject;
  readonly allocatable: ReadonlyMap<string, number>;
  /** All of it that matters here. */
  readonly digest: string;
}

type Verdict =
  | { readonly at: "placed"; readonly node: string }
  | { readonly at: "refused"; readonly reason: string; readonly message: string; readonly sacrifice?: Sacrifice };

/**
 * Puts pods on nodes: where they fit, with what they ask for, most important first. Those that fit nowhere are told why,
 * and tried again when a node, a claim or another pod changes; more important ones make others go.
 *
 * Taken into account: node names, selectors and affinities, taints, ports of the node, resources. Not: where other pods
 * are (affinity between pods, spreading), as there is one node that runs anything.
 */
export class Scheduler implements Controller {
  readonly #context: ControllerContext;
  /** The node that runs pods; others are taken when this one does not. */
  readonly #preferred: string;
  readonly #api: ComponentApi;
  readonly #queue = new SchedulingQueue();
  readonly #ledger = new Ledger();
  readonly #nodes = new Map<string, KnownNode>();
  /** Pods for which others make room, by node. */
  readonly #nominated = new Map<string, Map<string, Demand>>();
  /** Which version of a pod the ledger knows. */
  readonly #counted = new Map<string, string>();
  /** What was said to pods that are alike, as long as nodes and pods stay as they are. */
  readonly #verdicts = new Map<string, Verdict>();
  #verdictsOf = 0;
  readonly #retries = new Map<string, () => void>();
  /** Pods about which something is being written; decisions do not wait for that. */
  readonly #writing = new Map<string, "placed" | "refused">();
  /** Pods whose turn came while something was being written about them. */
  readonly #again = new Set<string>();
  #changes = 0;
  #changed = false;
  #running = false;
  #stopped = false;
  #serial = 0;
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext, preferred: string) {
    this.#context = context;
    this.#preferred = preferred;
    this.#api = new ComponentApi(context, "kube-scheduler");
  }

  /** How many verdicts it remembers: those since the last change, one for all pods that are alike. */
  get remembered(): number {
    return this.#verdicts.size;
  }

  get idle(): boolean {
    return !this.#running && this.#writing.size === 0;
  }

  start(): void {
    const { store } = this.#context.backend;
    this.#stopWatching = [
      store.watch("nodes", store.revision, ({ type, key, object }) => {
        if (type === "deleted") this.#nodeGone(key);
        else this.#nodeSeen(key, fromStore(object));
      }),
      store.watch("pods", store.revision, ({ type, key, object }) => {
        if (type === "deleted") this.#gone(key);
        else this.#seen(key, fromStore(object));
      }),
      store.watch("persistentvolumeclaims", store.revision, ({ key }) => this.#claimChanged(key)),
    ];
    for (const { key, object } of store.list("nodes")) this.#nodeSeen(key, fromStore(object));
    for (const { key, object } of store.list("pods")) this.#seen(key, fromStore(object));
  }

  stop(): void {
    this.#stopped = true;
    this.#api.close();
    for (const stop of this.#stopWatching) stop();
    for (const cancel of this.#retries.values()) cancel();
    this.#retries.clear();
  }

  #nodeSeen(name: string, node: ApiObject): void {
    const { unschedulable, taints } = objectAt(node, "spec");
    const { allocatable } = objectAt(node, "status");
    const digest = JSON.stringify([node.metadata.labels, unschedulable, taints, allocatable]);
    if (this.#nodes.get(name)?.digest === digest) return;
    this.#nodes.set(name, { node, allocatable: allocatableOf(node), digest });
    this.#change(true);
  }

  #nodeGone(name: string): void {
    this.#nodes.delete(name);
    this.#change(true);
  }

  #gone(key: string): void {
    this.#queue.forget(key);
    this.#denominate(key);
    this.#uncount(key);
  }

  #seen(key: string, pod: ApiObject): void {
    const { nodeName, schedulerName = NAME } = objectAt(pod, "spec");
    if (typeof nodeName === "string" && nodeName !== "") {
      this.#queue.forget(key);
      this.#denominate(key);
      this.#count(key, pod, nodeName);
      return;
    }
    const { uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined || schedulerName !== NAME) {
      this.#gone(key);
      return;
    }
    // It has its place already, and will be told.
    if (this.#writing.get(key) === "placed") return;
    this.#queue.offer(key, { uid, signature: signatureOf(pod), priority: priorityOf(pod), claims: claimKeys(pod) });
    const { nominatedNodeName } = objectAt(pod, "status");
    if (typeof nominatedNodeName === "string" && nominatedNodeName !== "") {
      this.#nominate(nominatedNodeName, demandOf(key, pod));
    }
    this.#wake();
  }

  #count(key: string, pod: ApiObject, node: string): void {
    const { phase } = objectAt(pod, "status");
    if (phase === "Succeeded" || phase === "Failed") {
      this.#uncount(key);
      return;
    }
    const version = `${pod.metadata.uid} ${pod.metadata.generation} ${node}`;
    if (this.#counted.get(key) === version) return;
    this.#counted.set(key, version);
    const demand = demandOf(key, pod);
    const before = this.#ledger.load(node).pods.get(key);
    if (before && sameDemand(before, demand)) return;
    this.#ledger.put(node, demand);
    // Another size of the same pod may leave more for others.
    this.#change(before !== undefined);
  }

  #uncount(key: string): void {
    this.#counted.delete(key);
    if (this.#ledger.drop(key)) this.#change(true);
  }

  #nominate(node: string, demand: Demand): void {
    this.#denominate(demand.key);
    const known = this.#nominated.get(node) ?? new Map();
    this.#nominated.set(node, known);
    known.set(demand.key, demand);
  }

  #denominate(key: string): void {
    for (const [node, known] of this.#nominated) {
      if (known.delete(key) && known.size === 0) this.#nominated.delete(node);
    }
  }

  /** Nodes or pods have changed. `forBetter`: a pod that was refused may have a chance now. */
  #change(forBetter: boolean): void {
    this.#changes++;
    if (!forBetter) return;
    this.#changed = true;
    this.#wake();
  }

  /** Only those that name the claim may have a chance now. */
  #claimChanged(claim: string): void {
    this.#change(false);
    this.#queue.wakeFor(claim);
    if (!this.#queue.isEmpty) this.#wake();
  }

  #wake(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // The client that wrote the change gets its answer first.
    await Promise.resolve();
    for (let made = 1; !this.#stopped; made++) {
      if (this.#changed) {
        this.#changed = false;
        this.#queue.wake();
      }
      const key = this.#queue.next();
      if (key === undefined) break;
      if (this.#writing.has(key)) this.#again.add(key);
      else {
        try {
          this.#schedule(key);
        } catch (error) {
          // What cannot be read now may be put right; others must not wait for it.
          this.#failed(key, error);
        }
      }
      const rest = made % AT_ONCE === 0 ? this.#context.backend.pace.rest() : undefined;
      // Nothing but the end of the cluster ends the wait with an error.
      if (rest) await rest.catch(() => this.stop());
    }
    this.#running = false;
  }

  /** Writes what was decided about a pod. */
  #write(key: string, what: "placed" | "refused", work: Promise<void>): void {
    this.#writing.set(key, what);
    work
      .catch((error: unknown) => {
        // Refused for now, by admission for instance.
        if (what === "placed") this.#uncount(key);
        this.#failed(key, error);
      })
      .finally(() => {
        this.#writing.delete(key);
        if (!this.#again.delete(key)) return;
        this.#queue.activate(key);
        this.#wake();
      });
  }

  #failed(key: string, error: unknown): void {
    if (this.#stopped) return;
    this.#context.backend.troubles.reportUnlessRace(`the scheduler failed at pod ${key}`, error);
    this.#retry(key);
  }

  #retry(key: string): void {
    this.#retries.get(key)?.();
    const cancel = this.#context.backend.clock.after(RETRY_MS, () => {
      this.#retries.delete(key);
      const pod = this.#podAt(key);
      if (!pod) return;
      this.#seen(key, pod);
      this.#queue.activate(key);
      this.#wake();
    });
    this.#retries.set(key, cancel);
  }

  #podAt(key: string): ApiObject | undefined {
    const entry = this.#context.backend.store.get("pods", key);
    return entry && fromStore(entry.object);
  }

  #schedule(key: string): void {
    const pod = this.#podAt(key);
    const signature = this.#queue.signature(key);
    if (!pod || signature === undefined) return;
    const demand = demandOf(key, pod);
    const verdict = this.#decide(pod, demand, signature);
    if (verdict.at === "refused") {
      this.#queue.park(key);
      if (verdict.sacrifice) this.#nominate(verdict.sacrifice.node, demand);
      if (verdict.sacrifice) this.#change(false);
      this.#write(key, "refused", this.#refuse(key, pod, verdict, signature));
      return;
    }
    // Its place is taken before another pod is looked at.
    this.#queue.forget(key);
    this.#ledger.put(verdict.node, demand);
    this.#change(false);
    this.#write(key, "placed", this.#bind(pod, verdict.node));
    // Those like it may have a place, too.
    const [next] = this.#queue.alike(signature);
    if (next !== undefined) this.#queue.activate(next);
  }

  #decide(pod: ApiObject, demand: Demand, signature: string): Verdict {
    const known = this.#verdicts.get(signature);
    const isNominated = Boolean(objectAt(pod, "status").nominatedNodeName);
    if (known && this.#verdictsOf === this.#changes && !isNominated) return known;
    // What was said before a change is of no use to any pod that comes later.
    if (this.#verdictsOf !== this.#changes || this.#verdicts.size >= VERDICTS) this.#verdicts.clear();
    this.#verdictsOf = this.#changes;
    const verdict = this.#look(pod, demand);
    if (verdict.at === "refused" && !verdict.sacrifice && !isNominated) {
      this.#verdicts.set(signature, verdict);
    }
    return verdict;
  }

  #look(pod: ApiObject, demand: Demand): Verdict {
    if (listAt(pod, "spec", "schedulingGates").length > 0) {
      const message = "Scheduling is blocked due to non-empty scheduling gates";
      return { at: "refused", reason: "SchedulingGated", message };
    }
    const refuse = (message: string, sacrifice?: Sacrifice): Verdict => ({
      at: "refused",
      reason: "Unschedulable",
      message,
      ...(sacrifice ? { sacrifice } : {}),
    });
    const all = [...this.#nodes.values()];
    if (all.length === 0) return refuse("no nodes available to schedule pods");
    const helpless = ` preemption: ${unavailable(all.map(() => [NOT_HELPFUL]))}`;
    const claims = claimRefusal(this.#context.backend.store, pod);
    if (claims !== undefined) return refuse(`0/${all.length} nodes are available: ${claims}.${helpless}`);
    const refusals = new Map<KnownNode, Refusal>();
    const fitting: KnownNode[] = [];
    for (const known of all) {
      const { allocatable, load, others } = this.#place(known, demand);
      const refusal = nodeRefusal(known.node, pod) ?? loadRefusal(allocatable, load, demand, others);
      if (refusal) refusals.set(known, refusal);
      else fitting.push(known);
    }
    const best = this.#best(pod, fitting);
    if (best !== undefined) return { at: "placed", node: best };
    const why = unavailable([...refusals.values()].map(({ reasons }) => reasons));
    const found = this.#preempt(pod, demand, refusals);
    return typeof found === "string" ? refuse(`${why} preemption: ${found}`) : refuse(why, found);
  }

  #place({ node, allocatable }: KnownNode, demand: Demand): Place {
    const { name } = node.metadata;
    const others = [...(this.#nominated.get(name)?.values() ?? [])].filter(
      (other) => other.key !== demand.key && other.priority >= demand.priority,
    );
    return { node: name, allocatable, load: this.#ledger.load(name), others };
  }

  #best(pod: ApiObject, fitting: readonly KnownNode[]): string | undefined {
    const { nominatedNodeName } = objectAt(pod, "status");
    const rank = ({ node }: KnownNode): number => {
      if (node.metadata.name === nominatedNodeName) return -1;
      return node.metadata.name === this.#preferred ? 0 : 1;
    };
    const [best] =
      fitting.length < 2
        ? fitting
        : [...fitting].sort((a, b) => dislike(a.node, pod) - dislike(b.node, pod) || rank(a) - rank(b));
    return best?.node.metadata.name;
  }

  /** Who has to go, or why that would not help. */
  #preempt(pod: ApiObject, demand: Demand, refusals: ReadonlyMap<KnownNode, Refusal>): Sacrifice | string {
    if (objectAt(pod, "spec").preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
    const podAt = (key: string) => this.#podAt(key);
    const { nominatedNodeName } = objectAt(pod, "status");
    const waits = [...refusals].some(
      ([{ node }, { helped }]) =>
        helped &&
        node.metadata.name === nominatedNodeName &&
        [...this.#ledger.load(node.metadata.name).pods.values()].some(({ key, priority }) => {
          const victim = priority < demand.priority ? podAt(key) : undefined;
          return victim !== undefined && isMakingRoom(victim);
        }),
    );
    if (waits) return "not eligible due to a terminating pod on the nominated node.";
    const budgets = this.#context.backend.store.list(BUDGETS).map(({ object }) => fromStore(object));
    const found = [...refusals].map(([known, { helped }]): Sacrifice | Refusal =>
      helped
        ? sacrificeOn(this.#place(known, demand), demand, podAt, budgets)
        : { reasons: [NOT_HELPFUL], helped: false },
    );
    const options = found.filter((one): one is Sacrifice => "victims" in one && one.victims.length > 0);
    return leastPainful(options) ?? unavailable(found.map((one) => ("reasons" in one ? one.reasons : [])));
  }

  async #bind(pod: ApiObject, node: string): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const now = this.#context.backend.clock.now();
    await this.#api.change({ table: "pods", namespace, name, subresource: "binding" }, (current) =>
      current.metadata.uid !== uid || objectAt(current, "spec").nodeName ? current : bindPod(current, node, now),
    );
    await this.#tell(pod, { node });
  }

  async #refuse(
    key: string,
    pod: ApiObject,
    { reason, message, sacrifice }: Extract<Verdict, { at: "refused" }>,
    signature: string,
  ): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    if (sacrifice) for (const victim of sacrifice.victims) await this.#evict(victim, pod, sacrifice.node);
    const now = this.#context.backend.clock.now();
    // What was said before is not said again each time that the pod is tried.
    if (scheduledCondition(pod)?.message === message && !sacrifice) return;
    if (reason !== "SchedulingGated") await this.#tell(pod, { refused: message });
    await this.#api.change({ table: "pods", namespace, name, subresource: "status" }, (current) => {
      if (current.metadata.uid !== uid) return current;
      const told = unschedulablePod(current, reason, message, now);
      return sacrifice ? nominatedPod(told, sacrifice.node) : told;
    });
    // Those that wait with it have the same news.
    for (const other of this.#queue.alike(signature)) {
      const alike = other === key ? undefined : this.#podAt(other);
      if (alike && scheduledCondition(alike)?.message !== message) this.#queue.activate(other);
    }
    if (!this.#queue.isEmpty) this.#wake();
  }

  async #evict(victim: ApiObject, preemptor: ApiObject, node: string): Promise<void> {
    const { namespace, name, uid, deletionTimestamp } = victim.metadata;
    if (deletionTimestamp !== undefined) return;
    const which = { table: "pods", namespace, name };
    const now = this.#context.backend.clock.now();
    await this.#api.change({ ...which, subresource: "status" }, (current) =>
      current.metadata.uid === uid
        ? disruptedPod(
            current,
            "PreemptionByScheduler",
            `${NAME}: preempting to accommodate a higher priority pod`,
            now,
          )
        : current,
    );
    await this.#api.remove(which, { preconditions: { uid } });
    await this.#tell(victim, { preemptor, node });
  }

  /** No controller depends on Events: one that the API server refuses is not worth a word, a disk that failed is. */
  async #tell(pod: ApiObject, placement: Placement): Promise<void> {
    const now = this.#context.backend.clock.now();
    const event = schedulingEvent(pod, placement, this.#preferred, now, this.#serial++);
    await this.#api.create("events", pod.metadata.namespace, event).catch((error: unknown) => {
      if (error instanceof StatusError) return;
      this.#context.backend.troubles.report("Events of the scheduler are not written", error);
    });
  }
}
