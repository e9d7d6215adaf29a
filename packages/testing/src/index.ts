/**
 * `@lotse/testing`: test an operator on an embedded cluster, with any test runner.
 *
 * @packageDocumentation
 */

export { VirtualClock } from "@lotse/client/meta";
export {
  Cable,
  type ChaosDecision,
  type ChaosEvent,
  type ChaosFault,
  ChaosProxy,
  type ChaosProxyOptions,
  type ChaosRequest,
  type ChaosRule,
  type ChaosVerb,
  decideBy,
  type LineFault,
} from "./chaos/index.ts";
export { ConversionsError, type ConversionsOptions, conversions } from "./conversions.ts";
export { type Harness, type HarnessOptions, type OperatorWrite, startHarness } from "./harness.ts";
export { CapturedLogs, type LogQuery } from "./logs.ts";
export { type ReplayDifference, ReplayError, type ReplayOptions, type ReplayReport, replay } from "./replay/index.ts";
export type { PolicyRule, RbacOptions } from "./rights.ts";
