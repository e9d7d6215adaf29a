import { createHash } from "node:crypto";
import { once } from "node:events";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as net from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError, systemClock, VirtualClock } from "../meta/index.ts";
import { failure } from "../test-failure.ts";
import { NotFoundError } from "../transport/index.ts";
import type { PodAccess } from "./access.ts";
import { podAgent } from "./agent.ts";
import { connect } from "./connect.ts";
import { ConnectionClosedError } from "./errors.ts";
import { type PortForwardOptions, portForward } from "./forward.ts";
import { type PortSpec, readPorts } from "./ports.ts";
import { TestKubelet } from "./test-kubelet.ts";

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** What listens in the pod. */
async function inPod(onConnection: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    onConnection(socket);
    onTestFinished(() => void socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const echo = (socket: net.Socket) => void socket.pipe(socket);

async function forward(pod: PodAccess, ports: PortSpec | readonly PortSpec[], o?: PortForwardOptions) {
  const opened = await portForward({ pick: async () => pod }, ports, o);
  onTestFinished(() => opened.close());
  return opened;
}

async function dial(port: number, host = "127.0.0.1"): Promise<net.Socket> {
  const socket = net.connect({ port, host, allowHalfOpen: true });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

function read(socket: net.Socket, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length < bytes) return;
      socket.off("data", take);
      resolve(Buffer.concat(chunks));
    };
    socket.on("data", take);
  });
}

describe("a forwarded port", () => {
  it("is one that is free, and carries HTTP", async () => {
    const server = http.createServer((request, response) => response.end(`${request.method} ${request.url}`));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const kubelet = await TestKubelet.start({ ports: { 80: (server.address() as AddressInfo).port } });
    const opened = await forward(kubelet.pod, 80);
    expect(opened.url("healthz")).toBe(`http://127.0.0.1:${opened.port}/healthz`);
    const response = await fetch(opened.url("/healthz"), { headers: { connection: "close" } });
    expect(await response.text()).toBe("GET /healthz");
    expect(kubelet.upgrades[0]).toMatchObject({ path: "/prefix/api/v1/namespaces/default/pods/web/portforward" });
    expect(kubelet.upgrades[0]?.query.toString()).toBe("ports=80");
    expect(kubelet.upgrades[0]?.headers["sec-websocket-protocol"]).toBe("v4.channel.k8s.io");
  });

  it("brings 10 MB through intact both ways, for two clients at once", async () => {
    const bytes = Buffer.alloc(10 * 1024 * 1024);
    for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE((i * 2_654_435_761) >>> 0, i);
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod(echo) } });
    const { port } = await forward(kubelet.pod, 80);
    const trip = async () => {
      const socket = await dial(port);
      const reading = read(socket, bytes.length);
      socket.write(bytes);
      return digest(await reading);
    };
    expect(await Promise.all([trip(), trip()])).toEqual([digest(bytes), digest(bytes)]);
    expect(kubelet.upgrades).toHaveLength(2);
  });

  it("slows a writer down when the pod does not read", async () => {
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod((socket) => void socket.pause()) } });
    const { port } = await forward(kubelet.pod, 80);
    const socket = await dial(port);
    const chunk = Buffer.alloc(1024 * 1024);
    let before = -1;
    // As much as fits into all buffers on the way, until nothing moves.
    while (before !== socket.bytesWritten - socket.writableLength) {
      before = socket.bytesWritten - socket.writableLength;
      for (let i = 0; i < 8; i++) if (!socket.writableNeedDrain) socket.write(chunk);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(socket.writableNeedDrain).toBe(true);
    expect(before).toBeLessThan(64 * 1024 * 1024);
  });

  it("still brings the answer to a client that has said all it had to say", async () => {
    const kubelet = await TestKubelet.start({
      ports: {
        80: await inPod(
          (socket) => void socket.once("data", (data) => setTimeout(() => socket.end(`got ${data}`), 20)),
        ),
      },
    });
    const { port } = await forward(kubelet.pod, 80);
    const socket = await dial(port);
    socket.end("question");
    expect(await text(socket)).toBe("got question");
  });

  it("closes the connection into the pod when the client has gone", async () => {
    let gone: Promise<unknown> | undefined;
    const kubelet = await TestKubelet.start({
      ports: {
        80: await inPod((socket) => {
          gone = once(socket, "end");
          socket.resume();
          socket.write("hello");
        }),
      },
    });
    const { port } = await forward(kubelet.pod, 80);
    const socket = await dial(port);
    await once(socket, "data");
    socket.resetAndDestroy();
    await gone;
  });

  it("resets the client's connection when nothing listens in the pod, and tells why", async () => {
    const kubelet = await TestKubelet.start();
    const errors: unknown[] = [];
    const opened = await forward(kubelet.pod, 81, { onError: (error) => errors.push(error) });
    const socket = net.connect(opened.port, "127.0.0.1");
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNRESET");
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(ConnectionClosedError);
    expect(opened.lastError).toMatchObject({
      port: 81,
      message: "port 81 of pod default/web: error forwarding port 81: connection refused",
    });
  });

  it("resets the client's connection when the one to the server breaks", async () => {
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod((socket) => void socket.write("half")) } });
    const { port } = await forward(kubelet.pod, 80);
    const socket = net.connect(port, "127.0.0.1");
    await once(socket, "data");
    kubelet.cut();
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNRESET");
  });

  it("tries five times with growing pauses, then gives up; what was written meanwhile is not lost", async () => {
    const waits: number[] = [];
    const clock = {
      ...systemClock,
      after: (ms: number, fn: () => void) => {
        waits.push(ms);
        return systemClock.after(0, fn);
      },
    };
    const busy = { status: 503, body: { kind: "Status", message: "no node" } };
    let allow = 4;
    const kubelet = await TestKubelet.start({
      clock,
      ports: { 80: await inPod(echo) },
      refuse: (count) => (count < allow ? busy : undefined),
    });
    const errors: unknown[] = [];
    const { port } = await forward(kubelet.pod, 80, { onError: (error) => errors.push(error) });
    const socket = await dial(port);
    socket.write("patience");
    expect(String(await read(socket, 8))).toBe("patience");
    expect(waits.slice(0, 3)).toEqual([100, 200, 400]);
    allow = Number.POSITIVE_INFINITY;
    const second = net.connect(port, "127.0.0.1");
    await once(second, "error");
    expect(kubelet.upgrades).toHaveLength(4 + 5);
    expect(errors).toMatchObject([{ status: 503 }]);
  });

  it("does not try again what is forbidden", async () => {
    const kubelet = await TestKubelet.start({ refuse: () => ({ status: 403, body: {} }) });
    const { port } = await forward(kubelet.pod, 80);
    await once(net.connect(port, "127.0.0.1"), "error");
    expect(kubelet.upgrades).toHaveLength(1);
  });

  it("can be opened and closed five times on the same port", async () => {
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod(echo) } });
    let localPort = 0;
    for (let i = 0; i < 5; i++) {
      const opened = await forward(kubelet.pod, 80, { localPort });
      localPort = opened.port;
      const socket = await dial(localPort);
      const ended = once(socket, "end");
      socket.write(`round ${i}`);
      expect(String(await read(socket, 7))).toBe(`round ${i}`);
      await opened.close();
      await opened.closed;
      await ended;
    }
  });

  it("ends with its scope, and with its signal", async () => {
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod(echo) } });
    let port = 0;
    {
      await using opened = await portForward({ pick: async () => kubelet.pod }, 80);
      port = opened.port;
    }
    const [error] = (await once(net.connect(port, "127.0.0.1"), "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
    const controller = new AbortController();
    const opened = await forward(kubelet.pod, 80, { signal: controller.signal });
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await failure(opened.closed)).toBe(reason);
  });

  it("listens on several addresses with one number, and on several ports", async () => {
    const kubelet = await TestKubelet.start({
      ports: { 80: await inPod(echo), 8080: await inPod((socket) => void socket.end("named")) },
    });
    const opened = await forward(kubelet.pod, [80, "http"], { address: ["127.0.0.1", "127.0.0.2"] });
    expect(opened.ports.map(({ remote }) => remote)).toEqual([80, "http"]);
    for (const host of ["127.0.0.1", "127.0.0.2"]) {
      const socket = await dial(opened.port, host);
      socket.write("hi");
      expect(String(await read(socket, 2))).toBe("hi");
    }
    const named = await dial(opened.ports[1]?.local ?? 0);
    expect(await text(named)).toBe("named");
    expect(opened.url("/", "http")).toBe(`http://127.0.0.1:${opened.ports[1]?.local}/`);
    expect(() => opened.url("/", 81)).toThrow(ConfigError);
  });

  it("takes localhost for both families, as far as the machine has them", async () => {
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod(echo) } });
    const { port } = await forward(kubelet.pod, 80, { address: "localhost" });
    const socket = await dial(port);
    socket.write("hi");
    expect(String(await read(socket, 2))).toBe("hi");
  });

  it("says so when the local port is in use", async () => {
    const kubelet = await TestKubelet.start();
    const { port } = await forward(kubelet.pod, 80);
    const error = await failure(portForward({ pick: async () => kubelet.pod }, 80, { localPort: port }));
    expect(error).toMatchObject({
      message: `cannot listen on port ${port} of 127.0.0.1: it is in use`,
      hint: expect.stringContaining("leave the local port out"),
    });
  });

  it("to a pod that does not exist, or to an unknown name, is an error at once", async () => {
    const kubelet = await TestKubelet.start();
    expect(await failure(portForward({ pick: async () => kubelet.pod }, "htp"))).toMatchObject({
      message: 'pod web has no port named "htp"',
      hint: "it has http",
    });
    kubelet.body = undefined;
    expect(await failure(portForward({ pick: async () => kubelet.pod }, 80))).toBeInstanceOf(NotFoundError);
  });

  it("of a service leads to its target port, by a pod chosen for each connection", async () => {
    const kubelet = await TestKubelet.start({
      ports: { 8080: await inPod((socket) => void socket.end("named target")) },
    });
    const picked: string[] = [];
    const names = ["a", "b", "c"];
    const target = {
      pick: async () => {
        const name = names[picked.length] ?? "d";
        picked.push(name);
        return kubelet.pod;
      },
      portOf: (port: number | string) => (port === 80 ? "http" : port),
    };
    const opened = await portForward(target, 80);
    onTestFinished(() => opened.close());
    for (let i = 0; i < 2; i++) expect(await text(await dial(opened.port))).toBe("named target");
    expect(kubelet.upgrades.map(({ query }) => query.get("ports"))).toEqual(["8080", "8080"]);
    expect(picked).toEqual(["a", "b", "c"]);
  });
});

describe("what people write for ports", () => {
  it.each<[PortSpec | PortSpec[], number | "same" | undefined, unknown]>([
    [80, undefined, [{ remote: 80, local: 0 }]],
    [80, "same", [{ remote: 80, local: "same" }]],
    ["http", 8080, [{ remote: "http", local: 8080 }]],
    ["8080:80", undefined, [{ remote: 80, local: 8080 }]],
    [":http", 5, [{ remote: "http", local: 0 }]],
    [
      [80, { remote: 443, local: 8443 }],
      undefined,
      [
        { remote: 80, local: 0 },
        { remote: 443, local: 8443 },
      ],
    ],
  ])("%j with %j is read", (ports, localPort, expected) => {
    expect(readPorts(ports, localPort)).toEqual(expected);
  });

  it.each<[PortSpec | PortSpec[], number | undefined]>([
    [0, undefined],
    [65_536, undefined],
    [1.5, undefined],
    ["", undefined],
    ["a:b:c", undefined],
    ["x:80", undefined],
    [[], undefined],
    [[80, 81], 8080],
  ])("%j with %j is refused", (ports, localPort) => {
    expect(() => readPorts(ports, localPort)).toThrow(ConfigError);
  });
});

describe("a connection without a local port", () => {
  it("is a stream both ways", async () => {
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod(echo) } });
    const stream = await connect(kubelet.pod, 80);
    stream.write("ping");
    expect(String((await once(stream, "data"))[0])).toBe("ping");
    stream.destroy();
    await once(stream, "close");
  });

  it("ends when the pod's side ends, and fails when it was refused", async () => {
    const kubelet = await TestKubelet.start({ ports: { 80: await inPod((socket) => void socket.end("all")) } });
    expect(await text(await connect(kubelet.pod, 80))).toBe("all");
    expect(await failure(text(await connect(kubelet.pod, 81)))).toBeInstanceOf(ConnectionClosedError);
    await expect(connect(kubelet.pod, 0)).rejects.toBeInstanceOf(ConfigError);
  });

  it("whose writing side has ended is closed after thirty seconds of silence", async () => {
    const clock = new VirtualClock();
    const kubelet = await TestKubelet.start({ clock, ports: { 80: await inPod((socket) => void socket.resume()) } });
    const stream = await connect(kubelet.pod, 80);
    stream.resume();
    await new Promise<void>((resolve) => stream.end("over", resolve));
    const closed = once(stream, "close");
    await clock.advance(29_999);
    expect(stream.destroyed).toBe(false);
    await clock.advance(1);
    await closed;
    expect(clock.pending).toBe(0);
  });

  it("is what an http agent makes", async () => {
    const server = http.createServer((request, response) => {
      request.pipe(response.writeHead(200, { "x-host": request.headers.host ?? "" }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const kubelet = await TestKubelet.start({ ports: { 80: (server.address() as AddressInfo).port } });
    const agent = podAgent(kubelet.pod, 80);
    for (let i = 0; i < 2; i++) {
      const request = http.request({ method: "POST", host: "web.example", path: "/", agent });
      request.end("body");
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      expect(await text(response)).toBe("body");
      expect(response.headers["x-host"]).toBe("web.example");
    }
    expect(kubelet.upgrades).toHaveLength(2);
    const broken = http.get({ host: "x", path: "/", agent: podAgent(kubelet.pod, 81) });
    expect((await once(broken, "error"))[0]).toBeInstanceOf(ConnectionClosedError);
  });
});
