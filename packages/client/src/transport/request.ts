import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Duration } from "../meta/index.ts";

/** Query parameters; `undefined` leaves one out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

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
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
  /** The answer is read piece by piece: only connecting is limited in time, unless `timeout` is given for the headers. */
  readonly stream?: boolean | undefined;
}

/** The answer. An answer that is no success has become an error before. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  json<T = unknown>(): Promise<T>;
  text(): Promise<string>;
  /** The bytes. With `stream: true` they arrive as the server sends them; destroying it closes the connection. */
  readonly body: Readable;
}

/** Carries requests to a server. The client uses HTTP; a test may bring its own. */
export interface Transport {
  request(request: RawRequest): Promise<RawResponse>;
  close(): Promise<void>;
}

/** The media type that tells the server how to read a PATCH. */
export const PATCH_MEDIA_TYPE = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;
