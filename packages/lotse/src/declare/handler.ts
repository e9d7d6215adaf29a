import type { KubeBody } from "@lotse/client";
import { type Duration, durationMs, parseSchedule, type Schedule, ScheduleError } from "@lotse/client/meta";
import { type Backoff, type BackoffPlan, planBackoff } from "./backoff.ts";
import type {
  ChangeContext,
  DaemonContext,
  EventContext,
  FailureContext,
  LifecycleContext,
  LoginContext,
  TimerContext,
} from "./context.ts";
import type { FieldPath, PathIn } from "./field-path.ts";
import type { ChangeFilters, FilterContext, Filters } from "./filters.ts";
import type { ReconcileHandler } from "./reconcile.ts";
import type { SelectorInput } from "./selectors.ts";

/** Why a changing handler is called. */
export type Reason = "create" | "update" | "delete" | "resume";

/** What an unknown error (neither temporary nor permanent) counts as. */
export type ErrorMode = "temporary" | "permanent" | "ignored";

/** Options that every handler of objects has. */
export interface ObjectHandlerOptions<B, F extends FieldPath = FieldPath> extends Filters<B, F> {
  /** Stable name of the handler; Lotse remembers its work on objects under it. Default: the function's name. */
  readonly id?: string;
  /** Handed to the handler as `param`: one function can serve several declarations. */
  readonly param?: unknown;
}

/** How a handler's failures are treated. */
export interface RetryOptions {
  /** What an unknown error counts as. Default `"temporary"`. */
  readonly errors?: ErrorMode;
  /** Give up after this time, counted from the first attempt; a running attempt is aborted by `signal`. */
  readonly timeout?: Duration;
  /** Give up after this many attempts. */
  readonly retries?: number;
  /** The wait between attempts. Default: exponential, 1 s to 5 min. */
  readonly backoff?: Backoff;
}

/** Options of `on.create`, `on.update`, `on.delete`, `on.resume` and `on.field`. */
export interface ChangeOptions<B, F extends FieldPath = FieldPath>
  extends ObjectHandlerOptions<B, F>,
    RetryOptions,
    ChangeFilters {
  /** For `on.delete`: do not hold the object back with a finalizer; a deletion while the operator is down is missed. */
  readonly optional?: boolean;
  /** For `on.resume`: also for objects that are being deleted. */
  readonly deleted?: boolean;
  /**
   * For `on.delete`: what becomes of the object when the handler fails for good. `"release"` (default) lets it go;
   * `"keep"` holds it, with a condition that says why, until somebody changes the object or the operator starts anew:
   * then the handler is tried again.
   */
  readonly onGiveUp?: "release" | "keep";
  /**
   * For `on.update` and `on.field`: wait until nobody has changed the object for this long, so that many quick changes
   * are told as one. The wait ends after ten times as long at the latest, or after `atMost`.
   */
  readonly debounce?: Duration | { readonly quiet: Duration; readonly atMost?: Duration };
}

/** Options of `on.field`. */
export interface FieldOptions<B, F extends FieldPath = FieldPath> extends ChangeOptions<B, F> {
  /** The field whose changes the handler is for. */
  readonly field: [F] extends [PathIn<B, F>] ? F : PathIn<B, F>;
}

/** How long to wait before the first run for an object. */
export type InitialDelay<B> = Duration | ((context: FilterContext<B>) => Duration);

/** Options of `operator.daemon`. */
export interface DaemonOptions<B, F extends FieldPath = FieldPath> extends ObjectHandlerOptions<B, F>, RetryOptions {
  /** Wait before it begins; a function may look at the object. */
  readonly initialDelay?: InitialDelay<B>;
  /** How long it may take to end after its signal, before it is abandoned. Default: the operator's `graceful`. */
  readonly grace?: Duration;
}

/** When something happens by the clock on the wall. */
export interface ScheduleOptions {
  /** Cron's five fields, a shorthand (`@daily`), or `@every 1h30m`: `"0 3 * * *"` is at three in the night. */
  readonly schedule: string;
  /** Whose clock: `"Europe/Berlin"`. Default UTC. */
  readonly timeZone?: string | undefined;
  /**
   * What becomes of times that went by while nobody was there, or while the last run was under way: `"skip"` (default),
   * or `"once"`: one run makes up for all of them. That costs a write for each run, because it has to be remembered.
   */
  readonly missed?: "skip" | "once" | undefined;
}

/** Options of `operator.timer`. */
export interface TimerOptions<B, F extends FieldPath = FieldPath>
  extends ObjectHandlerOptions<B, F>,
    RetryOptions,
    Partial<ScheduleOptions> {
  /**
   * Time from the end of one run to the start of the next (from start to start with `sharp`). Without it the timer runs
   * once for each time that the object has been left alone for `idle`; without either, once for each object.
   */
  readonly interval?: Duration;
  /** Keep to the interval however long a run takes. */
  readonly sharp?: boolean;
  /** Wait before the first run; a function may look at the object. */
  readonly initialDelay?: InitialDelay<B>;
  /** Run only when nobody has changed the object for this long. */
  readonly idle?: Duration;
}

/**
 * What a handler is for: a class made by `resource({...})`, a built-in class, a name such as `"deployments.apps"`,
 * `{ category: "all" }`, `everything`, or a predicate over kinds.
 */
export type ResourceInput = SelectorInput;

/** What a handler may return; a value goes to `status.<id>` where the kind's schema has room for it. */
export type HandlerResult = unknown;

/** A declared handler of `on.create`, `on.update`, `on.delete`, `on.resume`, or of several of them. */
export interface ChangeHandler {
  readonly type: "change";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place: string | undefined;
  readonly reasons: ReadonlySet<Reason>;
  readonly filters: Filters<KubeBody>;
  /** It runs only for changes of its `filters.field`; undefined when it runs whether or not the field changed. */
  readonly change: ChangeFilters | undefined;
  readonly retry: RetryPlan;
  readonly optional: boolean;
  readonly deleted: boolean;
  readonly onGiveUp: "release" | "keep";
  readonly debounce: DebouncePlan | undefined;
  readonly param: unknown;
  /** It is the `onDelete` of the reconciler with this id. */
  readonly reconciler?: string | undefined;
  readonly fn: (context: ChangeContext<KubeBody>) => unknown;
}

/** A declared handler of `on.event`. */
export interface EventHandler {
  readonly type: "event";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly param: unknown;
  readonly fn: (context: EventContext<KubeBody>) => unknown;
}

/** How long quick changes are waited for; milliseconds. */
export interface DebouncePlan {
  readonly quietMs: number;
  readonly atMostMs: number;
}

/** Reads the option `debounce`. */
export function planDebounce(debounce: ChangeOptions<KubeBody>["debounce"]): DebouncePlan | undefined {
  if (debounce === undefined) return undefined;
  const { quiet, atMost } = typeof debounce === "object" ? debounce : { quiet: debounce, atMost: undefined };
  const quietMs = durationMs(quiet);
  return { quietMs, atMostMs: atMost === undefined ? 10 * quietMs : durationMs(atMost) };
}

/** A declared handler of `on.failure`. */
export interface FailureHandler {
  readonly type: "failure";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly param: unknown;
  readonly fn: (context: FailureContext<KubeBody>) => unknown;
}

/** {@link ScheduleOptions}, read. */
export interface SchedulePlan extends Schedule {
  readonly missed: "skip" | "once";
}

/** Reads {@link ScheduleOptions}; one that makes no sense is found here, when it is declared. */
export function planSchedule({ schedule, timeZone, missed = "skip" }: ScheduleOptions): SchedulePlan {
  const { next } = parseSchedule(schedule, timeZone);
  if (next(Date.UTC(2000, 0)) === undefined) throw new ScheduleError(`"${schedule}" never comes`);
  return { next, missed };
}

/** The name of the Lease that remembers when a schedule of an operator last ran. */
export function leaseOf(operator: string, schedule: string): string {
  return `${operator}-${schedule}`;
}

/** A declared timer. */
export interface TimerHandler {
  readonly type: "timer";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly retry: RetryPlan;
  readonly intervalMs: number | undefined;
  /** Milliseconds. */
  readonly initialDelay: (context: FilterContext<KubeBody>) => number;
  readonly idleMs: number | undefined;
  readonly sharp: boolean;
  readonly schedule: SchedulePlan | undefined;
  readonly param: unknown;
  readonly fn: (context: TimerContext<KubeBody>) => unknown;
}

/** A declared daemon. */
export interface DaemonHandler {
  readonly type: "daemon";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly retry: RetryPlan;
  /** Milliseconds. */
  readonly initialDelay: (context: FilterContext<KubeBody>) => number;
  readonly graceMs: number | undefined;
  readonly param: unknown;
  readonly fn: (context: DaemonContext<KubeBody>) => unknown;
}

/** Options of `operator.index`. */
export interface IndexOptions<B, F extends FieldPath = FieldPath> extends ObjectHandlerOptions<B, F> {
  /**
   * What an error of the function means for the object: `"ignored"` (default) keeps what is in the index, `"temporary"`
   * takes it out until the object changes, `"permanent"` takes it out for good. {@link TemporaryError} and
   * {@link PermanentError} mean what they say.
   */
  readonly errors?: ErrorMode;
}

/** A declared index. */
export interface IndexHandler {
  readonly type: "index";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly errors: ErrorMode;
  readonly fn: (context: FilterContext<KubeBody>) => unknown;
}

/** A declared handler of objects of one kind. */
export type Handler =
  | ChangeHandler
  | EventHandler
  | FailureHandler
  | TimerHandler
  | DaemonHandler
  | IndexHandler
  | ReconcileHandler;

/** A declared `on.startup`, `on.cleanup`, `on.probe` or `on.login`: a handler of the operator, not of objects. */
export interface LifecycleHandler {
  readonly type: "startup" | "cleanup" | "probe" | "login";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place: string | undefined;
  readonly retry: RetryPlan;
  readonly param: unknown;
  readonly fn: (context: LifecycleContext & LoginContext) => unknown;
}

/** {@link RetryOptions} with defaults filled in and durations read. */
export interface RetryPlan {
  readonly errors: ErrorMode;
  readonly timeoutMs: number | undefined;
  readonly retries: number | undefined;
  readonly backoff: BackoffPlan;
  /** The handler said so itself; else the operator's settings count. */
  readonly ownBackoff: boolean;
}

/** Reads {@link RetryOptions}; wrong durations are found here, when the handler is declared. */
export function planRetries(options: RetryOptions): RetryPlan {
  return {
    errors: options.errors ?? "temporary",
    timeoutMs: options.timeout === undefined ? undefined : durationMs(options.timeout),
    retries: options.retries,
    backoff: planBackoff(options.backoff),
    ownBackoff: options.backoff !== undefined,
  };
}

/** `plan`, with the operator's usual wait where the handler did not say. */
export function withUsualBackoff(plan: RetryPlan, usual: BackoffPlan): RetryPlan {
  return plan.ownBackoff ? plan : { ...plan, backoff: usual };
}
