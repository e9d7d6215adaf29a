/**
 * What the scenarios of the examples need of the place where they are played: the harness of `@lotse/testing` has it, and
 * so has a real cluster in `tests/real`.
 */
import type { CapturedLogs, Harness, OperatorWrite, VirtualClock } from "@lotse/testing";

/** An operator at work in a namespace of its own. */
export interface Bench
  extends Pick<Harness, "client" | "settle" | "advance" | "restart" | "stopOperator" | "startOperator">,
    AsyncDisposable {
  readonly logs: CapturedLogs;
  /** The operator's successful writes so far. */
  writes(): readonly BenchWrite[] | Promise<readonly BenchWrite[]>;
}

/** A write of the operator. */
export type BenchWrite = Pick<OperatorWrite, "verb" | "resource" | "subresource">;

/** Starts the operator of a scenario; with a clock its time is the one that `advance` moves. */
export type StartBench = (clock?: VirtualClock) => Promise<Bench>;

/** How long a scenario waits for what a cluster does by itself: a real one looks for orphans every now and then. */
export const PATIENCE = "90s";
