/** The types of level-based work: what a reconciler is given, what it may say, and how it is declared. */
import type { KubeBody, KubeObject } from "@lotse/client";
import { ConfigError, type Duration, durationMs } from "@lotse/client/meta";
import type { AttemptContext, ObjectContext } from "./context.ts";
import type { Drift, DriftAnswer } from "./drift.ts";
import type { FieldPath } from "./field-path.ts";
import type { Filters } from "./filters.ts";
import { type Kept, keepIn } from "./kept.ts";
import type { ObjectHandlerOptions, ResourceInput } from "./options.ts";
import type { DeepReadonly } from "./readonly.ts";
import type { TrackedReads } from "./reads.ts";
import type { RetryOptions, RetryPlan } from "./retry.ts";

const REQUEUE = Symbol.for("lotse.requeue");

/** What a reconciler returns to be called again after a while: made by {@link requeue}. */
export interface Requeue {
  readonly [REQUEUE]: true;
  readonly afterMs: number;
}

/**
 * Asks to be called again after this time, if nothing wakes the object before: `return requeue("5s")`.
 *
 * @example
 * ```ts
 * operator.reconcile(Machine, async ({ status, requeue }) => (status.booted ? undefined : requeue("5s")));
 * ```
 */
export function requeue(after: Duration): Requeue {
  const afterMs = durationMs(after);
  if (!(afterMs >= 0))
    throw new ConfigError(`requeue(${after}) would lie in the past`, { hint: 'write requeue("5s")' });
  return { [REQUEUE]: true, afterMs };
}

/** Whether a value was made by {@link requeue}. */
export function isRequeue(value: unknown): value is Requeue {
  return typeof value === "object" && value !== null && (value as { [REQUEUE]?: unknown })[REQUEUE] === true;
}

/**
 * What `operator.reconcile` functions get.
 *
 * @example
 * ```ts
 * operator.reconcile(Machine, async ({ object, list, patch }) => {
 *   patch.status.switches = (await list(Switch, { ownedBy: object })).length;
 * });
 * ```
 */
export interface ReconcileContext<B extends KubeBody, O = KubeObject<B>>
  extends Omit<ObjectContext<B, O>, keyof TrackedReads>,
    AttemptContext,
    TrackedReads {
  /** When this run began, by the operator's clock, which tests can move. */
  readonly now: Date;
  /** The object shall be reconciled again after this time: `return requeue("5s")`. */
  readonly requeue: (after: Duration) => Requeue;
}

/** Which objects an event of another kind is about: names in the same namespace, or names with a namespace. */
export type Mapped =
  | string
  | { readonly name: string; readonly namespace?: string | undefined }
  | readonly (string | { readonly name: string; readonly namespace?: string | undefined })[]
  | undefined;

/**
 * A kind whose changes concern objects of the reconciled one, and which of them. Called with the old and the new state.
 *
 * @example
 * ```ts
 * operator.reconcile(Machine, { watches: [[Switch, ({ labels }) => labels.machine]] }, async ({ name }) => {});
 * ```
 */
export type Watches = readonly [resource: ResourceInput, map: WatchMap, options?: WatchOptions];

/**
 * What a reconciler says of a kind that it watches.
 *
 * @example
 * ```ts
 * operator.reconcile(Machine, { watches: [[Pod, ({ labels }) => labels.machine, { keep: ["status.phase"] }]] }, async () => {});
 * ```
 */
export interface WatchOptions {
  /**
   * The fields that this reconciler needs of such objects, beside metadata: in the function before it, and where it reads
   * them with `get` and `list`. Where nobody needs more of the kind, nothing else is kept in memory; `[]` is metadata
   * alone, and then nothing else is asked of the API server. Default: all of them. What is kept is what all readers of the
   * kind name together; a handler for its objects, `owns`, or a reader without `keep` needs all. A path that leads below a
   * list keeps the list. Asking an object for a field that was left out throws, with the name of the field: `undefined`
   * would look like a field that is not set.
   */
  readonly keep?: readonly FieldPath[];
}

/** As a method, so that a function may also ask for objects of the class that stands before it. */
type WatchMap = { map(object: KubeObject): Mapped }["map"];

/**
 * Which changes of the object itself count. A deletion mark always does.
 *
 * @example
 * ```ts
 * operator.reconcile(Machine, { filter: ["generation", "labels"] }, async ({ spec }) => {});
 * ```
 */
export type ChangeFilter<B> =
  | "generation"
  | "labels"
  | "annotations"
  | ((now: DeepReadonly<B>, before: DeepReadonly<B>) => boolean);

/**
 * At most so many runs for one object in so much time.
 *
 * @example
 * ```ts
 * operator.reconcile(Machine, { rateLimit: { runs: 5, per: "10s" } }, async ({ spec }) => {});
 * ```
 */
export interface RateLimit {
  readonly runs: number;
  readonly per: Duration;
}

/**
 * Options of `operator.reconcile`.
 *
 * @example
 * ```ts
 * operator.reconcile(Machine, { owns: [Switch], concurrency: 4, resync: "1h" }, async ({ spec }) => {});
 * ```
 */
export interface ReconcileOptions<B extends KubeBody, O = KubeObject<B>, F extends FieldPath = FieldPath>
  extends ObjectHandlerOptions<B, F>,
    Omit<RetryOptions, "retries"> {
  /** Kinds whose objects belong to the reconciled one: a change of one wakes its owner. */
  readonly owns?: readonly ResourceInput[];
  /** Other kinds, with a function that says which objects a change concerns. */
  readonly watches?: readonly Watches[];
  /** How many objects of the kind are worked on at once. Default: the operator's `settings.queueing.concurrency`. */
  readonly concurrency?: number;
  /** Reconcile at least this often, also when nothing changes. Default: never without a cause. */
  readonly resync?: Duration;
  /** `"low"`: behind everything else that is new. Default: changes first, then retries, then what the start has found. */
  readonly priority?: "normal" | "low";
  /** Which changes of the object count, one of several is enough. Default: every change by another client. */
  readonly filter?: ChangeFilter<B> | readonly ChangeFilter<B>[];
  /** Default: none. */
  readonly rateLimit?: RateLimit;
  /** Holds the object with a finalizer and cleans up before it goes. */
  readonly onDelete?: (context: ReconcileContext<B, O>) => unknown;
  /**
   * Keep `status.observedGeneration` and the conditions `Ready`, `Reconciling` and `Stalled`. Default: `false`; a
   * condition that the function sets itself is not touched.
   */
  readonly conditions?: boolean;
}

/** A kind that is watched. */
export interface WatchPlan {
  readonly resource: ResourceInput;
  readonly map: (object: KubeObject) => Mapped;
  /** What the reconciler needs of its objects. */
  readonly kept: Kept;
}

/** A declared reconciler. */
export interface ReconcileHandler {
  readonly type: "reconcile";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly retry: RetryPlan;
  readonly param: unknown;
  readonly owns: readonly ResourceInput[];
  readonly watches: readonly WatchPlan[];
  readonly concurrency: number | undefined;
  readonly resyncMs: number | undefined;
  readonly priority: "normal" | "low";
  readonly changes: readonly ChangeFilter<KubeBody>[];
  readonly rateLimit: { readonly runs: number; readonly perMs: number } | undefined;
  readonly conditions: boolean;
  /** Keeps children instead of being a function that does it all. */
  readonly children: ChildrenPlan | undefined;
  readonly fn: (context: ReconcileContext<KubeBody>) => unknown;
  readonly onDelete: ((context: ReconcileContext<KubeBody>) => unknown) | undefined;
}

/** How children are kept. */
export interface ChildrenPlan {
  /** Delete them in reverse order before their parent goes, instead of leaving them to the garbage collector. */
  readonly reverse: boolean;
  /** There may be things outside of the cluster among them. */
  readonly external: boolean;
  readonly onDrift: DriftAnswer | ((drift: Drift, context: ReconcileContext<KubeBody>) => unknown);
  readonly onMismatch: "delete" | "keep";
}

/** Reads and checks the options of a reconciler. */
export function planReconciler(
  options: ReconcileOptions<KubeBody>,
): Pick<
  ReconcileHandler,
  "owns" | "watches" | "concurrency" | "resyncMs" | "priority" | "changes" | "rateLimit" | "conditions" | "onDelete"
> {
  const { owns = [], watches = [], concurrency, resync, filter, rateLimit } = options;
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && concurrency > 0)) {
    throw new ConfigError(`the concurrency of a reconciler is ${concurrency}`, { hint: "it is a number from 1 on" });
  }
  const perMs = rateLimit && durationMs(rateLimit.per);
  if (rateLimit && !(Number.isInteger(rateLimit.runs) && rateLimit.runs > 0 && (perMs ?? 0) > 0)) {
    throw new ConfigError("the rate limit of a reconciler allows nothing", {
      hint: 'write rateLimit: { runs: 5, per: "10s" }',
    });
  }
  return {
    owns,
    watches: watches.map(([resource, map, o]) => ({ resource, map, kept: keepIn(o, "an entry of watches") })),
    concurrency,
    resyncMs: resync === undefined ? undefined : durationMs(resync),
    priority: options.priority ?? "normal",
    changes: filter === undefined ? [] : Array.isArray(filter) ? filter : [filter as ChangeFilter<KubeBody>],
    rateLimit: rateLimit && { runs: rateLimit.runs, perMs: perMs as number },
    conditions: options.conditions ?? false,
    onDelete: options.onDelete,
  };
}
