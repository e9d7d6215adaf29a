/// <reference path="./websocket-library.d.ts" />
/**
 * WebSockets to the API server, for exec, attach and port-forward, with the credentials, certificates and proxy of
 * requests. Loaded with the `ws` package when the first one is opened.
 *
 * An answer that is no upgrade becomes the same error as for a request. Opening is repeated only when the server cannot
 * have acted: an exec that ran must not run again because its answer was lost.
 */
import type * as http from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { Credentials, CredentialWait, Identity } from "../config/index.ts";
import { type Clock, durationMs, type KubeError, sleep } from "../meta/index.ts";
import { ApiError, apiErrorFrom, ConnectionError, type RequestIdentity, TimeoutError } from "./errors.ts";
import { endGuarded } from "./guarded.ts";
import { connectionErrorFrom } from "./network-errors.ts";
import type { WebSocketConnection, WebSocketRequest } from "./request.ts";
import { readRetryAfter, retryDelay } from "./retry.ts";

/** What opening needs to know of the client. */
export interface WebSocketAccess {
  /** The address of the server, as people wrote it. */
  readonly server: string;
  readonly credentials: Credentials;
  /** Asks for credentials no longer than the request has time. */
  waitFor<T>(
    request: Pick<WebSocketRequest, "path" | "signal">,
    ms: number,
    ask: (wait: CredentialWait) => Promise<T>,
  ): Promise<T>;
  agent(identity: Identity): Promise<http.Agent>;
  headers(identity: Identity): http.OutgoingHttpHeaders;
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeoutMs: number;
}

/** More than this unread, and the server has to wait. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Proxies in between cut connections that are silent for a minute or so. */
const PING_MS = 30_000;
/** A server that does not return a goodbye is left alone. */
const CLOSE_TIMEOUT_MS = 2_000;

const LONGEST_REFUSAL = 1024 * 1024;

/** Opens a WebSocket, with fresh credentials after a 401 and again after a failure that did not reach the server. */
export async function openWebSocket(request: WebSocketRequest, access: WebSocketAccess): Promise<WebSocketConnection> {
  const { clock, credentials, random } = access;
  const limitMs = request.timeout === undefined ? access.timeoutMs : durationMs(request.timeout);
  const startedAt = clock.monotonic();
  let renewals = 0;
  for (let attempt = 1; ; attempt++) {
    request.signal?.throwIfAborted();
    const remaining = () => startedAt + limitMs - clock.monotonic();
    const identity = await access.waitFor(request, remaining(), (wait) => credentials.current(wait));
    try {
      return await open(request, identity, access, startedAt + limitMs - clock.monotonic());
    } catch (error) {
      if (error instanceof ApiError && error.status === 401 && renewals < (credentials.renewals ?? 1)) {
        renewals++;
        const renew = (wait: CredentialWait) => credentials.renew(identity, wait);
        if (await access.waitFor(request, remaining(), renew)) continue;
      }
      const remainingMs = remaining();
      // As for a POST: what the other end has begun may not begin twice.
      const asRequest = { method: "POST", path: request.path, retry: request.retry };
      const delay = retryDelay(asRequest, error, { attempt, random, remainingMs });
      if (delay === undefined) throw error;
      await sleep(clock, delay, request.signal);
    }
  }
}

async function open(
  request: WebSocketRequest,
  identity: Identity,
  access: WebSocketAccess,
  limitMs: number,
): Promise<WebSocketConnection> {
  const { WebSocket } = await import("ws");
  const agent = await access.agent(identity);
  request.signal?.throwIfAborted();
  const about: RequestIdentity = { method: "GET", path: request.path };
  let phase: "connect" | "headers" = "connect";
  let sending: http.ClientRequest | undefined;
  let fail: (failure: unknown) => void = () => undefined;
  const socket = new WebSocket(addressOf(access.server, request), request.protocols, {
    agent,
    headers: access.headers(identity),
    perMessageDeflate: false,
    skipUTF8Validation: true,
    closeTimeout: CLOSE_TIMEOUT_MS,
    finishRequest(outgoing) {
      sending = outgoing;
      outgoing.once("socket", (wire: Socket) => {
        const connected = () => {
          phase = "headers";
        };
        if (outgoing.reusedSocket || !wire.connecting) connected();
        else wire.once("encrypted" in wire ? "secureConnect" : "connect", connected);
        // Notices a peer that vanished without a word, long before the next write to it.
        wire.setKeepAlive?.(true, PING_MS);
      });
      if (request.beforeSend) endGuarded(outgoing, undefined, request.beforeSend, (error) => fail(error));
      else outgoing.end();
    },
  });
  const connection = new SocketConnection(socket, request.signal, access.clock);
  return new Promise((resolve, reject) => {
    const settle = (failure?: unknown) => {
      cancelTimer();
      request.signal?.removeEventListener("abort", onAbort);
      if (failure === undefined) resolve(connection);
      else reject(failure);
    };
    fail = (failure) => {
      settle(failure);
      socket.terminate();
    };
    const onAbort = () => fail(request.signal?.reason);
    request.signal?.addEventListener("abort", onAbort, { once: true });
    const cancelTimer = access.clock.after(limitMs, () => fail(timedOut(about, access.server, phase)));
    socket.once("open", () => settle());
    socket.once("error", (error: NodeJS.ErrnoException) => {
      // A kept-alive connection that the server was just closing: the server did not read what was sent on it.
      const connected = phase === "headers" && !sending?.reusedSocket;
      settle(protocolError(error, request, about) ?? connectionErrorFrom(error, access.server, about, connected));
    });
    socket.once("unexpected-response", (_: unknown, response: http.IncomingMessage) => {
      readRefusal(response, about, access).then(fail, fail);
    });
  });
}

function addressOf(server: string, request: WebSocketRequest): string {
  const base = new URL(server);
  const query = new URLSearchParams();
  const pairs = Array.isArray(request.query) ? request.query : Object.entries(request.query ?? {});
  for (const [key, value] of pairs) if (value !== undefined) query.append(key, String(value));
  base.pathname = `${base.pathname.replace(/\/$/, "")}${request.path}`;
  base.search = query.toString();
  base.hash = "";
  return base.href;
}

/** The server's own words for why not: the body of an answer that did not switch protocols. */
async function readRefusal(
  response: http.IncomingMessage,
  about: RequestIdentity,
  { clock, server }: WebSocketAccess,
): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    // It is only shown.
    if (size > LONGEST_REFUSAL) break;
    chunks.push(chunk as Buffer);
  }
  const status = response.statusCode ?? 0;
  const text = Buffer.concat(chunks).toString("utf8");
  if (status < 400) {
    return new ConnectionError(`GET ${about.path}: ${server} answered ${status} instead of opening a WebSocket`, {
      request: about,
      sent: true,
      hint: "a proxy between here and the server may not let WebSockets through",
    });
  }
  return apiErrorFrom(status, parse(text), about, {
    retryAfterMs: readRetryAfter(response.headers["retry-after"], clock.now()),
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The server switched, but to no protocol that was offered. */
function protocolError(error: Error, request: WebSocketRequest, about: RequestIdentity): KubeError | undefined {
  if (!/subprotocol/.test(error.message)) return undefined;
  return new ConnectionError(`GET ${about.path}: the server speaks none of ${request.protocols.join(", ")}`, {
    cause: error,
    request: about,
    sent: true,
    hint: "Kubernetes 1.30 and newer speak these; an older server, or a proxy, may not",
  });
}

function timedOut(about: RequestIdentity, server: string, phase: "connect" | "headers"): TimeoutError {
  const waited = phase === "connect" ? "the connection" : "an answer";
  return new TimeoutError(`GET ${about.path}: waited too long for ${waited} of ${server}`, {
    request: about,
    phase,
    hint: "pass a longer `timeout`, or check whether the server is overloaded",
  });
}

class SocketConnection implements WebSocketConnection {
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly messages: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => this.#read() };
  readonly #socket: WebSocket;
  readonly #signal: AbortSignal | undefined;
  readonly #clock: Clock;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #ended = false;
  /** The reader does not want what still arrives. */
  #closing = false;
  #wake: () => void = () => undefined;
  #cancelPing: () => void = () => undefined;

  constructor(socket: WebSocket, signal: AbortSignal | undefined, clock: Clock) {
    this.#socket = socket;
    this.#signal = signal;
    this.#clock = clock;
    // From the first moment: the server's first messages may come in one piece with its answer.
    socket.on("message", (data: Buffer) => this.#receive(data));
    // The close event follows, and says all that readers need; unheard, an error would end the process.
    socket.on("error", () => undefined);
    socket.once("open", () => this.#schedulePing());
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.closed = new Promise((resolve) => {
      socket.once("close", (code: number, reason: Buffer) => {
        this.#ended = true;
        this.#cancelPing();
        signal?.removeEventListener("abort", this.#onAbort);
        this.#wake();
        resolve({ code, reason: reason.toString("utf8") });
      });
    });
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  send(data: Uint8Array | string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(data, (error) => {
        if (!error) return resolve();
        reject(this.#signal?.aborted ? this.#signal.reason : error);
      });
    });
  }

  close(code = 1000): void {
    this.#closing = true;
    this.#unread = [];
    this.#unreadBytes = 0;
    this.#wake();
    // Its goodbye lies behind what has not been read.
    this.#socket.resume();
    this.#socket.close(code);
  }

  #receive(data: Buffer): void {
    if (this.#closing) return;
    this.#unread.push(data);
    this.#unreadBytes += data.length;
    if (this.#unreadBytes > HIGH_WATER_BYTES) this.#socket.pause();
    this.#wake();
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      if (this.#signal?.aborted) throw this.#signal.reason;
      if (this.#closing) return;
      const batch = this.#unread;
      if (batch.length === 0) {
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      this.#unread = [];
      for (const data of batch) {
        yield data;
        this.#unreadBytes -= data.length;
        if (this.#closing) return;
        if (this.#signal?.aborted) throw this.#signal.reason;
      }
      this.#socket.resume();
    }
  }

  readonly #onAbort = () => {
    this.#socket.terminate();
    this.#wake();
  };

  #schedulePing(): void {
    this.#cancelPing = this.#clock.after(PING_MS, () => {
      this.#socket.ping();
      this.#schedulePing();
    });
  }
}
