import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Duration } from "../meta/index.ts";

/** Query parameters; `undefined` leaves one out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Headers by name; several values where a header may come several times. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** What every call that talks to the server takes. */
export interface RequestOptions {
  /** Aborting closes the socket and rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** For the whole call, retries included. Default: the client's, 30 s. */
  readonly timeout?: Duration | undefined;
  /** `false`: the first failure is the answer. */
  readonly retry?: boolean | undefined;
}

/** A request as it goes to the server. */
export interface RawRequest extends RequestOptions {
  readonly method: string;
  /** Absolute, as in `/api/v1/pods`. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly headers?: RequestHeaders | undefined;
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
  /** The answer is read piece by piece: only connecting is limited in time, unless `timeout` is given for the headers. */
  readonly stream?: boolean | undefined;
  /**
   * Whatever the status, the answer is an answer, and nothing is sent again for it: for what lies behind the API server,
   * such as a proxied program. Only that the API server does not accept the credentials is still an error.
   */
  readonly anyStatus?: boolean | undefined;
  /** Called right before the request leaves the process, and again before each repetition; what it throws is final. */
  readonly beforeSend?: (() => void) | undefined;
  /** Hears of each time that the request has gone to the server: once, and again for each repetition. */
  readonly onAttempt?: ((attempt: RequestAttempt) => void) | undefined;
}

/** One time that a request has gone to the server. */
export interface RequestAttempt {
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** Size of the request's body. */
  readonly sentBytes: number;
  /** Size of the answer's body; undefined when there was none, or when it is read piece by piece. */
  readonly receivedBytes: number | undefined;
}

/** The answer. An answer that is no success has become an error before, except with `anyStatus`. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  json<T = unknown>(): Promise<T>;
  text(): Promise<string>;
  /** The bytes. With `stream: true` they arrive as the server sends them; destroying it closes the connection. */
  readonly body: Readable;
}

/** A WebSocket as it is asked for. Only opening it is limited by `timeout`; `signal` ends it at any time. */
export interface WebSocketRequest extends RequestOptions {
  /** Absolute, as in `/api/v1/namespaces/default/pods/web/exec`. */
  readonly path: string;
  /** Pairs where a parameter occurs more than once. */
  readonly query?: Query | readonly (readonly [string, string])[] | undefined;
  readonly headers?: RequestHeaders | undefined;
  /** Called right before the request leaves the process; what it throws is final. */
  readonly beforeSend?: (() => void) | undefined;
  /** The subprotocols that will do, the best one first. The server picks. */
  readonly protocols: readonly string[];
}

/** An open WebSocket. */
export interface WebSocketConnection {
  /** The subprotocol that the server picked. */
  readonly protocol: string;
  /** Resolves when the message has left, so that a sender that awaits it never fills the memory. */
  send(data: Uint8Array | string): Promise<void>;
  /**
   * What the server sends, for one reader. Reading slowly slows the server down. Ends when the connection has ended,
   * whichever way: `closed` tells how. Throws when the connection was aborted.
   */
  readonly messages: AsyncIterable<Buffer>;
  /** Says goodbye; what still arrives is dropped. */
  close(code?: number): void;
  /** How it ended. 1000 is a proper end, 1006 a connection that broke. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

/** Carries requests to a server. The client uses HTTP; a test may bring its own. */
export interface Transport {
  request(request: RawRequest): Promise<RawResponse>;
  /** Opens a WebSocket. A transport without it has no exec, attach and port-forward. */
  webSocket?(request: WebSocketRequest): Promise<WebSocketConnection>;
  /** Gets the credentials anew, though none were refused. A transport without it has none. */
  reauthenticate?(): Promise<void>;
  close(): Promise<void>;
}

/** The media type that tells the server how to read a PATCH. */
export const PATCH_MEDIA_TYPE = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;
