/**
 * The small HTTP servers beside an operator. One has health for the kubelet and metrics for Prometheus, for every
 * client that reaches it. Another one, which only users of the same machine or pod can reach, also answers `lotse
 * explain` and `lotse retry`: what an operator knows of objects is not for everybody who can open a connection.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorMessage } from "@lotse/client/meta";
import type { Explanation, ObjectQuestion } from "./explain.ts";
import { isAlive, isReady, type OperatorHealth, type Verdict } from "./health.ts";
import { joinMetrics } from "./metrics.ts";

/** What the endpoints need of an operator. */
export interface Observed {
  health(): OperatorHealth;
  metrics(): string;
  probe(): Promise<Readonly<Record<string, unknown>>>;
  explain(question: ObjectQuestion): Explanation | undefined;
  /** Absent in operators of an older copy of the package. */
  retry?(question: ObjectQuestion): Retried | undefined;
}

/** What an operator tries again now. */
interface Retried {
  readonly operator: string;
  readonly handlers: readonly string[];
}

/** Goes with whatever changes something: a web page in the user's browser can send it to no other origin than its own. */
export const COMMAND_HEADER = "x-lotse-command";

/** Where the endpoints listen. */
export type EndpointsAddress =
  | {
      /** Default: all addresses, because the kubelet comes from outside of the pod. */
      readonly host?: string | undefined;
      /** 0: any free one. */
      readonly port: number;
      /** The path of the liveness probe. Default `/healthz`. */
      readonly path?: string | undefined;
      /** Whether questions about objects are answered there; then `host` has to be this machine. */
      readonly questions?: boolean | undefined;
    }
  /** A Unix socket, where all is answered. */
  | { readonly socket: string };

/** The endpoints at work. */
export interface Endpoints extends AsyncDisposable {
  /** 0 for a socket. */
  readonly port: number;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type: "text/plain; charset=utf-8" | "text/plain; version=0.0.4; charset=utf-8" | "application/json";
  readonly body: string;
}

/** Opens the endpoints; rejects when the address is taken. `operators` is asked anew for each request. */
export async function openEndpoints(
  address: EndpointsAddress,
  operators: () => readonly Observed[],
): Promise<Endpoints> {
  const liveness = ("path" in address && address.path) || "/healthz";
  const questions = "socket" in address || address.questions === true;
  const server = createServer((request, response) => {
    answer(request, liveness, questions, operators()).then(
      (given) => send(request, response, given),
      (error: unknown) => send(request, response, plain(500, `${errorMessage(error)}\n`)),
    );
  });
  // A probe that hangs must not keep a program from ending.
  server.keepAliveTimeout = 5_000;
  await listen(server, address);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const bound = server.address() as AddressInfo | string;
  return { port: typeof bound === "string" ? 0 : bound.port, close, [Symbol.asyncDispose]: close };
}

function listen(server: Server, address: EndpointsAddress): Promise<void> {
  const where =
    "socket" in address
      ? { path: address.socket }
      : { port: address.port, ...(address.host !== undefined && { host: address.host }) };
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      // A connection that could not be taken, for want of file descriptors, is tried again by the client that made it; an
      // error without a listener would end the operator.
      server.on("error", () => undefined);
      resolve();
    });
  });
}

async function answer(
  request: IncomingMessage,
  liveness: string,
  questions: boolean,
  operators: readonly Observed[],
): Promise<Answer> {
  const { method = "GET", url = "/" } = request;
  const { pathname, searchParams } = new URL(url, "http://localhost");
  if (questions && !isForThisMachine(request)) return plain(403, NOT_FROM_PAGES);
  if (questions && pathname === "/retry") return retry(request, operators, searchParams);
  if (method !== "GET" && method !== "HEAD") return plain(405, "only GET is answered here\n");
  if (pathname === liveness || pathname === "/healthz" || pathname === "/livez") {
    return alive(operators, questions && searchParams.has("verbose"));
  }
  if (pathname === "/readyz") {
    return verdict(
      operators.map((one) => isReady(one.health())),
      "ready",
    );
  }
  if (pathname === "/metrics") {
    const body = joinMetrics(operators.map((one) => ({ operator: one.health().operator, text: one.metrics() })));
    return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body };
  }
  if (questions && pathname === "/status") return json(200, { operators: operators.map((one) => one.health()) });
  if (questions && pathname === "/explain") return explain(operators, searchParams);
  const known = new Set([liveness, "/healthz", "/readyz", "/metrics", ...(questions ? QUESTIONS : [])]);
  const elsewhere =
    !questions && QUESTIONS.includes(pathname) ? "; questions are answered on the operator's own machine alone" : "";
  return plain(404, `there is nothing at ${pathname}${elsewhere}; there is ${[...known].join(", ")}\n`);
}

const QUESTIONS = ["/status", "/explain", "/retry"];

const NOT_FROM_PAGES = "only a program that asks localhost is answered, no page in a browser\n";

/**
 * A page in a browser of this machine can connect to it too: it says that it is one, or has a name of its own that leads
 * here. A program that asks for localhost does neither.
 */
function isForThisMachine({ headers }: IncomingMessage): boolean {
  const { host = "", origin } = headers;
  const site = headers["sec-fetch-site"];
  return origin === undefined && (site === undefined || site === "none") && LOCAL_HOST.test(host);
}

const LOCAL_HOST = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;

/** Alive, and all probe handlers agree. What they say is the answer's body, as in Kopf. */
async function alive(operators: readonly Observed[], verbose: boolean): Promise<Answer> {
  const verdicts = operators.map((one) => isAlive(one.health()));
  if (verdicts.some(({ ok }) => !ok)) return verdict(verdicts, "alive");
  try {
    const values = await Promise.all(operators.map((one) => (isStarting(one) ? {} : one.probe())));
    const told = Object.assign({}, ...values) as Record<string, unknown>;
    return json(200, verbose ? { ...told, operators: operators.map((one) => one.health()) } : told);
  } catch (error) {
    return plain(500, `a probe failed: ${errorMessage(error)}\n`);
  }
}

/** Probes need a client, and a start may take long: that is no reason to be restarted. */
function isStarting(one: Observed): boolean {
  return one.health().phase === "starting";
}

function verdict(verdicts: readonly Verdict[], word: string): Answer {
  const reasons = verdicts.flatMap((one) => one.reasons);
  return reasons.length > 0 ? plain(503, `not ${word}\n${reasons.join("\n")}\n`) : plain(200, `${word}\n`);
}

function explain(operators: readonly Observed[], query: URLSearchParams): Answer {
  const question = questionIn(query);
  if (!question) return plain(400, "ask for /explain?kind=KIND&name=NAME&namespace=NAMESPACE\n");
  const answers = operators.flatMap((one) => one.explain(question) ?? []);
  return json(answers.length > 0 ? 200 : 404, { explanations: answers });
}

function retry(request: IncomingMessage, operators: readonly Observed[], query: URLSearchParams): Answer {
  if (request.method !== "POST") return plain(405, "only POST is answered here\n");
  if (!isFromHere(request)) return plain(403, "only users of its own machine may ask for a retry\n");
  const question = questionIn(query);
  if (!question) return plain(400, "ask for /retry?kind=KIND&name=NAME&namespace=NAMESPACE\n");
  const retries = operators.flatMap((one) => one.retry?.(question) ?? []);
  return json(retries.length > 0 ? 200 : 404, { retries });
}

/** By its socket, or from this machine and not by way of a page in a browser. A forwarded port is this machine. */
function isFromHere({ socket, headers }: IncomingMessage): boolean {
  if (headers[COMMAND_HEADER] === undefined) return false;
  const { remoteAddress } = socket;
  return remoteAddress === undefined || /^(?:127\.|::1$|::ffff:127\.)/.test(remoteAddress);
}

function questionIn(query: URLSearchParams): ObjectQuestion | undefined {
  const kind = query.get("kind");
  const name = query.get("name");
  return kind && name ? { kind, name, namespace: query.get("namespace") ?? undefined } : undefined;
}

function plain(status: number, body: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body };
}

function json(status: number, value: unknown): Answer {
  return { status, type: "application/json", body: `${JSON.stringify(value)}\n` };
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
  response.end(request.method === "HEAD" ? undefined : body);
}
