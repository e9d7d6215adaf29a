import { createServer as createHttpServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ApiRequest, ApiResponse, StreamResponse } from "../api/index.ts";
import { StatusError, tooLarge } from "../registry/index.ts";
import type { KeyAndCertificate } from "./certificates.ts";
import { startSession } from "./sessions.ts";

/** The largest body that a real server takes. */
const BODY_LIMIT = 3 * 1_024 * 1_024;
/** A watcher that lets this much pile up does not read any more; it is cut off and can start again. */
const BACKLOG_LIMIT = 64 * 1_024 * 1_024;

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls: KeyAndCertificate | undefined;
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
}

/** The socket side of the API server. */
export class Listener {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<() => void>();

  private constructor(server: Server) {
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
      void listener.#answer(request, response, options.handle);
    };
    const server = options.tls
      ? createHttpsServer({ key: options.tls.keyPem, cert: options.tls.certPem, ALPNProtocols: ["http/1.1"] }, answer)
      : createHttpServer(answer);
    // Clients keep connections open between requests; ours must not be the side that closes them in mid-flight.
    server.keepAliveTimeout = 120_000;
    server.requestTimeout = 0;
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void listener.#upgrade(request, socket, head, options.handle);
    });
    const listener = new Listener(server);
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

  async #answer(request: IncomingMessage, response: ServerResponse, handle: ListenerOptions["handle"]): Promise<void> {
    response.on("error", () => response.destroy());
    this.#respond(await handle(toApiRequest(request)), request, response);
  }

  /** A client that asks for another protocol gets it where a session begins, else an ordinary answer. */
  async #upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    handle: ListenerOptions["handle"],
  ): Promise<void> {
    socket.on("error", () => socket.destroy());
    const answer = await handle(toApiRequest(request));
    if (answer.type === "session") {
      if (head.length > 0) socket.unshift(head);
      return startSession(answer, request, socket);
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once("finish", () => socket.end());
    this.#respond(answer, request, response);
  }

  #respond(answer: ApiResponse, request: IncomingMessage, response: ServerResponse): void {
    if (response.destroyed || answer.type === "session") return;
    response.writeHead(answer.status, answer.headers as Record<string, string | string[]>);
    if (answer.type === "stream") this.#stream(answer, response);
    else if (request.method === "HEAD" || answer.status === 304) response.end();
    else response.end(answer.body);
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

function toApiRequest(request: IncomingMessage): ApiRequest {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  return {
    method: request.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
    headers: flatten(request),
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

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > BODY_LIMIT) throw tooLarge(BODY_LIMIT);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw new StatusError({ code: 400, reason: "BadRequest", message: "the body ended before it was complete" });
  }
  return Buffer.concat(chunks);
}
