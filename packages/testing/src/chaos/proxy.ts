/**
 * A man in the middle between an operator and its cluster: sees every request, and does harm by rule. HTTP/1.1 on the
 * operator's side, plain or with TLS; on the cluster's side whatever its kubeconfig says, with one connection for each request, so that
 * every broken connection is one that a rule broke.
 */
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { pipeline } from "node:stream";
import { CertificateAuthority } from "@lotse/client/certificates";
import { type Clock, systemClock } from "@lotse/client/meta";
import { type AccessOptions, Passage } from "@lotse/client/passage";
import { EventReader, formOf, shownEvent } from "./events.ts";
import { type ChaosFault, expiredEvent, type LineFault, refuse } from "./faults.ts";
import { type ChaosRequest, RequestCounts, readRequest } from "./request.ts";
import type { ChaosDecision } from "./rules.ts";
import { passUpgrade } from "./upgrade.ts";

/** What the proxy has seen or done. */
export type ChaosEvent =
  | { readonly type: "request"; readonly request: ChaosRequest }
  /** A rule has done something to the request, or to an event of its watch. */
  | { readonly type: "fault"; readonly request: ChaosRequest; readonly fault: ChaosFault["type"] | LineFault }
  /** The cluster has answered; of a watch, it has begun. */
  | { readonly type: "answer"; readonly request: ChaosRequest; readonly status: number }
  /** An event of a watch. */
  | { readonly type: "event"; readonly request: ChaosRequest }
  | { readonly type: "watch ended"; readonly request: ChaosRequest }
  /** The cluster cannot be reached, which is no doing of the proxy's. */
  | { readonly type: "unreachable"; readonly request: ChaosRequest; readonly error: Error };

/** How a proxy works. */
export interface ChaosProxyOptions {
  /** Who may ask: requests need this bearer token. Default: everybody who reaches the port, which is on loopback. */
  readonly token?: string | undefined;
  /** Whether it listens with a certificate of its own, which {@link ChaosProxy.ca} proves. Default `false`. */
  readonly tls?: boolean | undefined;
  /** Hears of everything. */
  readonly onEvent?: ((event: ChaosEvent) => void) | undefined;
  /** Whether `requests` is kept. Default `true`; not for a proxy that works for hours. */
  readonly keep?: boolean | undefined;
  /** Time of delays and cuts. */
  readonly clock?: Clock | undefined;
}

/**
 * See the module comment.
 *
 * @example
 * ```ts
 * await using proxy = await ChaosProxy.open({ kubeconfig: "staging.yaml" });
 * proxy.rule = ({ verb, index }) => (verb === "create" && index === 0 ? { type: "lose" } : undefined);
 * const client = await Client.connect({ url: proxy.url });
 * ```
 */
export class ChaosProxy implements AsyncDisposable {
  /** Every request so far, oldest first. */
  readonly requests: ChaosRequest[] = [];
  /** Requests and events of watches that a rule has done something to. */
  injected = 0;
  /** What is done to the next requests. */
  rule: ChaosDecision = () => undefined;
  /** Kills the operator and resolves when it is dead. */
  kill: () => Promise<void> = () => Promise.reject(new Error("there is nobody to kill"));
  readonly #passage: Passage;
  readonly #o: ChaosProxyOptions;
  readonly #clock: Clock;
  /** With TLS: the authority that has signed its certificate, PEM. */
  readonly ca: string | undefined;
  readonly #server: http.Server;
  readonly #counts = new RequestCounts();
  readonly #watches = new Set<http.ServerResponse>();
  readonly #connections = new Set<Socket>();
  #forwarded = 0;
  #activeAt: number;
  /** The first error of a rule or of the listener. */
  #stumbled: { readonly error: unknown } | undefined;

  private constructor(passage: Passage, o: ChaosProxyOptions) {
    this.#passage = passage;
    this.#o = o;
    this.#clock = o.clock ?? systemClock;
    this.#activeAt = this.#clock.monotonic();
    const listener: http.RequestListener = (request, response) => {
      this.#serve(request, response).catch((error: unknown) => this.#stumble(error, response.socket));
    };
    if (o.tls) {
      const authority = new CertificateAuthority("lotse-chaos", Date.now());
      const { certPem, keyPem } = authority.issue({ commonName: "chaos", hosts: ["127.0.0.1"], usage: "server" });
      this.ca = authority.certPem;
      this.#server = https.createServer({ cert: certPem, key: keyPem }, listener);
    } else this.#server = http.createServer(listener);
    this.#server.keepAliveTimeout = 0;
    this.#server.requestTimeout = 0;
    this.#server.on("connection", (socket: Socket) => {
      this.#connections.add(socket);
      socket.on("close", () => this.#connections.delete(socket));
    });
    this.#server.on("upgrade", (request, socket, head) => {
      this.#upgrade(request, socket as Socket, head).catch((error: unknown) => this.#stumble(error, socket as Socket));
    });
  }

  /** Listens in front of a cluster: an address, to which requests go with their own credentials, or a kubeconfig. */
  static async open(cluster: string | AccessOptions, options: ChaosProxyOptions = {}): Promise<ChaosProxy> {
    const passage = await Passage.open(typeof cluster === "string" ? { url: cluster } : cluster);
    const proxy = new ChaosProxy(passage, options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject);
      proxy.#server.listen(0, "127.0.0.1", resolve);
    });
    return proxy;
  }

  /** Where the operator finds its cluster. */
  get url(): string {
    return `${this.ca === undefined ? "http" : "https"}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The cluster behind it. */
  get cluster(): Passage["access"] {
    return this.#passage.access;
  }

  /** Writes so far. */
  get writes(): ChaosRequest[] {
    return this.requests.filter(({ write }) => write);
  }

  /** Milliseconds since the last sign of life in either direction. */
  get quietMs(): number {
    return this.#forwarded > 0 ? 0 : this.#clock.monotonic() - this.#activeAt;
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

  /** Rejects with the error of a rule or of `onEvent`, if one has thrown: the requests that it was asked about are broken off. */
  async close(): Promise<void> {
    // Upgraded connections are not the server's any more.
    for (const socket of this.#connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#passage.close();
    if (this.#stumbled) throw this.#stumbled.error;
  }

  /** Neither the cluster nor the operator is to blame: whoever closes the proxy is told. */
  #stumble(error: unknown, socket: Socket | null): void {
    this.#stumbled ??= { error };
    socket?.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
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
    if (!this.#isWelcome(request)) return refuse(response, { type: "answer", status: 401 });
    const body = Buffer.concat(chunks);
    const what = this.#see(request, body);
    const fault = this.#decide(what);
    try {
      await this.#apply(fault, { what, request, body, response });
    } catch (error) {
      this.#tell({ type: "unreachable", request: what, error: error as Error });
      response.socket?.destroy();
    }
    this.#activeAt = this.#clock.monotonic();
  }

  #isWelcome({ headers }: http.IncomingMessage): boolean {
    const { token } = this.#o;
    return token === undefined || headers.authorization === `Bearer ${token}`;
  }

  #see(request: http.IncomingMessage, body: Buffer): ChaosRequest {
    const what = readRequest(request, body, this.#counts);
    if (this.#o.keep !== false) this.requests.push(what);
    this.#activeAt = this.#clock.monotonic();
    this.#tell({ type: "request", request: what });
    return what;
  }

  #decide(what: ChaosRequest): ChaosFault | undefined {
    const fault = this.rule(what);
    if (fault && fault.type !== "lines" && fault.type !== "cut") this.#count(what, fault.type);
    return fault;
  }

  #count(request: ChaosRequest, fault: ChaosFault["type"] | LineFault): void {
    this.injected++;
    this.#tell({ type: "fault", request, fault });
  }

  #tell(event: ChaosEvent): void {
    this.#o.onEvent?.(event);
  }

  async #apply(fault: ChaosFault | undefined, asked: Asked): Promise<void> {
    const { what, response } = asked;
    const breakOff = () => {
      response.socket?.destroy();
    };
    switch (fault?.type) {
      case "kill":
        if (fault.when === "after") await this.#ask(asked);
        await this.kill();
        return breakOff();
      case "answer":
        return refuse(response, fault);
      case "reset":
        return breakOff();
      case "lose":
        if (what.verb !== "watch") await this.#ask(asked);
        return breakOff();
      case "halve":
        return what.verb === "watch" ? breakOff() : halve(response, await this.#ask(asked));
      case "mute":
        return;
      case "delay":
        await new Promise<void>((resolve) => this.#clock.after(fault.ms, resolve));
        return this.#pass(asked);
      default:
        return this.#pass(asked, fault);
    }
  }

  #pass(asked: Asked, fault?: ChaosFault & { type: "lines" | "cut" }): Promise<void> {
    if (asked.what.verb !== "watch") return this.#forward(asked);
    return this.#stream(asked, fault?.type === "lines" ? fault.each : () => "pass", fault?.type === "cut" ? fault : {});
  }

  /** Sends the request to the cluster, and its answer on as it comes. */
  async #forward({ what, request, body, response }: Asked): Promise<void> {
    this.#forwarded++;
    // Whoever does not wait for the answer any more, as of a log that is followed, ends it.
    const over = new AbortController();
    response.once("close", () => over.abort());
    try {
      const answer = await this.#passage.send({ ...asSent(request), body, signal: over.signal });
      this.#tell({ type: "answer", request: what, status: answer.statusCode ?? 500 });
      response.writeHead(answer.statusCode ?? 500, ownHeaders(answer.headers));
      await new Promise<void>((resolve) => pipeline(answer, response, () => resolve()));
    } catch (error) {
      if (!over.signal.aborted) throw error;
    } finally {
      this.#forwarded--;
    }
  }

  /** Sends the request to the cluster and reads the whole answer. */
  async #ask({ what, request, body }: Asked): Promise<Answer> {
    this.#forwarded++;
    try {
      const answer = await this.#passage.send({ ...asSent(request), body });
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      const status = answer.statusCode ?? 500;
      this.#tell({ type: "answer", request: what, status });
      return { status, headers: ownHeaders(answer.headers), body: Buffer.concat(chunks) };
    } finally {
      this.#forwarded--;
    }
  }

  async #stream(
    { what, request, response }: Asked,
    each: (event: string) => LineFault,
    { afterMs }: { readonly afterMs?: number },
  ): Promise<void> {
    this.#watches.add(response);
    const over = new AbortController();
    const closed = new Promise<void>((resolve) => response.once("close", resolve));
    let cancel = () => {};
    void closed.then(() => {
      this.#watches.delete(response);
      cancel();
      over.abort();
    });
    try {
      const answer = await this.#passage.send({ ...asSent(request), signal: over.signal });
      this.#tell({ type: "answer", request: what, status: answer.statusCode ?? 500 });
      response.writeHead(answer.statusCode ?? 500, ownHeaders(answer.headers)).flushHeaders();
      if (afterMs !== undefined) {
        cancel = this.#clock.after(afterMs, () => {
          this.#count(what, "cut");
          response.socket?.destroy();
        });
      }
      this.#relay(what, answer, response, each);
    } catch (error) {
      if (!over.signal.aborted) throw error;
    }
    await closed;
    this.#tell({ type: "watch ended", request: what });
  }

  #relay(
    what: ChaosRequest,
    answer: http.IncomingMessage,
    response: http.ServerResponse,
    each: (event: string) => LineFault,
  ): void {
    const form = (answer.statusCode ?? 500) < 400 ? formOf(answer.headers) : undefined;
    let over = false;
    const reader =
      form &&
      new EventReader(form, (event) => {
        if (over) return;
        this.#activeAt = this.#clock.monotonic();
        this.#tell({ type: "event", request: what });
        const fault = each(shownEvent(event, form));
        if (fault !== "pass") this.#count(what, fault);
        over = deliver(event, form, fault, response);
      });
    answer.on("data", (chunk: Buffer) => {
      if (reader) reader.push(chunk);
      else response.write(chunk);
    });
    answer.on("end", () => over || response.end());
    answer.on("error", () => response.socket?.destroy());
  }

  /** Streams into pods pass as they are. They can be refused, broken off, delayed and left without an answer. */
  async #upgrade(request: http.IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    if (!this.#isWelcome(request)) return void socket.end("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n");
    const what = this.#see(request, Buffer.alloc(0));
    const fault = this.#decide(what);
    switch (fault?.type) {
      case "kill":
        await this.kill().catch((error: Error) => this.#tell({ type: "unreachable", request: what, error }));
        return void socket.destroy();
      case "answer":
        return void socket.end(`HTTP/1.1 ${fault.status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      case "reset":
      case "lose":
      case "halve":
        return void socket.destroy();
      case "mute":
        return;
      case "delay":
        await new Promise<void>((resolve) => this.#clock.after(fault.ms, resolve));
        break;
      default:
    }
    const { connection, upgrade } = request.headers;
    const sent = asSent(request);
    const headers = { ...sent.headers, connection, upgrade };
    try {
      const status = await passUpgrade(this.#passage, { ...sent, headers }, socket, head);
      this.#tell({ type: "answer", request: what, status });
    } catch (error) {
      this.#tell({ type: "unreachable", request: what, error: error as Error });
      socket.destroy();
    }
  }
}

/** A request, and where its answer goes. */
interface Asked {
  readonly what: ChaosRequest;
  readonly request: http.IncomingMessage;
  readonly body: Buffer;
  readonly response: http.ServerResponse;
}

interface Answer {
  readonly status: number;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Writes an event of a watch as the fault has it; returns whether the watch is over for the operator. */
function deliver(event: Buffer, form: "lines" | "frames", fault: LineFault, response: http.ServerResponse): boolean {
  const cut = (bytes: Buffer) => {
    response.write(bytes, () => response.socket?.destroy());
    return true;
  };
  switch (fault) {
    case "pass":
      response.write(event);
      return false;
    case "twice":
      response.write(Buffer.concat([event, event]));
      return false;
    case "cut before":
      response.socket?.destroy();
      return true;
    case "cut inside":
      return cut(event.subarray(0, event.length / 2));
    case "cut after":
      return cut(event);
    case "stall":
      return true;
    case "expire":
      response.end(expiredEvent(form));
      return true;
  }
}

function asSent({ method = "GET", url = "/", headers }: http.IncomingMessage) {
  return { method, path: url, headers: ownHeaders(headers) as http.IncomingHttpHeaders };
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
