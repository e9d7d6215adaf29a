/**
 * Logs of one container. Read once they are what the server sends; followed they go on over cut connections and restarts
 * of the container, until it has ended for good or its pod is gone:
 *
 *     look at the pod ──► (restarted since? the end of the one before) ──► stream ──► ended?
 *        ▲                                                                             │
 *        └────────────── wait, longer after each stream that brought nothing ◄─────────┘
 *
 * A followed log is always asked for with time stamps: they tell where to go on (see LogPosition). A half line at the end
 * of a stream is not told unless nothing can follow it, because the next stream brings it whole.
 */
import { type Duration, durationMs, sleep } from "../meta/index.ts";
import { ApiError, ConnectionError, NotFoundError, type Query, TimeoutError } from "../transport/index.ts";
import type { PodAccess } from "./access.ts";
import { type ContainerPhase, chooseContainer, phaseOf } from "./containers.ts";
import { type LogLines, logLines, splitLines } from "./log-lines.ts";
import { LogPosition } from "./log-position.ts";
import { dateOf, splitTimestamp } from "./timestamps.ts";

/** Which lines to read. */
export interface LogOptions {
  /** Default: the one of the annotation `kubectl.kubernetes.io/default-container`, else the first. */
  readonly container?: string | undefined;
  /** The log of the container before its last restart. */
  readonly previous?: boolean | undefined;
  /** Only lines of the last `"5m"`, or since a moment. */
  readonly since?: Duration | Date | undefined;
  /** `true`: each line begins with its time. `"parse"`: {@link LogEntry} instead of lines. */
  readonly timestamps?: boolean | "parse" | undefined;
  /** Only so many of the last lines. */
  readonly tailLines?: number | undefined;
  /** At most so many bytes. */
  readonly limitBytes?: number | undefined;
  /** Only one of the outputs, on servers that can tell them apart (Kubernetes 1.32 and newer, behind a feature gate). */
  readonly stream?: "All" | "Stdout" | "Stderr" | undefined;
  /** Goes on with what is written from now on. */
  readonly follow?: boolean | undefined;
  /** Does not check the certificate of the node, where the API server cannot. */
  readonly insecureSkipTLSVerifyBackend?: boolean | undefined;
  /** Aborting closes the connection and rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A line with its time. */
export interface LogEntry {
  /** To the millisecond. */
  readonly time: Date;
  /** As the server wrote it, to the nanosecond. */
  readonly timestamp: string;
  readonly line: string;
}

/**
 * The log of a container, line by line. Leaving the loop closes the connection.
 *
 * @example
 * ```ts
 * for await (const line of logs(pod, { follow: true, since: "5m" })) console.log(line);
 * for await (const { time, line } of logs(pod, { timestamps: "parse" })) console.log(time.toISOString(), line);
 * ```
 */
export function logs(pod: PodAccess, o: LogOptions & { readonly timestamps: "parse" }): LogLines<LogEntry>;
export function logs(pod: PodAccess, o?: LogOptions & { readonly timestamps?: boolean | undefined }): LogLines;
export function logs(pod: PodAccess, o?: LogOptions): LogLines<string | LogEntry>;
export function logs(pod: PodAccess, o: LogOptions = {}): LogLines<string | LogEntry> {
  if (o.timestamps === "parse")
    return logLines(
      () => readEntries(pod, o),
      ({ line }) => line,
    ) as LogLines<never>;
  return logLines(
    () => readTexts(pod, o),
    (line) => line,
  ) as LogLines<never>;
}

/** A line as it is handed on: with its time where that is known. */
interface StampedLine {
  readonly stamp: string | undefined;
  readonly line: string;
}

/** The lines with their times; those of the kubelet itself have none, and get that of the line before. */
export async function* readEntries(pod: PodAccess, o: LogOptions): AsyncGenerator<LogEntry, void, undefined> {
  let last = "1970-01-01T00:00:00Z";
  for await (const { stamp, line } of readStamped(pod, { ...o, timestamps: true })) {
    last = stamp ?? last;
    const time = splitTimestamp(last)?.time;
    yield { time: time ? dateOf(time) : new Date(0), timestamp: last, line };
  }
}

async function* readTexts(pod: PodAccess, o: LogOptions): AsyncGenerator<string, void, undefined> {
  for await (const { stamp, line } of readStamped(pod, o)) {
    yield o.timestamps && stamp !== undefined ? `${stamp} ${line}` : line;
  }
}

async function* readStamped(pod: PodAccess, o: LogOptions): AsyncGenerator<StampedLine, void, undefined> {
  const lines = o.follow && !o.previous ? follow(pod, o) : readOnce(pod, o);
  // The server counts the time stamps that it was only asked for to follow; so followed bytes are counted here.
  if (o.limitBytes === undefined || !o.follow) return yield* lines;
  let left = o.limitBytes;
  for await (const { stamp, line } of lines) {
    const bytes = Buffer.from(line);
    yield { stamp, line: bytes.length > left ? bytes.subarray(0, left).toString("utf8") : line };
    left -= bytes.length + 1;
    if (left <= 0) return;
  }
}

async function* readOnce(pod: PodAccess, o: LogOptions): AsyncGenerator<StampedLine, void, undefined> {
  const container = o.container ?? chooseContainer(await pod.read({ signal: o.signal }));
  const query = { ...queryOf(o, container), limitBytes: o.limitBytes };
  const { body } = await pod.raw({ method: "GET", path: `${pod.path}/log`, query, stream: true, signal: o.signal });
  try {
    for await (const { text } of splitLines(body as AsyncIterable<Buffer>)) {
      const split = o.timestamps ? splitTimestamp(text) : undefined;
      yield split ? { stamp: split.stamp, line: split.line } : { stamp: undefined, line: text };
    }
  } finally {
    body.destroy();
  }
}

function queryOf(o: LogOptions, container: string): Query {
  const { since } = o;
  return {
    container,
    previous: o.previous || undefined,
    follow: o.follow || undefined,
    timestamps: o.timestamps ? true : undefined,
    sinceTime: since instanceof Date ? since.toISOString() : undefined,
    // The server knows whole seconds only; a line too many is better than one too few.
    sinceSeconds:
      since === undefined || since instanceof Date ? undefined : Math.max(1, Math.ceil(durationMs(since) / 1_000)),
    tailLines: o.tailLines,
    stream: o.stream,
    insecureSkipTLSVerifyBackend: o.insecureSkipTLSVerifyBackend || undefined,
  };
}

/** After each stream that brought nothing the wait doubles, up to what a container in a crash loop deserves. */
const pauseMs = (idleRounds: number): number => (idleRounds === 0 ? 0 : Math.min(2_000, 250 * 2 ** (idleRounds - 1)));
/** The server may be away for some minutes, and is waited for; a log that never comes back is an error in the end. */
const MAX_FAILURES = 60;

async function* follow(pod: PodAccess, o: LogOptions): AsyncGenerator<StampedLine, void, undefined> {
  const { signal } = o;
  const position = new LogPosition();
  let container = o.container;
  let restarts: number | undefined;
  let idleRounds = 0;
  let failures = 0;
  /** The server's own time when the first stream began: where to go on from the end of the log, before any line came. */
  let openedAt: string | undefined;
  for (;;) {
    if (idleRounds > 0) await sleep(pod.clock, pauseMs(idleRounds), signal);
    idleRounds++;
    let state: ContainerPhase;
    try {
      const body = await pod.read({ signal });
      container = chooseContainer(body, container);
      state = phaseOf(body, container);
    } catch (error) {
      // Before the first look there is nothing to go on with; afterwards a pod that is gone is the end of its log.
      if (restarts === undefined) throw error;
      if (error instanceof NotFoundError) return;
      if (!isPassing(error) || ++failures > MAX_FAILURES) throw error;
      continue;
    }
    if (state.phase === "waiting" && !state.ranBefore) {
      restarts ??= state.restarts;
      continue;
    }
    // A container that waits for its next start still shows the log of the one before.
    const missed = restarts !== undefined && state.restarts > restarts && state.phase !== "waiting";
    const streams: Query[] = [];
    const first = { ...queryOf(o, container), follow: true, timestamps: true };
    const from = position.sinceTime ?? (o.tailLines === 0 ? openedAt : undefined);
    const next =
      from === undefined ? first : { ...first, sinceTime: from, sinceSeconds: undefined, tailLines: undefined };
    if (missed) streams.push({ ...next, previous: true, follow: undefined });
    streams.push(next);
    restarts = state.restarts;
    let ended = false;
    for (const query of streams) {
      position.restart();
      const last = query === next && state.phase === "finished";
      try {
        const { body, headers } = await pod.raw({
          method: "GET",
          path: `${pod.path}/log`,
          query,
          stream: true,
          signal,
        });
        openedAt ??= headers.date === undefined ? undefined : new Date(headers.date).toISOString();
        failures = 0;
        try {
          for await (const { text, complete } of splitLines(body as AsyncIterable<Buffer>)) {
            if (!complete && !last && query === next) break;
            const split = splitTimestamp(text);
            if (split && !position.admit(split.time)) continue;
            idleRounds = 0;
            yield split ? { stamp: split.stamp, line: split.line } : { stamp: undefined, line: text };
          }
          ended = last;
        } finally {
          body.destroy();
        }
      } catch (error) {
        // The kubelet keeps no more than one log of the past, and not for ever.
        if (query.previous && error instanceof ApiError && error.status < 500) continue;
        if (error instanceof NotFoundError) return;
        if (signal?.aborted || !isPassing(error) || ++failures > MAX_FAILURES) throw error;
        break;
      }
    }
    if (ended) return;
  }
}

/** Whether to try again: connections come back, servers too, and containers start. */
function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (error instanceof ApiError) {
    return (
      error.status >= 500 ||
      error.status === 429 ||
      (error.status === 400 && /waiting to start|not available/.test(error.message))
    );
  }
  // A stream that breaks while it is read fails with the socket's own error.
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    /^(ECONN|EPIPE|ERR_STREAM|ETIMEDOUT)/.test(error.code)
  );
}
