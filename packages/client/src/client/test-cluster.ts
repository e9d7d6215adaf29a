import { PassThrough } from "node:stream";
import { apiErrorFrom, type RawRequest, type RawResponse, type Transport } from "../transport/index.ts";
import { Client } from "./client.ts";
import type { ConnectOptions } from "./connect.ts";

/** What a test's cluster answers a request with: a body, an HTTP error, or the events of a watch. */
export type Reply = { body: unknown } | { status: number; body?: unknown } | { events: PassThrough };

type Handler = (request: RawRequest) => Reply | Promise<Reply>;

/** A transport that asks a function, and remembers what was sent. */
export class TestTransport implements Transport {
  readonly requests: RawRequest[] = [];
  readonly #handler: Handler;
  closed = false;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  /** `GET /path?query` of each request. */
  get log(): string[] {
    return this.requests.map(({ method, path, query = {} }) => {
      const known = Object.entries(query).filter(([, value]) => value !== undefined);
      const text = known.map(([key, value]) => `${key}=${value}`).join("&");
      return `${method} ${path}${text === "" ? "" : `?${text}`}`;
    });
  }

  async request(request: RawRequest): Promise<RawResponse> {
    request.signal?.throwIfAborted();
    this.requests.push(request);
    const reply = await this.#handler(request);
    if ("events" in reply) {
      request.signal?.addEventListener("abort", () => reply.events.destroy(), { once: true });
      return respond(undefined, reply.events);
    }
    if (!("status" in reply)) return respond(structuredClone(reply.body), new PassThrough());
    if (!request.anyStatus) throw apiErrorFrom(reply.status, reply.body, request);
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    const headers = { "content-type": typeof reply.body === "string" ? "text/plain" : "application/json" };
    return {
      ...respond(reply.body, new PassThrough().end(text)),
      status: reply.status,
      headers,
      text: async () => text,
    };
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

function respond(body: unknown, stream: PassThrough): RawResponse {
  return {
    status: 200,
    headers: {},
    json: async <T>() => body as T,
    text: async () => JSON.stringify(body),
    body: stream,
  };
}

/** A client whose server is `handler`. */
export async function testClient(handler: Handler, o: ConnectOptions = {}) {
  const transport = new TestTransport(handler);
  const client = await Client.connect({ url: "https://test", transport, random: () => 0, ...o });
  return { client, transport };
}

/** Says what the client sent: writes come back as they were, with a uid and a version. */
export const echo: Handler = ({ body }) => {
  const object = (body ?? {}) as { metadata?: { name?: string; generateName?: string } };
  const { name, generateName } = object.metadata ?? {};
  return {
    body: {
      ...object,
      metadata: { ...object.metadata, name: name ?? `${generateName}x7k`, uid: "u1", resourceVersion: "5" },
    },
  };
};
