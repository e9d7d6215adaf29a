import { connect as connectHttp2, constants } from "node:http2";
import { Agent, request } from "node:https";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { CertificateAuthority } from "@lotse/client/certificates";
import { systemClock } from "@lotse/client/meta";
import { WebhookServer, type WebhookServerOptions } from "./server.ts";

/** Something that the server has told of. */
export interface Problem {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A server on a free port, with an authority of its own. */
export interface TestServer extends AsyncDisposable {
  readonly server: WebhookServer;
  readonly authority: CertificateAuthority;
  readonly problems: Problem[];
  readonly port: number;
}

/** What a client knows of a server. */
export interface Known {
  readonly port: number;
  readonly authority: Pick<CertificateAuthority, "certPem">;
}

/** What came back. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Credentials for 127.0.0.1. */
export function credentialsOf(authority: CertificateAuthority) {
  const { certPem, keyPem } = authority.issue({ commonName: "hooks", hosts: ["127.0.0.1"], usage: "server" });
  return { cert: certPem, key: keyPem };
}

/** A server on loopback that answers with what it was sent, unless told otherwise. */
export async function startServer(options: Partial<WebhookServerOptions> = {}): Promise<TestServer> {
  const authority = new CertificateAuthority("hooks-ca", Date.now());
  const problems: Problem[] = [];
  const server = await WebhookServer.start({
    host: "127.0.0.1",
    port: 0,
    credentials: credentialsOf(authority),
    handle: async ({ body }) => ({ status: 200, body }),
    onProblem: (message, fields) => problems.push({ message, fields }),
    clock: systemClock,
    ...options,
  });
  return { server, authority, problems, port: server.port, [Symbol.asyncDispose]: () => server.close() };
}

/** A request; what is left out is as an API server would send it. */
export interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
  readonly client?: { readonly cert: string; readonly key: string };
}

const JSON_TYPE: Readonly<Record<string, string>> = { "content-type": "application/json" };

/** One request over HTTP/1.1. */
export function ask({ port, authority }: Known, call: Call = {}): Promise<Answered> {
  const { method = "POST", path = "/", headers = JSON_TYPE, body = "{}", agent, client } = call;
  return new Promise((resolve, reject) => {
    const hasBody = method !== "GET" && method !== "HEAD";
    // Node.js announces the body of some methods only; without, it would be taken for the next request.
    const length = hasBody ? { "content-length": String(Buffer.byteLength(body)) } : {};
    const all = headers["transfer-encoding"] === undefined ? { ...length, ...headers } : headers;
    const options = { host: "127.0.0.1", port, method, path, headers: all, ca: authority.certPem, ...client };
    const sent = request({ ...options, agent: agent ?? new Agent({ keepAlive: false }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sent.on("error", reject);
    sent.end(hasBody ? body : undefined);
  });
}

/** A connection of HTTP/2. */
export function openHttp2({ port, authority }: Known) {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.certPem });
  session.on("error", () => undefined);
  return session;
}

/** One request over HTTP/2. */
export function askHttp2(session: ReturnType<typeof openHttp2>, call: Call = {}): Promise<Answered> {
  const { method = "POST", path = "/", headers = JSON_TYPE, body = "{}" } = call;
  return new Promise((resolve, reject) => {
    // Without being told, Node.js takes a DELETE for one without a body.
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: method === "GET" });
    let head: Record<string, unknown> = {};
    const chunks: Buffer[] = [];
    stream.on("response", (received) => {
      head = received;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("close", () => {
      if (head[":status"] === undefined) reject(new Error(`closed with ${stream.rstCode}`));
      const headers = head as Answered["headers"];
      resolve({ status: Number(head[":status"]), headers, text: Buffer.concat(chunks).toString() });
    });
    if (method !== "GET") stream.end(body);
  });
}

/** The code by which a server says that it has not even looked at a request. */
export const REFUSED_STREAM = constants.NGHTTP2_REFUSED_STREAM;

/** Bytes on a connection of TLS, and all that comes back until it ends. */
export function sendRaw({ port, authority }: Known, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connectTls({ host: "127.0.0.1", port, ca: authority.certPem }, () => socket.write(bytes));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** The sentence of an answer that is a Status. */
export function messageOf({ text }: { readonly text: string }): string {
  const { kind, message } = JSON.parse(text) as { kind?: string; message?: string };
  if (kind !== "Status" || message === undefined) throw new Error(`no Status: ${text}`);
  return message;
}
