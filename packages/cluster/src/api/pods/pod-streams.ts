import type { LogSelection, LogStream, NodePods, RunningContainer } from "../../kubelet/index.ts";
import {
  type ApiObject,
  badRequest,
  type FieldError,
  forbiddenField,
  invalid,
  invalidValue,
  listAt,
  notFound,
  notSupported,
  objectAt,
  StatusError,
} from "../../registry/index.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type ReadSession,
  type Session,
  type SessionProtocol,
  textResponse,
} from "../exchange.ts";
import { isTrue } from "../request-info.ts";
import { findObject, type ResourceCall } from "../resources/resource-call.ts";

const COMMAND_CHANNELS = [
  "v5.channel.k8s.io",
  "v4.channel.k8s.io",
  "v4.base64.channel.k8s.io",
  "v3.channel.k8s.io",
  "v2.channel.k8s.io",
  "channel.k8s.io",
  "base64.channel.k8s.io",
] as const;
const COMMAND_SPDY = ["v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"] as const;
/** A whole SPDY connection inside the messages of a WebSocket. */
const TUNNEL = "SPDY/3.1+portforward.k8s.io";
const FORWARD_CHANNELS = [TUNNEL, ...COMMAND_CHANNELS.filter((name) => !name.startsWith("v5."))] as const;
const FORWARD_SPDY = ["portforward.k8s.io"] as const;
/** Plain bytes, or their base64 for those who can read texts only. */
const READ_CHANNELS = ["binary.k8s.io", "base64.binary.k8s.io"] as const;

/** `GET …/pods/NAME/log` */
export function handleLog(call: ResourceCall): ApiResponse {
  const { query } = call.request;
  const name = call.target.name as string;
  const selection = readSelection(query, name, call.backend.clock.now());
  const pod = findObject(call);
  const container = chooseContainer(pod, query.get("container") ?? "");
  // A pod that no node has taken has written nothing, which is no error.
  if (!objectAt(pod, "spec").nodeName) {
    return { type: "whole", status: 204, headers: { "cache-control": "no-cache, private" }, body: "" };
  }
  const log = nodeOf(call, pod).log(pod, container, flag(query, "previous"));
  if (asksFor(call.request, "websocket")) {
    const start: ReadSession["start"] = (sink) => {
      if (selection.follow) return log.follow(selection, sink);
      sink.write(log.text(selection));
      sink.end();
      return () => {};
    };
    return session(negotiateSession(call.request, READ_CHANNELS, []), { type: "read", start });
  }
  const headers = { "content-type": "text/plain", "cache-control": "no-cache, private" };
  if (!selection.follow) return { type: "whole", status: 200, headers, body: log.text(selection) };
  return { type: "stream", status: 200, headers, start: (sink) => log.follow(selection, sink) };
}

/** `…/pods/NAME/exec` and `…/attach` */
export function handleCommand(call: ResourceCall, kind: "exec" | "attach"): ApiResponse {
  const { query } = call.request;
  const pod = findObject(call);
  const name = chooseContainer(pod, query.get("container") ?? "");
  const node = nodeOf(call, pod);
  const tty = flag(query, "tty");
  const wanted = {
    stdin: flag(query, "stdin"),
    stdout: flag(query, "stdout"),
    // The terminal of a command has one output.
    stderr: flag(query, "stderr") && !tty,
  };
  const command = kind === "exec" ? query.getAll("command") : [];
  const protocol = negotiateSession(call.request, COMMAND_CHANNELS, COMMAND_SPDY);
  if (!wanted.stdin && !wanted.stdout && !wanted.stderr) {
    throw badRequest("you must specify at least 1 of stdin, stdout, stderr");
  }
  if (kind === "exec" && command.length === 0) {
    throw badRequest("you must specify at least 1 command for the container");
  }
  const container = node.container(pod, name);
  // Newer clients are let in and then told why; older ones read the answer to their upgrade.
  if (!container && protocol.name !== "v5.channel.k8s.io") return textResponse(500, missing(name));
  const run = (streams: Parameters<RunningContainer["attach"]>[0]) => {
    if (!container) throw new Error(`unable to upgrade connection: ${missing(name)}`);
    return kind === "exec" ? container.exec(command, streams) : container.attach(streams);
  };
  return session(protocol, { type: "command", command, ...wanted, tty, run: async (streams) => run(streams) });
}

/** `…/pods/NAME/portforward` */
export function handleForward(call: ResourceCall): ApiResponse {
  const pod = findObject(call);
  const node = nodeOf(call, pod);
  const protocol = negotiateSession(call.request, FORWARD_CHANNELS, FORWARD_SPDY);
  const ports = call.request.query
    .getAll("ports")
    .flatMap((text) => text.split(","))
    .map(parsePort);
  if (protocol.carrier === "websocket" && protocol.name !== TUNNEL && ports.length === 0) {
    throw badRequest('query parameter "port" is required');
  }
  if (objectAt(pod, "status").phase !== "Running") {
    const phase = String(objectAt(pod, "status").phase);
    throw badRequest(`unable to forward port because pod is not running. Current status=${phase}`);
  }
  return session(protocol, { type: "forward", ports, connect: (port) => node.connect(pod, port) });
}

function session(protocol: SessionProtocol, what: Session): ApiResponse {
  return { type: "session", status: 101, headers: {}, protocol, session: what };
}

const missing = (container: string): string => `container not found (${JSON.stringify(container)})`;

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw badRequest(`unable to parse ${JSON.stringify(text)} as a port`);
  if (port < 1) throw badRequest(`port ${JSON.stringify(text)} must be > 0`);
  return port;
}

const flag = (query: URLSearchParams, name: string): boolean => isTrue(query.get(name));

/** The container that a request means: the named one, or the only one. */
function chooseContainer(pod: ApiObject, name: string): string {
  const names = (list: string) => listAt(pod, "spec", list).map((container) => String(container.name));
  const mains = names("containers");
  const inits = names("initContainers");
  const podName = pod.metadata.name;
  if (name === "") {
    if (mains.length === 1) return mains[0] as string;
    const also = inits.length > 0 ? ` or one of the init containers: [${inits.join(" ")}]` : "";
    throw badRequest(
      `a container name must be specified for pod ${podName}, choose one of: [${mains.join(" ")}]${also}`,
    );
  }
  if ([...mains, ...inits, ...names("ephemeralContainers")].includes(name)) return name;
  throw badRequest(`container ${name} is not valid for pod ${podName}`);
}

/** The node that a pod runs on, as far as a kubelet answers there. */
export function nodeOf(call: ResourceCall, pod: ApiObject): NodePods {
  const { nodeName } = objectAt(pod, "spec");
  if (typeof nodeName !== "string" || nodeName === "") {
    throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  }
  if (!call.backend.store.get("nodes", nodeName)) throw notFound({ group: "", plural: "nodes" }, nodeName);
  if (call.pods?.nodeName === nodeName) return call.pods;
  throw new StatusError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: error dialing backend: no kubelet answers on node ${JSON.stringify(nodeName)}`,
  });
}

/** Whether a request wants the connection to speak another protocol. */
function asksFor({ headers }: ApiRequest, protocol: string): boolean {
  const asks = /(^|[\s,])upgrade([\s,]|$)/i.test(headers.connection ?? "");
  return asks && (headers.upgrade ?? "").toLowerCase() === protocol;
}

/** Which way of sharing the connection both sides know. */
function negotiateSession(request: ApiRequest, channels: readonly string[], spdy: readonly string[]): SessionProtocol {
  const { headers, method } = request;
  if (asksFor(request, "websocket") && method === "GET") {
    const offered = list(headers["sec-websocket-protocol"]);
    return { carrier: "websocket", name: pick(offered, channels) };
  }
  if (asksFor(request, "spdy/3.1")) {
    const offered = list(headers["x-stream-protocol-version"]);
    return { carrier: "spdy", name: pick(offered, spdy) };
  }
  throw badRequest("Upgrade request required");
}

const list = (header: string | undefined): string[] =>
  (header ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function pick(offered: readonly string[], known: readonly string[]): string {
  if (offered.length === 0) return "";
  const found = offered.find((name) => known.includes(name));
  if (found !== undefined) return found;
  throw new StatusError({
    code: 403,
    reason: "Forbidden",
    message: `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${known.join(" ")}]`,
  });
}

const STREAMS: Readonly<Record<string, LogStream | undefined>> = { All: undefined, Stdout: "stdout", Stderr: "stderr" };

function readSelection(query: URLSearchParams, name: string, now: number): LogSelection {
  const [tailLines, limitBytes, sinceSeconds] = ["tailLines", "limitBytes", "sinceSeconds"].map((key) =>
    readInteger(query, key),
  );
  const sinceTime = readTime(query);
  const stream = query.get("stream") ?? "All";
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalidValue("tailLines", tailLines, "must be greater than or equal to 0"));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(invalidValue("limitBytes", limitBytes, "must be greater than 0"));
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbiddenField("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalidValue("sinceSeconds", sinceSeconds, "must be greater than 0"));
  }
  if (!Object.hasOwn(STREAMS, stream)) errors.push(notSupported("stream", stream, Object.keys(STREAMS)));
  else if (stream !== "All" && tailLines !== undefined) {
    errors.push(forbiddenField("", "`tailLines` and specific `stream` are mutually exclusive for now"));
  }
  if (errors.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, name, errors);
  return {
    follow: flag(query, "follow"),
    timestamps: flag(query, "timestamps"),
    since: sinceSeconds === undefined ? sinceTime : now - sinceSeconds * 1_000,
    tailLines,
    limitBytes,
    stream: STREAMS[stream],
  };
}

function readInteger(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null || text === "") return undefined;
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

/** Whole seconds: what a server hands on to its nodes. */
function readTime(query: URLSearchParams): number | undefined {
  const text = query.get("sinceTime");
  if (text === null || text === "") return undefined;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    const shown = JSON.stringify(text);
    throw badRequest(`parsing time ${shown} as "2006-01-02T15:04:05Z07:00": cannot parse ${shown} as "2006"`);
  }
  return Math.floor(time / 1_000) * 1_000;
}
