/**
 * HTTP over node:https with keep-alive agents.
 *
 *     request ── turn ── attempt ──► success
 *        ▲                  │ 401: the next credentials, a few times
 *        └────── wait ◄─────┘ retriable: `retryDelay` says how long
 *
 * One deadline covers all attempts of a call. Requests and streams have separate agents, so that many long watches never
 * take the sockets that short requests need; streams need no turn either, for they cost the server little.
 */
import * as http from "node:http";
import * as https from "node:https";
import {
  type Access,
  type CredentialWait,
  explainRefusal,
  type Identity,
  IMPERSONATED_USER,
  isImpersonation,
  printWarningsOnce,
  type TlsMaterial,
} from "../config/index.ts";
import { type Clock, ConfigError, sleep, untilAborted } from "../meta/index.ts";
import { type Agents, openAgents, retireAgents } from "./agents.ts";
import { bufferedAnswer, isStatus, parseAnswer, streamedAnswer } from "./answers.ts";
import { ApiError, apiErrorFrom, ConnectionError, TimeoutError } from "./errors.ts";
import { deadlineOf, Exchange, identityOf, type Limit, timeoutError } from "./exchange.ts";
import { RequestGate, type TurnOutcome } from "./gate.ts";
import { endGuarded } from "./guarded.ts";
import { kindOfRequest } from "./limit.ts";
import type {
  Query,
  RawRequest,
  RawResponse,
  RequestHeaders,
  Transport,
  WebSocketConnection,
  WebSocketRequest,
} from "./request.ts";
import { readRetryAfter, retryDelay } from "./retry.ts";
import { linkSignals } from "./signals.ts";
import { readWarnings } from "./warnings.ts";

/** What an {@link HttpTransport} needs besides the server and the credentials. */
export interface HttpTransportOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly userAgent?: string | undefined;
  /** Hears the server's `Warning` headers. Default: each text is printed once to stderr. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Bytes of an answer that is read as a whole. Default: no limit. */
  readonly answerBytes?: number | undefined;
}

const VERSION = "0.1.0";

/**
 * Carries requests over HTTP/1.1: credentials, retries, time limits, the limit of requests in flight, and typed
 * errors.
 */
export class HttpTransport implements Transport {
  readonly #access: Access;
  readonly #o: HttpTransportOptions;
  readonly #base: URL;
  readonly #userAgent: string;
  readonly #onWarning: (message: string) => void;
  readonly #gate: RequestGate;
  #agents: Agents | undefined;
  #closed = false;
  /** WebSockets leave their agent when they open, so that its end is not theirs. */
  readonly #webSocketsEnd = new AbortController();

  constructor(access: Access, o: HttpTransportOptions) {
    this.#access = access;
    this.#o = o;
    this.#base = readBase(access.server);
    this.#onWarning = o.onWarning ?? printWarningsOnce();
    this.#gate = new RequestGate(o.clock);
    this.#userAgent = o.userAgent ?? `lotse-client/${VERSION} node/${process.versions.node} (${process.platform})`;
  }

  async request(request: RawRequest): Promise<RawResponse> {
    const { clock, random } = this.#o;
    const limit = deadlineOf(request, this.#o.timeoutMs);
    const startedAt = clock.monotonic();
    const leftMs = () => startedAt + limit.ms - clock.monotonic();
    let renewals = 0;
    let reloaded = false;
    for (let attempt = 1; ; attempt++) {
      request.signal?.throwIfAborted();
      if (this.#closed) throw clientClosed();
      const identity = await this.#credentials(request, leftMs(), (wait) => this.#access.credentials.current(wait));
      try {
        return await this.#inTurn(request, identity, { ...limit, ms: leftMs() });
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) {
          const again = renewals++ < (this.#access.credentials.renewals ?? 1);
          const renew = (wait: CredentialWait) => this.#access.credentials.renew(identity, wait);
          if (again && (await this.#credentials(request, leftMs(), renew))) continue;
        }
        if (error instanceof ConnectionError && error.untrusted && !reloaded) {
          reloaded = true;
          // The cluster may have got a new authority, whose certificate is in the file already.
          const now = await this.#access.credentials.reload?.("files");
          if (now !== undefined && now !== identity) continue;
        }
        const delay = retryDelay(request, error, { attempt, random, remainingMs: leftMs() });
        if (delay === undefined) throw error;
        await sleep(clock, delay, request.signal);
      }
    }
  }

  /** Credentials may come from a program or a person: the request's time and signal count while they are waited for. */
  async #credentials<T>(
    request: Pick<RawRequest, "method" | "path" | "signal">,
    ms: number,
    ask: (wait: CredentialWait) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const cancel = this.#o.clock.after(ms, () => late.abort(timeoutError(request, "credentials", this.#base.origin)));
    const { signal = late.signal, unlink } = linkSignals([request.signal, late.signal]);
    try {
      return await untilAborted(ask({ signal }), signal);
    } finally {
      cancel();
      unlink();
    }
  }

  async reauthenticate(): Promise<void> {
    await this.#access.credentials.reload?.("all");
  }

  async webSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
    if (this.#closed) throw clientClosed();
    // Loaded when needed: few programs talk into pods.
    const { openWebSocket } = await import("./websocket.ts");
    const { signal, unlink } = linkSignals([request.signal, this.#webSocketsEnd.signal]);
    try {
      const connection = await openWebSocket(
        { ...request, signal },
        {
          ...this.#o,
          server: this.#base.href,
          credentials: this.#access.credentials,
          waitFor: (asked, ms, ask) => this.#credentials({ method: "GET", ...asked }, ms, ask),
          agent: async (identity) => (await this.#agentsFor(identity.tls)).streams,
          headers: (identity) => this.#headers(identity, request.headers),
        },
      );
      connection.closed.then(unlink, unlink);
      return connection;
    } catch (error) {
      unlink();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#webSocketsEnd.abort(clientClosed());
    this.#gate.close(clientClosed());
    this.#agents?.requests.destroy();
    this.#agents?.streams.destroy();
    this.#agents = undefined;
  }

  /** Streams live long and would take the places of all others; they are not counted. */
  async #inTurn(request: RawRequest, identity: Identity, limit: Limit): Promise<RawResponse> {
    if (request.stream) return this.#attempt(request, identity, limit);
    const { clock } = this.#o;
    const askedAt = clock.monotonic();
    const expired = () => timeoutError(request, "queue", this.#access.server);
    const turn = await this.#gate.enter(kindOfRequest(request), { signal: request.signal, ms: limit.ms, expired });
    let outcome: TurnOutcome | undefined;
    try {
      const ms = limit.ms - (clock.monotonic() - askedAt);
      return await this.#attempt(request, identity, { ...limit, ms }, (latencyMs) => {
        outcome = { latencyMs, overloaded: false };
      });
    } catch (error) {
      if (saysOverloaded(error)) outcome = { latencyMs: undefined, overloaded: true };
      throw error;
    } finally {
      turn.end(outcome);
    }
  }

  async #attempt(
    request: RawRequest,
    identity: Identity,
    limit: Limit,
    onAnswer?: (latencyMs: number | undefined) => void,
  ): Promise<RawResponse> {
    const { server, context, origin } = this.#access;
    const exchange = new Exchange(request, server, limit, this.#o.clock, { context, origin });
    const agents = await this.#agentsFor(identity.tls);
    let refused: { readonly error: unknown } | undefined;
    const sending = this.#open(request, identity, agents, (error) => {
      refused = { error };
    });
    let response: http.IncomingMessage | undefined;
    let receivedBytes: number | undefined;
    try {
      response = await exchange.headers(sending);
      onAnswer?.(exchange.latencyMs);
      return await this.#answer(request, identity, exchange, response, (bytes) => {
        receivedBytes = bytes;
      });
    } catch (error) {
      throw refused ? refused.error : error;
    } finally {
      const sentBytes = Number(sending.getHeader("content-length") ?? 0);
      if (!refused) request.onAttempt?.({ status: response?.statusCode, sentBytes, receivedBytes });
    }
  }

  async #answer(
    request: RawRequest,
    identity: Identity,
    exchange: Exchange,
    response: http.IncomingMessage,
    onBody: (bytes: number) => void,
  ): Promise<RawResponse> {
    const { context, origin } = this.#access;
    const { warning, "retry-after": retryAfter } = response.headers;
    if (warning !== undefined) for (const text of readWarnings(warning)) this.#onWarning(text);
    const about = identityOf(request);
    const status = response.statusCode ?? 0;
    const welcome = status < 400 || (request.anyStatus === true && status !== 401);
    const limit = this.#o.answerBytes ?? Number.POSITIVE_INFINITY;
    if (request.stream && welcome) return streamedAnswer(exchange.release(response), about, limit);
    const bytes = await exchange.body(response, limit);
    onBody(bytes.length);
    if (welcome) return bufferedAnswer(response, bytes, about);
    const answer = parseAnswer(bytes);
    // A program behind the API server that wants other credentials says so in words of its own.
    if (request.anyStatus && !isStatus(answer)) return bufferedAnswer(response, bytes, about);
    const now = this.#o.clock.now();
    throw apiErrorFrom(status, answer, about, {
      retryAfterMs: readRetryAfter(retryAfter, now),
      ...(status === 401 && { hint: await explainRefusal(identity, { context, origin, now }) }),
    });
  }

  /** A request that impersonates a user means that one, and nothing of the one that the kubeconfig impersonates. */
  #headers(identity: Identity, own: RequestHeaders | undefined): http.OutgoingHttpHeaders {
    const common = own?.[IMPERSONATED_USER] === undefined ? this.#access.headers : this.#ownHeaders;
    return {
      "user-agent": this.#userAgent,
      ...common,
      ...authorizationOf(identity),
      ...(own as http.OutgoingHttpHeaders),
    };
  }

  get #ownHeaders(): Access["headers"] {
    return Object.fromEntries(Object.entries(this.#access.headers).filter(([name]) => !isImpersonation(name)));
  }

  #open(
    request: RawRequest,
    identity: Identity,
    agents: Agents,
    onRefused: (error: unknown) => void,
  ): http.ClientRequest {
    const secure = this.#base.protocol === "https:";
    const headers = this.#headers(identity, request.headers);
    headers.accept ??= "application/json";
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
    if (request.beforeSend) endGuarded(sending, body, request.beforeSend, onRefused);
    else sending.end(body);
    return sending;
  }

  /** New certificates need new connections; those of the old ones finish their work and go. */
  async #agentsFor(tls: TlsMaterial): Promise<Agents> {
    if (this.#agents?.tls === tls) return this.#agents;
    const { proxyUrl, origin } = this.#access;
    const opened = await openAgents(tls, { secure: this.#base.protocol === "https:", proxyUrl, origin });
    if (this.#closed) throw clientClosed();
    if (this.#agents?.tls === tls) return this.#agents;
    if (this.#agents) retireAgents(this.#agents);
    this.#agents = opened;
    return opened;
  }
}

const clientClosed = () => new ConfigError("this client is closed", { hint: "connect a new one" });

/** An eviction that a disruption budget forbids gets the same status, and has nothing to do with the server's load. */
function saysOverloaded(error: unknown): boolean {
  if (error instanceof TimeoutError) return error.phase === "headers";
  if (!(error instanceof ApiError) || (error.status !== 429 && error.status !== 503)) return false;
  return !error.details.causes?.some(({ reason }) => reason === "DisruptionBudget");
}

function authorizationOf({ token, authorization }: Identity): http.OutgoingHttpHeaders {
  if (authorization !== undefined) return { authorization };
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

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
