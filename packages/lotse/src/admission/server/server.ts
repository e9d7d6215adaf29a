/** The HTTPS server that API servers ask. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContext, type TLSSocket, type TlsOptions } from "node:tls";
import { type Clock, errorMessage, KubeError, sleep } from "@lotse/client/meta";
import type { Verdict } from "../../report/index.ts";
import type { ServingCredentials } from "../certificates/index.ts";
import { Refusal } from "./answers.ts";
import { Desk, type WebhookMeasures } from "./desk.ts";
import type { WebhookRoute } from "./head.ts";
import { answerRaw, Http1Exchange, judgeBroken } from "./http1.ts";
import { serveHttp2 } from "./http2.ts";
import { defaultLimits, type WebhookLimits } from "./limits.ts";
import { Peers } from "./peer.ts";
import type { WebhookHandler } from "./request.ts";
import { Http2Sessions } from "./sessions.ts";
import { type ProblemListener, Troubles } from "./troubles.ts";

/** What a server is made of. */
export interface WebhookServerOptions {
  /** Default: all addresses. */
  readonly host?: string | undefined;
  /** 0: any free one. */
  readonly port: number;
  readonly credentials: ServingCredentials;
  /** Authorities of clients, PEM: whose certificates are {@link PeerCertificate.verified}. None is demanded. */
  readonly clientAuthorities?: string | undefined;
  readonly handle: WebhookHandler;
  /** Which paths there are: others get 404 before their body is read. Default: all. */
  readonly route?: ((path: string) => WebhookRoute | undefined) | undefined;
  /** What `/readyz` says beside that the server is there. */
  readonly readiness?: (() => Verdict) | undefined;
  readonly limits?: Partial<WebhookLimits> | undefined;
  readonly onProblem: ProblemListener;
  readonly measures?: WebhookMeasures | undefined;
  readonly clock: Clock;
}

/** How the server is. */
export interface WebhookServerHealth {
  /** Whether it takes requests. */
  readonly serving: boolean;
  /** Requests that are being answered. */
  readonly inFlight: number;
  /** Bytes of their bodies. */
  readonly heldBytes: number;
  readonly connections: number;
}

/** How long connections may take to end after their last answer. */
const FAREWELL_MS = 1_000;

/**
 * Serves HTTP/2 to those who choose it, as API servers do, and HTTP/1.1 to all others. Reviews are answered by
 * {@link WebhookServerOptions.handle}; all that is wrong about a request is answered here.
 */
export class WebhookServer {
  readonly #server: Server;
  readonly #desk: Desk;
  readonly #limits: WebhookLimits;
  readonly #clock: Clock;
  readonly #troubles: Troubles;
  readonly #peers = new Peers();
  readonly #http1: { readonly peers: Peers; readonly clock: Clock; readonly ended: WeakSet<Duplex> };
  readonly #tls: TlsOptions;
  /** What clients get who ask for a name of these; all others get that of the server. */
  readonly #byName = new Map<string, SecureContext>();
  /** Each twice: as it came, and with TLS around it. */
  readonly #sockets = new Set<Socket>();
  #connections = 0;
  readonly #sessions: Http2Sessions;
  #ending: Promise<void> | undefined;
  #hurry: () => void = () => undefined;

  private constructor(options: WebhookServerOptions) {
    const limits = { ...defaultLimits, ...options.limits };
    this.#limits = limits;
    this.#clock = options.clock;
    this.#sessions = new Http2Sessions(options.clock, limits.answerMs);
    this.#http1 = { peers: this.#peers, clock: options.clock, ended: new WeakSet() };
    this.#troubles = new Troubles(options.onProblem, options.clock);
    this.#desk = new Desk({
      handle: options.handle,
      route: options.route,
      readiness: options.readiness,
      limits,
      clock: options.clock,
      troubles: this.#troubles,
      measures: options.measures,
    });
    const { clientAuthorities } = options;
    // Without any authority Node.js would name all those of the web to each client.
    this.#tls = {
      ALPNProtocols: ["h2", "http/1.1"],
      requestCert: true,
      rejectUnauthorized: false,
      ca: clientAuthorities === undefined ? [] : [clientAuthorities],
      SNICallback: (name, done) => done(null, this.#byName.get(name)),
    };
    this.#server = this.#create(options.credentials);
    this.#offerHttp2();
    this.#listenForTroubles();
  }

  /** Starts to listen. Rejects when the address cannot be had, or the credentials do not belong together. */
  static async start(options: WebhookServerOptions): Promise<WebhookServer> {
    checkCredentials(options.credentials);
    const server = new WebhookServer(options);
    await server.#listen(options.port, options.host);
    return server;
  }

  /** Where it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /**
   * Greets new connections with other credentials from now on; those that are there go on. With `names`, only those of
   * clients that ask for one of them: operators that share a server have their own. Throws when they do not belong
   * together, and goes on with those that it has.
   */
  use(credentials: ServingCredentials, names?: readonly string[]): void {
    checkCredentials(credentials);
    if (!names) return void this.#server.setSecureContext({ ...this.#tls, ...credentials });
    const context = createSecureContext({ ca: this.#tls.ca, ...credentials });
    for (const name of names) this.#byName.set(name, context);
  }

  health(): WebhookServerHealth {
    return {
      serving: this.#server.listening && this.#ending === undefined,
      inFlight: this.#desk.inFlight,
      heldBytes: this.#desk.heldBytes,
      connections: this.#connections,
    };
  }

  /**
   * Takes no more connections, tells the clients of those that are there to go elsewhere, and answers what was asked.
   * What has no answer after `graceMs` gets none: its signal aborts and its connection ends.
   */
  drain(graceMs: number): Promise<void> {
    this.#ending ??= this.#end(graceMs);
    return this.#ending;
  }

  /** Ends everything now, also a drain that is under way. */
  close(): Promise<void> {
    this.#hurry();
    return this.drain(0);
  }

  /** Ends everything without a word, as the end of its process would. Waits for no clock. */
  async kill(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    await closed;
  }

  async #end(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#desk.startClosing();
    this.#sessions.close();
    this.#server.closeIdleConnections();
    await this.#patiently(this.#desk.idle(), graceMs);
    this.#desk.abort(new Error("the webhook server stops"));
    this.#server.closeIdleConnections();
    // The last answers are on their way.
    await this.#patiently(closed, Math.min(graceMs, FAREWELL_MS));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Waits for `work`, and no longer than `ms` or until all shall end at once. */
  async #patiently(work: Promise<void>, ms: number): Promise<void> {
    const over = new AbortController();
    const hurried = new Promise<void>((resolve) => {
      this.#hurry = resolve;
    });
    const late = sleep(this.#clock, ms, over.signal).catch(() => undefined);
    await Promise.race([work, late, hurried]);
    over.abort();
  }

  #create(credentials: ServingCredentials): Server {
    const { headerBytes, handshakeMs, headersMs, bodyMs, idleMs, connections } = this.#limits;
    const server = createServer(
      {
        ...this.#tls,
        ...credentials,
        handshakeTimeout: handshakeMs,
        maxHeaderSize: headerBytes,
        headersTimeout: headersMs,
        // Bodies have their own patience; this is for those that are thrown away.
        requestTimeout: headersMs + bodyMs,
        connectionsCheckingInterval: Math.min(5_000, headersMs),
        keepAliveTimeout: idleMs,
      },
      (request, response) => this.#serveHttp1(request, response),
    );
    server.maxConnections = connections;
    // Also for a client that takes no byte of its answer.
    server.timeout = idleMs;
    return server;
  }

  #serveHttp1(request: IncomingMessage, response: ServerResponse): void {
    // The desk answers whatever happens.
    void this.#desk.serve(new Http1Exchange(request, response, this.#http1));
  }

  /**
   * Connections whose client chose HTTP/2 go another way than all others, which cost as much as on a server that has never
   * heard of it.
   */
  #offerHttp2(): void {
    const [http1] = this.#server.listeners("secureConnection");
    if (http1 === undefined) throw new Error("this version of Node.js has no server of HTTP/1.1 below that of HTTPS");
    this.#server.off("secureConnection", http1 as () => void);
    this.#server.on("secureConnection", (socket: TLSSocket) => {
      this.#track(socket);
      if (socket.alpnProtocol !== "h2") {
        http1.call(this.#server, socket);
        return;
      }
      const session = serveHttp2(socket, this.#limits, this.#peers, (exchange) => void this.#desk.serve(exchange));
      this.#sessions.add(session, socket);
      if (this.#ending) session.close();
    });
  }

  #listenForTroubles(): void {
    const server = this.#server;
    server.on("connection", (socket: Socket) => {
      this.#connections++;
      socket.once("close", () => this.#connections--);
      this.#track(socket);
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
      // A connection that was cut has no reader any more, and one that was never greeted none yet.
      if (error.code === "ECONNRESET" || error.code?.startsWith("ERR_TLS_")) socket.destroy();
      // What comes behind the last answer of a connection gets none.
      else if (this.#http1.ended.has(socket)) socket.end();
      else answerRaw(socket, judgeBroken(error.code));
    });
    server.on("connect", (_request, socket: Duplex) => answerRaw(socket, NO_PROXY));
    server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
      const exchange = new Http1Exchange(request, response, this.#http1);
      const { status, body } = new Refusal(417, "this server meets no expectation but 100-continue");
      const headers = { "content-type": "application/json" };
      exchange.send({ status, headers, body: JSON.stringify(body), last: true });
    });
    server.on("tlsClientError", (error, socket) => this.#greetingFailed(error, socket));
    server.on("drop", () => {
      const fields = { limit: this.#limits.connections };
      this.#troubles.report("the webhook server has as many connections as it takes", fields);
    });
  }

  /** Probes connect and go, scanners send nonsense; a client that does not believe us is another matter. */
  #greetingFailed(error: Error, socket: TLSSocket): void {
    if (!isDisbelief(error.message)) return;
    const fields = { client: socket.remoteAddress, error: error.message };
    this.#troubles.report("a client does not believe the certificate of the webhook server", fields);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #listen(port: number, host: string | undefined): Promise<void> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      const failed = (error: Error) => reject(explainListen(error, port, host));
      server.once("error", failed);
      server.listen({ port, ...(host !== undefined && { host }) }, () => {
        server.off("error", failed);
        // A connection that could not be taken, for want of file descriptors, is tried again by its client; an error
        // without a listener would end the operator.
        server.on("error", (error) => {
          this.#troubles.report("the webhook server could not take a connection", { error: errorMessage(error) });
        });
        resolve();
      });
    });
  }
}

/** Whether a client said, in the words of OpenSSL, that our certificate is not good. */
export function isDisbelief(message: string): boolean {
  return /alert (?:bad certificate|unknown ca|certificate unknown|certificate expired)/i.test(message);
}

const NO_PROXY = new Refusal(405, "this server is no proxy", { allow: "POST" });

function checkCredentials({ key, cert }: ServingCredentials): void {
  try {
    createSecureContext({ key, cert });
  } catch (error) {
    throw new KubeError(`The certificate of the webhook server cannot be used: ${errorMessage(error)}.`, {
      hint: "Give it a certificate and the private key that belongs to it, both as PEM.",
      cause: error,
    });
  }
}

function explainListen(error: Error & { code?: string }, port: number, host: string | undefined): KubeError {
  const where = host === undefined ? `port ${port}` : `${host}, port ${port}`;
  if (error.code === "EADDRINUSE") {
    return new KubeError(`The webhook server cannot listen on ${where}: it is taken by another program.`, {
      hint: "Choose another port for webhooks, or end the program that has it. Operators of one process share a port with lotse run; those that you start yourself need one each.",
      cause: error,
    });
  }
  return new KubeError(`The webhook server cannot listen on ${where}: ${errorMessage(error)}.`, {
    hint: "Choose an address of this machine and a port above 1023.",
    cause: error,
  });
}
