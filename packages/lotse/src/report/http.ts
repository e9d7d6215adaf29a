/** What the small HTTP servers beside an operator have in common: how they listen, answer and end. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server at work. */
export interface Endpoints extends AsyncDisposable {
  /** 0 for a socket. */
  readonly port: number;
  close(): Promise<void>;
}

/** What is sent back. */
export interface Answer {
  readonly status: number;
  readonly type: "text/plain; charset=utf-8" | "text/plain; version=0.0.4; charset=utf-8" | "application/json";
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A sentence. */
export function plain(status: number, body: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body };
}

/** A document. */
export function json(status: number, value: unknown): Answer {
  return { status, type: "application/json", body: `${JSON.stringify(value)}\n` };
}

/** Metrics in the form that Prometheus reads. */
export function metricsText(body: string): Answer {
  return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body };
}

/** Sends it; nothing of it may be kept on the way. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, body, headers }: Answer,
): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store", ...headers });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** Where a server listens: a Unix socket, or a port of one address or of all. */
export type ListenAddress = { readonly socket: string } | { readonly host?: string | undefined; readonly port: number };

/** Begins to listen; rejects when the address is taken. */
export async function listen(server: Server, address: ListenAddress): Promise<Endpoints> {
  const where =
    "socket" in address
      ? { path: address.socket }
      : { port: address.port, ...(address.host !== undefined && { host: address.host }) };
  // A probe that hangs must not keep a program from ending.
  server.keepAliveTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      // A connection that could not be taken, for want of file descriptors, is tried again by the client that made it; an
      // error without a listener would end the operator.
      server.on("error", () => undefined);
      resolve();
    });
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const bound = server.address() as AddressInfo | string;
  return { port: typeof bound === "string" ? 0 : bound.port, close, [Symbol.asyncDispose]: close };
}
