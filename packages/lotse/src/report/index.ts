export type { Actor, OnBehalf } from "./actor.ts";
export { type Besides, COMMAND_HEADER, type EndpointsAddress, type Observed, openEndpoints } from "./endpoints.ts";
export { type EventCounts, EventRecorder, type EventSettings } from "./events.ts";
export type {
  Elsewhere,
  ExplainedObjective,
  Explanation,
  FailedHandler,
  ObjectQuestion,
  OpenHandler,
  RunningHandler,
} from "./explain.ts";
export {
  type BrokenApi,
  type CoordinationHealth,
  isAlive,
  isReady,
  type OperatorHealth,
  type StreamHealth,
  type Verdict,
  type WebhookHealth,
} from "./health.ts";
export type { Endpoints } from "./http.ts";
export { Journal, type JournalRun, type JournalTurn, type JournalWrite, type TurnNotes, type Wake } from "./journal.ts";
export {
  isWanted,
  type LogFields,
  Logger,
  type LogLevel,
  type LogRecord,
  type LogSink,
  type ObjectReference,
} from "./logger.ts";
export { HandlerMeasures, KindMeasures, measureStreams, type TurnResult } from "./measures.ts";
export type { FieldShare, KindMemory, MemoryReader, OperatorMemory } from "./memory.ts";
export { type Counter, type Histogram, Metrics, type Reading } from "./metrics.ts";
export { type GuardedMetrics, openGuardedMetrics, type TlsCredentials } from "./metrics-endpoint.ts";
export { type AskedWho, clusterReview, MetricsGuard, type Refusal } from "./metrics-guard.ts";
export type { RecordedRequest } from "./recorded-request.ts";
export { needOf, parseRecording, type RequestedRight, requestRecorder } from "./recording.ts";
export type { KindReporting, PostEvent, Reporting } from "./reporting.ts";
export { restMeasures } from "./rest-measures.ts";
export { type RunningAttempt, RunningAttempts } from "./running-attempts.ts";
export { jsonSink, minLevel, prettySink, shortValue, type TextOutput } from "./sinks.ts";
export type { TracedEnd, Traces } from "./traces.ts";
export { findTraces } from "./traces-find.ts";
