export { type EventCounts, EventRecorder, type EventSettings } from "./events.ts";
export {
  isWanted,
  type LogFields,
  Logger,
  type LogLevel,
  type LogRecord,
  type LogSink,
  type ObjectReference,
} from "./logger.ts";
export { Metrics } from "./metrics.ts";
export { atLeast, jsonSink, prettySink, type TextOutput } from "./sinks.ts";
