/** The wire of `node:http`: what carried all requests once, and still does with `LOTSE_HTTP=node`. */
import * as http from "node:http";
import * as https from "node:https";
import type { TlsMaterial } from "../config/index.ts";
import { type Agents, openAgents, retireAgents } from "./agents.ts";
import { clientClosed } from "./closed.ts";
import { endGuarded } from "./guarded.ts";
import { Exchange } from "./node-exchange.ts";
import { outgoingHeaders } from "./outgoing.ts";
import {
  type Attempt,
  basePathOf,
  encodeBody,
  hostOf,
  isWelcome,
  portOf,
  targetOf,
  type Wire,
  type WireAnswer,
  type WireOptions,
} from "./wire.ts";

/** See the module comment. Its agents also carry WebSockets, whichever wire carries requests. */
export class NodeWire implements Wire {
  readonly #o: WireOptions;
  #agents: Agents | undefined;
  #closed = false;

  constructor(o: WireOptions) {
    this.#o = o;
  }

  async send(attempt: Attempt): Promise<WireAnswer> {
    const { request, limit } = attempt;
    const { clock, server, context, origin, answerBytes, onWarning } = this.#o;
    const exchange = new Exchange(request, server, limit, clock, { context, origin });
    const agents = await this.agentsFor(attempt.identity.tls);
    let refused: { readonly error: unknown } | undefined;
    const sending = this.#open(attempt, agents, (error) => {
      attempt.refused = true;
      refused = { error };
    });
    attempt.sentBytes = Number(sending.getHeader("content-length") ?? 0);
    try {
      const response = await exchange.headers(sending);
      attempt.latencyMs = exchange.latencyMs;
      const { statusCode: status = 0, headers } = response;
      attempt.status = status;
      if (headers.warning !== undefined) onWarning(headers.warning);
      if (request.stream && isWelcome(request, status)) return { status, headers, body: exchange.release(response) };
      const bytes = await exchange.body(response, answerBytes);
      attempt.receivedBytes = bytes.length;
      return { status, headers, bytes };
    } catch (error) {
      throw refused ? refused.error : error;
    }
  }

  close(): void {
    this.#closed = true;
    this.#agents?.requests.destroy();
    this.#agents?.streams.destroy();
    this.#agents = undefined;
  }

  /** New certificates need new connections; those of the old ones finish their work and go. */
  async agentsFor(tls: TlsMaterial): Promise<Agents> {
    if (this.#agents?.tls === tls) return this.#agents;
    const { proxyUrl, origin, base } = this.#o;
    const opened = await openAgents(tls, { secure: base.protocol === "https:", proxyUrl, origin });
    if (this.#closed) throw clientClosed();
    if (this.#agents?.tls === tls) return this.#agents;
    if (this.#agents) retireAgents(this.#agents);
    this.#agents = opened;
    return opened;
  }

  #open({ request, identity }: Attempt, agents: Agents, onRefused: (error: unknown) => void): http.ClientRequest {
    const { base } = this.#o;
    const headers = outgoingHeaders(this.#o, identity, request.headers);
    headers.accept ??= "application/json";
    const body = encodeBody(request.body);
    if (body !== undefined) {
      headers["content-type"] ??= "application/json";
      headers["content-length"] = Buffer.byteLength(body);
    }
    const sending = (base.protocol === "https:" ? https : http).request({
      agent: request.stream ? agents.streams : agents.requests,
      host: hostOf(base),
      port: portOf(base),
      method: request.method,
      path: targetOf(basePathOf(base), request),
      headers,
    });
    if (request.beforeSend) endGuarded(sending, body, request.beforeSend, onRefused);
    else sending.end(body);
    return sending;
  }
}
