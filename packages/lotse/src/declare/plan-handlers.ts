/** From the options of timers, daemons and handlers of changes to what the engine goes by; what cannot be meant is refused. */
import type { KubeBody } from "@lotse/client";
import { durationMs } from "@lotse/client/meta";
import type { Reason } from "./cause.ts";
import { declarationError } from "./errors.ts";
import {
  type ChangeHandler,
  type DaemonHandler,
  planDebounce,
  planSchedule,
  type SchedulePlan,
  type TimerHandler,
} from "./handler.ts";
import type { ChangeOptions, DaemonOptions, ScheduleOptions, TimerOptions } from "./options.ts";
import { filtersOf, initialDelayOf } from "./read-options.ts";
import { planRetries } from "./retry.ts";

/** What is known of a handler before it has its id and its place. */
type Plan<H> = Omit<H, "id" | "sourceLocation" | "fn">;

/** A timer, by its options. */
export function planTimer<B>(options: TimerOptions<B>): Plan<TimerHandler> {
  if (options.schedule === undefined && (options.timeZone ?? options.missed) !== undefined) {
    throw declarationError('"timeZone" and "missed" need a "schedule"', 'add { schedule: "0 3 * * *" }');
  }
  if (options.schedule !== undefined && (options.interval ?? options.idle ?? options.initialDelay) !== undefined) {
    throw declarationError(
      'a timer with a "schedule" has no "interval", "idle" or "initialDelay"',
      "declare two timers",
    );
  }
  if (options.sharp && options.interval === undefined) {
    throw declarationError('"sharp" has no meaning without an interval', 'add { interval: "1h" }');
  }
  return {
    type: "timer",
    filters: filtersOf(options),
    retry: planRetries(options),
    intervalMs: options.interval === undefined ? undefined : durationMs(options.interval),
    initialDelay: initialDelayOf(options.initialDelay),
    idleMs: options.idle === undefined ? undefined : durationMs(options.idle),
    sharp: options.sharp ?? false,
    schedule: readSchedule(options),
    param: options.param,
  };
}

/** A daemon, by its options. */
export function planDaemon(options: DaemonOptions<KubeBody>): Plan<DaemonHandler> {
  return {
    type: "daemon",
    filters: filtersOf(options),
    retry: planRetries(options),
    initialDelay: initialDelayOf(options.initialDelay),
    graceMs: options.grace === undefined ? undefined : durationMs(options.grace),
    param: options.param,
  };
}

/** A handler of changes, by its options; `changes`: of a field, whose old and new value may be asked for. */
export function planChange(
  reasons: readonly Reason[],
  options: ChangeOptions<KubeBody>,
  changes: boolean,
): Plan<ChangeHandler> {
  const { old: was, new: is } = options;
  return {
    type: "change",
    reasons: new Set(reasons),
    filters: filtersOf(options),
    change: changes ? { ...(was !== undefined && { old: was }), ...(is !== undefined && { new: is }) } : undefined,
    retry: planRetries(options),
    optional: options.optional ?? false,
    deleted: options.deleted ?? false,
    onGiveUp: options.onGiveUp ?? "release",
    debounce: planDebounce(options.debounce),
    param: options.param,
  };
}

/** Throws where an option has no meaning for these reasons. */
export function refuseMeaningless(reasons: readonly Reason[], label: string, options: ChangeOptions<KubeBody>): void {
  const meaningless = (what: string, where: string) => {
    throw declarationError(`${what} no meaning for on.${label}`, where);
  };
  if (options.optional !== undefined && !reasons.includes("delete")) {
    meaningless('"optional" has', "it belongs to on.delete");
  }
  if (options.deleted !== undefined && !reasons.includes("resume")) {
    meaningless('"deleted" has', "it belongs to on.resume");
  }
  if (options.onGiveUp !== undefined && (!reasons.includes("delete") || options.optional)) {
    meaningless('"onGiveUp" has', "it belongs to on.delete without optional");
  }
  if ((options.old !== undefined || options.new !== undefined) && !reasons.includes("update")) {
    meaningless('"old" and "new" have', "they belong to on.update and on.field");
  }
  if (options.debounce !== undefined && !reasons.includes("update")) {
    meaningless('"debounce" has', "it belongs to on.update and on.field");
  }
}

/** When something is due by the clock on the wall; undefined where nothing is said of it. */
export function readSchedule(options: Partial<ScheduleOptions>): SchedulePlan | undefined {
  if (options.schedule === undefined) return undefined;
  try {
    return planSchedule(options as ScheduleOptions);
  } catch (error) {
    throw declarationError((error as Error).message, 'a schedule is "0 3 * * *", "@daily" or "@every 1h"');
  }
}
