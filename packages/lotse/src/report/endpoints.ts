/**
 * The small HTTP servers beside an operator. One has health for the kubelet and metrics for Prometheus, for every
 * client that reaches it. Another one, which only users of the same machine or pod can reach, also answers `lotse
 * explain` and `lotse retry`: what an operator knows of objects is not for everybody who can open a connection.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { errorMessage } from "@lotse/client/meta";
import type { Elsewhere, Explanation, ObjectQuestion } from "./explain.ts";
import { isAlive, isReady, type OperatorHealth, type Verdict } from "./health.ts";
import { type Answer, type Endpoints, json, listen, metricsText, plain, send } from "./http.ts";
import type { OperatorMemory } from "./memory.ts";
import { joinMetrics } from "./metrics.ts";

/** What the endpoints need of an operator. */
export interface Observed {
  health(): OperatorHealth;
  metrics(): string;
  probe(): Promise<Readonly<Record<string, unknown>>>;
  explain(question: ObjectQuestion): Explanation | undefined;
  /** What its copy of the cluster takes; absent in operators of an older copy of the package. */
  memory?(): OperatorMemory;
  /** Absent in operators of an older copy of the package. */
  retry?(question: ObjectQuestion): Retried | undefined;
  /** What it has found out as a shadow; absent where it is none. */
  readonly shadow?: { report(): unknown } | undefined;
}

/** What an operator tries again now. */
interface Retried {
  readonly operator: string;
  readonly handlers: readonly string[];
  readonly elsewhere?: Elsewhere | undefined;
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
      /** False: metrics are served elsewhere, to those who may read them. */
      readonly metrics?: boolean | undefined;
    }
  /** A Unix socket, where all is answered. */
  | { readonly socket: string };

/** Answers a request by itself, if it is one of its own; whether it is. */
export type Besides = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Opens the endpoints; rejects when the address is taken. `operators` is asked anew for each request. What is answered
 * besides is for the user of the process alone: hence at a socket and nowhere else.
 */
export async function openEndpoints(
  address: EndpointsAddress,
  operators: () => readonly Observed[],
  besides?: Besides,
): Promise<Endpoints> {
  const liveness = ("path" in address && address.path) || "/healthz";
  const questions = "socket" in address || address.questions === true;
  const metrics = "socket" in address || address.metrics !== false;
  const server = createServer((request, response) => {
    if ("socket" in address && besides?.(request, response)) return;
    answer(request, { liveness, questions, metrics }, operators()).then(
      (given) => send(request, response, given),
      (error: unknown) => send(request, response, plain(500, `${errorMessage(error)}\n`)),
    );
  });
  return listen(server, address);
}

/** What is answered at an address. */
interface Served {
  readonly liveness: string;
  readonly questions: boolean;
  readonly metrics: boolean;
}

/** The metrics of all operators. */
export function metricsOf(operators: readonly Pick<Observed, "health" | "metrics">[]): Answer {
  return metricsText(joinMetrics(operators.map((one) => ({ operator: one.health().operator, text: one.metrics() }))));
}

async function answer(
  request: IncomingMessage,
  { liveness, questions, metrics }: Served,
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
  if (pathname === "/metrics") return metrics ? metricsOf(operators) : plain(404, METRICS_ELSEWHERE);
  if (questions && pathname === "/status") return json(200, { operators: operators.map((one) => one.health()) });
  if (questions && pathname === "/explain") return explain(operators, searchParams);
  if (questions && pathname === "/memory") return memory(operators);
  if (questions && pathname === "/shadow") return shadows(operators);
  const more = [...(metrics ? ["/metrics"] : []), ...(questions ? QUESTIONS : [])];
  const known = new Set([liveness, "/healthz", "/readyz", ...more]);
  const elsewhere =
    !questions && QUESTIONS.includes(pathname) ? "; questions are answered on the operator's own machine alone" : "";
  return plain(404, `there is nothing at ${pathname}${elsewhere}; there is ${[...known].join(", ")}\n`);
}

const METRICS_ELSEWHERE = "metrics are served where --metrics-auth says, to those who may read them\n";

const QUESTIONS = ["/status", "/explain", "/memory", "/retry", "/shadow"];

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

function memory(operators: readonly Observed[]): Answer {
  return json(200, { memory: operators.flatMap((one) => one.memory?.() ?? []) });
}

function shadows(operators: readonly Observed[]): Answer {
  const reports = operators.flatMap(({ shadow }) => shadow?.report() ?? []);
  return reports.length > 0 ? json(200, { shadows: reports }) : plain(404, "no operator here runs with --shadow\n");
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
