import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "@lotse/client/meta";
import { Refusal, statusBody } from "./answers.ts";
import { type Exchange, flatten, LINGER_MS, type WireAnswer } from "./exchange.ts";
import type { RequestHead } from "./head.ts";
import type { PeerCertificate, Peers } from "./peer.ts";

/** A body up to here is read and thrown away to keep its connection; beyond, the connection is given up. */
const WORTH_READING = 64 * 1_024;

/** A request over HTTP/1.1. */
export class Http1Exchange implements Exchange {
  readonly head: RequestHead;
  readonly stream: IncomingMessage;
  readonly source: string | undefined;
  readonly #response: ServerResponse;
  readonly #peers: Peers;
  readonly #clock: Clock;
  readonly #ended: WeakSet<Duplex>;

  /** `ended` gets the connections whose last answer is out. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { peers, clock, ended }: { readonly peers: Peers; readonly clock: Clock; readonly ended: WeakSet<Duplex> },
  ) {
    const { headers } = request;
    this.head = {
      method: request.method ?? "GET",
      target: request.url ?? "/",
      contentType: headers["content-type"],
      contentLength: headers["content-length"],
      contentEncoding: headers["content-encoding"],
    };
    this.stream = request;
    this.source = request.socket.remoteAddress;
    this.#response = response;
    this.#peers = peers;
    this.#clock = clock;
    this.#ended = ended;
    response.on("error", () => response.destroy());
  }

  headers(): Readonly<Record<string, string>> {
    return flatten(this.stream.headers);
  }

  peer(): PeerCertificate | undefined {
    return this.#peers.of(this.stream.socket);
  }

  onGone(gone: () => void): void {
    this.#response.once("close", () => {
      if (!this.#response.headersSent) gone();
    });
  }

  send({ status, headers, body, last }: WireAnswer): void {
    const response = this.#response;
    if (response.destroyed || response.headersSent) return;
    const abandoned = this.#hasMore() && (status === 408 || !this.#isWorthReading());
    if (last || abandoned) this.#ended.add(this.stream.socket);
    const length = this.head.method === "HEAD" ? {} : { "content-length": String(Buffer.byteLength(body)) };
    response.writeHead(status, { ...headers, ...length, ...((last || abandoned) && { connection: "close" }) });
    if (abandoned) this.#linger(body);
    else {
      this.stream.resume();
      response.end(body);
    }
  }

  /** Whether a part of the body has not come yet. A request without any is not known to be complete at once. */
  #hasMore(): boolean {
    const { "transfer-encoding": encoding } = this.stream.headers;
    return !this.stream.complete && (encoding !== undefined || Number(this.head.contentLength ?? 0) > 0);
  }

  #isWorthReading(): boolean {
    const { contentLength } = this.head;
    return contentLength !== undefined && Number(contentLength) <= WORTH_READING;
  }

  /**
   * A connection that is closed while its client still sends is reset, and the answer is lost on the way. So the answer
   * leaves, and the connection ends when the client has noticed.
   */
  #linger(body: string): void {
    const { stream } = this;
    const response = this.#response;
    const end = () => {
      cancel();
      stream.off("end", end).off("close", end);
      response.end();
    };
    const cancel = this.#clock.after(LINGER_MS, end);
    stream.once("end", end).once("close", end).resume();
    response.write(body);
  }
}

/** What the parser of Node.js could not make sense of, by its code. */
export function judgeBroken(code: string | undefined): Refusal {
  if (code === "HPE_HEADER_OVERFLOW") return new Refusal(431, "the headers of this request are too large");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new Refusal(408, "the request did not come in time");
  return new Refusal(400, "this is no request of HTTP/1.1");
}

/** Answers on a connection that has no request, and ends it. */
export function answerRaw(socket: Duplex, { status, message, headers }: Refusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(statusBody(status, message));
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.on("error", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
