/** Answers by generator, right and wrong, and what Node's own parser makes of them. */
import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { AnswerParser } from "./parser.ts";

/** Numbers that are the same for the same seed. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Numbers = (below: number) => number;

const NAMES = [
  "Content-Type",
  "X-A",
  "x-b",
  "Date",
  "Audit-Id",
  "Set-Cookie",
  "Warning",
  "Cookie",
  "ETag",
  "__proto__",
];
const VALUES = ["a", "application/json", "", " two words\t", '299 - "old"', "\xe9\xff", "a,b", "0", "close", "chunked"];
const STATUSES = ["200", "200", "201", "204", "304", "404", "500", "100", "103", "101", "099", "999", "1000", "20"];
const VERSIONS = ["1.1", "1.1", "1.1", "1.1", "1.0", "0.9", "2.0", "1.2"];
const CONNECTIONS = ["close", "keep-alive", "Keep-Alive, X", "upgrade", "x, Close"];
const CODINGS = ["chunked", "Chunked", "gzip, chunked", "identity", "chunked, chunked", "chunked\t", "xchunked"];
const EXTENSIONS = ["", "", "", ";a", ";a=b", ';a="b c"', ";a=b;c", "; a=b", ' ;a="\\""', ";", ";=", ';a="'];
const NASTY = [
  "\r",
  "\n",
  "\r\n",
  "\n\n",
  "\r\n\r\n",
  " ",
  "\t",
  "\0",
  ":",
  ";",
  ",",
  "0",
  "9",
  "f",
  "\x7f",
  "\x80",
  '"',
];

/** One answer with its body; sometimes a little wrong already. */
function sketch(number: Numbers): string {
  const pick = (list: readonly string[]): string => list[number(list.length)] as string;
  const end = number(12) === 0 ? "\n" : "\r\n";
  const reason = number(8) === 0 ? "" : ` ${pick(["OK", "", "Not \xe4", "a\tb"])}`;
  let head = `HTTP/${pick(VERSIONS)} ${pick(STATUSES)}${reason}${end}`;
  const field = (name: string, value: string) => {
    const colon = number(30) === 0 ? pick([" :", ":  ", ":\t", ""]) : ": ";
    head += `${name}${colon}${value}${number(25) === 0 ? "\n" : end}`;
  };
  for (let left = number(4); left > 0; left--) field(pick(NAMES), pick(VALUES));
  if (number(5) === 0) field(pick(["Connection", "connection", "Keep-Alive"]), pick(CONNECTIONS));
  const body = pick(["", "{}", "hello\r\n\r\nworld", "0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "x".repeat(number(40))]);
  let rest = body;
  const framing = number(10);
  if (framing < 4) field(pick(["Content-Length", "content-length"]), lengthOf(body, number));
  if (framing >= 3 && framing < 8) {
    field("Transfer-Encoding", number(4) === 0 ? pick(CODINGS) : "chunked");
    rest = chunksOf(body, number, pick);
  }
  if (framing === 9) field("Content-Length", lengthOf(body, number));
  if (number(15) === 0) field("Content-Length", lengthOf(body, number));
  if (number(12) === 0) for (let left = number(3); left > 0; left--) field(pick(NAMES), pick(VALUES));
  if (number(40) === 0) head += ` folded${end}`;
  return `${head}${end}${rest}${number(8) === 0 ? pick(["\r\n", "x", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]) : ""}`;
}

function lengthOf(body: string, number: Numbers): string {
  const { length } = body;
  const odd = [
    `${length + 1}`,
    `+${length}`,
    `0${length}`,
    `${length}, ${length}`,
    "",
    "1e1",
    "0x1",
    "99999999999999999999",
  ];
  return number(6) === 0 ? (odd[number(odd.length)] as string) : `${length}`;
}

function chunksOf(body: string, number: Numbers, pick: (list: readonly string[]) => string): string {
  let text = "";
  for (let at = 0; at < body.length; ) {
    const size = 1 + number(body.length - at);
    const hex = size.toString(16);
    text += `${number(10) === 0 ? `0${hex.toUpperCase()}` : hex}${pick(EXTENSIONS)}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  const trailers = number(4) === 0 ? `${pick(NAMES)}: ${pick(VALUES)}\r\n` : "";
  return `${text}0${pick(EXTENSIONS)}\r\n${trailers}\r\n`;
}

/** Bytes that may be an answer, perhaps with others before it, and changed in up to three places. */
export function generateAnswer(number: Numbers): Buffer {
  let text = number(8) === 0 ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
  text += sketch(number);
  for (let left = number(2) === 0 ? 0 : number(4); left > 0; left--) {
    const at = number(text.length + 1);
    const nasty = NASTY[number(NASTY.length)] as string;
    switch (number(5)) {
      case 0:
        text = text.slice(0, at) + text.slice(at + 1);
        break;
      case 1:
        text = text.slice(0, at) + nasty + text.slice(at);
        break;
      case 2:
        text = text.slice(0, at) + nasty + text.slice(at + 1);
        break;
      case 3:
        text = text.slice(0, at) + String.fromCharCode(number(256)) + text.slice(at + 1);
        break;
      default:
        text = text.slice(0, at) + text.slice(number(text.length + 1));
    }
  }
  return Buffer.from(text, "latin1");
}

/** What a parser makes of bytes and the end of the connection after them. */
export interface Reading {
  /** How the answer ended: all of it was there, or it was refused, or cut off. */
  end: "complete" | "refused" | "cut";
  /** Which rule was broken, in the words of the parser. */
  rule?: string | undefined;
  status?: number;
  headers?: IncomingHttpHeaders;
  body: string;
  reusable?: boolean;
  /** Bytes that are not part of it. */
  rest?: number;
}

/** Ours. `cut` says how many bytes come at a time. */
export function readOurs(bytes: Buffer, method: string, cut: (at: number) => number): Reading {
  const reading: Reading = { end: "cut", body: "" };
  const parser = new AnswerParser({
    onHead({ status, headers }) {
      Object.assign(reading, { status, headers });
    },
    onBody(part) {
      reading.body += part.toString("latin1");
    },
    onEnd() {
      reading.end = "complete";
    },
  });
  parser.begin(method);
  try {
    for (let at = 0; at < bytes.length; ) {
      const size = Math.min(bytes.length - at, Math.max(1, cut(at)));
      const used = parser.feed(bytes.subarray(at, at + size));
      at += used;
      if (parser.idle) {
        reading.rest = bytes.length - at;
        break;
      }
    }
    if (!parser.idle && parser.finish()) reading.rest = 0;
    if (reading.end === "complete") reading.reusable = parser.reusable;
  } catch (error) {
    reading.end = "refused";
    reading.rule = (error as { rule: string }).rule;
  }
  return reading;
}

interface NodeParser {
  initialize(type: number, resource: object, maxHeaderSize: number): void;
  execute(bytes: Buffer): number | (Error & { code: string });
  finish(): undefined | (Error & { code: string });
  [callback: number]: unknown;
}

interface NodeParserClass {
  new (): NodeParser;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}

const { HTTPParser } = createRequire(import.meta.url)("_http_common") as { HTTPParser: NodeParserClass };

/** Node's, as its own HTTP client uses it: the same callbacks, the same answers to them. */
export function readNodes(bytes: Buffer, method: string): Reading {
  const parser = new HTTPParser();
  const reading: Reading = { end: "cut", body: "" };
  let fields: string[] = [];
  let informational = false;
  parser.initialize(HTTPParser.RESPONSE, {}, 64 * 1024);
  parser[HTTPParser.kOnHeaders] = (more: string[]) => {
    fields.push(...more);
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    ...[, , raw, , , status, , upgrade, keepAlive]: [
      ...[number, number, string[] | undefined, unknown, unknown, number, string, boolean, boolean],
    ]
  ) => {
    if (reading.end === "complete") return 1;
    informational = status < 200;
    if (upgrade) return 2;
    if (informational) return 1;
    const message = new IncomingMessage(undefined as unknown as Socket) as IncomingMessage & {
      _addHeaderLines(list: string[], length: number): void;
    };
    const list = raw ?? fields;
    message._addHeaderLines(list, list.length);
    Object.assign(reading, { status, headers: message.headers, reusable: keepAlive });
    return method === "HEAD" ? 1 : 0;
  };
  parser[HTTPParser.kOnBody] = (part: Buffer) => {
    if (reading.end !== "complete") reading.body += part.toString("latin1");
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    fields = [];
    if (!informational) reading.end = "complete";
  };
  // Byte by byte, because nothing else tells where an answer ended.
  for (let at = 0; at < bytes.length; at++) {
    const result = parser.execute(bytes.subarray(at, at + 1));
    if (typeof result !== "number") return { ...reading, end: "refused", rule: result.code };
    if ((reading.end as string) === "complete") return { ...reading, rest: bytes.length - at - 1 };
  }
  const failure = parser.finish();
  if (failure) return { ...reading, end: "refused", rule: failure.code };
  return (reading.end as string) === "complete" ? { ...reading, rest: 0 } : reading;
}
