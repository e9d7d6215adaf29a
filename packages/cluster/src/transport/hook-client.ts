import { Agent, type RequestOptions, request } from "node:https";
import { isIP } from "node:net";
import { rootCertificates } from "node:tls";
import { type Clock, lookup } from "@lotse/client/meta";
import { type HookClient, HookError, HookSetupError, type HookTarget } from "../registry/index.ts";

/** Where the connections to a Service go. Throws a {@link HookError} when no endpoint is behind it. */
export type ServiceResolver = (namespace: string, name: string, port: number) => { host: string; port: number };

/** Whom calls to webhooks trust, and how they find Services. */
export interface HookClientOptions {
  readonly clock: Clock;
  readonly resolve: ServiceResolver;
  /** Whom to believe, besides those that Node.js knows, where a webhook names no authority. PEM. */
  readonly authorities?: string;
}

const LARGEST_ANSWER = 16 * 1_024 * 1_024;
const USER_AGENT = "kube-apiserver-admission";

/** Posts reviews over TLS, as the server's own client does, down to the words of its complaints. */
export class HttpHookClient implements HookClient {
  readonly #options: HookClientOptions;
  /**
   * One for each set of trusted certificates and name: they remember TLS sessions, which makes connecting again cheap.
   * Connections themselves are not kept: when one breaks, the server cannot tell whether the webhook has seen the request.
   */
  readonly #agents = new Map<string, Agent>();

  constructor(options: HookClientOptions) {
    this.#options = options;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async post(target: HookTarget, body: unknown, timeoutSeconds: number): Promise<unknown> {
    const place = this.#locate(target, timeoutSeconds);
    return this.#send(place, JSON.stringify(body), timeoutSeconds);
  }

  #locate(target: HookTarget, timeoutSeconds: number): Place {
    const query = `?timeout=${timeoutSeconds}s`;
    const ca = target.caBundle ? Buffer.from(target.caBundle, "base64").toString("utf8") : undefined;
    if (ca !== undefined && ca.trim() !== "" && !ca.includes("-----BEGIN CERTIFICATE-----")) {
      throw new HookSetupError("unable to load root certificates: unable to parse bytes as PEM block");
    }
    if (target.service) {
      const { namespace, name, path = "", port = 443 } = target.service;
      const host = `${name}.${namespace}.svc`;
      const clean = path === "" ? "" : cleanPath(path);
      const url = `https://${host}:${port}${clean}${query}`;
      let to: { host: string; port: number };
      try {
        to = this.#options.resolve(namespace, name, port);
      } catch (error) {
        if (error instanceof HookError) throw new HookError(`Post ${JSON.stringify(url)}: ${error.message}`);
        throw error;
      }
      return { url, ...to, name: host, path: `${clean || "/"}${query}`, hostHeader: `${host}:${port}`, ca };
    }
    if (!target.url) throw new HookError("webhook configuration must have either service or URL");
    const url = new URL(target.url);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    return {
      // As the server's client writes it, which joins the parts of a path anew.
      url: `${url.origin}${url.pathname === "/" && !target.url.endsWith("/") ? "" : cleanPath(url.pathname)}${query}`,
      host,
      port: url.port === "" ? 443 : Number(url.port),
      name: host,
      path: `${cleanPath(url.pathname)}${query}`,
      hostHeader: url.host,
      ca,
    };
  }

  #trust({ ca }: Place): RequestOptions {
    const { authorities } = this.#options;
    // A bundle may also be the webhook's own certificate, without the authority that signed it.
    if (ca !== undefined) return { ca, allowPartialTrustChain: true };
    return authorities === undefined ? {} : { ca: [...rootCertificates, authorities] };
  }

  #agentOf({ ca, name }: Place): Agent {
    const key = `${name} ${ca ?? ""}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      agent = new Agent({ keepAlive: false });
      this.#agents.set(key, agent);
    }
    return agent;
  }

  #send(place: Place, body: string, timeoutSeconds: number): Promise<unknown> {
    const { clock } = this.#options;
    const fail = (why: string) => new HookError(`Post ${JSON.stringify(place.url)}: ${why}`);
    return new Promise((resolve, reject) => {
      const options: RequestOptions = {
        method: "POST",
        host: place.host,
        port: place.port,
        path: place.path,
        agent: this.#agentOf(place),
        servername: isIP(place.name) === 0 ? place.name : "",
        ...this.#trust(place),
        headers: {
          host: place.hostHeader,
          accept: "application/json, */*",
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body)),
          "user-agent": USER_AGENT,
        },
      };
      let late = false;
      const call = request(options, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > LARGEST_ANSWER) call.destroy(new Error("the answer is too large"));
          else chunks.push(chunk);
        });
        response.on("error", (error) => {
          cancel();
          reject(fail(late ? "context deadline exceeded" : explain(error, place)));
        });
        response.on("end", () => {
          cancel();
          try {
            const type = response.headers["content-type"];
            resolve(readAnswer(response.statusCode ?? 0, type, Buffer.concat(chunks).toString("utf8")));
          } catch (error) {
            reject(error);
          }
        });
      });
      const cancel = clock.after(timeoutSeconds * 1_000, () => {
        late = true;
        call.destroy(new Error("context deadline exceeded"));
      });
      call.on("error", (error) => {
        cancel();
        if (late) reject(fail("context deadline exceeded"));
        else reject(fail(explain(error, place)));
      });
      call.end(body);
    });
  }
}

/** A path without empty parts and without `.` and `..`: slashes are often doubled where two parts were put together. */
function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

interface Place {
  /** As messages show it. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The name that its certificate must be for. */
  readonly name: string;
  readonly path: string;
  readonly hostHeader: string;
  readonly ca: string | undefined;
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? "");

const UNTRUSTED: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
]);

const CONNECTING: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network is unreachable",
  ETIMEDOUT: "connection timed out",
  EADDRNOTAVAIL: "cannot assign requested address",
};

/** What went wrong on the wire, in the words of a server that is written in Go. */
function explain(error: Error, place: Place): string {
  const code = codeOf(error);
  const reason = lookup(CONNECTING, code);
  const address = isIP(place.host) === 6 ? `[${place.host}]:${place.port}` : `${place.host}:${place.port}`;
  if (reason !== undefined) {
    const { address: to = place.host, port = place.port } = error as { address?: string; port?: number };
    return `dial tcp ${isIP(to) === 6 ? `[${to}]` : to}:${port}: connect: ${reason}`;
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `dial tcp: lookup ${place.host}: no such host`;
  if (UNTRUSTED.has(code)) return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return "tls: failed to verify certificate: x509: certificate has expired or is not yet valid";
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `tls: failed to verify certificate: ${explainName(error, place)}`;
  if (code === "EPROTO" && /wrong version number|packet length too long/.test(error.message)) {
    return "http: server gave HTTP response to HTTPS client";
  }
  if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE") return "EOF";
  return `${error.message} (${address})`;
}

function explainName(error: Error, { name }: Place): string {
  const { cert } = error as { cert?: { subjectaltname?: string } };
  const names = (cert?.subjectaltname ?? "").split(", ").filter((part) => part !== "");
  const ips = names.filter((part) => part.startsWith("IP Address:")).map((part) => part.slice("IP Address:".length));
  const hosts = names.filter((part) => part.startsWith("DNS:")).map((part) => part.slice("DNS:".length));
  if (isIP(name) !== 0) {
    if (ips.length === 0) return `x509: cannot validate certificate for ${name} because it doesn't contain any IP SANs`;
    return `x509: certificate is valid for ${ips.join(", ")}, not ${name}`;
  }
  if (hosts.length === 0) return `x509: certificate is not valid for any names, but wanted to match ${name}`;
  return `x509: certificate is valid for ${hosts.join(", ")}, not ${name}`;
}

/** What a bare status says, where the body does not say more. `message` is the body when it is a text. */
const GENERIC: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

function readAnswer(status: number, type: string | undefined, text: string): unknown {
  const isText = type === undefined || type === "" || type.startsWith("text/");
  let value: unknown;
  let broken = false;
  try {
    value = JSON.parse(text);
  } catch {
    broken = true;
  }
  if (status < 200 || status > 206) {
    const { kind, message } = (value ?? {}) as { kind?: unknown; message?: unknown };
    if (kind === "Status" && typeof message === "string") throw new HookError(message);
    throw new HookError(describeStatus(status, isText ? text.trim() : "unknown"));
  }
  if (text === "") {
    const named = type === undefined ? "application/json" : type;
    throw new HookError(`0-length response with status code: ${status} and content type: ${named}`);
  }
  if (broken) throw new HookError(UNREADABLE);
  return value;
}

function describeStatus(status: number, message: string): string {
  const known = GENERIC[status];
  if (known !== undefined) return known;
  if (status === 403 || status === 415) return message;
  if (status === 406) {
    return message === "" || message === "unknown"
      ? "the server was unable to respond with a content type that the client supports"
      : message;
  }
  if (status >= 500)
    return `an error on the server (${JSON.stringify(message)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

/** A server that also reads YAML takes any text for a string, and complains about that. */
const UNREADABLE =
  'couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
