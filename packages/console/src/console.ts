import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, allNamespaces, type Client, type KindLike, KubeError, pathOf } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import { type ConsoleRecord, Feed } from "./feed.ts";
import { admit, admitToData, HttpProblem, sendFeed, sendFile, sendJson } from "./http.ts";
import { type FollowedKind, FollowedKinds } from "./kinds.ts";
import { type ObjectView, viewOf } from "./object-view.ts";
import { type PageFile, readPageFiles } from "./page-files.ts";
import { readTable, TABLE_ACCEPT, type TableColumn, type TableRow } from "./table.ts";

/** What to show, and where. */
export interface ConsoleOptions {
  /** Reads the objects. The console never writes, and does not close it. */
  readonly client: Client;
  /** The kinds to show, in this order: classes, descriptions or names. */
  readonly kinds: readonly KindLike[];
  /** Default: one that is free. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. A client that reaches it gets the page, but nothing to see without the token. */
  readonly host?: string | undefined;
  /** Time, for tests. */
  readonly clock?: Clock | undefined;
}

/** A console that is being served. */
export interface RunningConsole extends AsyncDisposable {
  /** Where to open it: `http://127.0.0.1:8081/#token=…`. A user who has it sees all that the client may read. */
  readonly url: string;
  /** Takes log lines: hand it to the operator as its log, beside the terminal's. Never throws, whatever a line carries. */
  readonly sink: (record: ConsoleRecord) => void;
  /** Shows these kinds from now on, and no others: an operator was reloaded. Open pages follow. */
  show(kinds: readonly KindLike[]): void;
  /** Closes the page's connections and the server. */
  stop(): Promise<void>;
}

/** More rows than a user reads; the page says that there are more. */
const ROW_LIMIT = 2_000;
const PAGE_SIZE = 500;

/**
 * Serves the console: a page that shows the kinds of an operator, their objects and the log, live.
 *
 * @example
 * ```ts
 * await using page = await startConsole({ client, kinds: [ExchangeRate] });
 * operator.start({ client, log: page.sink });
 * ```
 */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { client, kinds, port = 0, host = "127.0.0.1", clock = systemClock } = options;
  const files = await readPageFiles();
  const feed = new Feed(randomUUID().slice(0, 8));
  const stopping = new AbortController();
  const followed = new FollowedKinds(client, feed, clock);
  const token = randomBytes(24).toString("base64url");
  const site = new Site({ client, host, token, clock, files, feed, kinds: followed }, stopping.signal);
  const server = createServer((request, response) => void site.answer(request, response));
  await listen(server, port, host);
  followed.show(kinds);
  const stop = async () => {
    stopping.abort();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Browsers keep idle connections for minutes.
    server.closeAllConnections();
    await Promise.all([closed, followed.close()]);
  };
  return {
    // What follows the # stays in the browser: it is in no request, and in no log of one.
    url: `${urlOf(server.address() as AddressInfo, host)}#token=${token}`,
    sink: (record) => feed.log(record),
    show: (wanted) => followed.show(wanted),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface SiteParts {
  readonly client: Client;
  readonly host: string;
  readonly token: string;
  readonly clock: Clock;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly feed: Feed;
  readonly kinds: FollowedKinds;
}

/** What is answered to which request. */
class Site {
  readonly #parts: SiteParts;
  readonly #signal: AbortSignal;

  constructor(parts: SiteParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      admit(request, this.#parts.host);
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://console");
      const file = this.#parts.files.get(pathname);
      if (file) {
        sendFile(response, file.type, file.content);
        return;
      }
      admitToData(request, searchParams, this.#parts.token);
      if (pathname === "/api/events") {
        sendFeed(request, response, this.#parts.feed, this.#parts.clock, this.#signal);
      } else sendJson(response, 200, await this.#data(pathname, searchParams));
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendJson(response, statusOf(error), { error: messageOf(error), hint: hintOf(error) });
    }
  }

  #data(path: string, query: URLSearchParams): Promise<object> | object {
    if (path === "/api/kinds") return this.#kinds();
    if (path === "/api/objects") return this.#objects(this.#kind(query));
    if (path === "/api/object") {
      return this.#object(this.#kind(query), required(query, "name"), query.get("namespace") ?? undefined);
    }
    throw new HttpProblem(404, "the console has no such page");
  }

  #kinds() {
    const { client, kinds } = this.#parts;
    const { server, context } = client.config;
    return { server, context, kinds: kinds.states };
  }

  async #objects(followed: FollowedKind) {
    const kind = await followed.describe();
    const rows: TableRow[] = [];
    let columns: readonly TableColumn[] = [];
    let next: string | undefined;
    do {
      const response = await this.#parts.client.raw({
        method: "GET",
        path: pathOf(kind, { namespace: allNamespaces }),
        query: { limit: PAGE_SIZE, continue: next },
        headers: { accept: TABLE_ACCEPT },
        signal: this.#signal,
      });
      const page = readTable(await response.json());
      // Later pages may leave the columns out.
      if (columns.length === 0) columns = page.columns;
      rows.push(...page.rows);
      next = page.next;
    } while (next !== undefined && rows.length < ROW_LIMIT);
    return { kind: followed.id, columns, rows, truncated: next !== undefined };
  }

  async #object(followed: FollowedKind, name: string, namespace: string | undefined): Promise<ObjectView> {
    const kind = await followed.describe();
    const place = namespace === undefined ? {} : { namespace };
    return viewOf((await this.#parts.client.get(kind, name, { ...place, signal: this.#signal })).body);
  }

  #kind(query: URLSearchParams): FollowedKind {
    const id = required(query, "kind");
    const kind = this.#parts.kinds.get(id);
    // Only what the operator handles: the page is no way around the choice of kinds.
    if (!kind) throw new HttpProblem(404, `the console does not show the kind ${id}`);
    return kind;
  }
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (!value) throw new HttpProblem(400, `the query parameter ${name} is missing`);
  return value;
}

function statusOf(error: unknown): number {
  if (error instanceof HttpProblem) return error.status;
  if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return error.status;
  return error instanceof KubeError ? 502 : 500;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hintOf(error: unknown): string | undefined {
  return error instanceof HttpProblem || error instanceof KubeError ? error.hint : undefined;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === "EADDRINUSE";
      reject(
        new KubeError(`the console cannot listen on ${host}:${port}: ${taken ? "the port is in use" : cause.message}`, {
          hint: taken ? "stop the other program, or choose another port" : "check the host and the port",
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

function urlOf({ port, family, address }: AddressInfo, host: string): string {
  // Everywhere is no address that a browser can open.
  const everywhere = address === "::" || address === "0.0.0.0";
  const name = everywhere ? "127.0.0.1" : host;
  return `http://${family === "IPv6" && !everywhere && name.includes(":") ? `[${name}]` : name}:${port}/`;
}
