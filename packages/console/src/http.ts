/**
 * The console's side of HTTP: who may ask, how answers are dressed, and the stream of events. Everything is read-only.
 * The page speaks for the owner of the kubeconfig, so no other web page may reach it: answers are not shared across
 * origins, and requests of other pages, or by a foreign name for this machine (DNS rebinding), are refused. Nor may
 * other users of the machine: data is for clients that have the token.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, foreignOrigin, isForeignHost } from "@lotse/client/meta";
import { type Feed, type FeedMessage, toJson } from "./feed.ts";

/** An answer that is no success. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Throws unless the request may be answered. `host` is the name that the console was told to listen on. */
export function admit(request: IncomingMessage, host: string): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    throw new HttpProblem(405, "the console only reads", "change objects with kubectl");
  }
  if (isForeignHost(request.headers.host, [host])) {
    throw new HttpProblem(403, "the console does not answer to this host name", "open it by its address");
  }
}

/**
 * Throws unless the request may get data: other pages may lead here, but not ask, and a client that asks must have the
 * token. It comes in a header, or in the query from streams of events, to which browsers let pages give no header.
 */
export function admitToData({ headers }: IncomingMessage, query: URLSearchParams, token: string): void {
  const { host, origin } = headers;
  const site = headers["sec-fetch-site"];
  const foreign = foreignOrigin({ host, origin, "sec-fetch-site": Array.isArray(site) ? site.join() : site });
  if (foreign !== undefined) {
    throw new HttpProblem(403, "the console answers no page but its own", "open the console by its address");
  }
  const [, given = query.get("token") ?? ""] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  if (timingSafeEqual(digestOf(given), digestOf(token))) return;
  const hint = "open the whole address that `lotse dev` printed, with what follows the #";
  throw new HttpProblem(401, "the console shows objects only to whoever has its token", hint);
}

/** Digests are of one length, as a comparison in constant time needs it. */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Answers with bytes. */
export function sendFile(response: ServerResponse, type: string, content: Buffer): void {
  response.writeHead(200, { ...HEADERS, "content-type": type, "content-length": content.length });
  response.end(response.req.method === "HEAD" ? undefined : content);
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const content = Buffer.from(toJson(value));
  const allow = status === 405 ? { allow: "GET, HEAD" } : {};
  response.writeHead(status, {
    ...HEADERS,
    ...allow,
    "content-type": "application/json; charset=utf-8",
    "content-length": content.length,
  });
  response.end(response.req.method === "HEAD" ? undefined : content);
}

/** Proxies and laptops that sleep close silent connections; a comment now and then keeps it open. */
const HEARTBEAT_MS = 15_000;
/** A page that reads so slowly is cut off; it comes back and names the last line that it has seen. */
const UNREAD_LIMIT = 4 * 1024 * 1024;

/** Streams the feed as server-sent events until the page or `signal` ends it. */
export function sendFeed(
  request: IncomingMessage,
  response: ServerResponse,
  feed: Feed,
  clock: Clock,
  signal: AbortSignal,
): void {
  response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream; charset=utf-8" });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  response.write("retry: 1000\n\n");
  const lastId = request.headers["last-event-id"];
  const send = (message: FeedMessage) => {
    response.write(eventText(message));
    if (response.writableLength > UNREAD_LIMIT) response.destroy();
  };
  const leave = feed.join(send, typeof lastId === "string" ? lastId : undefined);
  let cancelBeat = () => {};
  const beat = () => {
    cancelBeat = clock.after(HEARTBEAT_MS, () => {
      response.write(": still here\n\n");
      beat();
    });
  };
  beat();
  const end = () => response.end();
  signal.addEventListener("abort", end, { once: true });
  response.once("close", () => {
    leave();
    cancelBeat();
    signal.removeEventListener("abort", end);
  });
}

/** JSON has no line breaks of its own, so one `data` line carries it. */
function eventText({ event, id, data }: FeedMessage): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}
