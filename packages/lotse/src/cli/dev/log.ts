/**
 * The log as the author of an operator reads it: one line for each thing that happened to an object, whether the operator
 * or another client of the cluster says so, in columns that the eye can follow.
 */

import path from "node:path";
import { harmless } from "@lotse/client/meta";
import {
  isWanted,
  type LogLevel,
  type LogRecord,
  type LogSink,
  type ObjectReference,
  shortValue,
} from "../../report/index.ts";

/** A Kubernetes Event about an object. */
export interface EventNote {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Who reports it. */
  readonly from: string | undefined;
  /** How often it has happened. */
  readonly count: number;
  readonly object: ObjectReference;
}

/** How {@link devLines} writes. */
export interface DevLineOptions {
  readonly colours: boolean;
  /** Stacks name files below it by their relative paths. */
  readonly cwd: string;
  /** With more than one kind of objects, each line tells the kind. */
  readonly kinds: () => number;
}

/** What makes lines of records and Events. The column of the objects grows with the names that come. */
export interface DevLines {
  log(record: LogRecord): string;
  event(note: EventNote): string;
}

const DIM = "\x1b[2m";
const RESET = "\x1b[0m";
const LEVELS: Readonly<Record<LogLevel, string>> = {
  debug: "\x1b[90m",
  info: "\x1b[32m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
};
const EVENT = "\x1b[35m";
/** Objects that are worked on at the same time are told apart by their colours. Neither red nor yellow: these warn. */
const OBJECTS = ["\x1b[36m", "\x1b[34m", "\x1b[95m", "\x1b[96m", "\x1b[94m", "\x1b[92m"] as const;

/** A longer name moves its own line and no other one. */
const WIDEST = 36;

/** What a reader looks for first; the rest follows in its own order, and the place in the source comes last. */
const FIRST = ["handler", "error", "retryIn", "attempt"];

/** See {@link DevLines}. */
export function devLines({ colours, cwd, kinds }: DevLineOptions): DevLines {
  const paint = (code: string, text: string) => (colours && text !== "" ? `${code}${text}${RESET}` : text);
  let width = 0;
  const subject = (object: ObjectReference | undefined): string => {
    // What is about no object in particular stands out at the margin.
    if (!object) return "";
    const text = harmless(`[${object.namespace ? `${object.namespace}/` : ""}${object.name}]`);
    if (text.length <= WIDEST) width = Math.max(width, text.length);
    return `${paint(colourOf(text), text)}${" ".repeat(Math.max(0, width - text.length))} `;
  };
  const line = (time: number, mark: string, object: ObjectReference | undefined, rest: readonly string[]) =>
    `${paint(DIM, new Date(time).toISOString().slice(11, 23))} ${mark} ${subject(object)}${rest.join(" ")}\n`;
  const kindOf = (object: ObjectReference | undefined) => (object && kinds() > 1 ? object.kind : undefined);
  const field = (key: string, value: unknown, level: LogLevel) => {
    const shown = shortValue(value);
    return (
      paint(DIM, `${harmless(key)}=`) + (key === "error" && level !== "info" ? paint(LEVELS[level], shown) : shown)
    );
  };
  return {
    log({ time, level, message, object, fields }) {
      const { stack, kind, ...others } = fields;
      const rest = { ...others, kind: object ? kindOf(object) : kind };
      const shown = ordered(rest, level).map(([key, value]) => field(key, value, level));
      const mark = paint(LEVELS[level], level.toUpperCase().padEnd(5));
      const frames = typeof stack === "string" ? ownFrames(stack, cwd) : [];
      return (
        line(time, mark, object, [harmless(message), ...shown]) + frames.map((one) => `${paint(DIM, one)}\n`).join("")
      );
    },
    event({ time, type, reason, message, from, count, object }) {
      const times = count > 1 ? [paint(DIM, `×${count}`)] : [];
      const fields = { kind: kindOf(object), from };
      const shown = Object.entries(fields).flatMap(([key, value]) => (value ? [field(key, value, "info")] : []));
      const said = `${paint(type === "Warning" ? LEVELS.warn : EVENT, harmless(reason))}: ${oneLine(message)}`;
      return line(time, paint(EVENT, "EVENT"), object, [said, ...times, ...shown]);
    },
  };
}

/** Lines for people, of `least` and above. */
export function devSink(lines: DevLines, output: { write(text: string): unknown }, least: LogLevel): LogSink {
  const sink = (record: LogRecord) => {
    if (isWanted(record.level, least)) output.write(lines.log(record));
  };
  return Object.assign(sink, { level: least });
}

/** An Event as a line of a log that machines read. */
export function eventRecord({ time, type, reason, message, from, count, object }: EventNote): LogRecord {
  return {
    time,
    level: type === "Warning" ? "warn" : "info",
    message: "Kubernetes Event",
    fields: { type, reason, note: message, from, count },
    object,
  };
}

function ordered(fields: Readonly<Record<string, unknown>>, level: LogLevel): [string, unknown][] {
  const rank = (key: string) => (FIRST.includes(key) ? FIRST.indexOf(key) : key === "at" ? 1_000 : FIRST.length);
  return Object.entries(fields)
    .filter(([key, value]) => value !== undefined && value !== "" && !(key === "at" && level === "info"))
    .sort(([a], [b]) => rank(a) - rank(b));
}

/** The frames of a stack that are the reader's own code; how the framework came there does not help. */
function ownFrames(stack: string, cwd: string): string[] {
  const frames = stack.split("\n").filter((one) => /^\s+at /.test(one) && !/node:|[\\/]node_modules[\\/]/.test(one));
  return frames.map(
    (one) => `    ${harmless(one.trim()).replaceAll("file://", "").replaceAll(`${cwd}${path.sep}`, "")}`,
  );
}

function colourOf(text: string): string {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return OBJECTS[sum % OBJECTS.length] ?? OBJECTS[0];
}

function oneLine(text: string): string {
  return harmless(text.replaceAll(/\s*\n\s*/g, " ").trim());
}
