import { PassThrough, type Readable } from "node:stream";
import {
  apiErrorFrom,
  Client,
  type Clock,
  ConnectionError,
  type KubeBody,
  type RawRequest,
  type RawResponse,
  type Transport,
} from "@lotse/client";

/** What is done to a request. */
export type WireFault =
  /** The server refuses. */
  | { readonly type: "answer"; readonly status: number }
  /** The connection breaks; the server hears nothing of the request. */
  | { readonly type: "reset" }
  /** The server takes the request and never says a word. */
  | { readonly type: "hang" }
  /** A watch that opens, says nothing and ends. */
  | { readonly type: "end" }
  /** The server says something else. */
  | { readonly type: "change"; readonly json: (answer: unknown) => unknown };

/** A request as the wire sees it. */
export interface Call {
  readonly verb: "list" | "watch" | "get" | "write";
  readonly path: string;
  /** What is sent. */
  readonly body?: unknown;
  readonly query?: RawRequest["query"];
}

interface OpenWatch {
  readonly path: string;
  readonly out: PassThrough;
  dead: boolean;
  readonly held: string[];
}

/**
 * The wire between an operator and its cluster, for a test to cut, stall, hold back and listen to. It lies above HTTP, so
 * that it is the same for every cluster, and what the client itself tries again is below it.
 */
export class Wire {
  /** The operator's client. */
  readonly client: Client;
  /** Every request so far, oldest first. */
  readonly calls: Call[] = [];
  /** Decides about each request; undefined lets it pass. */
  fault: (call: Call) => WireFault | undefined = () => undefined;
  /** Events of watches that the operator never hears of. */
  drops: (event: { readonly type: string; readonly object: KubeBody }) => boolean = () => false;
  readonly #target: Client;
  readonly #watches = new Set<OpenWatch>();
  #holding = false;

  private constructor(target: Client, client: Client) {
    this.#target = target;
    this.client = client;
  }

  /** A wire to where `target` is connected, in its namespace. */
  static async to(target: Client, o: { readonly clock?: Clock } = {}): Promise<Wire> {
    const transport: Transport = { request: (request) => wire.#request(request), close: async () => {} };
    const client = await Client.connect({ url: "http://wire.test", transport, namespace: target.namespace, ...o });
    const wire = new Wire(target, client);
    return wire;
  }

  /** Requests of one verb whose path has `part` in it. */
  count(verb: Call["verb"], part: string): number {
    return this.calls.filter((call) => call.verb === verb && call.path.includes(part)).length;
  }

  /** The paths of the watches that are open now. */
  get watching(): string[] {
    return [...this.#watches].map(({ path }) => path);
  }

  /** Every watch that is open now stays open and says nothing any more. */
  stall(): void {
    for (const watch of this.#watches) watch.dead = true;
  }

  /** What watches have to say is kept back. */
  hold(): void {
    this.#holding = true;
  }

  /** It arrives now. */
  release(): void {
    this.#holding = false;
    for (const { out, held } of this.#watches) for (const line of held.splice(0)) out.write(line);
  }

  /** Breaks every watch that is open now; what was kept back is lost. */
  cut(): void {
    this.#holding = false;
    for (const { out, held } of this.#watches) {
      held.length = 0;
      out.destroy();
    }
  }

  async #request(request: RawRequest): Promise<RawResponse> {
    const call = { verb: verbOf(request), path: request.path, body: request.body, query: request.query };
    this.calls.push(call);
    const fault = this.fault(call);
    const identity = { method: request.method, path: request.path };
    switch (fault?.type) {
      case "answer":
        throw apiErrorFrom(fault.status, { message: `a fault of the test: ${fault.status}` }, identity);
      case "reset":
        throw new ConnectionError("a fault of the test: the connection broke", { request: identity, sent: false });
      case "hang":
        request.signal?.throwIfAborted();
        return new Promise((_, reject) => {
          request.signal?.addEventListener("abort", () => reject(request.signal?.reason), { once: true });
        });
      case "end":
        return withBody({ status: 200, headers: {} }, new PassThrough().end());
      case "change": {
        const response = await this.#target.raw(request);
        const answer = fault.json(await response.json());
        return { ...withBody(response, response.body), json: async <T>() => answer as T };
      }
      default: {
        const response = await this.#target.raw(request);
        return call.verb === "watch" ? withBody(response, this.#listen(call.path, response.body)) : response;
      }
    }
  }

  #listen(path: string, body: Readable): Readable {
    const watch: OpenWatch = { path, out: new PassThrough(), dead: false, held: [] };
    const { out, held } = watch;
    this.#watches.add(watch);
    let rest = "";
    body.setEncoding("utf8");
    body.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (watch.dead || this.drops(JSON.parse(line))) continue;
        if (this.#holding) held.push(`${line}\n`);
        else out.write(`${line}\n`);
      }
    });
    body.on("end", () => watch.dead || out.end());
    body.on("error", () => watch.dead || out.destroy());
    out.on("close", () => {
      this.#watches.delete(watch);
      body.destroy();
    });
    return out;
  }
}

/** Streams list page by page, which is how a list is told from everything else that is read. */
function verbOf({ method, query }: RawRequest): Call["verb"] {
  if (method !== "GET") return "write";
  if (query?.watch) return "watch";
  return query?.limit === undefined ? "get" : "list";
}

function withBody({ status, headers }: Pick<RawResponse, "status" | "headers">, body: Readable): RawResponse {
  const unread = () => Promise.reject(new Error("the answer is a stream"));
  return { status, headers, json: unread, text: unread, body };
}
