/** The connections of `node:http` of one transport. Requests and streams have separate ones. */
import * as http from "node:http";
import * as https from "node:https";
import type { AccessOrigin, TlsMaterial } from "../config/index.ts";
import { MOST_IN_FLIGHT } from "./limit.ts";
import { secureContextOf } from "./secure-context.ts";

/** Two pools of connections that share their TLS material, so that watches never take the places of requests. */
export interface Agents {
  readonly tls: TlsMaterial;
  readonly requests: http.Agent;
  readonly streams: http.Agent;
}

/** API servers close idle connections after 90 s or more; ours go first, so that none is used while it is being closed. */
const IDLE_SOCKET_MS = 55_000;

/** Agents whose connections use these certificates, through the proxy where there is one. */
export async function openAgents(
  tls: TlsMaterial,
  o: { readonly secure: boolean; readonly proxyUrl?: string | undefined; readonly origin?: AccessOrigin | undefined },
): Promise<Agents> {
  // Loaded when needed: few clusters are behind a proxy.
  const Agent = o.proxyUrl
    ? (await import("./proxy.ts")).agentThrough(o.proxyUrl, o.secure, tls.ca)
    : o.secure
      ? https.Agent
      : http.Agent;
  const { servername, rejectUnauthorized } = tls;
  const options = {
    keepAlive: true,
    timeout: IDLE_SOCKET_MS,
    rejectUnauthorized,
    // Certificates are read once, not again for each connection.
    ...(o.secure && { secureContext: await secureContextOf(tls, o.origin) }),
    ...(servername === undefined ? {} : { servername }),
  };
  return {
    tls,
    requests: forOneServer(new Agent({ ...options, maxSockets: MOST_IN_FLIGHT })),
    streams: forOneServer(new Agent(options)),
  };
}

/** Lets connections finish their work and go. */
export function retireAgents({ requests, streams }: Agents): void {
  for (const agent of [requests, streams]) {
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}

/** An agent finds its sockets by a text that repeats all certificates; where all are for one server, any text will do. */
function forOneServer(agent: http.Agent): http.Agent {
  agent.getName = () => "server";
  return agent;
}
