import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { join, LOOPBACK, listen } from "./process-sockets.ts";

/** Connects to a host as the programs that use the proxy name it; rejects with a sentence for them. */
export type Connect = (host: string, port: number) => Promise<Socket>;

/** Headers that are about one connection, and not about what is sent over it. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * An HTTP proxy, for the many programs that go by the variable `http_proxy` (curl, wget, pip, Go's and Python's
 * libraries): the one place where a program without rights can be told what a name means.
 */
export class HttpProxy implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #tunnels: ReadonlySet<Socket>;

  private constructor(server: Server, port: number, tunnels: ReadonlySet<Socket>) {
    this.url = `http://${LOOPBACK}:${port}`;
    this.#server = server;
    this.#tunnels = tunnels;
  }

  static async start(connect: Connect): Promise<HttpProxy> {
    const tunnels = new Set<Socket>();
    const server = createServer((message, response) => {
      forward(connect, message, response).catch((error: unknown) => refuse(response, error));
    });
    server.on("connect", (message: IncomingMessage, socket: Socket, head: Buffer) => {
      tunnels.add(socket);
      socket.once("close", () => tunnels.delete(socket));
      socket.on("error", () => {});
      const [, host = "", port = ""] = /^\[?([^\]]*)\]?:(\d+)$/.exec(message.url ?? "") ?? [];
      connect(host, Number(port)).then(
        (other) => {
          socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
          other.write(head);
          join(socket, other);
        },
        (error: unknown) => socket.end(`HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n${sentence(error)}`),
      );
    });
    return new HttpProxy(server, await listen(server), tunnels);
  }

  /** Breaks everything off; resolves when the port is free. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    for (const socket of this.#tunnels) socket.destroy();
    await closed;
  }
}

async function forward(connect: Connect, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = URL.canParse(message.url ?? "") ? new URL(message.url ?? "") : undefined;
  if (url?.protocol !== "http:") {
    response.writeHead(400, { "content-type": "text/plain" });
    response.end("this is a proxy: it is used by way of the variable http_proxy\n");
    return;
  }
  const socket = await connect(url.hostname.replace(/^\[|\]$/g, ""), Number(url.port || 80));
  const onward = request({
    createConnection: () => socket,
    method: message.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...endToEnd(message.headers), host: url.host, connection: "close" },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once("response", resolve).once("error", reject);
  });
  response.once("close", () => onward.destroy());
  pipeline(message, onward, () => {
    // What goes wrong here is told by the answer, or by the lack of one.
  });
  const answer = await answered;
  onward.on("error", () => response.destroy());
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.headers));
  pipeline(answer, response, (error) => {
    if (error) response.destroy();
  });
}

function endToEnd(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(502, { "content-type": "text/plain" });
  response.end(sentence(error));
}

const sentence = (error: unknown): string => `${error instanceof Error ? error.message : String(error)}\n`;
