/**
 * HTTP/1.1 to a program in a pod, as far as a proxy needs it: one request and its answer on a connection of their own.
 * Connections into pods are streams of bytes and no sockets, so that nothing of Node's own client fits them.
 */
import type { ByteSource, PodConnection } from "../../bytes/index.ts";
import type { Headers } from "../exchange.ts";

/** An HTTP request that the proxy sends into a pod. */
export interface PodRequest {
  readonly method: string;
  /** Path and query as they go on the wire. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The head of the pod's answer; the body follows on the same connection. */
export interface PodAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** What follows the head, without the marks of chunks. */
  readonly body: ByteSource;
}

/** About one connection, and not about what is asked for or answered. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that a proxy hands on: neither those of the connection nor those that it names. */
export function handedOn<T>(headers: Readonly<Record<string, T>>, connection: string): [string, T][] {
  const named = new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
  return Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name));
}

/** Sends the request and reads the head of the answer. The caller has to read or close the connection. */
export async function askPod(connection: PodConnection, request: PodRequest): Promise<PodAnswer> {
  const { method, target, headers, body } = request;
  const hasBody = body.length > 0 || ["POST", "PUT", "PATCH"].includes(method);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(hasBody ? [`content-length: ${body.length}`] : []),
    "connection: close",
  ];
  await connection.write(latin1(`${lines.join("\r\n")}\r\n\r\n`));
  if (body.length > 0) await connection.write(body);
  const reader = new Reader(connection.incoming);
  for (;;) {
    const status = statusOf(await reader.line());
    const fields = await readFields(reader);
    // 100 and 103 announce an answer; they are none.
    if (status >= 100 && status < 200 && status !== 101) continue;
    return { status, headers: toHeaders(fields), body: bodyOf(reader, method, status, fields) };
  }
}

type Fields = Map<string, string[]>;

function statusOf(line: string): number {
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line) ?? [];
  if (status === undefined) throw new Error(`malformed HTTP response ${JSON.stringify(line.slice(0, 100))}`);
  return Number(status);
}

async function readFields(reader: Reader): Promise<Fields> {
  const fields: Fields = new Map();
  for (let line = await reader.line(); line !== ""; line = await reader.line()) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error(`malformed MIME header line: ${line.slice(0, 100)}`);
    const name = line.slice(0, colon).toLowerCase();
    fields.set(name, [...(fields.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return fields;
}

function toHeaders(fields: Fields): Headers {
  const all = Object.fromEntries([...fields].map(([name, values]) => [name, values.length > 1 ? values : values[0]]));
  const connection = (fields.get("connection") ?? []).join(",");
  return Object.fromEntries(handedOn(all as Headers, connection));
}

function bodyOf(reader: Reader, method: string, status: number, fields: Fields): ByteSource {
  if (method === "HEAD" || status === 204 || status === 304) return reader.take(0);
  if (/\bchunked\b/i.test(fields.get("transfer-encoding")?.at(-1) ?? "")) return chunks(reader);
  const length = Number(fields.get("content-length")?.[0] ?? Number.NaN);
  return Number.isNaN(length) ? reader.rest() : reader.take(length);
}

async function* chunks(reader: Reader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const line = await reader.line();
    const size = Number.parseInt(line, 16);
    if (Number.isNaN(size)) throw new Error(`malformed chunked encoding ${JSON.stringify(line.slice(0, 20))}`);
    if (size === 0) return;
    yield* reader.take(size);
    await reader.line();
  }
}

/** More than this before a line ends is no HTTP. */
const LONGEST_LINE = 64 * 1_024;

/** Reads lines and bytes off one stream in turn. */
class Reader {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffered: Uint8Array = new Uint8Array();

  constructor(source: ByteSource) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The text up to the next line feed, without it. */
  async line(): Promise<string> {
    let from = 0;
    for (;;) {
      const at = this.#buffered.indexOf(10, from);
      if (at >= 0) {
        const line = this.#buffered.subarray(0, at);
        this.#buffered = this.#buffered.subarray(at + 1);
        return Array.from(line, (code) => String.fromCharCode(code))
          .join("")
          .replace(/\r$/, "");
      }
      from = this.#buffered.length;
      if (from > LONGEST_LINE) throw new Error("malformed HTTP response: a line without an end");
      const more = await this.#more();
      if (!more) throw new Error("EOF");
      const both = new Uint8Array(from + more.length);
      both.set(this.#buffered);
      both.set(more, from);
      this.#buffered = both;
    }
  }

  /** The next `count` bytes, as they come. */
  async *take(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      const chunk = this.#buffered.length > 0 ? this.#buffered : await this.#more();
      if (!chunk) throw new Error("unexpected EOF");
      this.#buffered = chunk.subarray(left);
      const part = chunk.subarray(0, left);
      left -= part.length;
      yield part;
    }
  }

  /** Everything up to the end. */
  async *rest(): AsyncGenerator<Uint8Array> {
    if (this.#buffered.length > 0) yield this.#buffered;
    for (let chunk = await this.#more(); chunk; chunk = await this.#more()) yield chunk;
  }

  async #more(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#source.next();
    return done ? undefined : value;
  }
}

/** Headers are bytes: what Node hands out as text has one character for each. */
function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);
}
