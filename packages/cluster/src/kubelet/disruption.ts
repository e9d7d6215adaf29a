import { deepEqual, type LabelSelector, lookup, parseLabelSelector, SelectorError } from "@lotse/client/meta";
import { type Controller, type ControllerContext, EventRecorder, LabelIndex, WorkQueue } from "../controllers/index.ts";
import {
  type ApiObject,
  fromStore,
  isRecord,
  listAt,
  type OwnerReference,
  objectAt,
  StatusError,
  storeKey,
  type Target,
  timestamp,
  update,
} from "../registry/index.ts";
import { type BudgetObservation, budgetNotes } from "./disruption-events.ts";

type Fields = Record<string, unknown>;

const TABLE = "poddisruptionbudgets.policy";
/** A pod that was let go and is still there after this long will stay. */
const DELETION_TIMEOUT = 120_000;
const WRITE = { dryRun: false, fieldManager: "kube-controller-manager", fieldValidation: "Ignore" } as const;

/** Counts, for each disruption budget, how many of its pods may go. */
export class DisruptionController implements Controller {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  readonly #events: EventRecorder;
  /** By budget: what was told about it last. */
  readonly #told = new Map<string, string>();
  #pods: LabelIndex | undefined;
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#events = new EventRecorder(context);
    this.#queue = new WorkQueue(context.backend, "the controller of disruption budgets", (key) => this.#sync(key), {
      weigh: (key) => this.#weigh(key),
    });
  }

  get idle(): boolean {
    return this.#queue.idle && this.#events.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    this.#stopWatching = [
      store.watch(TABLE, store.revision, ({ type, key }) => {
        if (type === "deleted") this.#told.delete(key);
        else this.#queue.add(key);
      }),
      store.watch("pods", store.revision, ({ object }) => {
        for (const { key } of store.list(TABLE, `${object.metadata.namespace}/`)) this.#queue.wake(key);
      }),
    ];
    for (const { key } of store.list(TABLE)) this.#queue.add(key);
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#pods?.stop();
    this.#queue.stop();
  }

  /** Made with the first budget: a cluster without any does not pay for it. */
  get #index(): LabelIndex {
    this.#pods ??= new LabelIndex(this.#context.backend.store, "pods");
    return this.#pods;
  }

  #weigh(key: string): number {
    const entry = this.#context.backend.store.get(TABLE, key);
    const budget = entry && fromStore(entry.object);
    const selector = budget && selectorOf(budget);
    return selector ? this.#index.weigh(budget.metadata.namespace, selector) : 0;
  }

  async #sync(key: string): Promise<void> {
    const { backend, requester } = this.#context;
    const entry = backend.store.get(TABLE, key);
    const endpoint = backend.catalog.storage("policy", "poddisruptionbudgets");
    if (!entry || !endpoint) return;
    const budget = fromStore(entry.object);
    const scaleOf = this.#newScales();
    this.#tell(key, budget, scaleOf);
    const { namespace, name } = budget.metadata;
    const target: Target = { endpoint, namespace, name, subresource: "status" };
    try {
      await update(backend, requester, target, WRITE, {
        by: "patch",
        tracked: false,
        next: (budget) => structuredClone({ ...budget, status: this.#count(budget, key, scaleOf) }),
      });
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }

  /** Once for each state that it finds: pods that change in other ways are no news about the budget. */
  #tell(key: string, budget: ApiObject, scaleOf: ScaleOf): void {
    const notes = budgetNotes(budget, this.#observe(budget, scaleOf));
    const digest = JSON.stringify([budget.metadata.uid, budget.metadata.generation, notes]);
    if (this.#told.get(key) === digest) return;
    this.#told.set(key, digest);
    for (const note of notes) void this.#events.record({ component: "controllermanager" }, budget, note);
  }

  #observe(budget: ApiObject, scaleOf: ScaleOf): BudgetObservation {
    const pods = this.#podsOf(budget);
    try {
      return { pods: pods.length, unmanaged: pods.filter((pod) => scaleOf(pod) === undefined).length };
    } catch (error) {
      if (error instanceof UnknownScale) return { pods: pods.length, unmanaged: 0, failure: error.message };
      throw error;
    }
  }

  #count(budget: ApiObject, key: string, scaleOf: ScaleOf): Fields {
    const { clock } = this.#context.backend;
    const pods = this.#podsOf(budget);
    const now = clock.now();
    const disrupted = stillDisrupted(budget, pods, now);
    const next = Math.min(...Object.values(disrupted).map((time) => Date.parse(String(time)) + DELETION_TIMEOUT - now));
    if (Number.isFinite(next)) this.#queue.addAfter(key, next + 1);
    try {
      return budgetStatus(budget, pods, disrupted, scaleOf, now);
    } catch (error) {
      if (error instanceof UnknownScale) return failedStatus(budget, error.message, now);
      throw error;
    }
  }

  #podsOf(budget: ApiObject): ApiObject[] {
    const selector = selectorOf(budget);
    if (!selector) return [];
    return this.#index.select(budget.metadata.namespace, selector);
  }

  /** For one look at a budget: pods of the same controller ask for it once. */
  #newScales(): ScaleOf {
    const known = new Map<string, Scale | undefined>();
    return (pod) => {
      const uid = ownerOf(pod)?.uid;
      if (uid === undefined) return undefined;
      if (!known.has(uid)) known.set(uid, this.#scaleOf(pod));
      return known.get(uid);
    };
  }

  /** The controller of a pod and how many pods it wants. */
  #scaleOf(pod: ApiObject): Scale | undefined {
    const ref = ownerOf(pod);
    if (!ref) return undefined;
    const owner = this.#find(pod.metadata.namespace, ref);
    const above = owner && ref.kind === "ReplicaSet" ? ownerOf(owner) : undefined;
    // Of a Deployment there may be several ReplicaSets at a time, which are not more pods.
    const scaled = (above?.kind === "Deployment" && this.#find(pod.metadata.namespace, above)) || owner;
    const replicas = scaled && objectAt(scaled, "spec").replicas;
    if (scaled && typeof replicas === "number") return { uid: scaled.metadata.uid, replicas };
    throw new UnknownScale(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`);
  }

  #find(namespace: string | undefined, { apiVersion, kind, name, uid }: OwnerReference): ApiObject | undefined {
    const { catalog, store } = this.#context.backend;
    const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";
    const resource = catalog.byKind(group, kind);
    const entry = resource && store.get(resource.table, storeKey(namespace, name));
    const found = entry && fromStore(entry.object);
    return found?.metadata.uid === uid ? found : undefined;
  }
}

/** A pod has a controller, of which the API server does not know how many pods it wants. */
class UnknownScale extends Error {}

const ownerOf = (object: ApiObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((one) => one.controller === true);

/** Undefined when it is missing or makes no sense; an empty one matches every pod of the namespace. */
function selectorOf(budget: ApiObject): LabelSelector | undefined {
  const { selector } = objectAt(budget, "spec");
  if (!isRecord(selector)) return undefined;
  try {
    return parseLabelSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

type ScaleOf = (pod: ApiObject) => Scale | undefined;

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** Pods that an eviction let go and that are not gone yet. */
function stillDisrupted(budget: ApiObject, pods: readonly ApiObject[], now: number): Fields {
  const told = objectAt(budget, "status", "disruptedPods");
  const kept: Fields = {};
  for (const { metadata } of pods) {
    const time = lookup(told, metadata.name);
    if (time === undefined || metadata.deletionTimestamp !== undefined) continue;
    if (Date.parse(String(time)) + DELETION_TIMEOUT >= now) kept[metadata.name] = time;
  }
  return kept;
}

/** What a budget says about its pods. Pure. */
export function budgetStatus(
  budget: ApiObject,
  pods: readonly ApiObject[],
  disrupted: Fields,
  scaleOf: (pod: ApiObject) => Scale | undefined,
  now: number,
): Fields {
  const { minAvailable, maxUnavailable } = objectAt(budget, "spec");
  const scale = () => {
    const scales = new Map(pods.map(scaleOf).flatMap((one) => (one ? [[one.uid, one.replicas] as const] : [])));
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  };
  let expectedPods = pods.length;
  let desiredHealthy = 0;
  if (maxUnavailable !== undefined) {
    expectedPods = scale();
    desiredHealthy = Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods));
  } else if (minAvailable !== undefined) {
    if (typeof minAvailable === "string") expectedPods = scale();
    desiredHealthy = scaled(minAvailable, expectedPods);
  }
  const healthy = pods.filter(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined &&
      lookup(disrupted, pod.metadata.name) === undefined &&
      listAt(pod, "status", "conditions").some(({ type, status }) => type === "Ready" && status === "True"),
  );
  const currentHealthy = healthy.length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  return {
    observedGeneration: budget.metadata.generation ?? 0,
    ...(Object.keys(disrupted).length > 0 ? { disruptedPods: disrupted } : {}),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: conditionsOf(budget, disruptionsAllowed > 0, now),
  };
}

/** As it is not known how many pods there should be, none may go. */
function failedStatus(budget: ApiObject, message: string, now: number): Fields {
  const status = objectAt(budget, "status");
  const observed = typeof status.observedGeneration === "number" ? status.observedGeneration : 0;
  const failure = { reason: "SyncFailed", message, observed };
  return { ...status, disruptionsAllowed: 0, conditions: conditionsOf(budget, false, now, failure) };
}

function conditionsOf(
  budget: ApiObject,
  allowed: boolean,
  now: number,
  failure?: { readonly reason: string; readonly message: string; readonly observed: number },
): Fields[] {
  const old = listAt(budget, "status", "conditions");
  const before = old.find(({ type }) => type === "DisruptionAllowed");
  const status = allowed ? "True" : "False";
  const condition = {
    type: "DisruptionAllowed",
    status,
    observedGeneration: failure?.observed ?? budget.metadata.generation ?? 0,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(now),
    reason: failure?.reason ?? (allowed ? "SufficientPods" : "InsufficientPods"),
    message: failure?.message ?? "",
  };
  if (before && deepEqual(before, condition)) return old;
  return [...old.filter((one) => one !== before), condition];
}

/** A number, or so many per cent of `total`, rounded up. */
function scaled(value: unknown, total: number): number {
  if (typeof value === "number") return value;
  const percent = Number(/^(\d+)%$/.exec(String(value))?.[1] ?? Number.NaN);
  return Number.isNaN(percent) ? 0 : Math.ceil((percent * total) / 100);
}
