/**
 * HTTP with kept connections.
 *
 *     request ── turn ── attempt ──► success
 *        ▲                  │ 401: the next credentials, a few times
 *        └────── wait ◄─────┘ retriable: `retryDelay` says how long
 *
 * One deadline covers all attempts of a call. Requests and streams have separate pools, so that many long watches never
 * take the sockets that short requests need; streams need no turn either, for they cost the server little.
 *
 * What carries an attempt is a wire: one of our own, or that of `node:http`.
 */
import { type Access, type CredentialWait, explainRefusal, type Identity, printWarningsOnce } from "../config/index.ts";
import { type Clock, ConfigError, sleep, untilAborted } from "../meta/index.ts";
import { BufferedAnswer, isStatus, parseAnswer, streamedAnswer } from "./answers.ts";
import { clientClosed } from "./closed.ts";
import { ApiError, apiErrorFrom, ConnectionError, TimeoutError } from "./errors.ts";
import { RequestGate, type Turn } from "./gate.ts";
import { kindOfRequest } from "./limit.ts";
import type { NodeWire } from "./node-wire.ts";
import { outgoingHeaders } from "./outgoing.ts";
import { OwnWire } from "./own-wire.ts";
import { identityOf, patienceOf, timeoutError } from "./phases.ts";
import type { RawRequest, RawResponse, Transport, WebSocketConnection, WebSocketRequest } from "./request.ts";
import { readRetryAfter, retryDelay } from "./retry.ts";
import { linkSignals } from "./signals.ts";
import { readWarnings } from "./warnings.ts";
import { Attempt, isWelcome, type Limit, type Wire, type WireAnswer, type WireOptions } from "./wire.ts";

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
  /** What carries requests: connections of our own (the default), or `node:http`. WebSockets always use the latter. */
  readonly http?: "own" | "node" | undefined;
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
  readonly #gate: RequestGate;
  readonly #wireOptions: WireOptions;
  readonly #wire: Wire;
  /** Loaded when needed: few programs talk into pods. */
  #nodeWire: Promise<NodeWire> | undefined;
  #closed = false;
  /** WebSockets leave their agent when they open, so that its end is not theirs. */
  readonly #webSocketsEnd = new AbortController();

  constructor(access: Access, o: HttpTransportOptions) {
    this.#access = access;
    this.#o = o;
    this.#base = readBase(access.server);
    const warn = o.onWarning ?? printWarningsOnce();
    this.#gate = new RequestGate(o.clock);
    const { server, context, origin, proxyUrl, headers } = access;
    this.#wireOptions = {
      ...{ server, context, origin, proxyUrl, headers },
      base: this.#base,
      clock: o.clock,
      userAgent: o.userAgent ?? `lotse-client/${VERSION} node/${process.versions.node} (${process.platform})`,
      answerBytes: o.answerBytes ?? Number.POSITIVE_INFINITY,
      onWarning: (header) => {
        for (const text of readWarnings(header)) warn(text);
      },
    };
    this.#wire =
      o.http === "node"
        ? { send: async (attempt) => (await this.#overNode()).send(attempt), close: () => undefined }
        : new OwnWire(this.#wireOptions);
  }

  request(request: RawRequest): Promise<RawResponse> {
    const { clock } = this.#o;
    const { credentials } = this.#access;
    let limit: Limit;
    try {
      const { ms, until } = patienceOf(request, this.#o.timeoutMs);
      limit = { deadline: clock.monotonic() + ms, until };
    } catch (error) {
      return Promise.reject(error);
    }
    const identity = this.#closed || request.signal?.aborted ? undefined : credentials.known?.();
    if (identity === undefined) return this.#persist(request, limit);
    // A plain success needs nothing of what follows a failure.
    const attempt = new Attempt(request, identity, limit);
    return this.#try(attempt).catch((error) => this.#persist(request, limit, { identity, error }));
  }

  /** Goes on until there is an answer or a final failure; `first` is what has failed before. */
  async #persist(request: RawRequest, limit: Limit, first?: Failure): Promise<RawResponse> {
    const { clock, random } = this.#o;
    const { credentials } = this.#access;
    let failure = first;
    let renewals = 0;
    let reloaded = false;
    for (let attempt = 1; ; attempt++) {
      if (failure === undefined) {
        request.signal?.throwIfAborted();
        if (this.#closed) throw clientClosed();
        const identity =
          credentials.known?.() ?? (await this.#credentials(request, limit, (wait) => credentials.current(wait)));
        try {
          return await this.#try(new Attempt(request, identity, limit));
        } catch (error) {
          failure = { identity, error };
        }
      }
      const { identity, error } = failure;
      failure = undefined;
      if (error instanceof ApiError && error.status === 401) {
        const again = renewals++ < (credentials.renewals ?? 1);
        const renew = (wait: CredentialWait) => credentials.renew(identity, wait);
        if (again && (await this.#credentials(request, limit, renew))) continue;
      }
      if (error instanceof ConnectionError && error.untrusted && !reloaded) {
        reloaded = true;
        // The cluster may have got a new authority, whose certificate is in the file already.
        const now = await credentials.reload?.("files");
        if (now !== undefined && now !== identity) continue;
      }
      const remainingMs = limit.deadline - clock.monotonic();
      const delay = retryDelay(request, error, { attempt, random, remainingMs });
      if (delay === undefined) throw error;
      await sleep(clock, delay, request.signal);
    }
  }

  /** Credentials may come from a program or a person: the request's time and signal count while they are waited for. */
  async #credentials<T>(
    request: Pick<RawRequest, "method" | "path" | "signal">,
    { deadline }: Pick<Limit, "deadline">,
    ask: (wait: CredentialWait) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const { clock } = this.#o;
    const expire = () => late.abort(timeoutError(request, "credentials", this.#base.origin));
    const cancel = clock.after(deadline - clock.monotonic(), expire);
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
          waitFor: (asked, ms, ask) =>
            this.#credentials({ method: "GET", ...asked }, { deadline: this.#o.clock.monotonic() + ms }, ask),
          agent: async (identity) => (await (await this.#overNode()).agentsFor(identity.tls)).streams,
          headers: (identity) => outgoingHeaders(this.#wireOptions, identity, request.headers),
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
    this.#wire.close();
    void this.#nodeWire?.then((wire) => wire.close());
  }

  #overNode(): Promise<NodeWire> {
    if (this.#closed) return Promise.reject(clientClosed());
    this.#nodeWire ??= import("./node-wire.ts").then(({ NodeWire }) => new NodeWire(this.#wireOptions));
    return this.#nodeWire;
  }

  /** Streams live long and would take the places of all others; they are not counted. */
  #try(attempt: Attempt): Promise<RawResponse> {
    const { request } = attempt;
    if (request.stream) return this.#send(attempt);
    const kind = kindOfRequest(request);
    attempt.turn = this.#gate.tryEnter(kind);
    if (attempt.turn !== undefined) return this.#send(attempt);
    return this.#waitForTurn(kind, attempt).then((turn) => {
      attempt.turn = turn;
      return this.#send(attempt);
    });
  }

  #send(attempt: Attempt): Promise<RawResponse> {
    return this.#wire.send(attempt).then(
      (answer) => this.#answered(attempt, answer),
      (error) => this.#failed(attempt, error),
    );
  }

  #answered(attempt: Attempt, answer: WireAnswer): RawResponse | Promise<RawResponse> {
    const { request } = attempt;
    const { status, bytes = NOTHING, body } = answer;
    if (body === undefined && !isWelcome(request, status)) {
      return this.#refused(attempt, answer, bytes).then(
        (response) => this.#ended(attempt, response),
        (error) => this.#failed(attempt, error),
      );
    }
    if (body === undefined)
      return this.#ended(attempt, new BufferedAnswer(answer, bytes, request.method, request.path));
    const { answerBytes } = this.#wireOptions;
    return this.#ended(attempt, streamedAnswer(answer, body, identityOf(request), answerBytes));
  }

  #ended(attempt: Attempt, response: RawResponse): RawResponse {
    attempt.turn?.end(attempt.latencyMs);
    tell(attempt);
    return response;
  }

  #failed(attempt: Attempt, error: unknown): never {
    if (saysOverloaded(error)) attempt.turn?.end(undefined, true);
    else attempt.turn?.end(attempt.latencyMs);
    tell(attempt);
    throw error;
  }

  #waitForTurn(kind: string, { request, limit }: Attempt): Promise<Turn> {
    const expired = () => timeoutError(request, "queue", this.#access.server);
    const ms = limit.deadline - this.#o.clock.monotonic();
    return this.#gate.wait(kind, { signal: request.signal, ms, expired });
  }

  async #refused({ request, identity }: Attempt, wire: WireAnswer, bytes: Buffer): Promise<RawResponse> {
    const { context, origin } = this.#access;
    const { status, headers } = wire;
    const about = identityOf(request);
    const answer = parseAnswer(bytes);
    // A program behind the API server that wants other credentials says so in words of its own.
    if (request.anyStatus && !isStatus(answer)) return new BufferedAnswer(wire, bytes, request.method, request.path);
    const now = this.#o.clock.now();
    throw apiErrorFrom(status, answer, about, {
      retryAfterMs: readRetryAfter(headers["retry-after"], now),
      ...(status === 401 && { hint: await explainRefusal(identity, { context, origin, now }) }),
    });
  }
}

const NOTHING = Buffer.alloc(0);

/** An attempt that came to nothing, and for whom it was made. */
interface Failure {
  readonly identity: Identity;
  readonly error: unknown;
}

function tell({ request, refused, status, sentBytes, receivedBytes }: Attempt): void {
  if (request.onAttempt && !refused) request.onAttempt({ status, sentBytes, receivedBytes });
}

/** An eviction that a disruption budget forbids gets the same status, and has nothing to do with the server's load. */
function saysOverloaded(error: unknown): boolean {
  if (error instanceof TimeoutError) return error.phase === "headers";
  if (!(error instanceof ApiError) || (error.status !== 429 && error.status !== 503)) return false;
  return !error.details.causes?.some(({ reason }) => reason === "DisruptionBudget");
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
