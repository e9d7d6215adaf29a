/** Answers of the server as callers see them. */
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { isObject } from "../meta/index.ts";
import { type RequestIdentity, UnexpectedAnswerError } from "./errors.ts";
import { LARGE_BYTES, parseLargeList } from "./large-list.ts";
import { tooLarge } from "./limits.ts";
import { gistOf, NO_API_SERVER } from "./page.ts";
import type { RawResponse } from "./request.ts";
import type { WireAnswer } from "./wire.ts";

/** JSON as what it says, anything else as text. */
export function parseAnswer(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether an answer is what an API server says when it says no. */
export function isStatus(answer: unknown): answer is Record<string, unknown> {
  return isObject(answer) && answer.kind === "Status" && answer.apiVersion === "v1";
}

/** An answer that has been read. Nothing of the connection is kept: answers may live long, and there are many of them. */
export class BufferedAnswer implements RawResponse {
  readonly #answer: Pick<WireAnswer, "status" | "headers">;
  readonly #bytes: Buffer;
  readonly #method: string;
  readonly #path: string;

  constructor(answer: Pick<WireAnswer, "status" | "headers">, bytes: Buffer, method: string, path: string) {
    this.#answer = answer;
    this.#bytes = bytes;
    this.#method = method;
    this.#path = path;
  }

  get status(): number {
    return this.#answer.status;
  }

  get headers(): IncomingHttpHeaders {
    return this.#answer.headers;
  }

  async json<T>(): Promise<T> {
    const bytes = this.#bytes;
    const list = bytes.length < LARGE_BYTES ? undefined : await parseLargeList(bytes);
    if (list !== undefined) return list as T;
    return readJson<T>(bytes.toString("utf8"), this.#answer, { method: this.#method, path: this.#path });
  }

  async text(): Promise<string> {
    return this.#bytes.toString("utf8");
  }

  get body(): Readable {
    return Readable.from([this.#bytes]);
  }
}

/** An answer that is still coming. Who reads it piece by piece may read on for ever; as a whole it has the usual limit. */
export function streamedAnswer(
  answer: WireAnswer,
  body: Readable,
  request: RequestIdentity,
  limit: number,
): RawResponse {
  const { status, headers } = answer;
  const text = async () => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += (chunk as Buffer).length;
      // Leaving the loop closes the connection.
      if (size > limit) throw tooLarge("answerBytes", limit, request);
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks).toString("utf8");
  };
  return {
    status,
    headers,
    json: async <T>() => readJson<T>(await text(), answer, request),
    text,
    body,
  };
}

function readJson<T>(text: string, answer: Pick<WireAnswer, "status" | "headers">, request: RequestIdentity): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    const { status, headers } = answer;
    const said = text.trim() === "" ? "nothing" : gistOf(text);
    const to = headers.location === undefined ? "" : `, pointing to ${headers.location}`;
    throw new UnexpectedAnswerError(
      `${request.method} ${request.path}: the server answered ${status}${to}, and not with JSON (${said})`,
      { cause, request, status, hint: NO_API_SERVER },
    );
  }
}
