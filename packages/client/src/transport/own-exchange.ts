/**
 * One request on a connection of ours: its phase, its time limit and its abort signal, until it is over. It is its own
 * listener and its own timer's entry, so that a plain success costs one object and one promise.
 */
import type { Deadlines, Expiring } from "./deadlines.ts";
import { TimeoutError, TooLargeError } from "./errors.ts";
import { AnswerBody, type AnswerHead, type BodySource, type ConnectionPool, type WireExchange } from "./http1/index.ts";
import { tooLarge } from "./limits.ts";
import { connectionErrorFrom } from "./network-errors.ts";
import { identityOf, PHASES, timeoutError } from "./phases.ts";
import type { RawRequest } from "./request.ts";
import { type Attempt, isWelcome, type WireAnswer, type WireOptions } from "./wire.ts";

/** What an exchange is made of. */
export interface OwnExchangeParts {
  readonly head: string;
  readonly body: string | Uint8Array | undefined;
  readonly pool: ConnectionPool;
  readonly deadlines: Deadlines;
  readonly wire: WireOptions;
}

const CONNECT = PHASES.indexOf("connect");
const HEADERS = PHASES.indexOf("headers");
const BODY = PHASES.indexOf("body");

/** See the module comment. */
export class OwnExchange implements WireExchange, Expiring, BodySource {
  readonly method: string;
  readonly head: string;
  readonly body: string | Uint8Array | undefined;
  readonly deadline: number;
  connection: WireExchange["connection"];
  readonly #attempt: Attempt;
  readonly #request: RawRequest;
  readonly #parts: OwnExchangeParts;
  /** The last phase that the time limit counts for. */
  readonly #until: number;
  #phase = CONNECT;
  #connectedAt = 0;
  #answer: AnswerHead | undefined;
  #stream: AnswerBody | undefined;
  #first: Buffer | undefined;
  #more: Buffer[] | undefined;
  #size = 0;
  #resolve!: (answer: WireAnswer) => void;
  #reject!: (reason: unknown) => void;

  constructor(attempt: Attempt, parts: OwnExchangeParts) {
    this.#attempt = attempt;
    this.#request = attempt.request;
    this.#parts = parts;
    this.method = attempt.request.method;
    this.head = parts.head;
    this.body = parts.body;
    this.deadline = attempt.limit.deadline;
    this.#until = PHASES.indexOf(attempt.limit.until);
  }

  /** Resolves with the whole answer, or with a stream of it where the request asks for one. */
  run(): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const { signal } = this.#request;
      // The credentials took their time: the signal may have aborted before there was anything to listen for.
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener("abort", this, { once: true });
      this.#parts.deadlines.add(this);
      this.#parts.pool.send(this);
    });
  }

  onConnected(): boolean {
    const { beforeSend } = this.#request;
    if (beforeSend !== undefined) {
      try {
        beforeSend();
      } catch (error) {
        this.#attempt.refused = true;
        this.#settle();
        this.#reject(error);
        return false;
      }
    }
    this.#connectedAt = this.#parts.wire.clock.monotonic();
    this.#enter(HEADERS);
    return true;
  }

  onHead(head: AnswerHead): void {
    const { status } = head;
    this.#answer = head;
    this.#attempt.status = status;
    this.#attempt.latencyMs = this.#parts.wire.clock.monotonic() - this.#connectedAt;
    this.#enter(BODY);
    if (head.warned) this.#parts.wire.onWarning(head.headers.warning);
    if (this.#request.stream && isWelcome(this.#request, status)) return void this.#release(head);
    // What it says of itself is believed when it is bad news.
    if ((head.contentLength ?? 0) > this.#parts.wire.answerBytes) this.#giveUp();
  }

  onBody(bytes: Buffer): void {
    if (this.#stream !== undefined) return void this.#stream.add(bytes);
    this.#size += bytes.length;
    if (this.#size > this.#parts.wire.answerBytes) return void this.#giveUp();
    if (this.#first === undefined) this.#first = bytes;
    else if (this.#more === undefined) this.#more = [this.#first, bytes];
    else this.#more.push(bytes);
  }

  onEnd(): void {
    if (this.#stream !== undefined) return void this.#stream.complete();
    this.#settle();
    const bytes = this.#more === undefined ? (this.#first ?? NOTHING) : Buffer.concat(this.#more, this.#size);
    this.#attempt.receivedBytes = bytes.length;
    this.#resolve(new WholeAnswer(this.#answer as AnswerHead, bytes));
  }

  onFailure(error: Error): void {
    // Its reader hears of it as it is.
    if (this.#stream !== undefined) return void this.#stream.destroy(error);
    this.#settle();
    this.#reject(this.#explain(error));
  }

  expire(): void {
    this.#fail(timeoutError(this.#request, PHASES[this.#phase] ?? "body", this.#parts.wire.server));
  }

  /** The signal has aborted. */
  handleEvent(): void {
    const reason: unknown = this.#request.signal?.reason;
    this.#fail(reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  abandon(): void {
    this.#parts.pool.cancel(this);
  }

  /** Hands the answer to a reader of its own; the abort signal still ends it. */
  #release(head: AnswerHead): void {
    const body = new AnswerBody(this);
    this.#stream = body;
    body.once("close", () => this.#settle());
    // A reader that has not started or has left is not there to hear of it, and an unheard error ends the process.
    body.on("error", () => undefined);
    this.#resolve({ status: head.status, headers: head.headers, body });
  }

  #giveUp(): void {
    this.#first = undefined;
    this.#more = undefined;
    this.#fail(tooLarge("answerBytes", this.#parts.wire.answerBytes, identityOf(this.#request)));
  }

  #fail(error: Error): void {
    if (this.#stream !== undefined) return void this.#stream.destroy(error);
    this.#settle();
    this.#parts.pool.cancel(this);
    this.#reject(this.#explain(error));
  }

  #enter(phase: number): void {
    this.#phase = phase;
    if (phase > this.#until) this.#parts.deadlines.delete(this);
  }

  #settle(): void {
    this.#parts.deadlines.delete(this);
    this.#request.signal?.removeEventListener("abort", this);
  }

  #explain(error: Error): unknown {
    const { signal } = this.#request;
    if (signal?.aborted) return signal.reason;
    if (error instanceof TimeoutError || error instanceof TooLargeError) return error;
    const { server, context, origin } = this.#parts.wire;
    const connected = this.#phase !== CONNECT;
    return connectionErrorFrom(error, server, identityOf(this.#request), connected, { context, origin });
  }
}

const NOTHING = Buffer.alloc(0);

/** Its headers are read only when somebody asks for them. */
class WholeAnswer implements WireAnswer {
  readonly bytes: Buffer;
  readonly #head: AnswerHead;

  constructor(head: AnswerHead, bytes: Buffer) {
    this.#head = head;
    this.bytes = bytes;
  }

  get status(): number {
    return this.#head.status;
  }

  get headers(): WireAnswer["headers"] {
    return this.#head.headers;
  }
}
