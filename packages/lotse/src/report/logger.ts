/**
 * Logs: constant sentences with fields. A sentence never carries values, so that one message is one line of a search;
 * what varies is in the fields, and the object that it is about in its own place.
 */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Values that vary, beside the constant sentence. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The object that a line is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** One line before it is written. */
export interface LogRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
  readonly object: ObjectReference | undefined;
}

/** Takes lines: a writer, a test, an adapter to another logger. */
export interface LogSink {
  (record: LogRecord): void;
  /** Lines below this level are not even made. Default: all are. */
  readonly level?: LogLevel;
}

const NO_FIELDS: LogFields = Object.freeze({});

const ORDER: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Whether lines of `level` are wanted by a sink that wants `least` and above. */
export function isWanted(level: LogLevel, least: LogLevel | undefined): boolean {
  return least === undefined || ORDER[level] >= ORDER[least];
}

/**
 * Writes log lines.
 *
 * @example
 * ```ts
 * logger.info("rate published", { rate: 1.08 });
 * logger.error("the bank does not answer", { error });
 * ```
 */
export class Logger {
  readonly #sink: LogSink;
  readonly #now: () => number;
  readonly #fields: LogFields;
  readonly #object: ObjectReference | undefined;

  constructor(sink: LogSink, now: () => number, fields: LogFields = NO_FIELDS, object?: ObjectReference) {
    this.#sink = sink;
    this.#now = now;
    this.#fields = fields;
    this.#object = object;
  }

  debug(message: string, fields?: LogFields): void {
    this.#write("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write("error", message, fields);
  }

  /** A logger whose lines carry these fields too. */
  with(fields: LogFields): Logger {
    return new Logger(this.#sink, this.#now, { ...this.#fields, ...fields }, this.#object);
  }

  /** A logger whose lines are about `object`. */
  about(object: ObjectReference): Logger {
    return new Logger(this.#sink, this.#now, this.#fields, object);
  }

  /** Whether the sink would take a line of this level: for lines that are costly to make. */
  wants(level: LogLevel): boolean {
    return isWanted(level, this.#sink.level);
  }

  #write(level: LogLevel, message: string, fields: LogFields = NO_FIELDS): void {
    if (!this.wants(level)) return;
    const all = this.#fields === NO_FIELDS ? fields : { ...this.#fields, ...fields };
    this.#sink({ time: this.#now(), level, message, fields: all, object: this.#object });
  }
}
