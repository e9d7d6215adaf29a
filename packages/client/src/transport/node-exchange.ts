import type * as http from "node:http";
import type { Clock } from "../meta/index.ts";
import { type RequestPhase, TimeoutError, TooLargeError } from "./errors.ts";
import { tooLarge } from "./limits.ts";
import { connectionErrorFrom, type ServerPlace } from "./network-errors.ts";
import { identityOf, PHASES, timeoutError } from "./phases.ts";
import type { RawRequest } from "./request.ts";
import type { Limit } from "./wire.ts";

/** One request on the wire of `node:http`: its phase, its time limit, and its abort signal, until it is over. */
export class Exchange {
  readonly #request: RawRequest;
  readonly #server: string;
  readonly #limit: Limit;
  readonly #clock: Clock;
  readonly #place: ServerPlace;
  #connectedAt: number | undefined;
  #answeredAt: number | undefined;
  #phase: RequestPhase = "connect";
  /** What to destroy to end it: the answer once there is one, because only then its reader hears the reason. */
  #live: http.ClientRequest | http.IncomingMessage | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(request: RawRequest, server: string, limit: Limit, clock: Clock, place: ServerPlace) {
    this.#place = place;
    this.#request = request;
    this.#server = server;
    this.#limit = limit;
    this.#clock = clock;
  }

  /** How long the server took to begin its answer, without the time to connect; undefined when it has not begun. */
  get latencyMs(): number | undefined {
    if (this.#answeredAt === undefined) return undefined;
    return this.#answeredAt - (this.#connectedAt ?? this.#answeredAt);
  }

  /** Resolves when the headers are there. */
  headers(sending: http.ClientRequest): Promise<http.IncomingMessage> {
    this.#live = sending;
    this.#request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    // The credentials took their time: the signal may have aborted before there was anything to listen for.
    if (this.#request.signal?.aborted) this.#onAbort();
    this.#cancelTimer = this.#clock.after(this.#limit.deadline - this.#clock.monotonic(), () => this.#expire());
    return new Promise((resolve, reject) => {
      sending.once("socket", (socket) => {
        const connected = () => {
          this.#connectedAt = this.#clock.monotonic();
          this.#enter("headers");
        };
        const ready = "encrypted" in socket ? "secureConnect" : "connect";
        if (sending.reusedSocket || !socket.connecting) connected();
        else socket.once(ready, connected);
      });
      // Stays for the whole exchange: an error without a listener would end the process.
      sending.on("error", (error) => {
        this.#finish();
        reject(this.#explain(error));
      });
      sending.once("response", (response) => {
        this.#live = response;
        this.#answeredAt = this.#clock.monotonic();
        this.#enter("body");
        resolve(response);
      });
    });
  }

  /** Reads all of the answer, unless it is longer than `limit`: then nothing of it is kept, and the rest not read. */
  body(response: http.IncomingMessage, limit: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let size = 0;
      const giveUp = () => {
        chunks = [];
        response.destroy(tooLarge("answerBytes", limit, identityOf(this.#request)));
      };
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > limit) giveUp();
        else chunks.push(chunk);
      });
      response.once("end", () => {
        this.#finish();
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      });
      response.once("error", (error) => {
        this.#finish();
        reject(this.#explain(error));
      });
      // What it says of itself is believed when it is bad news.
      if (Number(response.headers["content-length"] ?? 0) > limit) giveUp();
    });
  }

  /** Hands the answer to a reader of its own; the abort signal still ends it. */
  release(response: http.IncomingMessage): http.IncomingMessage {
    response.once("close", () => this.#finish());
    // A reader that has not started or has left is not there to hear of it, and an unheard error ends the process.
    response.on("error", () => undefined);
    return response;
  }

  #enter(phase: RequestPhase): void {
    this.#phase = phase;
    if (PHASES.indexOf(phase) > PHASES.indexOf(this.#limit.until)) this.#cancelTimer();
  }

  #expire(): void {
    this.#live?.destroy(timeoutError(this.#request, this.#phase, this.#server));
  }

  readonly #onAbort = () => {
    const reason: unknown = this.#request.signal?.reason;
    this.#live?.destroy(reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
  };

  #finish(): void {
    this.#cancelTimer();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #explain(error: Error): unknown {
    if (this.#request.signal?.aborted) return this.#request.signal.reason;
    if (error instanceof TimeoutError || error instanceof TooLargeError) return error;
    return connectionErrorFrom(error, this.#server, identityOf(this.#request), this.#phase !== "connect", this.#place);
  }
}
