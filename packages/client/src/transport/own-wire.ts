/** The wire that carries requests: HTTP/1.1 over sockets of our own, see http1/. */
import type { Identity, TlsMaterial } from "../config/index.ts";
import { clientClosed } from "./closed.ts";
import { Deadlines } from "./deadlines.ts";
import { ConnectionPool, dialer, HeaderBlock, linesOf, requestHead } from "./http1/index.ts";
import { MOST_IN_FLIGHT } from "./limit.ts";
import { outgoingHeaders } from "./outgoing.ts";
import { OwnExchange } from "./own-exchange.ts";
import type { RequestHeaders } from "./request.ts";
import { secureContextOf } from "./secure-context.ts";
import {
  type Attempt,
  basePathOf,
  encodeBody,
  hostOf,
  portOf,
  targetOf,
  type Wire,
  type WireAnswer,
  type WireOptions,
} from "./wire.ts";

/** Two pools of connections that share their TLS material, so that watches never take the places of requests. */
interface Pools {
  readonly tls: TlsMaterial;
  readonly requests: ConnectionPool;
  readonly streams: ConnectionPool;
}

/** API servers close idle connections after 90 s or more; ours go first, so that none is used while it is being closed. */
const IDLE_SOCKET_MS = 55_000;

const ACCEPT_JSON = "accept: application/json\r\n";
const SEND_JSON = "content-type: application/json\r\n";

/** See the module comment. */
export class OwnWire implements Wire {
  readonly #o: WireOptions;
  readonly #basePath: string;
  readonly #host: string;
  readonly #deadlines: Deadlines;
  #pools: Pools | undefined;
  #closed = false;
  /** The headers of requests that have none of their own, of the last identity: it rarely changes. */
  #common: { readonly identity: Identity; readonly block: HeaderBlock } | undefined;

  constructor(o: WireOptions) {
    this.#o = o;
    this.#basePath = basePathOf(o.base);
    this.#host = o.base.host;
    this.#deadlines = new Deadlines(o.clock);
  }

  send(attempt: Attempt): Promise<WireAnswer> {
    const { tls } = attempt.identity;
    try {
      if (this.#pools?.tls === tls) return this.#sendOn(this.#pools, attempt);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#poolsFor(tls).then((pools) => this.#sendOn(pools, attempt));
  }

  close(): void {
    this.#closed = true;
    const pools = this.#pools;
    this.#pools = undefined;
    pools?.requests.destroy();
    pools?.streams.destroy();
    this.#deadlines.close();
  }

  #sendOn(pools: Pools, attempt: Attempt): Promise<WireAnswer> {
    const { request, identity } = attempt;
    const body = encodeBody(request.body);
    const bodyBytes = body === undefined ? undefined : Buffer.byteLength(body);
    const headers = this.#headers(identity, request.headers, body !== undefined);
    const head = requestHead(request.method, targetOf(this.#basePath, request), headers, bodyBytes);
    attempt.sentBytes = bodyBytes ?? 0;
    const pool = request.stream ? pools.streams : pools.requests;
    return new OwnExchange(attempt, { head, body, pool, deadlines: this.#deadlines, wire: this.#o }).run();
  }

  #headers(identity: Identity, own: RequestHeaders | undefined, withBody: boolean): string {
    const common = this.#commonBlock(identity);
    let text = common.text;
    let [accepts, typed] = [false, false];
    for (const key in own) {
      const name = key.toLowerCase();
      // It takes the place of one that is written already.
      if (common.names.has(name)) return this.#merged(identity, own, withBody);
      text += linesOf(name, own[key] as string);
      if (name === "accept") accepts = true;
      else if (name === "content-type") typed = true;
    }
    if (!accepts) text += ACCEPT_JSON;
    return withBody && !typed ? text + SEND_JSON : text;
  }

  #commonBlock(identity: Identity): HeaderBlock {
    if (this.#common?.identity !== identity) {
      const block = new HeaderBlock({ host: this.#host, ...lowerCased(outgoingHeaders(this.#o, identity)) });
      this.#common = { identity, block };
    }
    return this.#common.block;
  }

  #merged(identity: Identity, own: RequestHeaders, withBody: boolean): string {
    return new HeaderBlock({
      host: this.#host,
      accept: "application/json",
      ...(withBody && { "content-type": "application/json" }),
      ...lowerCased(outgoingHeaders(this.#o, identity, lowerCased(own))),
    }).text;
  }

  /** New certificates need new connections; those of the old ones finish their work and go. */
  async #poolsFor(tls: TlsMaterial): Promise<Pools> {
    const dial = dialer({ ...(await this.#target(tls)) });
    if (this.#closed) throw clientClosed();
    if (this.#pools?.tls === tls) return this.#pools;
    this.#pools?.requests.retire();
    this.#pools?.streams.retire();
    const { clock } = this.#o;
    const common = { dial, monotonic: () => clock.monotonic(), idleMs: IDLE_SOCKET_MS };
    this.#pools = {
      tls,
      requests: new ConnectionPool({ ...common, most: MOST_IN_FLIGHT }),
      streams: new ConnectionPool(common),
    };
    return this.#pools;
  }

  async #target(tls: TlsMaterial): Promise<Parameters<typeof dialer>[0]> {
    const { base, proxyUrl, origin } = this.#o;
    const target = { host: hostOf(base), port: portOf(base), proxyUrl };
    if (base.protocol !== "https:") return target;
    const { connect } = await import("node:tls");
    const { servername, rejectUnauthorized, ca } = tls;
    const secureContext = await secureContextOf(tls, origin);
    return { ...target, tls: { connect, secureContext, servername, rejectUnauthorized, ca } };
  }
}

function lowerCased<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
