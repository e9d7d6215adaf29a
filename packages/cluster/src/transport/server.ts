import { createServer as createHttpServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { KeyAndCertificate } from "@lotse/client/certificates";
import type { ApiRequest, ApiResponse } from "../api/index.ts";
import {
  askedFor,
  flatten,
  HEADER_LIMIT,
  OpenStreams,
  PATIENCE_MS,
  readBody,
  sendBody,
  wireHeaders,
} from "./answers.ts";
import { ClientCertificates, clientCertificateOptions } from "./client-certificates.ts";
import { type OpenPort, takeOver } from "./open-port.ts";

/** Where a server listens, with which certificate, and who answers. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Open already: taken over instead of opening another. */
  readonly openPort?: OpenPort | undefined;
  /** Absent: plain HTTP. */
  readonly tls: KeyAndCertificate | undefined;
  /** Whose certificates clients may use to say who they are. */
  readonly clientAuthority?: readonly string[] | undefined;
  /** By which certificates of clients are good or too old: milliseconds since 1970. */
  readonly now: () => number;
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  /** Told of requests that could not be answered at all, whose connection was cut for that. */
  readonly trouble?: ((work: string, error: unknown) => void) | undefined;
}

/** The socket side of the API server. */
export class Listener {
  readonly #options: Pick<ListenerOptions, "handle" | "tls" | "trouble">;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new OpenStreams();
  /** Tells connections of HTTP/2 that no more requests are taken. */
  readonly #goodbyes = new Set<() => void>();
  readonly #certificates: ClientCertificates;
  /** Where those come from who are being greeted. */
  readonly #greeting = new Set<string>();
  /** Answers that a connection still owes, in the order of their requests. */
  readonly #owed = new WeakMap<Duplex, Set<ServerResponse>>();

  private constructor(options: ListenerOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    this.#certificates = new ClientCertificates(options.clientAuthority ?? [], options.now);
    const track = (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    };
    server.on("connection", track);
    server.on("secureConnection", track);
    if (options.tls) this.#countGreetings();
    if (options.tls) this.#offerHttp2();
  }

  /**
   * Connections whose client chose HTTP/2 while it greeted go another way than all others, which cost as much as on a
   * server that has never heard of it. Those who want WebSocket or SPDY choose HTTP/1.1, or nothing.
   */
  #offerHttp2(): void {
    const [http1] = this.#server.listeners("secureConnection");
    if (http1 === undefined) throw new Error("this version of Node.js has no server of HTTP/1.1 below that of HTTPS");
    this.#server.off("secureConnection", http1 as () => void);
    this.#server.on("secureConnection", (socket: TLSSocket) => {
      if (socket.alpnProtocol === "h2")
        this.#serveHttp2(socket).catch((error: unknown) => this.#cut("a connection of HTTP/2", socket, error));
      else http1.call(this.#server, socket);
    });
  }

  async #serveHttp2(socket: TLSSocket): Promise<void> {
    // Nothing may be lost that comes while the module is read, which only those need who meet a client of its kind.
    socket.pause();
    const { serveHttp2 } = await import("./http2.ts");
    if (socket.destroyed) return;
    const { handle, trouble } = this.#options;
    const goodbye = serveHttp2(socket, { handle, trouble, certificates: this.#certificates, streams: this.#streams });
    this.#goodbyes.add(goodbye);
    socket.once("close", () => this.#goodbyes.delete(goodbye));
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      // One request that goes wrong, however it does, costs its own connection and no other.
      listener.#answer(request, response).catch((error: unknown) => listener.#cut("a request", request.socket, error));
    };
    const server = options.tls
      ? createHttpsServer(
          {
            key: options.tls.keyPem,
            cert: options.tls.certPem,
            ALPNProtocols: ["h2", "http/1.1"],
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
      listener
        .#upgrade(request, socket, head)
        .catch((error: unknown) => listener.#cut("a request for another protocol", socket, error));
    });
    const listener = new Listener(options, server);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.once("listening", () => {
        server.off("error", reject);
        resolve();
      });
      if (options.openPort) takeOver(options.openPort, server);
      else server.listen(options.port, options.host);
    });
    return listener;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections are being greeted: they have come, and cannot ask for anything yet. */
  get greeting(): number {
    return this.#greeting.size;
  }

  #countGreetings(): void {
    const peer = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
    this.#server.on("connection", (socket: Socket) => {
      const name = peer(socket);
      this.#greeting.add(name);
      socket.once("close", () => this.#greeting.delete(name));
    });
    this.#server.on("secureConnection", (socket: TLSSocket) => this.#greeting.delete(peer(socket)));
  }

  #cut(what: string, socket: Duplex, error: unknown): void {
    socket.destroy();
    this.#options.trouble?.(`${what} could not be answered, its connection was cut`, error);
  }

  /** Ends every watch cleanly, then closes what is left. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#streams.endAll();
    for (const goodbye of this.#goodbyes) goodbye();
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
      // Headers leave at once: clients count a watch as open when they see them.
      response.flushHeaders();
      // What was written before still arrives, but not the end of the body.
      this.#streams.start(answer, response, () => response.socket?.destroySoon());
    } else if (request.method === "HEAD" || answer.status === 304) {
      response.writeHead(answer.status, headers);
      response.end();
    } else {
      // With its length known, head and body leave in one piece.
      headers["content-length"] = String(Buffer.byteLength(answer.body));
      response.writeHead(answer.status, headers);
      sendBody(response, answer.body);
    }
  }
}

function closed(response: ServerResponse): Promise<void> {
  return response.closed ? Promise.resolve() : new Promise((resolve) => response.once("close", resolve));
}

function toApiRequest(request: IncomingMessage, certificates: ClientCertificates, plain: boolean): ApiRequest {
  const { path, query, token } = askedFor(request.url ?? "/", plain);
  const headers = flatten(request.headers);
  // What the client says in so many words counts more than how it found the server.
  if (token !== undefined) headers.authorization ??= `Bearer ${token}`;
  return {
    method: request.method ?? "GET",
    path,
    query,
    headers,
    headerValues: () => request.headersDistinct,
    clientCertificate: () => certificates.of(request.socket),
    host: request.headers.host ?? "",
    body: () => readBody(request, request.headers["content-length"], () => request.socket.destroy()),
  };
}
