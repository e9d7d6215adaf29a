import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import type { ApiRequest, ApiResponse } from "../api/index.ts";
import {
  askedFor,
  flatten,
  HEADER_LIMIT,
  type OpenStreams,
  PATIENCE_MS,
  readBody,
  sendBody,
  wireHeaders,
} from "./answers.ts";
import type { ClientCertificates } from "./client-certificates.ts";

/** So many requests at once a real server allows on one connection. */
const STREAMS = 1_000;
/** Lines of headers: no client needs as many. */
const HEADER_PAIRS = 256;
/** What one connection may keep in memory, in megabytes: answers that wait to be read count, of which each has its own limit. */
const SESSION_MEMORY = 256;
/** How long a connection without requests stays open, as those of HTTP/1.1. */
const IDLE_MS = 120_000;

/** What a connection needs of the server that it belongs to. */
export interface Http2Context {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  readonly certificates: ClientCertificates;
  readonly streams: OpenStreams;
  /** Told of requests that could not be answered at all. */
  readonly trouble?: ((work: string, error: unknown) => void) | undefined;
}

/** Speaks HTTP/2 on a connection whose client chose it. Gives back how to say that no more requests are taken. */
export function serveHttp2(socket: TLSSocket, context: Http2Context): () => void {
  socket.setNoDelay(true);
  const session = performServerHandshake(socket, {
    maxHeaderListPairs: HEADER_PAIRS,
    maxSessionMemory: SESSION_MEMORY,
    settings: { maxConcurrentStreams: STREAMS, maxHeaderListSize: HEADER_LIMIT, enablePush: false },
  });
  let open = 0;
  session.on("error", () => session.destroy());
  session.setTimeout(IDLE_MS, () => {
    // A watch may be silent for as long as nothing happens.
    if (open === 0) session.close();
  });
  session.on("stream", (stream, headers) => {
    open++;
    stream.once("close", () => {
      open--;
    });
    stream.on("error", () => stream.destroy());
    // One request that goes wrong, however it does, costs no other request anything.
    answer(stream, headers, socket, context).catch((error: unknown) => {
      breakOff(stream);
      context.trouble?.("a request over HTTP/2 could not be answered, its stream was cut", error);
    });
  });
  return () => closeGently(session);
}

function closeGently(session: ServerHttp2Session): void {
  if (!session.closed && !session.destroyed) session.close();
}

function breakOff(stream: ServerHttp2Stream): void {
  if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

async function answer(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  socket: TLSSocket,
  { handle, certificates, streams }: Http2Context,
): Promise<void> {
  const patience = setTimeout(() => {
    if (!stream.readableEnded) breakOff(stream);
  }, PATIENCE_MS).unref();
  stream.once("close", () => clearTimeout(patience));
  const response = await handle(toApiRequest(stream, headers, socket, certificates));
  if (stream.destroyed || stream.closed) return;
  // A client that speaks HTTP/2 cannot ask for another protocol.
  if (response.type === "reset" || response.type === "session") return breakOff(stream);
  const head = { ":status": response.status, ...wireHeaders(response.headers) };
  if (response.type === "stream") {
    stream.respond(head);
    // The body of the request is of no interest any more, but has to be read for the request to end.
    stream.resume();
    streams.start(response, stream, () => breakOff(stream));
  } else if (headers[":method"] === "HEAD" || response.status === 304) {
    stream.respond(head, { endStream: true });
  } else {
    stream.respond({ ...head, "content-length": String(Buffer.byteLength(response.body)) });
    sendBody(stream, response.body);
    stream.resume();
  }
}

function toApiRequest(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  socket: TLSSocket,
  certificates: ClientCertificates,
): ApiRequest {
  const host = headers[":authority"] ?? headers.host ?? "";
  const { path, query } = askedFor(headers[":path"] ?? "/", false);
  return {
    method: headers[":method"] ?? "GET",
    path,
    query,
    headers: { ...flatten(headers), host },
    headerValues: () =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, value === undefined ? [] : [value].flat()]),
      ),
    clientCertificate: () => certificates.of(socket),
    host,
    body: () => readBody(stream, headers["content-length"], () => breakOff(stream)),
  };
}
