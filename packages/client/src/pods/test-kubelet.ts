/**
 * A server with one pod that speaks the streaming protocols as the API server does, and does in each session what the
 * test says. Real sockets, so that back-pressure, half-closed and broken connections are the real thing.
 */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as net from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import type { corev1 } from "../kinds/index.ts";
import { type Clock, systemClock } from "../meta/index.ts";
import { HttpTransport } from "../transport/index.ts";
import type { PodAccess } from "./access.ts";

/** Channels as the server sees them. */
const CLOSE = 255;

/** One exec or attach, from the server's side. */
export class Session {
  readonly query: URLSearchParams;
  readonly protocol: string;
  readonly socket: WebSocket;
  readonly sizes: unknown[] = [];
  /** Resolves with all of the input when it is closed, as v5 can. */
  readonly input: Promise<Buffer>;
  readonly gone: Promise<number>;
  #received: Buffer[] = [];
  onInput: (data: Buffer) => void = () => undefined;

  constructor(socket: WebSocket, query: URLSearchParams) {
    this.socket = socket;
    this.query = query;
    this.protocol = socket.protocol;
    this.gone = new Promise((resolve) => socket.once("close", resolve));
    this.input = new Promise((resolve) => {
      socket.on("message", (message: Buffer) => {
        const data = message.subarray(1);
        if (message[0] === 0) {
          this.#received.push(data);
          this.onInput(data);
        } else if (message[0] === 4) this.sizes.push(JSON.parse(data.toString()));
        else if (message[0] === CLOSE && data[0] === 0) resolve(Buffer.concat(this.#received));
      });
    });
    for (const channel of [1, 2, 3]) socket.send(Buffer.from([channel]));
  }

  get command(): string[] {
    return this.query.getAll("command");
  }

  out(text: string | Buffer): Promise<void> {
    return this.#send(1, text);
  }

  err(text: string | Buffer): Promise<void> {
    return this.#send(2, text);
  }

  /** Ends the command as the API server does. */
  exit(code: number): void {
    const failure = {
      status: "Failure",
      message: `command terminated with non-zero exit code: exit status ${code}`,
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: String(code) }] },
    };
    this.status({ metadata: {}, ...(code === 0 ? { status: "Success" } : failure) });
  }

  status(status: object | string): void {
    void this.#send(3, typeof status === "string" ? status : JSON.stringify(status));
    this.socket.close(1000);
  }

  #send(channel: number, data: string | Buffer): Promise<void> {
    const message = Buffer.concat([Buffer.from([channel]), Buffer.from(data)]);
    return new Promise((resolve) => this.socket.send(message, () => resolve()));
  }
}

interface Script {
  /** What runs for `exec` and `attach`. */
  exec?: (session: Session) => unknown;
  log?: (query: URLSearchParams, response: http.ServerResponse, count: number) => void;
  /** Where the ports of the pod really are; absent ones refuse. */
  ports?: Record<number, number>;
  /** Answers instead of an upgrade. */
  refuse?: (count: number) => { status: number; body: unknown } | undefined;
  /** Protocols that the server speaks. */
  protocols?: readonly string[];
  clock?: Clock;
  /** Changes the pod before it is read for the n-th time. */
  onRead?: (body: corev1.Pod, count: number) => corev1.Pod | undefined;
}

/** A connection that was asked for. */
export interface SeenUpgrade {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
}

/** A running pod of the containers `app` and `sidecar`. */
export function runningPod(o: { annotations?: Record<string, string> } = {}): corev1.Pod {
  const startedAt = "2026-01-01T00:00:00Z";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid: "u1", ...o },
    spec: {
      nodeName: "node-1",
      containers: [
        { name: "app", image: "app", ports: [{ name: "http", containerPort: 8080 }] },
        { name: "sidecar", image: "sidecar", stdin: true, tty: true },
      ],
    },
    status: {
      phase: "Running",
      containerStatuses: ["app", "sidecar"].map((name) => ({
        name,
        image: name,
        imageID: "",
        ready: true,
        restartCount: 0,
        state: { running: { startedAt } },
      })),
    },
  };
}

/** The pod with one container's state replaced. */
export function withState(
  pod: corev1.Pod,
  container: string,
  state: corev1.ContainerState,
  restartCount = 0,
): corev1.Pod {
  const containerStatuses = (pod.status?.containerStatuses ?? []).map((status) =>
    status.name === container ? { ...status, state, restartCount } : status,
  );
  return { ...pod, status: { ...pod.status, containerStatuses } };
}

/** The parts of an API server and a kubelet that exec, logs and ports need, for tests. */
export class TestKubelet {
  readonly upgrades: SeenUpgrade[] = [];
  readonly logRequests: URLSearchParams[] = [];
  reads = 0;
  body: corev1.Pod | undefined = runningPod();
  readonly #server: http.Server;
  readonly #webSockets: WebSocketServer;
  readonly #script: Script;
  readonly #sockets = new Set<Duplex>();
  transport!: HttpTransport;

  private constructor(script: Script) {
    this.#script = script;
    const known = script.protocols ?? ["v5.channel.k8s.io", "v4.channel.k8s.io"];
    this.#webSockets = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      handleProtocols: (offered) => [...offered].find((name) => known.includes(name)) ?? false,
    });
    this.#server = http.createServer((request, response) => this.#answer(request, response));
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(script: Script = {}): Promise<TestKubelet> {
    const kubelet = new TestKubelet(script);
    await new Promise<void>((resolve) => kubelet.#server.listen(0, "127.0.0.1", resolve));
    const { port } = kubelet.#server.address() as AddressInfo;
    const credentials = {
      current: async () => ({ token: "secret", tls: { rejectUnauthorized: true } }),
      renew: async () => false,
    };
    kubelet.transport = new HttpTransport(
      { server: `http://127.0.0.1:${port}/prefix`, namespace: "default", source: "url", credentials, headers: {} },
      { clock: systemClock, random: () => 0, timeoutMs: 30_000 },
    );
    onTestFinished(async () => {
      await kubelet.transport.close();
      kubelet.cut();
      kubelet.#webSockets.close();
      await new Promise<void>((resolve) => kubelet.#server.close(() => resolve()));
    });
    return kubelet;
  }

  /** The pod, as the functions under test take it. */
  get pod(): PodAccess {
    const path = "/api/v1/namespaces/default/pods/web";
    const { transport } = this;
    return {
      name: "web",
      namespace: "default",
      path,
      clock: this.#script.clock ?? systemClock,
      raw: (request) => transport.request(request),
      webSocket: (request) => transport.webSocket(request),
      read: async (o = {}) => (await transport.request({ ...o, method: "GET", path })).json<corev1.Pod>(),
    };
  }

  /** How many connections stand. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Breaks all connections, without a goodbye. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const url = new URL(request.url ?? "", "http://test");
    if (url.pathname.endsWith("/log")) {
      this.logRequests.push(url.searchParams);
      this.#script.log?.(url.searchParams, response, this.logRequests.length);
      return;
    }
    this.reads++;
    if (this.body) this.body = this.#script.onRead?.(this.body, this.reads) ?? this.body;
    const missing = { kind: "Status", reason: "NotFound", message: 'pods "web" not found' };
    response.writeHead(this.body ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(this.body ?? missing));
  }

  #upgrade(request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "", "http://test");
    this.upgrades.push({ path: url.pathname, query: url.searchParams, headers: request.headers });
    const refusal = this.#script.refuse?.(this.upgrades.length);
    if (refusal) {
      const body = typeof refusal.body === "string" ? refusal.body : JSON.stringify(refusal.body);
      const length = Buffer.byteLength(body);
      socket.end(`HTTP/1.1 ${refusal.status} No\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (url.pathname.endsWith("/portforward")) this.#forward(webSocket, url.searchParams);
      else void this.#script.exec?.(new Session(webSocket, url.searchParams));
    });
  }

  /** Channel 0 data, 1 error; the first message of each is the port. */
  #forward(webSocket: WebSocket, query: URLSearchParams): void {
    const port = Number(query.get("ports"));
    for (const channel of [0, 1]) webSocket.send(Buffer.from([channel, port & 0xff, port >> 8]));
    const target = this.#script.ports?.[port];
    if (target === undefined) {
      webSocket.send(
        Buffer.concat([Buffer.from([1]), Buffer.from(`error forwarding port ${port}: connection refused`)]),
      );
      webSocket.close(1000);
      return;
    }
    const upstream = net.connect(target, "127.0.0.1");
    webSocket.on("message", (message: Buffer) => {
      if (!upstream.write(message.subarray(1))) {
        webSocket.pause();
        upstream.once("drain", () => webSocket.resume());
      }
    });
    upstream.on("data", (data: Buffer) => {
      upstream.pause();
      webSocket.send(Buffer.concat([Buffer.from([0]), data]), () => upstream.resume());
    });
    upstream.on("error", () => undefined);
    upstream.once("close", () => webSocket.close(1000));
    webSocket.once("close", () => upstream.destroy());
  }
}
