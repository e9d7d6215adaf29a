import type { KubeBody } from "@lotse/client";
import { durationMs, parseSchedule, type Schedule, ScheduleError } from "@lotse/client/meta";
import type { Reason } from "./cause.ts";
import type {
  ActivityContext,
  ChangeContext,
  DaemonContext,
  EventContext,
  FailureContext,
  LoginContext,
  TimerContext,
} from "./context.ts";
import type { ChangeFilters, FilterContext, Filters } from "./filters.ts";
import type { Kept } from "./kept.ts";
import type { ChangeOptions, ScheduleOptions } from "./options.ts";
import type { ReconcileHandler } from "./reconcile.ts";
import type { ErrorMode, RetryPlan } from "./retry.ts";

/** What a handler may return; a value goes to `status.<id>` where the kind's schema has room for it. */
export type HandlerResult = unknown;

/** A declared handler of `on.create`, `on.update`, `on.delete`, `on.resume`, or of several of them. */
export interface ChangeHandler {
  readonly type: "change";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
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
  readonly sourceLocation: string | undefined;
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
  readonly sourceLocation: string | undefined;
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
  readonly sourceLocation: string | undefined;
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
  readonly sourceLocation: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly retry: RetryPlan;
  /** Milliseconds. */
  readonly initialDelay: (context: FilterContext<KubeBody>) => number;
  readonly graceMs: number | undefined;
  readonly param: unknown;
  readonly fn: (context: DaemonContext<KubeBody>) => unknown;
}

/** A declared index. */
export interface IndexHandler {
  readonly type: "index";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly errors: ErrorMode;
  /** Only over objects of this process. */
  readonly own: boolean;
  /** What its function needs of an object. */
  readonly kept: Kept;
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

/** A declared `on.startup`, `on.cleanup`, `on.lead`, `on.follow`, `on.probe` or `on.login`: a handler of the operator, not of objects. */
export interface ActivityHandler {
  readonly type: "startup" | "cleanup" | "probe" | "login" | "lead" | "follow";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly retry: RetryPlan;
  readonly param: unknown;
  readonly fn: (context: ActivityContext & LoginContext) => unknown;
}
