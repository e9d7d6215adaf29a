import { ConnectionError, type RequestIdentity } from "./errors.ts";

/** Failures from before the connection stood: the server cannot have seen the request. */
const BEFORE_SENDING = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

const SAID: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be resolved now",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
};

/** The error for a request that got no answer: who was called, what happened, and what to try. */
export function connectionErrorFrom(
  cause: NodeJS.ErrnoException,
  server: string,
  request: RequestIdentity,
  connected: boolean,
): ConnectionError {
  const code = cause.code ?? "";
  const untrusted = isTrustFailure(code);
  const sent = connected && !BEFORE_SENDING.has(code) && !untrusted;
  const said = SAID[code] ?? cause.message;
  const message = sent
    ? `${request.method} ${request.path}: lost the connection to ${server}: ${said}`
    : `cannot reach ${server}: ${said}`;
  return new ConnectionError(message, { cause, request, sent, hint: hintFor(code, untrusted) });
}

function isTrustFailure(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS|ERR_SSL/.test(code);
}

function hintFor(code: string, untrusted: boolean): string {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "the certificate is for another host: use the name in it, or set tls-server-name";
  }
  if (untrusted) return "the server's certificate is not trusted: check certificate-authority in the kubeconfig";
  if (code === "ECONNREFUSED") return "is the cluster running, and is this the right context?";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "check the server address of the context, and the network";
  return "try again; if it stays, look at the server's log and at proxies in between";
}
