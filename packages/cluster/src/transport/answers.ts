import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { ApiRequest, Headers, StreamResponse } from "../api/index.ts";
import { StatusError, tooLarge } from "../registry/index.ts";
import { splitPathToken } from "./path-token.ts";

/** The largest body that a real server takes. */
const BODY_LIMIT = 3 * 1_024 * 1_024;
/** Of one that is larger, so much is read and thrown away before the connection is cut. */
const DISCARD_LIMIT = 32 * 1_024 * 1_024;
/** The largest request line and headers, as in a real server: selectors can be long. */
export const HEADER_LIMIT = 1_024 * 1_024;
/** How long a client may take to send a request, and to take an answer that is no stream. */
export const PATIENCE_MS = 60_000;
/** A watcher that lets this much pile up does not read any more; it is cut off and can start again. */
const BACKLOG_LIMIT = 64 * 1_024 * 1_024;

/** Answers that go on, whatever protocol carries them. */
export class OpenStreams {
  readonly #ends = new Set<() => void>();

  /** Starts writing `answer` to `output`, whose headers are out. `breakOff` lets the client see that it broke. */
  start(answer: StreamResponse, output: Writable, breakOff: () => void): void {
    let stop = () => {};
    const end = () => {
      this.#ends.delete(end);
      stop();
      output.end();
    };
    this.#ends.add(end);
    output.once("close", () => {
      this.#ends.delete(end);
      stop();
    });
    try {
      stop = answer.start({
        write: (chunk) => {
          output.write(chunk);
          if (output.writableLength > BACKLOG_LIMIT) output.destroy();
        },
        end: () => {
          this.#ends.delete(end);
          output.end();
        },
        drained: () => drained(output),
        reset: () => {
          this.#ends.delete(end);
          breakOff();
        },
      });
    } catch {
      // Too late for a status: the client sees the connection break, which it has to cope with anyway.
      this.#ends.delete(end);
      output.destroy();
    }
  }

  /** Ends all of them cleanly. */
  endAll(): void {
    for (const end of [...this.#ends]) end();
  }
}

function drained(output: Writable & { readonly socket?: EventEmitter | null }): Promise<void> {
  if (!output.writableNeedDrain || output.destroyed) return Promise.resolve();
  // Node.js no longer tells an answer that there is room when the next request of its connection has asked for another
  // protocol; the socket still does.
  const { socket } = output;
  return new Promise((resolve) => {
    const go = () => {
      output.off("drain", go);
      output.off("close", go);
      socket?.off("drain", go);
      resolve();
    };
    output.on("drain", go);
    output.on("close", go);
    socket?.on("drain", go);
  });
}

/** An answer that its client does not take stays in memory, hence not for ever. */
function expectReader(output: Writable): void {
  if (output.writableLength === 0) return;
  const timer = setTimeout(() => output.destroy(), PATIENCE_MS).unref();
  output.once("close", () => clearTimeout(timer));
}

/** Larger bodies leave in pieces of so many bytes, one in each turn of the event loop. */
const PIECE = 128 * 1_024;

/** Writes a whole body and ends. Encrypting and sending megabytes takes long: others have their turn in between. */
export function sendBody(output: Writable, body: string | Uint8Array): void {
  if (Buffer.byteLength(body) <= PIECE) {
    output.end(body);
    expectReader(output);
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const timer = setTimeout(() => output.destroy(), PATIENCE_MS).unref();
  output.once("close", () => clearTimeout(timer));
  let at = 0;
  const next = () => {
    if (output.destroyed) return;
    const piece = bytes.subarray(at, at + PIECE);
    at += PIECE;
    if (at >= bytes.length) output.end(piece);
    // Called when the piece has left, also where no "drain" comes: see `drained`.
    else output.write(piece, () => setImmediate(next));
  };
  next();
}

/** Headers are bytes: text beyond ASCII goes out as UTF-8, and what would end a header early does not go out. */
export function wireHeaders(headers: Headers): Record<string, string | string[]> {
  const wire: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    wire[name] = typeof value === "string" ? wireText(value) : value.map(wireText);
  }
  return wire;
}

function wireText(text: string): string {
  if (PLAIN.test(text)) return text;
  return Buffer.from(text.replace(CONTROLS, " "), "utf8").toString("latin1");
}

const PLAIN = /^[\x20-\x7e]*$/;
const CONTROLS = /\p{Cc}/gu;

/** What a request asks for, taken apart: path, query, and the token that a path may carry where there is no TLS. */
export function askedFor(url: string, plain: boolean): Pick<ApiRequest, "path" | "query"> & { token?: string } {
  const mark = url.indexOf("?");
  const asked = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
  if (!plain) return { path: asked, query };
  const { path, token } = splitPathToken(asked);
  return token === undefined ? { path, query } : { path, query, token };
}

/** Headers with one text each, as the API reads them; without the pseudo-headers of HTTP/2. */
export function flatten(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const flat: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(":")) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

/**
 * Of a body that is too large nothing is kept. The rest is read for a while, because a client that still writes when its
 * connection ends does not see the answer; `cut` ends that.
 */
export function readBody(input: Readable, length: string | undefined, cut: () => void): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let refused = false;
    const refuse = () => {
      refused = true;
      chunks.length = 0;
      reject(tooLarge(BODY_LIMIT));
    };
    if (Number(length ?? 0) > BODY_LIMIT) refuse();
    input.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > DISCARD_LIMIT) cut();
      else if (refused) return;
      else if (size > BODY_LIMIT) refuse();
      else chunks.push(chunk);
    });
    input.on("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const cutShort = () => {
      if (input.readableEnded) return;
      reject(new StatusError({ code: 400, reason: "BadRequest", message: "the body ended before it was complete" }));
    };
    input.on("error", cutShort);
    input.on("close", cutShort);
  });
}
