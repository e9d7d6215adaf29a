/** The options with which handlers of objects are declared. */
import type { Duration } from "@lotse/client/meta";
import type { FieldPath, PathIn } from "./field-path.ts";
import type { ChangeFilters, FilterContext, Filters } from "./filters.ts";
import type { ErrorMode, RetryOptions } from "./retry.ts";
import type { SelectorInput } from "./selectors.ts";

/** Options that every handler of objects has. */
export interface ObjectHandlerOptions<B, F extends FieldPath = FieldPath> extends Filters<B, F> {
  /** Stable name of the handler; Lotse remembers its work on objects under it. Default: the function's name. */
  readonly id?: string;
  /** Handed to the handler as `param`: one function can serve several declarations. */
  readonly param?: unknown;
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
   * `"keep"` holds it, with a condition that says why, until a user changes the object or the operator starts anew:
   * then the handler is tried again.
   */
  readonly onGiveUp?: "release" | "keep";
  /**
   * For `on.update` and `on.field`: wait until the object has been left unchanged for this long, so that many quick changes
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
   * What becomes of times that went by while no operator ran, or while the last run was under way: `"skip"` (default),
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
  /** Run only when the object has been left unchanged for this long. */
  readonly idle?: Duration;
}

/** Options of `operator.index`. */
export interface IndexOptions<B, F extends FieldPath = FieldPath> extends ObjectHandlerOptions<B, F> {
  /**
   * What an error of the function means for the object: `"ignored"` (default) keeps what is in the index, `"temporary"`
   * takes it out until the object changes, `"permanent"` takes it out for good. {@link TemporaryError} and
   * {@link PermanentError} mean what they say.
   */
  readonly errors?: ErrorMode;
  /**
   * Where processes share the objects ({@link shards}): whether the index is only over those of this one. Default `false`:
   * the index is the same in each of them, and each keeps all objects of the kind in memory for it.
   */
  readonly own?: boolean;
  /**
   * The fields that the function reads, beside metadata: where nobody needs more of the kind, nothing else is kept in
   * memory, and of `[]`, metadata alone, nothing else is asked of the API server. Default: all of them. What is kept is
   * what all readers of the kind name together; a handler for its objects, or a reader without `keep`, needs all. A path
   * that leads below a list keeps the list. Asking for a field that is left out does not compile, and throws.
   */
  readonly keep?: readonly FieldPath[];
}

/**
 * What a handler is for: a class made by `resource({...})`, a built-in class, a name such as `"deployments.apps"`,
 * `{ category: "all" }`, `everything`, or a predicate over kinds.
 */
export type ResourceInput = SelectorInput;
