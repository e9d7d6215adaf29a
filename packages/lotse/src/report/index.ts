export { type EventCounts, EventRecorder, type EventSettings } from "./events.ts";
export { type LogFields, Logger, type LogLevel, type LogRecord, type LogSink, type ObjectReference } from "./logger.ts";
export { atLeast, jsonSink, prettySink, type TextOutput } from "./sinks.ts";
