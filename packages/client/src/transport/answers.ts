/** Answers of the server as callers see them. */
import type * as http from "node:http";
import { Readable } from "node:stream";
import { isObject } from "../meta/index.ts";
import { type RequestIdentity, UnexpectedAnswerError } from "./errors.ts";
import { LARGE_BYTES, parseLargeList } from "./large-list.ts";
import { tooLarge } from "./limits.ts";
import { gistOf, NO_API_SERVER } from "./page.ts";
import type { RawResponse } from "./request.ts";

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
export function bufferedAnswer(
  { statusCode: status = 0, headers }: http.IncomingMessage,
  bytes: Buffer,
  request: RequestIdentity,
): RawResponse {
  return {
    status,
    headers,
    json: async <T>() => {
      const list = bytes.length < LARGE_BYTES ? undefined : await parseLargeList(bytes);
      return list === undefined ? readJson<T>(bytes.toString("utf8"), { status, headers, request }) : (list as T);
    },
    text: async () => bytes.toString("utf8"),
    get body() {
      return Readable.from([bytes]);
    },
  };
}

/** An answer that is still coming. Who reads it piece by piece may read on for ever; as a whole it has the usual limit. */
export function streamedAnswer(response: http.IncomingMessage, request: RequestIdentity, limit: number): RawResponse {
  const { statusCode: status = 0, headers } = response;
  const text = async () => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
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
    json: async <T>() => readJson<T>(await text(), { status, headers, request }),
    text,
    body: response,
  };
}

interface AnswerHead {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly request: RequestIdentity;
}

function readJson<T>(text: string, { status, headers, request }: AnswerHead): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    const said = text.trim() === "" ? "nothing" : gistOf(text);
    const to = headers.location === undefined ? "" : `, pointing to ${headers.location}`;
    throw new UnexpectedAnswerError(
      `${request.method} ${request.path}: the server answered ${status}${to}, and not with JSON (${said})`,
      { cause, request, status, hint: NO_API_SERVER },
    );
  }
}
