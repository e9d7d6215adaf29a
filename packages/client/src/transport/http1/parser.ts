/**
 * Reads answers off the bytes of one connection: bytes in, events out, nothing else. What RFC 9112 demands of a client,
 * and where it leaves a choice between two readings, neither: the answer is refused.
 *
 *     head ──► (1xx: again) ──► length │ chunks ──► trailers │ until close │ no body ──► done
 *
 * Bodies are handed out as parts of the buffers that came, without a copy.
 */
import { type AnswerHead, checkTrailers, ParsedHead } from "./head.ts";
import { MalformedAnswerError } from "./malformed.ts";

/** What a parser tells, in this order; `onBody` as often as there is something. */
export interface AnswerEvents {
  onHead(head: AnswerHead): void;
  /** Shares its memory with what was fed. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

/** How much of an answer that is no body is put up with. */
export interface ParserLimits {
  /** Bytes of a head, and of the trailers. Default 64 KiB, four times of what Node.js takes. */
  readonly headBytes?: number | undefined;
  /** Bytes of the extensions of one chunk. Default 16 KiB, as in Node.js. */
  readonly extensionBytes?: number | undefined;
}

// Numbers, because they are compared for each piece.
const IDLE = 0;
const HEAD = 1;
const FIXED = 2;
const SIZE = 3;
const EXTENSION = 4;
const SIZE_LF = 5;
const DATA = 6;
const DATA_CR = 7;
const DATA_LF = 8;
const TRAILERS = 9;
const UNTIL_CLOSE = 10;

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;
const LONGEST_SIZE = 16;
/** A server may send "early hints"; one that never stops has nothing to say. */
const MOST_INFORMATIONAL = 100;

const BEGINNING = Buffer.from("HTTP/1.");
const CRLF_END = Buffer.from("\n\r\n");
const LF_END = Buffer.from("\n\n");

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const QUOTED = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
/** Blanks are bad, says the RFC, and have to be put up with. */
const EXTENSIONS = new RegExp(`^(?:[ \\t]*;[ \\t]*${TOKEN}(?:[ \\t]*=[ \\t]*(?:${TOKEN}|${QUOTED}))?)+$`);

/** See the module comment. One answer at a time: `begin` before each. */
export class AnswerParser {
  readonly #events: AnswerEvents;
  readonly #headBytes: number;
  readonly #extensionBytes: number;
  #state = IDLE;
  #bodiless = false;
  #head: ParsedHead | undefined;
  #informational = 0;
  /** Bytes of the body or of the chunk that are still to come. */
  #left = 0;
  #digits = 0;
  #extension = "";
  /** A head, or trailers, of which only a part has come. */
  #partial = EMPTY;
  #partialBytes = 0;
  /** What `#collect` found, with the ends of lines, without the empty one. */
  #lines = "";

  constructor(events: AnswerEvents, limits: ParserLimits = {}) {
    this.#events = events;
    this.#headBytes = limits.headBytes ?? 64 * 1024;
    this.#extensionBytes = limits.extensionBytes ?? 16 * 1024;
  }

  /** Nothing more is expected: before the first answer, after the last byte of one, and after `stop`. */
  get idle(): boolean {
    return this.#state === IDLE;
  }

  /** Whether the connection may be used again once the answer has ended. */
  get reusable(): boolean {
    return this.#head?.keepAlive === true;
  }

  /** How long the server keeps the connection, where it said so. */
  get keepAliveSeconds(): number | undefined {
    return this.#head?.keepAliveSeconds;
  }

  /** The next bytes are the answer to a request with this method. */
  begin(method: string): void {
    this.#state = HEAD;
    this.#bodiless = method === "HEAD";
    this.#head = undefined;
    this.#informational = 0;
    this.#partialBytes = 0;
  }

  /** Nobody wants the rest. */
  stop(): void {
    this.#state = IDLE;
    this.#head = undefined;
    this.#partial = EMPTY;
  }

  /** Takes bytes; returns how many of them belong to the answer. Throws a {@link MalformedAnswerError}. */
  feed(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#state !== IDLE) {
      switch (this.#state) {
        case HEAD:
          at = this.#readHead(chunk, at);
          break;
        case FIXED:
          at = this.#readBody(chunk, at);
          if (this.#left === 0 && this.#state === FIXED) this.#end();
          break;
        case DATA:
          at = this.#readBody(chunk, at);
          if (this.#left === 0 && this.#state === DATA) this.#state = DATA_CR;
          break;
        case UNTIL_CLOSE:
          this.#events.onBody(at === 0 ? chunk : chunk.subarray(at));
          at = chunk.length;
          break;
        case TRAILERS:
          at = this.#readTrailers(chunk, at);
          break;
        default:
          this.#readByte(chunk[at++] as number);
      }
    }
    return at;
  }

  /** The connection has ended: whether that ended the answer, too. */
  finish(): boolean {
    if (this.#state !== UNTIL_CLOSE) return false;
    this.#end();
    return true;
  }

  #end(): void {
    this.#state = IDLE;
    this.#events.onEnd();
  }

  #readBody(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    this.#events.onBody(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    return end;
  }

  #readHead(chunk: Buffer, at: number): number {
    const end = this.#collect(chunk, at, BEGINNING);
    if (end < 0) return chunk.length;
    const head = new ParsedHead(this.#lines);
    const { status } = head;
    if (status === 101) throw new MalformedAnswerError("upgrade", "it switches protocols, and was not asked to");
    if (status < 200) {
      if (!head.keepAlive) throw new MalformedAnswerError("informational", "it ends before the answer");
      if (++this.#informational > MOST_INFORMATIONAL) {
        throw new MalformedAnswerError("informational", "it announces an answer again and again");
      }
      return end;
    }
    this.#head = head;
    const bodiless = this.#bodiless || status === 204 || status === 304;
    // These have no body whatever they say; who says otherwise may send one, which would be taken for the next answer.
    if (status === 204 && (head.chunked || (head.contentLength ?? 0) > 0)) head.keepAlive = false;
    // Neither is a connection kept whose answers say nothing of their ends.
    if (!head.chunked && head.contentLength === undefined && status !== 204 && status !== 304) head.keepAlive = false;
    if (bodiless) this.#state = IDLE;
    else if (head.chunked) this.#expectChunk();
    else if (head.contentLength === undefined) this.#state = UNTIL_CLOSE;
    else {
      this.#left = head.contentLength;
      this.#state = this.#left === 0 ? IDLE : FIXED;
    }
    const ended = this.#state === IDLE;
    this.#events.onHead(head);
    // Who hears of the head may have stopped the parser.
    if (ended && this.#head === head) this.#events.onEnd();
    return end;
  }

  #readTrailers(chunk: Buffer, at: number): number {
    const end = this.#collect(chunk, at);
    if (end < 0) return chunk.length;
    // With the newline that #startTrailers put before them.
    checkTrailers(this.#lines.slice(1));
    this.#end();
    return end;
  }

  /** Reads lines up to the empty one, and returns where that ends; -1 when it has not come, and what there is is kept. */
  #collect(chunk: Buffer, at: number, beginning?: Buffer): number {
    const before = this.#partialBytes;
    if (before === 0) {
      const end = endOfLines(chunk, at);
      if (end >= 0) return this.#take(chunk, at, end);
    }
    this.#keep(chunk, at);
    const kept = this.#partial.subarray(0, this.#partialBytes);
    if (beginning !== undefined) checkBeginning(kept, beginning);
    // The empty line may have begun in the last three bytes.
    const end = before === 0 ? -1 : endOfLines(kept, Math.max(0, before - 3));
    if (end < 0) {
      if (kept.length > this.#headBytes) throw tooLong();
      return -1;
    }
    this.#partial = EMPTY;
    this.#partialBytes = 0;
    return at + this.#take(kept, 0, end) - before;
  }

  /** The lines before `end`, or before an empty line with the short end: the other one is part of the body then. */
  #take(bytes: Buffer, from: number, end: number): number {
    const lines = bytes.toString("latin1", from, Math.min(end, from + this.#headBytes));
    const bare = lines.indexOf("\n\n");
    if (bare >= 0) {
      this.#lines = lines.slice(0, bare + 1);
      return from + bare + LF_END.length;
    }
    if (end - from > this.#headBytes) throw tooLong();
    this.#lines = lines.slice(0, lines.length - 2);
    return end;
  }

  /** Appends into a buffer that doubles: a server that sends byte by byte must not cost a copy for each. */
  #keep(chunk: Buffer, at: number): void {
    // Enough to see that it is too much.
    const end = Math.min(chunk.length, at + this.#headBytes + 4);
    const needed = this.#partialBytes + end - at;
    if (needed > this.#partial.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(512, needed * 2));
      this.#partial.copy(larger, 0, 0, this.#partialBytes);
      this.#partial = larger;
    }
    chunk.copy(this.#partial, this.#partialBytes, at, end);
    this.#partialBytes = needed;
  }

  #expectChunk(): void {
    this.#state = SIZE;
    this.#left = 0;
    this.#digits = 0;
  }

  /** What stands around chunks: short, and cut anywhere. */
  #readByte(byte: number): void {
    switch (this.#state) {
      case SIZE:
        return void this.#readSize(byte);
      case EXTENSION:
        if (byte === CR) {
          if (!EXTENSIONS.test(this.#extension)) throw malformedChunk("its extension cannot be read");
          this.#state = SIZE_LF;
        } else {
          this.#extension += String.fromCharCode(byte);
          if (this.#extension.length > this.#extensionBytes) throw tooLong();
        }
        return;
      case SIZE_LF:
        if (byte !== LF) throw malformedChunk("its size has no end");
        if (this.#left > 0) this.#state = DATA;
        else this.#startTrailers();
        return;
      case DATA_CR:
        if (byte !== CR) throw malformedChunk("it is longer than it said");
        this.#state = DATA_LF;
        return;
      default:
        if (byte !== LF) throw malformedChunk("it is longer than it said");
        this.#expectChunk();
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#left = this.#left * 16 + digit;
      if (++this.#digits > LONGEST_SIZE || !Number.isSafeInteger(this.#left)) throw malformedChunk("its size");
    } else if (this.#digits === 0) throw malformedChunk("it has no size");
    else if (byte === CR) this.#state = SIZE_LF;
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) {
      this.#extension = String.fromCharCode(byte);
      this.#state = EXTENSION;
    } else throw malformedChunk("its size is no number");
  }

  /** Trailers end with an empty line that may be the first one: a newline before them makes both cases one. */
  #startTrailers(): void {
    this.#state = TRAILERS;
    this.#partialBytes = 0;
    this.#keep(LF_END.subarray(0, 1), 0);
  }
}

const EMPTY = Buffer.alloc(0);

/** Where the first empty line ends, or one behind it; -1 when there is none yet. */
function endOfLines(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(CRLF_END, from);
  if (at >= 0) return at + CRLF_END.length;
  const bare = bytes.indexOf(LF_END, from);
  return bare < 0 ? -1 : bare + LF_END.length;
}

/** What does not even begin as an answer is refused at once; it may never have an end. */
function checkBeginning(kept: Buffer, beginning: Buffer): void {
  const length = Math.min(kept.length, beginning.length);
  if (kept.compare(beginning, 0, length, 0, length) === 0) return;
  throw new MalformedAnswerError("status-line", "it does not begin with HTTP/1");
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

const malformedChunk = (what: string) => new MalformedAnswerError("chunk", `a chunk is not right: ${what}`);
const tooLong = () => new MalformedAnswerError("too-long", "its head is too long");
