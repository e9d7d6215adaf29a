/**
 * HTTP over node:https with keep-alive agents.
 *
 *     request ── attempt ──► success
 *        ▲          │ 401: the next credentials, a few times
 *        └── wait ◄─┘ retriable: `retryDelay` says how long
 *
 * One deadline covers all attempts of a call. Requests and streams have separate agents, so that many long watches never
 * take the sockets that short requests need.
 */
import * as http from "node:http";
import * as https from "node:https";
import { Readable } from "node:stream";
import type { Access, Identity, TlsMaterial } from "../config/index.ts";
import { type Clock, ConfigError, durationMs, sleep } from "../meta/index.ts";
import { ApiError, apiErrorFrom, type RequestIdentity, type RequestPhase, TimeoutError } from "./errors.ts";
import { connectionErrorFrom } from "./network-errors.ts";
import type { Query, RawRequest, RawResponse, Transport } from "./request.ts";
import { readRetryAfter, retryDelay } from "./retry.ts";
import { readWarnings } from "./warnings.ts";

export interface HttpTransportOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly userAgent?: string | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

interface Agents {
  readonly tls: TlsMaterial;
  readonly requests: http.Agent;
  readonly streams: http.Agent;
}

/** API servers close idle connections after 90 s or more; ours go first, so that none is used while it is being closed. */
const IDLE_SOCKET_MS = 55_000;
/** Enough to keep a server busy; more parallel requests wait for a socket. */
const MAX_SOCKETS = 64;
const VERSION = "0.1.0";

export class HttpTransport implements Transport {
  readonly #access: Access;
  readonly #o: HttpTransportOptions;
  readonly #base: URL;
  readonly #userAgent: string;
  #agents: Agents | undefined;
  #closed = false;

  constructor(access: Access, o: HttpTransportOptions) {
    this.#access = access;
    this.#o = o;
    this.#base = readBase(access.server);
    this.#userAgent = o.userAgent ?? `lotse-client/${VERSION} node/${process.versions.node} (${process.platform})`;
  }

  async request(request: RawRequest): Promise<RawResponse> {
    const { clock, random } = this.#o;
    const limit = deadlineOf(request, this.#o.timeoutMs);
    const startedAt = clock.monotonic();
    let renewals = 0;
    for (let attempt = 1; ; attempt++) {
      request.signal?.throwIfAborted();
      if (this.#closed) throw new ConfigError("this client is closed", { hint: "connect a new one" });
      const identity = await this.#access.credentials.current();
      const remainingMs = startedAt + limit.ms - clock.monotonic();
      try {
        return await this.#attempt(request, identity, { ...limit, ms: remainingMs });
      } catch (error) {
        if (error instanceof ApiError && error.status === 401 && renewals < (this.#access.credentials.renewals ?? 1)) {
          renewals++;
          if (await this.#access.credentials.renew(identity)) continue;
        }
        const left = startedAt + limit.ms - clock.monotonic();
        const delay = retryDelay(request, error, { attempt, random, remainingMs: left });
        if (delay === undefined) throw error;
        await sleep(clock, delay, request.signal);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#agents?.requests.destroy();
    this.#agents?.streams.destroy();
    this.#agents = undefined;
  }

  async #attempt(request: RawRequest, identity: Identity, limit: Limit): Promise<RawResponse> {
    const exchange = new Exchange(request, this.#access.server, limit, this.#o.clock);
    const response = await exchange.headers(this.#open(request, identity, await this.#agentsFor(identity.tls)));
    if (this.#o.onWarning) for (const text of readWarnings(response.headers.warning)) this.#o.onWarning(text);
    const status = response.statusCode ?? 0;
    if (request.stream && status < 400) return streamed(exchange.release(response), status);
    const bytes = await exchange.body(response);
    if (status < 400) return buffered(response, status, bytes);
    throw apiErrorFrom(status, parse(bytes), identify(request), {
      retryAfterMs: readRetryAfter(response.headers["retry-after"], this.#o.clock.now()),
    });
  }

  #open(request: RawRequest, identity: Identity, agents: Agents): http.ClientRequest {
    const secure = this.#base.protocol === "https:";
    const headers: http.OutgoingHttpHeaders = {
      accept: "application/json",
      "user-agent": this.#userAgent,
      ...this.#access.headers,
      ...authorizationOf(identity),
      ...request.headers,
    };
    const body = encode(request.body);
    if (body !== undefined) {
      headers["content-type"] ??= "application/json";
      headers["content-length"] = Buffer.byteLength(body);
    }
    const sending = (secure ? https : http).request({
      agent: request.stream ? agents.streams : agents.requests,
      host: this.#base.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: this.#base.port || (secure ? 443 : 80),
      method: request.method,
      path: `${this.#base.pathname.replace(/\/$/, "")}${request.path}${formatQuery(request.query)}`,
      headers,
    });
    sending.end(body);
    return sending;
  }

  /** New certificates need new connections; those of the old ones finish their work and go. */
  async #agentsFor(tls: TlsMaterial): Promise<Agents> {
    if (this.#agents?.tls === tls) return this.#agents;
    const secure = this.#base.protocol === "https:";
    const { proxyUrl } = this.#access;
    // Loaded when needed: few clusters are behind a proxy.
    const Agent = proxyUrl
      ? (await import("./proxy.ts")).agentThrough(proxyUrl, secure)
      : secure
        ? https.Agent
        : http.Agent;
    const { createSecureContext } = await import("node:tls");
    if (this.#agents?.tls === tls) return this.#agents;
    const old = this.#agents;
    const { ca, cert, key, servername, rejectUnauthorized } = tls;
    const material = {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
    const options = {
      keepAlive: true,
      timeout: IDLE_SOCKET_MS,
      rejectUnauthorized,
      // Certificates are read once, not again for each connection.
      ...(secure && { secureContext: createSecureContext(material) }),
      ...(servername === undefined ? {} : { servername }),
    };
    this.#agents = {
      tls,
      requests: forOneServer(new Agent({ ...options, maxSockets: MAX_SOCKETS })),
      streams: forOneServer(new Agent(options)),
    };
    for (const agent of old ? [old.requests, old.streams] : []) {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
    return this.#agents;
  }
}

/** An agent finds its sockets by a text that repeats all certificates; where all are for one server, any text will do. */
function forOneServer(agent: http.Agent): http.Agent {
  agent.getName = () => "server";
  return agent;
}

function authorizationOf({ token, authorization }: Identity): http.OutgoingHttpHeaders {
  if (authorization !== undefined) return { authorization };
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

interface Limit {
  readonly ms: number;
  /** The phase up to which the limit counts. */
  readonly until: RequestPhase;
}

/** A stream lives as long as it likes; only a server that does not even take the connection is given up. */
function deadlineOf(request: RawRequest, defaultMs: number): Limit {
  if (!request.stream)
    return { ms: request.timeout === undefined ? defaultMs : durationMs(request.timeout), until: "body" };
  if (request.timeout === undefined) return { ms: defaultMs, until: "connect" };
  return { ms: durationMs(request.timeout), until: "headers" };
}

/** One request on the wire: its phase, its time limit, and its abort signal, until it is over. */
class Exchange {
  readonly #request: RawRequest;
  readonly #server: string;
  readonly #limit: Limit;
  readonly #clock: Clock;
  #phase: RequestPhase = "connect";
  /** What to destroy to end it: the answer once there is one, because only then its reader hears the reason. */
  #live: http.ClientRequest | http.IncomingMessage | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(request: RawRequest, server: string, limit: Limit, clock: Clock) {
    this.#request = request;
    this.#server = server;
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Resolves when the headers are there. */
  headers(sending: http.ClientRequest): Promise<http.IncomingMessage> {
    this.#live = sending;
    this.#request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    // The credentials took their time: the signal may have aborted before there was anything to listen for.
    if (this.#request.signal?.aborted) this.#onAbort();
    this.#cancelTimer = this.#clock.after(this.#limit.ms, () => this.#expire());
    return new Promise((resolve, reject) => {
      sending.once("socket", (socket) => {
        const connected = () => this.#enter("headers");
        const ready = "encrypted" in socket ? "secureConnect" : "connect";
        if (sending.reusedSocket || !socket.connecting) connected();
        else socket.once(ready, connected);
      });
      // Stays for the whole exchange: an error without a listener would end the process.
      sending.on("error", (error) => {
        this.#finish();
        reject(this.#explain(error));
      });
      sending.once("response", (response) => {
        this.#live = response;
        this.#enter("body");
        resolve(response);
      });
    });
  }

  /** Reads all of the answer. */
  body(response: http.IncomingMessage): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", () => {
        this.#finish();
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      });
      response.once("error", (error) => {
        this.#finish();
        reject(this.#explain(error));
      });
    });
  }

  /** Hands the answer to a reader of its own; the abort signal still ends it. */
  release(response: http.IncomingMessage): http.IncomingMessage {
    response.once("close", () => this.#finish());
    // A reader that has not started or has left is not there to hear of it, and an unheard error ends the process.
    response.on("error", () => undefined);
    return response;
  }

  #enter(phase: RequestPhase): void {
    this.#phase = phase;
    if (ORDER.indexOf(phase) > ORDER.indexOf(this.#limit.until)) this.#cancelTimer();
  }

  #expire(): void {
    const identity = identify(this.#request);
    const waited = { connect: "the connection", headers: "an answer", body: "the rest of the answer" }[this.#phase];
    this.#live?.destroy(
      new TimeoutError(`${identity.method} ${identity.path}: waited too long for ${waited} of ${this.#server}`, {
        request: identity,
        phase: this.#phase,
        hint: "pass a longer `timeout`, or check whether the server is overloaded",
      }),
    );
  }

  readonly #onAbort = () => {
    const reason: unknown = this.#request.signal?.reason;
    this.#live?.destroy(reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
  };

  #finish(): void {
    this.#cancelTimer();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #explain(error: Error): unknown {
    if (this.#request.signal?.aborted) return this.#request.signal.reason;
    if (error instanceof TimeoutError) return error;
    return connectionErrorFrom(error, this.#server, identify(this.#request), this.#phase !== "connect");
  }
}

const ORDER: readonly RequestPhase[] = ["connect", "headers", "body"];

const identify = ({ method, path }: RawRequest): RequestIdentity => ({ method, path });

function readBase(server: string): URL {
  try {
    const url = new URL(server);
    if (url.protocol === "https:" || url.protocol === "http:") return url;
  } catch {
    // Falls through to the same sentence.
  }
  throw new ConfigError(`"${server}" is not the address of a server`, { hint: 'write "https://host:port"' });
}

function formatQuery(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.append(key, String(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}

function encode(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return body;
  return JSON.stringify(body);
}

function parse(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function buffered(response: http.IncomingMessage, status: number, bytes: Buffer): RawResponse {
  return {
    status,
    headers: response.headers,
    json: async <T>() => JSON.parse(bytes.toString("utf8")) as T,
    text: async () => bytes.toString("utf8"),
    get body() {
      return Readable.from([bytes]);
    },
  };
}

function streamed(response: http.IncomingMessage, status: number): RawResponse {
  const text = async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  };
  return {
    status,
    headers: response.headers,
    json: async <T>() => JSON.parse(await text()) as T,
    text,
    body: response,
  };
}
