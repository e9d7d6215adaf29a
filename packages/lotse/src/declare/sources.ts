/** What happens outside of the cluster, or by the clock, and concerns the operator: the types of sources and schedules. */
import type { Client, KindDescription } from "@lotse/client";
import type { Duration } from "@lotse/client/meta";
import type { Logger } from "../report/index.ts";
import type { Memo } from "./cause.ts";
import type { AttemptContext } from "./context.ts";
import type { SchedulePlan } from "./handler.ts";
import type { Indexes } from "./indexes.ts";
import type { ResourceInput, ScheduleOptions } from "./options.ts";
import type { RetryOptions, RetryPlan } from "./retry.ts";
import type { FixedSettings } from "./settings.ts";

/** An object that something has happened to. */
export interface WokenObject {
  /** The class, name or description of its kind. */
  readonly kind: Exclude<ResourceInput, (...args: never[]) => boolean> | KindDescription;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** What has happened, for the log and for `lotse explain`. */
  readonly why?: string | undefined;
}

/** What sources and scheduled functions get. */
export interface OutsideContext {
  readonly client: Client;
  readonly logger: Logger;
  /** The id of this run: in each of its log lines, and in its span. Another attempt has another one. */
  readonly runId: string;
  /** Notes of the operator. */
  readonly memo: Memo;
  /** Aborts when the operator stops. */
  readonly signal: AbortSignal;
  readonly settings: FixedSettings;
  readonly indexes: Indexes;
  /** Waits; ends early, by throwing the signal's reason, when the operator stops. Follows the clock of tests. */
  sleep(duration: Duration): Promise<void>;
}

/**
 * Tells what happens outside of the cluster, for as long as the operator runs.
 *
 * @example
 * ```ts
 * operator.source("mail", async function* ({ signal }) {
 *   for await (const { database } of inbox.messages({ signal })) yield { kind: Database, name: database, why: "mail" };
 * });
 * ```
 */
export type SourceFunction = (context: OutsideContext) => AsyncIterable<WokenObject | readonly WokenObject[]>;

/** Options of `operator.source`. */
export type SourceOptions = Pick<RetryOptions, "backoff">;

/** A declared source. */
export interface SourceHandler {
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly retry: RetryPlan;
  readonly fn: SourceFunction;
}

/** What scheduled functions get. */
export interface ScheduleContext extends OutsideContext, AttemptContext {
  /** The time that the run is for. */
  readonly scheduled: Date;
}

/** Options of `operator.schedule`. */
export interface OperatorScheduleOptions extends ScheduleOptions, RetryOptions {}

/** A declared function of the operator that runs by the clock. */
export interface ScheduledHandler {
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly schedule: SchedulePlan;
  readonly retry: RetryPlan;
  readonly fn: (context: ScheduleContext) => unknown;
}
