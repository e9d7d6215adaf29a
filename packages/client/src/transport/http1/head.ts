/**
 * The head of an answer: its status line and its fields, checked as a whole. The text is kept, and the fields become an
 * object only when somebody asks: most answers are read without a look at them.
 */
import type { IncomingHttpHeaders } from "node:http";
import { MalformedAnswerError } from "./malformed.ts";

/** What begins an answer. */
export interface AnswerHead {
  readonly status: number;
  /** As `node:http` has them: names in lower case, what came twice joined as its name allows. */
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body, where the server said so beforehand. */
  readonly contentLength: number | undefined;
  /** Whether there is a `Warning` among the headers. */
  readonly warned: boolean;
}

// One class of bytes for names and one for values; with both exact, a line can mean one thing only. A bare CR and a folded
// line fit nowhere.
const NAME = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const VALUE = "[\\t\\x20-\\x7e\\x80-\\xff]*";
const FIELDS = `(?:${NAME}:${VALUE}\\r?\\n)*$`;
const WHOLE_HEAD = new RegExp(`^HTTP/1\\.[01] [1-9][0-9][0-9](?: ${VALUE})?\\r?\\n${FIELDS}`);
const WHOLE_FIELDS = new RegExp(`^${FIELDS}`);
const DECISIVE = /\n(content-length|transfer-encoding|connection|keep-alive|warning):[ \t]*([^\r\n]*)/gi;

const MINOR_AT = "HTTP/1.".length;
const STATUS_AT = "HTTP/1.1 ".length;
const DIGIT_0 = 48;

/** A head that was read, and what follows from it for the bytes behind it. */
export class ParsedHead implements AnswerHead {
  readonly status: number;
  contentLength: number | undefined;
  chunked = false;
  warned = false;
  /** Whether the server will take another request on this connection. */
  keepAlive: boolean;
  /** How long the server says that it keeps the connection, in seconds. */
  keepAliveSeconds: number | undefined;
  readonly #text: string;
  #headers: IncomingHttpHeaders | undefined;

  /** `text` has all lines with their ends, without the empty one; latin1, so that a character is a byte. */
  constructor(text: string) {
    if (!WHOLE_HEAD.test(text)) throw refusal(text, true);
    this.#text = text;
    this.status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
    const older = text.charCodeAt(MINOR_AT) === DIGIT_0;
    this.keepAlive = !older;
    this.#readDecisive(text);
    if (this.chunked && older) throw new MalformedAnswerError("framing", "HTTP/1.0 has no transfer codings");
  }

  get headers(): IncomingHttpHeaders {
    this.#headers ??= readFields(this.#text);
    return this.#headers;
  }

  /**
   * The fields that say where the answer ends and what becomes of the connection: two opinions are none. With a tab behind
   * it not everybody knows a length or a coding any more, so that it is none either.
   */
  #readDecisive(text: string): void {
    let close = false;
    DECISIVE.lastIndex = 0;
    for (let found = DECISIVE.exec(text); found !== null; found = DECISIVE.exec(text)) {
      const value = trimEnd(found[2] as string);
      switch ((found[1] as string).length) {
        case "content-length".length:
          if (this.contentLength !== undefined) throw new MalformedAnswerError("framing", "two lengths");
          this.contentLength = readLength(found[2] as string);
          break;
        case "transfer-encoding".length:
          if (this.chunked || !/^chunked *$/i.test(found[2] as string)) {
            throw new MalformedAnswerError("framing", `the transfer coding "${value.slice(0, 40)}" is unknown`);
          }
          this.chunked = true;
          break;
        case "warning".length:
          this.warned = true;
          break;
        default:
          // "connection" and "keep-alive" are equally long.
          if (/^c/i.test(found[1] as string)) {
            const options = value.toLowerCase().split(/[ \t]*,[ \t]*/);
            close ||= options.includes("close");
            if (options.includes("keep-alive")) this.keepAlive = true;
          } else {
            const [, seconds] = /(?:^|[ \t,])timeout=([0-9]{1,9})(?![0-9])/i.exec(value) ?? [];
            if (seconds !== undefined) this.keepAliveSeconds = Number(seconds);
          }
      }
    }
    if (close) this.keepAlive = false;
    if (this.chunked && this.contentLength !== undefined) {
      throw new MalformedAnswerError("framing", "a length and a transfer coding");
    }
  }
}

/** Refuses what may not stand behind the last chunk. Nothing there is used: it came too late to mean anything. */
export function checkTrailers(text: string): void {
  if (!WHOLE_FIELDS.test(text)) throw refusal(text, false);
}

function readLength(value: string): number {
  const length = /^[0-9]{1,16} *$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(length)) return length;
  throw new MalformedAnswerError("framing", `"${value.slice(0, 40)}" is no length`);
}

/** Only blanks and tabs: other characters that look blank are part of a value. */
function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && isBlank(value.charCodeAt(end - 1))) end--;
  return end === value.length ? value : value.slice(0, end);
}

const isBlank = (code: number) => code === 0x20 || code === 0x09;

/** Of these the first one counts. */
const ONCE: ReadonlySet<string> = new Set([
  ...["age", "authorization", "content-length", "content-type", "etag", "expires", "from", "host"],
  ...["if-modified-since", "if-unmodified-since", "last-modified", "location", "max-forwards", "proxy-authorization"],
  ...["referer", "retry-after", "server", "user-agent"],
]);

function readFields(text: string): IncomingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let start = text.indexOf("\n") + 1; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const colon = text.indexOf(":", start);
    let from = colon + 1;
    let to = text.charCodeAt(end - 1) === 0x0d ? end - 1 : end;
    while (from < to && isBlank(text.charCodeAt(from))) from++;
    while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
    add(headers, text.slice(start, colon).toLowerCase(), text.slice(from, to));
    start = end + 1;
  }
  return headers as IncomingHttpHeaders;
}

function add(headers: Record<string, string | string[]>, name: string, value: string): void {
  // No field, but the object's own workings.
  if (name === "__proto__") return;
  const known = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (name === "set-cookie") headers[name] = [...((known as string[] | undefined) ?? []), value];
  else if (known === undefined) headers[name] = value;
  else if (!ONCE.has(name)) headers[name] = `${known as string}${name === "cookie" ? "; " : ", "}${value}`;
}

/** Finds out what is wrong with a head that does not fit. */
function refusal(text: string, withStatus: boolean): MalformedAnswerError {
  const lines = text.split("\n").slice(0, -1);
  if (withStatus) {
    const status = lines.shift() ?? "";
    if (!WHOLE_HEAD.test(`${status}\n`)) {
      return new MalformedAnswerError("status-line", `"${shown(status)}" is no status line`);
    }
  }
  for (const line of lines) {
    if (/^[ \t]/.test(line)) return new MalformedAnswerError("folding", "a header field goes on in the next line");
    if (!WHOLE_FIELDS.test(`${line}\n`)) {
      return new MalformedAnswerError("field", `"${shown(line)}" is no header field`);
    }
  }
  return new MalformedAnswerError("field", "its head cannot be read");
}

/** With a question mark for each byte that cannot be shown. */
const shown = (line: string): string =>
  line
    .replace(/\r$/, "")
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, 60);
