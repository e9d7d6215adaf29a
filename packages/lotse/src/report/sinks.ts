import { inspect } from "node:util";
import { errorMessage, harmless, harmlessJson, harmlessLines } from "@lotse/client/meta";
import { isWanted, type LogLevel, type LogRecord, type LogSink, type ObjectReference } from "./logger.ts";

/** Where log lines go to: anything with `write`, such as `process.stderr`. */
export interface TextOutput {
  write(text: string): unknown;
}

/** Only lines of `level` and above reach `sink`. */
export function minLevel(level: LogLevel, sink: LogSink): LogSink {
  const filtered = (record: LogRecord) => {
    if (isWanted(record.level, level)) sink(record);
  };
  return Object.assign(filtered, { level });
}

/** What a line has of its own; a field of such a name does not replace it, and is found under `fields`. */
const OWN = new Set(["time", "level", "message", "object", "fields"]);

/** One JSON document a line, for machines. */
export function jsonSink(output: TextOutput): LogSink {
  return ({ time, level, message, object, fields }) => {
    const all = Object.entries(fields);
    const free = all.filter(([key]) => !OWN.has(key));
    const taken = all.filter(([key, value]) => OWN.has(key) && value !== undefined);
    const line = {
      time: new Date(time).toISOString(),
      level,
      message,
      ...(object && { object }),
      ...Object.fromEntries(free),
      ...(taken.length > 0 && { fields: Object.fromEntries(taken) }),
    };
    output.write(`${harmlessJson(toJson(line))}\n`);
  };
}

/** Whatever it is: a line that cannot be written must not become an error of the code that logs it. */
function toJson(value: unknown): string {
  const above: unknown[] = [];
  try {
    return JSON.stringify(value, function (this: unknown, _key, one: unknown) {
      if (typeof one === "bigint") return String(one);
      if (one instanceof Error) return plainError(one);
      if (typeof one !== "object" || one === null) return one;
      // Those that hold this one, from the outermost on.
      while (above.length > 0 && above.at(-1) !== this) above.pop();
      if (above.includes(one)) return "[circular]";
      above.push(one);
      return one;
    });
  } catch (error) {
    const { time, level, message, object } = value as Partial<Record<string, unknown>>;
    const reason = `the fields of this line cannot be written: ${errorMessage(error)}`;
    return JSON.stringify({ time, level, message, ...(object !== undefined && { object }), fields: reason });
  }
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
    if (object) parts.push(paint(DIM, harmless(`[${nameOf(object)}]`)));
    parts.push(harmless(message));
    const { stack, ...rest } = fields;
    for (const [key, value] of Object.entries(rest)) {
      if (value !== undefined) parts.push(paint(DIM, `${harmless(key)}=`) + shortValue(value));
    }
    output.write(`${parts.join(" ")}\n${typeof stack === "string" ? `${paint(DIM, indented(stack))}\n` : ""}`);
  };
}

/** A message in a stack may have lines of its own: none of them stands where a line of the log begins. */
function indented(stack: string): string {
  return harmlessLines(stack).replaceAll(/^(?=\S)/gm, "  ");
}

function nameOf({ namespace, name }: ObjectReference): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** A value of a field, short and on one line, whatever it is. */
export function shortValue(value: unknown): string {
  try {
    if (value instanceof Error) return harmless(JSON.stringify(errorMessage(value)));
    if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : harmless(JSON.stringify(value));
    if (typeof value !== "object" || value === null) return harmless(String(value));
    return harmless(inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 4 }));
  } catch (error) {
    return harmless(`[cannot be shown: ${errorMessage(error)}]`);
  }
}

function plainError(error: Error): Record<string, unknown> {
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  return { name: error.name, message: errorMessage(error), code, hint, stack: error.stack };
}
