import type { AccessOrigin } from "../config/index.ts";
import { lookup } from "../meta/index.ts";
import { ConnectionError, type RequestIdentity } from "./errors.ts";

/** Failures from before the connection stood: the server cannot have seen the request. */
const BEFORE_SENDING = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ERR_PROXY"]);

const SAID: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be resolved now",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ETIMEDOUT: "it does not answer",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

/** Where the address and the certificates came from. */
export interface ServerPlace {
  readonly context?: string | undefined;
  readonly origin?: AccessOrigin | undefined;
}

type Failure = "network" | "proxy" | "plain-http" | "untrusted" | "refused-tls";

/** The error for a request that got no answer: who was called, what happened, and what to try. */
export function connectionErrorFrom(
  cause: NodeJS.ErrnoException,
  server: string,
  request: RequestIdentity,
  connected: boolean,
  place: ServerPlace = {},
): ConnectionError {
  const failure = failureOf(cause);
  const code = cause.code ?? "";
  const sent = connected && failure === "network" && !BEFORE_SENDING.has(code);
  const said = saidOf(failure, cause);
  const message = sent
    ? `${request.method} ${request.path}: lost the connection to ${server}: ${said}`
    : `cannot reach ${server}: ${said}`;
  const lasting = failure === "proxy" ? (cause as { refused?: boolean }).refused === true : failure !== "network";
  const hint = hintFor(failure, code, server, place);
  return new ConnectionError(message, { cause, request, sent, lasting, untrusted: failure === "untrusted", hint });
}

function failureOf({ code = "", message }: NodeJS.ErrnoException): Failure {
  if (code === "ERR_PROXY") return "proxy";
  // What OpenSSL makes of "HTTP/1.1 400 Bad Request".
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code) || /wrong version number/i.test(message)) {
    return "plain-http";
  }
  if (/ALERT/.test(code)) return "refused-tls";
  return /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS|ERR_SSL/.test(code) ? "untrusted" : "network";
}

function saidOf(failure: Failure, { code = "", message }: NodeJS.ErrnoException): string {
  if (failure === "plain-http") return "it does not speak TLS";
  if (failure === "refused-tls") {
    const [, alert = message] = /ALERT_(\w+)$/.exec(code) ?? [];
    return `it refused the TLS connection (${alert.toLowerCase().replaceAll("_", " ")})`;
  }
  return lookup(SAID, code) ?? (failure === "untrusted" ? `its certificate is not trusted (${message})` : message);
}

function hintFor(failure: Failure, code: string, server: string, { context, origin }: ServerPlace): string {
  const named = context === undefined || origin === undefined ? "" : `the context "${context}" in ${origin.files}`;
  if (failure === "proxy") return "check proxy-url of the cluster, or HTTPS_PROXY and NO_PROXY";
  if (failure === "plain-http") {
    return `the server speaks plain HTTP: write ${server.replace(/^https:/, "http:")} as its address, or use its HTTPS port`;
  }
  if (failure === "refused-tls")
    return "check client-certificate and client-key: are they expired, or of another cluster?";
  if (failure === "untrusted") return trustHint(code, origin);
  if (code === "ECONNREFUSED")
    return `is the cluster running, and is ${named ? `${named} the right one` : "this the right context"}?`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `check the server address ${named ? `of ${named}` : "of the context"}, and the network`;
  }
  return "try again; if it stays, look at the server's log and at proxies in between";
}

function trustHint(code: string, origin: AccessOrigin | undefined): string {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "the certificate is for another host: use the name in it, or set tls-server-name";
  }
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return "the server needs a new certificate, or the clock of this machine is wrong";
  }
  if (origin?.authority !== undefined) {
    return `it is not signed by the certificate-authority of the cluster "${origin.cluster}" (${origin.authority}): was the cluster made anew, or is this another one?`;
  }
  return "name the authority that signed it: certificate-authority in the kubeconfig, or the option `ca`";
}
