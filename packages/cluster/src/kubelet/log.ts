import type { ByteSink } from "../bytes/index.ts";

/** Which of a container's two outputs a line came from. */
export type LogStream = "stdout" | "stderr";

/** Which part of a log a reader wants. */
export interface LogSelection {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Lines written before this time (milliseconds) are left out. */
  readonly since: number | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: LogStream | undefined;
}

interface LogLine {
  readonly ms: number;
  /** Tells lines of one millisecond apart, so that a reader can go on after the last one that it saw. */
  readonly order: number;
  readonly stream: LogStream;
  /** With its line feed, unless the container ended in the middle of it. */
  readonly bytes: Uint8Array;
}

/** A kubelet starts a new file after this much; what is older is gone. */
const KEPT_BYTES = 10 * 1_024 * 1_024;
const LINE_FEED = 0x0a;

/** What one run of a container wrote, line by line. */
export class ContainerLog {
  readonly #now: () => number;
  readonly #lines: LogLine[] = [];
  readonly #partial: Record<LogStream, Uint8Array[]> = { stdout: [], stderr: [] };
  readonly #followers = new Set<(line: LogLine | undefined) => void>();
  #size = 0;
  #ended = false;
  #last = { ms: 0, order: 0 };

  constructor(now: () => number) {
    this.#now = now;
  }

  get ended(): boolean {
    return this.#ended;
  }

  write(stream: LogStream, chunk: Uint8Array): void {
    if (this.#ended) return;
    let rest = chunk;
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      this.#add(stream, rest.subarray(0, end + 1));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.#partial[stream].push(rest.slice());
  }

  /** The container has ended: clients that follow see the end. */
  end(): void {
    if (this.#ended) return;
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#partial[stream].length > 0) this.#add(stream, new Uint8Array());
    }
    this.#ended = true;
    for (const follower of [...this.#followers]) follower(undefined);
  }

  /** What was written so far, as far as it was asked for. */
  text(selection: LogSelection): Uint8Array {
    const chunks = this.#chosen(selection);
    const budget = new Budget(selection.limitBytes);
    return concat(chunks.map((line) => budget.take(format(line, selection.timestamps))));
  }

  /** Writes what there is, and then what comes, until the container ends. The returned function stops it. */
  follow(selection: LogSelection, sink: { write(chunk: Uint8Array): void; end(): void }): () => void {
    const budget = new Budget(selection.limitBytes);
    let stopped = false;
    const stop = () => {
      stopped = true;
      this.#followers.delete(follower);
    };
    const show = (line: LogLine) => {
      const chunk = budget.take(format(line, selection.timestamps));
      if (chunk.length > 0) sink.write(chunk);
      if (budget.spent) follower(undefined);
    };
    const follower = (line: LogLine | undefined) => {
      if (stopped) return;
      if (line === undefined) {
        stop();
        sink.end();
      } else if (selection.stream === undefined || line.stream === selection.stream) show(line);
    };
    for (const line of this.#chosen(selection)) if (!stopped) show(line);
    if (stopped) return stop;
    if (this.#ended) follower(undefined);
    else this.#followers.add(follower);
    return stop;
  }

  /** A sink for one of the streams. */
  sink(stream: LogStream): ByteSink {
    return {
      write: (chunk) => {
        this.write(stream, chunk);
        return Promise.resolve();
      },
    };
  }

  #chosen({ since, tailLines, stream }: LogSelection): readonly LogLine[] {
    const lines = this.#lines.filter(
      (line) => (stream === undefined || line.stream === stream) && (since === undefined || line.ms >= since),
    );
    return tailLines === undefined ? lines : tailLines === 0 ? [] : lines.slice(-tailLines);
  }

  #add(stream: LogStream, end: Uint8Array): void {
    const bytes = concat([...this.#partial[stream], end]);
    this.#partial[stream] = [];
    const ms = this.#now();
    this.#last = ms > this.#last.ms ? { ms, order: 0 } : { ms: this.#last.ms, order: this.#last.order + 1 };
    const line = { ...this.#last, stream, bytes };
    this.#lines.push(line);
    this.#size += bytes.length;
    while (this.#size > KEPT_BYTES && this.#lines.length > 1) {
      this.#size -= (this.#lines.shift() as LogLine).bytes.length;
    }
    for (const follower of [...this.#followers]) follower(line);
  }
}

/** Bytes that may still be shown. */
class Budget {
  #left: number;

  constructor(limit: number | undefined) {
    this.#left = limit ?? Number.POSITIVE_INFINITY;
  }

  get spent(): boolean {
    return this.#left <= 0;
  }

  take(chunk: Uint8Array): Uint8Array {
    const taken = chunk.length <= this.#left ? chunk : chunk.subarray(0, this.#left);
    this.#left -= taken.length;
    return taken;
  }
}

function format(line: LogLine, timestamps: boolean): Uint8Array {
  if (!timestamps) return line.bytes;
  const time = new Date(line.ms).toISOString().replace("Z", `${String(line.order).padStart(6, "0")}Z `);
  return concat([new TextEncoder().encode(time), line.bytes]);
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
