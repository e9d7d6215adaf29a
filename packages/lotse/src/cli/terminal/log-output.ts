import { jsonSink, type LogSink, minLevel, prettySink } from "../../report/index.ts";
import { wantsColours } from "./colours.ts";
import type { Io } from "./io.ts";

/** How a command logs. */
export interface LogOptions {
  readonly logFormat?: "pretty" | "json" | undefined;
  readonly verbose?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

/** The format that was asked for, else lines for people in a terminal and JSON elsewhere. */
export function logFormatOf(io: Io, { logFormat }: LogOptions): "pretty" | "json" {
  return logFormat ?? (io.stderr.isTTY ? "pretty" : "json");
}

/** Where the operator's log goes: standard error, so that standard output stays for what was asked for. */
export function logSinkOf(io: Io, options: LogOptions): LogSink {
  const sink =
    logFormatOf(io, options) === "json"
      ? jsonSink(io.stderr)
      : prettySink(io.stderr, { colours: wantsColours(io.stderr, io.env) });
  return minLevel(options.quiet ? "warn" : options.verbose ? "debug" : "info", sink);
}
