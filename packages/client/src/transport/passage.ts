/**
 * A way through to a server for requests that somebody else made: their bytes go as they are, with the credentials of an
 * access. One connection for each request, so that whatever breaks breaks for that one alone.
 */
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex } from "node:stream";
import { type Access, type AccessOptions, type Identity, openAccess, type TlsMaterial } from "../config/index.ts";
import { outgoingHeaders } from "./outgoing.ts";
import type { RequestHeaders } from "./request.ts";
import { secureContextOf } from "./secure-context.ts";
import { basePathOf, hostOf, portOf } from "./wire.ts";

/** A request that somebody else made. */
export interface PassageRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Those that are not about one connection. Who it is from is replaced where the access has credentials. */
  readonly headers: http.IncomingHttpHeaders;
  readonly body?: Uint8Array | undefined;
  /** Closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** What came of asking for another protocol: a connection, or an answer that is a refusal. */
export interface PassageUpgrade {
  readonly answer: http.IncomingMessage;
  readonly socket?: Duplex | undefined;
  /** Bytes that came behind the answer. */
  readonly head?: Buffer | undefined;
}

/** Of requests that name none themselves. */
const USER_AGENT = "lotse-passage";

/** See the module comment. */
export class Passage {
  /** The server, the context and the namespace, as the configuration has them. */
  readonly access: Pick<Access, "server" | "context" | "namespace" | "source">;
  readonly #access: Access;
  readonly #base: URL;
  #agent: { readonly tls: TlsMaterial; readonly agent: http.Agent } | undefined;

  private constructor(access: Access) {
    const { server, context, namespace, source } = access;
    this.access = { server, context, namespace, source };
    this.#access = access;
    this.#base = new URL(server);
  }

  /**
   * Reads the configuration, and sends nothing.
   *
   * @example
   * ```ts
   * const passage = await Passage.open({ kubeconfig: "staging.yaml" });
   * const answer = await passage.send({ method: "GET", path: "/version", headers: {} });
   * ```
   */
  static async open(options: AccessOptions): Promise<Passage> {
    return new Passage(await openAccess(options));
  }

  /** Resolves when the headers of the answer are there. When the server refuses the credentials, it is asked with new ones. */
  async send(request: PassageRequest): Promise<http.IncomingMessage> {
    const { credentials } = this.#access;
    const identity = await credentials.current({ signal: request.signal });
    const answer = await this.#exchange(request, identity);
    if (answer.statusCode !== 401 || !isSomebody(identity)) return answer;
    if (!(await credentials.renew(identity, { signal: request.signal }))) return answer;
    answer.resume();
    return this.#exchange(request, await credentials.current({ signal: request.signal }));
  }

  /** Asks for another protocol on the connection: WebSocket, SPDY. */
  async upgrade(request: PassageRequest): Promise<PassageUpgrade> {
    const identity = await this.#access.credentials.current({ signal: request.signal });
    const sending = await this.#open(request, identity);
    return new Promise((resolve, reject) => {
      sending.once("upgrade", (answer, socket, head) => resolve({ answer, socket, head }));
      sending.once("response", (answer) => resolve({ answer }));
      sending.once("error", reject);
      sending.end(request.body);
    });
  }

  /** Connections that carry a request live on until it is over. */
  close(): void {
    this.#agent?.agent.destroy();
    this.#agent = undefined;
  }

  async #exchange(request: PassageRequest, identity: Identity): Promise<http.IncomingMessage> {
    const sending = await this.#open(request, identity);
    return new Promise((resolve, reject) => {
      sending.once("response", resolve);
      // It may fail after the answer has begun: then the answer tells.
      sending.on("error", reject);
      sending.end(request.body);
    });
  }

  async #open({ method, path, headers, signal }: PassageRequest, identity: Identity): Promise<http.ClientRequest> {
    const base = this.#base;
    const agent = await this.#agentFor(identity.tls);
    const { authorization, ...own } = headers;
    const kept = isSomebody(identity) || authorization === undefined ? own : { ...own, authorization };
    const { headers: impersonation } = this.#access;
    return (base.protocol === "https:" ? https : http).request({
      agent,
      method,
      host: hostOf(base),
      port: portOf(base),
      path: basePathOf(base) + path,
      headers: outgoingHeaders({ userAgent: USER_AGENT, headers: impersonation }, identity, kept as RequestHeaders),
      ...(signal && { signal }),
    });
  }

  async #agentFor(tls: TlsMaterial): Promise<http.Agent> {
    if (this.#agent?.tls === tls) return this.#agent.agent;
    const { proxyUrl, origin } = this.#access;
    const secure = this.#base.protocol === "https:";
    const Agent = proxyUrl
      ? (await import("./proxy.ts")).agentThrough(proxyUrl, secure, tls.ca)
      : secure
        ? https.Agent
        : http.Agent;
    const { servername, rejectUnauthorized } = tls;
    const agent = new Agent({
      keepAlive: false,
      ...(secure && { rejectUnauthorized, secureContext: await secureContextOf(tls, origin) }),
      ...(servername !== undefined && { servername }),
    } as http.AgentOptions);
    this.#agent = { tls, agent };
    return agent;
  }
}

/** Whether the access has credentials of its own; else those of the request go on to the server. */
function isSomebody({ token, authorization, tls }: Identity): boolean {
  return token !== undefined || authorization !== undefined || tls.cert !== undefined;
}
