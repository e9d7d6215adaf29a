/**
 * A man in the middle between an operator and its cluster: sees every request, and does harm by rule. Plain HTTP/1.1 on
 * both sides, one connection to the cluster for each request, so that every broken connection is one that a rule broke.
 */
import * as http from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { LineReader } from "./lines.ts";
import { type Seen, seen } from "./seen.ts";

/** What is done to a request. */
export type Fault =
  /** Kills the operator before the cluster hears of the request, or after it has answered and before the operator has. */
  | { readonly type: "kill"; readonly when: "before" | "after" }
  /** Answers in the cluster's place, which hears nothing of it. */
  | { readonly type: "answer"; readonly status: number; readonly retryAfter?: number }
  /** Breaks the connection; the cluster hears nothing of the request. */
  | { readonly type: "reset" }
  /** Breaks the connection after the cluster has done what was asked. */
  | { readonly type: "lose" }
  /** The same, in the middle of the answer. */
  | { readonly type: "halve" }
  | { readonly type: "delay"; readonly ms: number }
  /** Neither answers nor closes. */
  | { readonly type: "mute" }
  /** Asks for each line of a watch what to do with it. */
  | { readonly type: "lines"; readonly each: (line: string) => LineFault };

/** What is done to a line of a watch. */
export type LineFault =
  | "pass"
  | "twice"
  /** Breaks the connection before the line, in the middle of it, or after it. */
  | "cut before"
  | "cut inside"
  | "cut after"
  /** Passes nothing from here on and keeps the connection open. */
  | "stall"
  /** Ends the watch as a server does that has forgotten the past. */
  | "expire";

/** Decides about each request; undefined lets it pass. */
export type Rule = (request: Seen) => Fault | undefined;

const REASONS: Readonly<Record<number, string>> = {
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
};

/** See the module comment. */
export class FaultProxy {
  /** Every request so far, oldest first. */
  readonly requests: Seen[] = [];
  /** Requests and lines that a rule has done something to. */
  injected = 0;
  rule: Rule = () => undefined;
  /** Kills the operator and resolves when it is dead. */
  kill: () => Promise<void> = () => Promise.reject(new Error("there is nobody to kill"));
  readonly #cluster: URL;
  readonly #server = http.createServer((request, response) => void this.#serve(request, response));
  readonly #counts = new Map<string, number>();
  readonly #watches = new Set<http.ServerResponse>();
  readonly #connections = new Set<Socket>();
  #forwarded = 0;
  #activeAt = performance.now();

  private constructor(cluster: string) {
    this.#cluster = new URL(cluster);
    this.#server.keepAliveTimeout = 0;
    this.#server.requestTimeout = 0;
    this.#server.on("connection", (socket: Socket) => {
      this.#connections.add(socket);
      socket.on("close", () => this.#connections.delete(socket));
    });
  }

  static async open(cluster: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(cluster);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Writes so far. */
  get writes(): Seen[] {
    return this.requests.filter(({ write }) => write);
  }

  /** Milliseconds since the last sign of life in either direction. */
  get quietMs(): number {
    return this.#forwarded > 0 ? 0 : performance.now() - this.#activeAt;
  }

  /** How many connections clients hold open. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Whether nothing is on its way any more of what an operator sent that is dead now. */
  get isDrained(): boolean {
    return this.#connections.size === 0 && this.#forwarded === 0;
  }

  /** Breaks every watch that is open now. */
  cutWatches(): void {
    for (const response of this.#watches) response.socket?.destroy();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    // Whoever was killed or gave up hears nothing any more; that is no error of the proxy's.
    response.on("error", () => {});
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    const what = seen(request, body, this.#counts);
    this.requests.push(what);
    this.#activeAt = performance.now();
    const fault = this.rule(what);
    if (fault && fault.type !== "lines") this.injected++;
    await this.#apply(fault, what, request, body, response);
    this.#activeAt = performance.now();
  }

  async #apply(
    fault: Fault | undefined,
    what: Seen,
    request: http.IncomingMessage,
    body: Buffer,
    response: http.ServerResponse,
  ): Promise<void> {
    const breakOff = () => {
      response.socket?.destroy();
    };
    switch (fault?.type) {
      case "kill":
        if (fault.when === "after") await this.#ask(request, body);
        await this.kill();
        return breakOff();
      case "answer":
        return refuse(response, fault);
      case "reset":
        return breakOff();
      case "lose":
        if (what.verb !== "watch") await this.#ask(request, body);
        return breakOff();
      case "halve":
        return what.verb === "watch" ? breakOff() : halve(response, await this.#ask(request, body));
      case "mute":
        return;
      case "delay":
        await new Promise((resolve) => setTimeout(resolve, fault.ms));
        return this.#pass(what, request, body, response, undefined);
      default:
        return this.#pass(what, request, body, response, fault?.each);
    }
  }

  async #pass(
    what: Seen,
    request: http.IncomingMessage,
    body: Buffer,
    response: http.ServerResponse,
    each: ((line: string) => LineFault) | undefined,
  ): Promise<void> {
    if (what.verb === "watch") return this.#stream(request, response, each ?? (() => "pass"));
    const answer = await this.#ask(request, body);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  /** Sends the request to the cluster and reads the whole answer. */
  #ask(request: http.IncomingMessage, body: Buffer): Promise<Answer> {
    this.#forwarded++;
    return new Promise<Answer>((resolve, reject) => {
      const sending = this.#open(request, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 500,
            headers: ownHeaders(answer.headers),
            body: Buffer.concat(chunks),
          }),
        );
      });
      sending.on("error", reject);
      sending.end(body);
    }).finally(() => {
      this.#forwarded--;
    });
  }

  #stream(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    each: (line: string) => LineFault,
  ): Promise<void> {
    this.#watches.add(response);
    return new Promise((resolve) => {
      const sending = this.#open(request, (answer) => {
        response.writeHead(answer.statusCode ?? 500, ownHeaders(answer.headers)).flushHeaders();
        let over = false;
        const reader = new LineReader((line) => {
          if (over) return;
          this.#activeAt = performance.now();
          const fault = each(line);
          if (fault !== "pass") this.injected++;
          over = this.#line(line, fault, response);
        });
        answer.on("data", (chunk: Buffer) => reader.push(chunk));
        answer.on("end", () => over || response.end());
        answer.on("error", () => response.socket?.destroy());
      });
      sending.on("error", () => response.socket?.destroy());
      sending.end();
      response.on("close", () => {
        this.#watches.delete(response);
        sending.destroy();
        resolve();
      });
    });
  }

  /** Returns whether the watch is over for the operator. */
  #line(line: string, fault: LineFault, response: http.ServerResponse): boolean {
    const cut = (text: string) => {
      response.write(text, () => response.socket?.destroy());
      return true;
    };
    switch (fault) {
      case "pass":
        response.write(`${line}\n`);
        return false;
      case "twice":
        response.write(`${line}\n${line}\n`);
        return false;
      case "cut before":
        response.socket?.destroy();
        return true;
      case "cut inside":
        return cut(line.slice(0, line.length / 2));
      case "cut after":
        return cut(`${line}\n`);
      case "stall":
        return true;
      case "expire":
        response.end(`${JSON.stringify({ type: "ERROR", object: statusOf(410) })}\n`);
        return true;
    }
  }

  #open(request: http.IncomingMessage, onAnswer: (answer: http.IncomingMessage) => void): http.ClientRequest {
    return http.request(
      {
        agent: false,
        host: this.#cluster.hostname,
        port: this.#cluster.port,
        method: request.method,
        path: request.url,
        headers: ownHeaders(request.headers),
      },
      onAnswer,
    );
  }
}

interface Answer {
  readonly status: number;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Headers that are not about one connection. */
function ownHeaders(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const { connection: _, "keep-alive": _alive, "transfer-encoding": _encoding, host: _host, ...rest } = headers;
  return rest;
}

function halve(response: http.ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": body.length });
  response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy());
}

function refuse(response: http.ServerResponse, { status, retryAfter }: Fault & { type: "answer" }): void {
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  // What a server says that does not serve the kind at the moment. It says nothing about the object.
  if (status === 404) response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n");
  else {
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(statusOf(status, retryAfter)));
  }
}

function statusOf(code: number, retryAfter?: number): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `a fault of the test: ${code}`,
    reason: REASONS[code],
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
    code,
  };
}
