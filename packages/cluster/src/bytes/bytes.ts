/** Where bytes go. Writing resolves when there is room for more, so that a slow reader slows the writer down. */
export interface ByteSink {
  write(chunk: Uint8Array): Promise<void>;
}

/** Where bytes come from; ends when the other side has no more to say. */
export type ByteSource = AsyncIterable<Uint8Array>;

/** One connection to a port of a pod, seen from the side that connected. */
export interface PodConnection extends ByteSink {
  /** What the pod sends. Throws when the connection breaks. */
  readonly incoming: ByteSource;
  /** Nothing more will be written; reading goes on. */
  end(): void;
  /** Gives the connection up in both directions. */
  close(): void;
}

const DEFAULT_LIMIT = 1_024 * 1_024;

/** Bytes on their way from one writer to one reader. The writer waits while more than `limit` of them are under way. */
export class BytePipe implements ByteSink, AsyncIterable<Uint8Array> {
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #end: { readonly error: Error | undefined } | undefined;
  #wakeReader: (() => void) | undefined;
  #wakeWriters: (() => void)[] = [];

  constructor(limit: number = DEFAULT_LIMIT) {
    this.#limit = limit;
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#end !== undefined || chunk.length === 0) return Promise.resolve();
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#wakeReader?.();
    if (this.#size <= this.#limit) return Promise.resolve();
    return new Promise((resolve) => this.#wakeWriters.push(resolve));
  }

  /** The reader gets what is under way, then its end, or `error`. Later writes go nowhere. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wakeReader?.();
    this.#release();
  }

  /** The reader does not want any more. */
  discard(): void {
    this.#chunks.length = 0;
    this.#size = 0;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#size -= chunk.length;
          if (this.#size <= this.#limit) this.#release();
          yield chunk;
        } else if (this.#end !== undefined) {
          if (this.#end.error) throw this.#end.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
          this.#wakeReader = undefined;
        }
      }
    } finally {
      this.discard();
    }
  }

  #release(): void {
    const waiting = this.#wakeWriters;
    this.#wakeWriters = [];
    for (const wake of waiting) wake();
  }
}

/** Two ends of one connection: what one writes, the other reads. */
export function connectionPair(): [PodConnection, PodConnection] {
  const there = new BytePipe();
  const back = new BytePipe();
  const end = (incoming: BytePipe, outgoing: BytePipe): PodConnection => ({
    incoming,
    write: (chunk) => outgoing.write(chunk),
    end: () => outgoing.end(),
    close: () => {
      incoming.discard();
      outgoing.end();
    },
  });
  return [end(back, there), end(there, back)];
}

/** All that a source has to say, as text. */
export async function readText(source: ByteSource): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of source) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
