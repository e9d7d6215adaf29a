/** Metrics for those who may read them: a server of its own, because a token must not go over the wire in the clear. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { errorMessage } from "@lotse/client/meta";
import { metricsOf, type Observed } from "./endpoints.ts";
import { type Answer, type Endpoints, listen, plain, send } from "./http.ts";
import type { MetricsGuard } from "./metrics-guard.ts";

/** What a server needs to speak TLS. */
export interface TlsCredentials {
  readonly key: string;
  readonly cert: string;
}

/** Where, by what, and who is let in. */
export interface GuardedMetrics {
  readonly host?: string | undefined;
  /** 0: any free one. */
  readonly port: number;
  /** Without them it speaks plain HTTP: for pods whose connections others encrypt. */
  readonly tls?: TlsCredentials | undefined;
  readonly guard: Pick<MetricsGuard, "check">;
}

/** Those endpoints, whose certificate can be exchanged. */
export interface GuardedEndpoints extends Endpoints {
  renew(tls: TlsCredentials): void;
}

/** Opens it; rejects when the address is taken. */
export async function openGuardedMetrics(
  { tls, guard, ...address }: GuardedMetrics,
  operators: () => readonly Observed[],
): Promise<GuardedEndpoints> {
  const listener: RequestListener = (request, response) => {
    answer(request, guard, operators).then(
      (given) => send(request, response, given),
      (error: unknown) => send(request, response, plain(500, `${errorMessage(error)}\n`)),
    );
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  // A client that does not get as far as a request is its own trouble.
  server.on("tlsClientError", () => undefined);
  const opened = await listen(server, address);
  return { ...opened, renew: (next) => (server as TlsServer).setSecureContext?.(next) };
}

async function answer(
  request: IncomingMessage,
  guard: GuardedMetrics["guard"],
  operators: () => readonly Observed[],
): Promise<Answer> {
  const { method, url = "/", headers } = request;
  const { pathname } = new URL(url, "http://localhost");
  if (method !== "GET" && method !== "HEAD") return plain(405, "only GET is answered here\n");
  if (pathname !== "/metrics") return plain(404, `there is nothing at ${pathname}; there is /metrics\n`);
  const refusal = await guard.check(headers.authorization);
  if (!refusal) return metricsOf(operators());
  const challenge = refusal.status === 401 ? { headers: { "www-authenticate": "Bearer" } } : {};
  return { ...plain(refusal.status, `${refusal.why}\n`), ...challenge };
}
