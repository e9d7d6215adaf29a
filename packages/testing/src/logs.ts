import { objectKeyOf } from "@lotse/client/meta";
import type { LogLevel, LogRecord, LogSink } from "lotse";

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** What to look for in the log; everything given has to match. */
export interface LogQuery {
  /** Of this level or above. */
  readonly level?: LogLevel;
  readonly message?: string | RegExp;
  /** The name of the object that the line is about, or `namespace/name`. */
  readonly object?: string;
  /** The id of the handler. */
  readonly handler?: string;
}

/**
 * The operator's log, line by line.
 *
 * @example
 * ```ts
 * expect(harness.logs.messages({ level: "warn" })).toEqual([]);
 * ```
 */
export class CapturedLogs implements Iterable<LogRecord> {
  #records: LogRecord[] = [];

  /** All lines, oldest first. */
  get records(): readonly LogRecord[] {
    return this.#records;
  }

  /** Takes lines for this log. */
  readonly sink: LogSink = (record) => {
    this.#records.push(record);
  };

  [Symbol.iterator](): Iterator<LogRecord> {
    return this.#records[Symbol.iterator]();
  }

  /** The lines that match. */
  find(query: LogQuery = {}): LogRecord[] {
    return this.#records.filter((record) => matches(record, query));
  }

  /** The sentences of the lines that match. */
  messages(query: LogQuery = {}): string[] {
    return this.find(query).map(({ message }) => message);
  }

  /** Forgets all lines so far. */
  clear(): void {
    this.#records = [];
  }

  /** The last lines as text. */
  lines(most: number): string[] {
    return this.#records.slice(-most).map(textOf);
  }

  /** The lines as text, to be read when a test fails. */
  toString(): string {
    return this.#records.map(textOf).join("\n");
  }
}

function matches({ level, message, object, fields }: LogRecord, query: LogQuery): boolean {
  return (
    (query.level === undefined || ORDER[level] >= ORDER[query.level]) &&
    (query.message === undefined ||
      (typeof query.message === "string" ? message === query.message : query.message.test(message))) &&
    (query.object === undefined ||
      query.object === object?.name ||
      (object !== undefined && query.object === objectKeyOf(object.namespace, object.name))) &&
    (query.handler === undefined || fields.handler === query.handler)
  );
}

function textOf({ level, message, object, fields }: LogRecord): string {
  const about = object ? ` [${object.namespace ? `${object.namespace}/` : ""}${object.name}]` : "";
  const rest = Object.entries(fields).filter(([key, value]) => value !== undefined && key !== "stack");
  return `${level}${about} ${message}${rest.map(([key, value]) => ` ${key}=${String(value)}`).join("")}`;
}
