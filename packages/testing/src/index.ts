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
export {
  type Difference,
  ExploreError,
  type ExploreFailure,
  type ExploreOptions,
  type ExploreProgress,
  type ExploreReport,
  explore,
  type OperatorSource,
  type Scenario,
} from "./explore/index.ts";
export { startHarness } from "./harness.ts";
export type { Harness, HarnessOptions, OperatorWrite, UntilOptions } from "./harness-contract.ts";
export { CapturedLogs, type LogQuery } from "./logs.ts";
export {
  type ConditionWanted,
  type EventWanted,
  type LotseMatchers,
  matchers,
  type Verdict,
} from "./matchers/index.ts";
export type { PatternOf, Snapshot, Wanted } from "./objects/index.ts";
export { OracleError, type OracleName, type OracleOptions, type Violation } from "./oracles/index.ts";
export { type ReplayDifference, ReplayError, type ReplayOptions, type ReplayReport, replay } from "./replay/index.ts";
export type { PolicyRule, RbacOptions } from "./rights.ts";
export {
  type Mistake,
  type StateDifference,
  type TransitionFailure,
  TransitionsError,
  type TransitionsOptions,
  type TransitionsReport,
  transitions,
  type WalkedKind,
} from "./transitions/index.ts";
export { type ExternalOptions, external } from "./world/index.ts";
