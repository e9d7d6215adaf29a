import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import { type Exchange, flatten, type WireAnswer } from "./exchange.ts";
import type { RequestHead } from "./head.ts";
import type { WebhookLimits } from "./limits.ts";
import type { PeerCertificate, Peers } from "./peer.ts";

/** Lines of headers: no client needs as many. */
const HEADER_PAIRS = 256;
/** What a client may send ahead on one connection, so that a review of some megabytes does not wait for each window. */
const WINDOW_BYTES = 1_024 * 1_024;
/** What one connection may keep in memory, in megabytes. */
const SESSION_MEMORY = 64;

/** Speaks HTTP/2 on a connection whose client chose it, and gives each request to `serve`. */
export function serveHttp2(
  socket: TLSSocket,
  limits: WebhookLimits,
  peers: Peers,
  serve: (exchange: Exchange) => void,
): ServerHttp2Session {
  socket.setNoDelay(true);
  const session = performServerHandshake(socket, {
    maxHeaderListPairs: HEADER_PAIRS,
    maxSessionMemory: SESSION_MEMORY,
    settings: {
      maxConcurrentStreams: limits.streams,
      maxHeaderListSize: limits.headerBytes,
      initialWindowSize: WINDOW_BYTES,
      enablePush: false,
    },
  });
  session.on("error", () => session.destroy());
  // Whatever was asked is long past its deadline then.
  session.setTimeout(limits.idleMs, () => session.close());
  session.on("stream", (stream, headers) => serve(new Http2Exchange(stream, headers, socket, peers)));
  return session;
}

/** A request over HTTP/2. */
class Http2Exchange implements Exchange {
  readonly head: RequestHead;
  readonly stream: ServerHttp2Stream;
  readonly source: string | undefined;
  readonly #headers: IncomingHttpHeaders;
  readonly #socket: TLSSocket;
  readonly #peers: Peers;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: TLSSocket, peers: Peers) {
    this.head = {
      method: headers[":method"] ?? "GET",
      target: headers[":path"] ?? "/",
      contentType: headers["content-type"],
      contentLength: headers["content-length"],
      contentEncoding: headers["content-encoding"],
    };
    this.stream = stream;
    this.source = socket.remoteAddress;
    this.#headers = headers;
    this.#socket = socket;
    this.#peers = peers;
    stream.on("error", () => stream.destroy());
  }

  headers(): Readonly<Record<string, string>> {
    const { ":authority": host } = this.#headers;
    return { ...(host !== undefined && { host }), ...flatten(this.#headers) };
  }

  peer(): PeerCertificate | undefined {
    return this.#peers.of(this.#socket);
  }

  onGone(gone: () => void): void {
    this.stream.once("close", () => {
      if (!this.stream.headersSent) gone();
    });
  }

  /** That a connection takes no more requests is said to the session, not with an answer. */
  send({ status, headers, body }: WireAnswer): void {
    const { stream } = this;
    if (stream.destroyed || stream.closed || stream.headersSent) return;
    stream.respond({ ...headers, ":status": status, "content-length": String(Buffer.byteLength(body)) });
    stream.end(body);
    // What comes after a complete answer is not wanted, and the client is told so without an error.
    if (!stream.readableEnded) stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
  }
}
