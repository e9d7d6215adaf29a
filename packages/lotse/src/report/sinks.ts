import { inspect } from "node:util";
import { errorMessage } from "@lotse/client/meta";
import { isWanted, type LogLevel, type LogRecord, type LogSink, type ObjectReference } from "./logger.ts";

/** Where log lines go to: anything with `write`, such as `process.stderr`. */
export interface TextOutput {
  write(text: string): unknown;
}

/** Only lines of `level` and above reach `sink`. */
export function atLeast(level: LogLevel, sink: LogSink): LogSink {
  const filtered = (record: LogRecord) => {
    if (isWanted(record.level, level)) sink(record);
  };
  return Object.assign(filtered, { level });
}

/** One JSON document a line, for machines. */
export function jsonSink(output: TextOutput): LogSink {
  return ({ time, level, message, object, fields }) => {
    const line = { time: new Date(time).toISOString(), level, message, ...(object && { object }), ...plain(fields) };
    output.write(`${JSON.stringify(line)}\n`);
  };
}

const COLOURS: Record<LogLevel, string> = { debug: "\x1b[90m", info: "\x1b[32m", warn: "\x1b[33m", error: "\x1b[31m" };
const DIM = "\x1b[2m";
const RESET = "\x1b[0m";

/** Lines for people: time, level, `[namespace/name]`, the sentence, and its fields. */
export function prettySink(output: TextOutput, options: { readonly colours: boolean }): LogSink {
  const paint = (code: string, text: string) => (options.colours ? `${code}${text}${RESET}` : text);
  return ({ time, level, message, object, fields }) => {
    const clock = new Date(time).toISOString().slice(11, 23);
    const parts = [paint(DIM, clock), paint(COLOURS[level], level.toUpperCase().padEnd(5))];
    if (object) parts.push(paint(DIM, `[${nameOf(object)}]`));
    parts.push(message);
    const { stack, ...rest } = fields;
    for (const [key, value] of Object.entries(rest)) {
      if (value !== undefined) parts.push(paint(DIM, `${key}=`) + short(value));
    }
    output.write(`${parts.join(" ")}\n${typeof stack === "string" ? `${paint(DIM, stack)}\n` : ""}`);
  };
}

function nameOf({ namespace, name }: ObjectReference): string {
  return namespace ? `${namespace}/${name}` : name;
}

function short(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(errorMessage(value));
  if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value === "object" && value !== null)
    return inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4 });
  return String(value);
}

/** Errors become their message (with what caused them), code and stack; everything else stays. */
function plain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? plainError(value) : value]),
  );
}

function plainError(error: Error): Record<string, unknown> {
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  return { name: error.name, message: errorMessage(error), code, hint, stack: error.stack };
}
