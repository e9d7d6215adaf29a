import { createServer as createHttpServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ApiRequest, ApiResponse, Headers, StreamResponse } from "../api/index.ts";
import { StatusError, tooLarge } from "../registry/index.ts";
import type { KeyAndCertificate } from "./certificates.ts";
import { ClientCertificates, clientCertificateOptions } from "./client-certificates.ts";
import { splitPathToken } from "./path-token.ts";

/** The largest body that a real server takes. */
const BODY_LIMIT = 3 * 1_024 * 1_024;
/** Of one that is larger, so much is read and thrown away before the connection is cut. */
const DISCARD_LIMIT = 32 * 1_024 * 1_024;
/** The largest request line and headers, as in a real server: selectors can be long. */
const HEADER_LIMIT = 1_024 * 1_024;
/** How long a client may take to send a request, and to take an answer that is no stream. */
const PATIENCE_MS = 60_000;
/** A watcher that lets this much pile up does not read any more; it is cut off and can start again. */
const BACKLOG_LIMIT = 64 * 1_024 * 1_024;

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls: KeyAndCertificate | undefined;
  /** Whose certificates clients may use to say who they are. */
  readonly clientAuthority?: readonly string[] | undefined;
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
}

/** The socket side of the API server. */
export class Listener {
  readonly #options: Pick<ListenerOptions, "handle" | "tls">;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<() => void>();
  readonly #certificates = new ClientCertificates();
  /** Answers that a connection still owes, in the order of their requests. */
  readonly #owed = new WeakMap<Duplex, Set<ServerResponse>>();

  private constructor(options: ListenerOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    const track = (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    };
    server.on("connection", track);
    server.on("secureConnection", track);
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      // One request that goes wrong, however it does, costs its own connection and nobody else's.
      listener.#answer(request, response).catch(() => request.socket.destroy());
    };
    const server = options.tls
      ? createHttpsServer(
          {
            key: options.tls.keyPem,
            cert: options.tls.certPem,
            ALPNProtocols: ["http/1.1"],
            maxHeaderSize: HEADER_LIMIT,
            ...clientCertificateOptions(options.clientAuthority),
          },
          answer,
        )
      : createHttpServer({ maxHeaderSize: HEADER_LIMIT }, answer);
    // Clients keep connections open between requests; ours must not be the side that closes them in mid-flight.
    server.keepAliveTimeout = 120_000;
    server.requestTimeout = PATIENCE_MS;
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      listener.#upgrade(request, socket, head).catch(() => socket.destroy());
    });
    const listener = new Listener(options, server);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(options.port, options.host, () => {
        server.off("error", reject);
        resolve();
      });
    });
    return listener;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends every watch cleanly, then closes what is left. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const end of [...this.#streams]) end();
    // Give the last chunks a turn of the event loop to leave before connections are cut.
    await new Promise((resolve) => setImmediate(resolve));
    this.#server.closeIdleConnections();
    for (const socket of this.#sockets) socket.destroySoon();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => response.destroy());
    const { socket } = request;
    const owed = this.#owed.get(socket) ?? new Set();
    this.#owed.set(socket, owed.add(response));
    response.once("close", () => owed.delete(response));
    this.#respond(await this.#handle(request), request, response);
  }

  /** A client that asks for another protocol gets it where a session begins, else an ordinary answer. */
  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const answer = await this.#handle(request);
    // What was asked before on the same connection is answered before.
    await Promise.all([...(this.#owed.get(socket) ?? [])].map(closed));
    if (socket.destroyed) return;
    if (answer.type === "session") {
      if (head.length > 0) socket.unshift(head);
      // Protocols that only some of the requests to pods speak.
      const { startSession } = await import("./sessions.ts");
      return startSession(answer, request, socket);
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once("finish", () => socket.end());
    this.#respond(answer, request, response);
  }

  #handle(request: IncomingMessage): Promise<ApiResponse> {
    const { handle, tls } = this.#options;
    return handle(toApiRequest(request, this.#certificates, tls === undefined));
  }

  #respond(answer: ApiResponse, request: IncomingMessage, response: ServerResponse): void {
    if (response.destroyed || answer.type === "session") return;
    if (answer.type === "reset") {
      request.socket.destroy();
      return;
    }
    const headers = wireHeaders(answer.headers);
    if (answer.type === "stream") {
      response.writeHead(answer.status, headers);
      this.#stream(answer, response);
    } else if (request.method === "HEAD" || answer.status === 304) {
      response.writeHead(answer.status, headers);
      response.end();
    } else {
      // With its length known, head and body leave in one piece.
      headers["content-length"] = String(Buffer.byteLength(answer.body));
      response.writeHead(answer.status, headers);
      response.end(answer.body);
      if (response.writableLength > 0) expectReader(response);
    }
  }

  #stream(answer: StreamResponse, response: ServerResponse): void {
    // Headers leave at once: clients count a watch as open when they see them.
    response.flushHeaders();
    let stop = () => {};
    const end = () => {
      this.#streams.delete(end);
      stop();
      response.end();
    };
    this.#streams.add(end);
    response.once("close", () => {
      this.#streams.delete(end);
      stop();
    });
    const begin = () =>
      answer.start({
        write: (chunk) => {
          response.write(chunk);
          if (response.writableLength > BACKLOG_LIMIT) response.destroy();
        },
        end: () => {
          this.#streams.delete(end);
          response.end();
        },
        drained: () => drained(response),
        reset: () => {
          this.#streams.delete(end);
          // What was written before still arrives, but not the end of the body.
          response.socket?.destroySoon();
        },
      });
    try {
      stop = begin();
    } catch {
      // Too late for a status: the client sees the connection break, which it has to cope with anyway.
      this.#streams.delete(end);
      response.destroy();
    }
  }
}

function closed(response: ServerResponse): Promise<void> {
  return response.closed ? Promise.resolve() : new Promise((resolve) => response.once("close", resolve));
}

function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go);
      response.off("close", go);
      resolve();
    };
    response.on("drain", go);
    response.on("close", go);
  });
}

/** Headers are bytes: text beyond ASCII goes out as UTF-8, and what would end a header early does not go out. */
function wireHeaders(headers: Headers): Record<string, string | string[]> {
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

/** An answer that its client does not take stays in memory, hence not for ever. */
function expectReader(response: ServerResponse): void {
  const timer = setTimeout(() => response.destroy(), PATIENCE_MS).unref();
  response.once("close", () => clearTimeout(timer));
}

function toApiRequest(request: IncomingMessage, certificates: ClientCertificates, plain: boolean): ApiRequest {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  const asked = mark < 0 ? url : url.slice(0, mark);
  const { path, token } = plain ? splitPathToken(asked) : { path: asked, token: undefined };
  const headers = flatten(request);
  // What somebody says in so many words counts more than how the server was found.
  if (token !== undefined) headers.authorization ??= `Bearer ${token}`;
  return {
    method: request.method ?? "GET",
    path,
    query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
    headers,
    headerValues: () => request.headersDistinct,
    clientCertificate: () => certificates.of(request.socket),
    host: request.headers.host ?? "",
    body: () => readBody(request),
  };
}

function flatten(request: IncomingMessage): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

/**
 * Of a body that is too large nothing is kept. The rest is read for a while, because a client that still writes when its
 * connection ends does not see the answer.
 */
function readBody(request: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let refused = false;
    const refuse = () => {
      refused = true;
      chunks.length = 0;
      reject(tooLarge(BODY_LIMIT));
    };
    if (Number(request.headers["content-length"] ?? 0) > BODY_LIMIT) refuse();
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > DISCARD_LIMIT) request.socket.destroy();
      else if (refused) return;
      else if (size > BODY_LIMIT) refuse();
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const cutShort = () => {
      if (request.complete) return;
      reject(new StatusError({ code: 400, reason: "BadRequest", message: "the body ended before it was complete" }));
    };
    request.on("error", cutShort);
    request.on("close", cutShort);
  });
}
