/** What carries one attempt of a request to the server: HTTP/1.1 over sockets of our own, or `node:http`. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { AccessOrigin, Identity } from "../config/index.ts";
import type { Clock } from "../meta/index.ts";
import type { RequestPhase } from "./errors.ts";
import type { Turn } from "./gate.ts";
import type { RawRequest, RequestHeaders } from "./request.ts";

/** How long a request may take. */
export interface Limit {
  /** On the monotonic clock. */
  readonly deadline: number;
  /** The phase up to which the limit counts. */
  readonly until: RequestPhase;
}

/** One time that a request goes to the server, and what becomes of it. */
export class Attempt {
  readonly request: RawRequest;
  readonly identity: Identity;
  readonly limit: Limit;
  /** `request.beforeSend` did not agree: the server knows nothing of it. */
  refused = false;
  status: number | undefined;
  /** How long the server took to begin its answer, without the time to connect. */
  latencyMs: number | undefined;
  sentBytes = 0;
  receivedBytes: number | undefined;
  /** The place that it has among the requests in flight. */
  turn: Turn | undefined;

  constructor(request: RawRequest, identity: Identity, limit: Limit) {
    this.request = request;
    this.identity = identity;
    this.limit = limit;
  }
}

/** An answer as it came: with all of its bytes, or as a stream of them where the request asks for one and it is no error. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes?: Buffer | undefined;
  readonly body?: Readable | undefined;
}

/** See the module comment. */
export interface Wire {
  /** Rejects with the errors that callers see. */
  send(attempt: Attempt): Promise<WireAnswer>;
  close(): void;
}

/** What both wires need of the client. */
export interface WireOptions {
  readonly base: URL;
  readonly server: string;
  readonly context?: string | undefined;
  readonly origin?: AccessOrigin | undefined;
  readonly proxyUrl?: string | undefined;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Sent with each request: impersonation. */
  readonly headers: RequestHeaders;
  /** Bytes of an answer that is read as a whole. */
  readonly answerBytes: number;
  /** Hears of each `Warning` as soon as the headers are there. */
  readonly onWarning: (header: string | readonly string[] | undefined) => void;
}

/** Whether an answer is what was asked for, and no error. */
export function isWelcome(request: RawRequest, status: number): boolean {
  return status < 400 || (request.anyStatus === true && status !== 401);
}

/** The bytes of a body: text and bytes as they are, anything else as JSON. */
export function encodeBody(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return body;
  return JSON.stringify(body);
}

/** Where a request goes, below the address of the server. */
export function targetOf(base: string, { path, query }: RawRequest): string {
  return query === undefined ? base + path : base + path + formatQuery(query);
}

/** What needs no escaping. */
const PLAIN = /^[\w.*-]*$/;

function formatQuery(query: NonNullable<RawRequest["query"]>): string {
  let text = "";
  for (const key in query) {
    const value = query[key];
    if (value === undefined) continue;
    text += `${text === "" ? "?" : "&"}${escaped(key)}=${escaped(String(value))}`;
  }
  return text;
}

const escaped = (text: string): string =>
  PLAIN.test(text) ? text : new URLSearchParams([["", text]]).toString().slice(1);

/** The address of a host without what URLs put around it. */
export const hostOf = (base: URL): string => base.hostname.replace(/^\[(.*)\]$/, "$1");

/** The port, which URLs leave out where it is the usual one. */
export const portOf = (base: URL): number => Number(base.port || (base.protocol === "https:" ? 443 : 80));

/** The path of the server's address, without a slash at its end. */
export const basePathOf = (base: URL): string => base.pathname.replace(/\/$/, "");
