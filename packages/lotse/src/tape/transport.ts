/** The line between an operator that is recorded and its cluster: what goes out and what comes in is told. */
import { Readable } from "node:stream";
import {
  ApiError,
  type Client,
  ConnectionError,
  type RawRequest,
  type RawResponse,
  TimeoutError,
  type Transport,
  type WebSocketConnection,
  type WebSocketRequest,
} from "@lotse/client";
import type { TapeAnswerBody, TapeFailure } from "./format.ts";
import type { InputGate } from "./gate.ts";

/** Hears what goes over the line, in its order. */
export interface LineListener {
  asked(id: number, request: RawRequest): void;
  answered(id: number, status: number, body: TapeAnswerBody): void;
  failed(id: number, failure: TapeFailure): void;
  opened(id: number, status: number): void;
  line(id: number, body: TapeAnswerBody): void;
  ended(id: number, failure: TapeFailure | undefined): void;
}

/** See the module comment. */
export class TapeTransport implements Transport {
  readonly #client: Client;
  readonly #gate: InputGate;
  readonly #listener: LineListener;
  #asked = 0;

  constructor(client: Client, gate: InputGate, listener: LineListener) {
    this.#client = client;
    this.#gate = gate;
    this.#listener = listener;
  }

  async request(request: RawRequest): Promise<RawResponse> {
    const id = ++this.#asked;
    this.#listener.asked(id, request);
    try {
      const response = await this.#client.raw(request);
      if (request.stream) return await this.#opened(id, response);
      const text = await response.text();
      return await this.#input(() => {
        this.#listener.answered(id, response.status, bodyOf(text));
        return answerOf(response.status, response.headers, text);
      });
    } catch (error) {
      return this.#input(() => {
        this.#listener.failed(id, failureOf(error, request.signal));
        throw error;
      });
    }
  }

  /** Streams into pods are not recorded: they pass as they are. */
  webSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
    return this.#client.webSocket(request);
  }

  /** The client is its owner's. */
  async close(): Promise<void> {}

  #input<T>(deliver: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#gate.push(() => {
        try {
          resolve(deliver());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #opened(id: number, response: RawResponse): Promise<RawResponse> {
    const { status, headers } = response;
    const source = response.body;
    const body = lineStream(() => source.destroy());
    let rest = "";
    source.setEncoding("utf8");
    const opened = this.#input(() => {
      this.#listener.opened(id, status);
      return streamOf(status, headers, body);
    });
    source.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        this.#gate.push(() => {
          if (body.destroyed) return;
          this.#listener.line(id, bodyOf(line));
          body.push(`${line}\n`);
        });
      }
    });
    const end = (error?: Error) => {
      this.#gate.push(() => {
        if (body.destroyed) return;
        this.#listener.ended(id, error && failureOf(error, undefined));
        if (error) body.destroy(error);
        else body.push(null);
      });
    };
    source.once("end", () => end());
    source.once("error", end);
    return opened;
  }
}

/** A stream of lines that are pushed into it; `onClose` hears when its reader does not want more. */
export function lineStream(onClose: () => void): Readable {
  return new Readable({
    read() {},
    destroy(error, done) {
      onClose();
      done(error);
    },
  });
}

/** An answer that is there as a whole. */
export function answerOf(status: number, headers: RawResponse["headers"], text: string): RawResponse {
  return {
    status,
    headers,
    json: async () => JSON.parse(text),
    text: async () => text,
    get body() {
      return Readable.from([Buffer.from(text)]);
    },
  };
}

/** An answer whose lines are still to come. */
export function streamOf(status: number, headers: RawResponse["headers"], body: Readable): RawResponse {
  const text = async () => {
    let all = "";
    for await (const chunk of body) all += String(chunk);
    return all;
  };
  return { status, headers, body, text, json: async () => JSON.parse(await text()) };
}

/** JSON as what it says, anything else as text. */
export function bodyOf(text: string): TapeAnswerBody {
  if (text === "") return {};
  try {
    return { body: JSON.parse(text) };
  } catch {
    return { text };
  }
}

/** An error as a tape keeps it. */
export function failureOf(error: unknown, signal: AbortSignal | undefined): TapeFailure {
  if (signal?.aborted && error === signal.reason) return { name: "Aborted", message: "", aborted: true };
  const { name, message } = error as Error;
  if (error instanceof ApiError) {
    const { status, reason, details, retryAfterMs } = error;
    return { name, message, status, reason, details, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  if (error instanceof ConnectionError) return { name: "ConnectionError", message, sent: error.sent };
  if (error instanceof TimeoutError) return { name: "TimeoutError", message, phase: error.phase };
  return { name, message };
}
