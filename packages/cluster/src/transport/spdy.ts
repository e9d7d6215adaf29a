import { BytePipe, type ByteSink } from "../bytes/index.ts";
import { encodeFrame, FrameReader, type SpdyFrame } from "./spdy-frames.ts";
import { HeaderReader, HeaderWriter, type SpdyHeaders } from "./spdy-headers.ts";

/** Where the frames go. */
export interface SpdyCarrier {
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
}

/** One of the streams of a connection, opened by the client. */
export interface SpdyStream extends ByteSink {
  readonly id: number;
  readonly headers: SpdyHeaders;
  /** What the client sends on it. */
  readonly incoming: BytePipe;
  /** Nothing more will be written. */
  end(): void;
}

/** What is on its way to a slow reader of one stream before the whole connection has to wait. */
const STREAM_BUFFER = 4 * 1_024 * 1_024;
const LARGEST_DATA = 64 * 1_024;

/**
 * The server's side of a SPDY/3.1 connection.
 *
 * Clients in the field (Kubernetes' own library) neither wait for window updates nor send any: writing pauses when the
 * carrier asks for it, and reading tells the other side about room as the protocol wants it, in case it cares.
 */
export class SpdyConnection {
  readonly #carrier: SpdyCarrier;
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #frames = new FrameReader();
  readonly #reader = new HeaderReader();
  readonly #writer = new HeaderWriter();
  readonly #streams = new Map<number, BytePipe>();
  #last = 0;
  #closed = false;

  constructor(source: AsyncIterable<Uint8Array>, carrier: SpdyCarrier) {
    this.#source = source;
    this.#carrier = carrier;
  }

  /** Hands each new stream to `onStream`; resolves when the client has gone. */
  async serve(onStream: (stream: SpdyStream) => void): Promise<void> {
    try {
      for await (const chunk of this.#source) {
        for (const frame of this.#frames.push(chunk)) await this.#take(frame, onStream);
      }
    } catch {
      // A broken connection and one that makes no sense end the same way.
    } finally {
      this.#reader.close();
      for (const pipe of this.#streams.values()) pipe.end();
      this.close();
    }
  }

  /** No more streams; what was written arrives. */
  close(): void {
    if (this.#closed) return;
    void this.#send({ type: "go-away", last: this.#last, status: 0 });
    this.#closed = true;
    this.#carrier.end();
  }

  async #take(frame: SpdyFrame, onStream: (stream: SpdyStream) => void): Promise<void> {
    switch (frame.type) {
      case "syn-stream":
        return this.#opened(frame.stream, await this.#reader.read(frame.headers), frame.fin, onStream);
      case "syn-reply":
      case "headers":
        // Not of interest, but part of the compressed stream.
        await this.#reader.read(frame.headers);
        return;
      case "data": {
        const pipe = this.#streams.get(frame.stream);
        if (frame.data.length > 0) {
          await pipe?.write(Uint8Array.from(frame.data));
          void this.#send({ type: "window-update", stream: frame.stream, delta: frame.data.length });
        }
        if (frame.fin) pipe?.end();
        return;
      }
      case "reset":
        this.#streams.get(frame.stream)?.end();
        return;
      case "ping":
        // Odd numbers are the client's; an even one would be the answer to ours.
        if (frame.id % 2 === 1) void this.#send(frame);
        return;
      default:
        return;
    }
  }

  #opened(id: number, headers: SpdyHeaders, fin: boolean, onStream: (stream: SpdyStream) => void): void {
    this.#last = Math.max(this.#last, id);
    const incoming = new BytePipe(STREAM_BUFFER);
    this.#streams.set(id, incoming);
    if (fin) incoming.end();
    void this.#send({ type: "syn-reply", stream: id, fin: false, headers: this.#writer.write(new Map()) });
    let ended = false;
    onStream({
      id,
      headers,
      incoming,
      write: async (chunk) => {
        for (let at = 0; at < chunk.length && !ended; at += LARGEST_DATA) {
          await this.#send({ type: "data", stream: id, fin: false, data: chunk.subarray(at, at + LARGEST_DATA) });
        }
      },
      end: () => {
        if (ended) return;
        ended = true;
        void this.#send({ type: "data", stream: id, fin: true, data: new Uint8Array() });
      },
    });
  }

  #send(frame: Parameters<typeof encodeFrame>[0]): Promise<void> {
    return this.#closed ? Promise.resolve() : this.#carrier.write(encodeFrame(frame));
  }
}
