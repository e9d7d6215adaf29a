import { PassThrough } from "node:stream";
import { apiErrorFrom, type RawRequest, type RawResponse } from "../transport/index.ts";
import type { StreamClient } from "./contract.ts";

/** One answer of the script. */
export type Answer =
  | { readonly json: unknown }
  | { readonly status: number; readonly body?: unknown }
  | { readonly watch: (connection: Connection) => void }
  | { readonly never: true };

/** The server's end of an open watch. */
export class Connection {
  readonly body = new PassThrough();

  send(type: string, object: unknown): void {
    this.write(`${JSON.stringify({ type, object })}\n`);
  }

  write(text: string): void {
    this.body.write(text);
  }

  end(): void {
    this.body.end();
  }

  get closed(): boolean {
    return this.body.destroyed;
  }
}

/** A server that answers request by request from a script; for tests of what stands above the transport. */
export class ScriptedServer implements StreamClient {
  readonly requests: RawRequest[] = [];
  readonly connections: Connection[] = [];
  readonly #script: Answer[];

  constructor(...script: Answer[]) {
    this.#script = script;
  }

  /** The connection that was opened last. */
  get connection(): Connection {
    const last = this.connections.at(-1);
    if (!last) throw new Error("no watch was opened");
    return last;
  }

  /** `list`, `list+token`, `watch@version`, `gather`: the requests in short. */
  get log(): string[] {
    return this.requests.map(({ query = {} }) => {
      if (query.sendInitialEvents) return "gather";
      if (query.watch) return `watch@${query.resourceVersion}`;
      return query.continue === undefined ? "list" : `list+${query.continue}`;
    });
  }

  async raw(request: RawRequest): Promise<RawResponse> {
    request.signal?.throwIfAborted();
    this.requests.push(request);
    const answer = this.#script.shift() ?? { never: true };
    if ("status" in answer)
      throw apiErrorFrom(answer.status, answer.body, { method: request.method, path: request.path });
    if ("json" in answer) return respond(JSON.parse(JSON.stringify(answer.json)), new PassThrough());
    if ("never" in answer) {
      return new Promise((_, reject) => {
        request.signal?.addEventListener("abort", () => reject(request.signal?.reason), { once: true });
      });
    }
    const connection = new Connection();
    this.connections.push(connection);
    request.signal?.addEventListener("abort", () => connection.body.destroy(), { once: true });
    answer.watch(connection);
    return respond(undefined, connection.body);
  }
}

function respond(json: unknown, body: PassThrough): RawResponse {
  return {
    status: 200,
    headers: {},
    json: async <T>() => json as T,
    text: async () => JSON.stringify(json),
    body,
  };
}
