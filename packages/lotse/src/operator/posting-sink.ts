/** Log lines about objects become Kubernetes Events where the settings say so. */
import type { Settings } from "../declare/index.ts";
import { type EventRecorder, isWanted, type LogRecord, type LogSink } from "../report/index.ts";

/** The sink, which also posts; `events` is undefined until the operator has a client. */
export function alsoPosting(
  sink: LogSink,
  posting: Settings["posting"],
  events: () => EventRecorder | undefined,
): LogSink {
  const write = (record: LogRecord) => {
    if (isWanted(record.level, sink.level)) sink(record);
    const { level, message, object } = record;
    if (!object || posting.logs === "none" || !isWanted(level, posting.logs)) return;
    const type = level === "warn" || level === "error" ? "Warning" : "Normal";
    events()?.post({ type, reason: "Logging", message, object });
  };
  // Settings may still change at startup, hence asked for each line.
  return Object.defineProperty(write, "level", {
    get: () => (posting.logs === "none" ? sink.level : undefined),
  });
}
