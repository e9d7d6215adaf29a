import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import * as net from "node:net";
import type { TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import type { Access, Credentials } from "../config/index.ts";
import { TEST_CA, TEST_CLIENT_CERT, TEST_CLIENT_KEY, TEST_SERVER_CERT, TEST_SERVER_KEY } from "../fixtures/index.ts";
import { systemClock, VirtualClock } from "../meta/index.ts";
import { failure } from "../test-failure.ts";
import { ConnectionError, ForbiddenError, NotFoundError, TimeoutError, UnauthorizedError } from "./errors.ts";
import { HttpTransport, type HttpTransportOptions } from "./http.ts";

interface Served {
  readonly port: number;
  readonly seen: http.IncomingMessage[];
  readonly server: http.Server;
}

/** A server of WebSockets; `refuse` answers in plain HTTP instead. */
async function serve(
  o: {
    open?: (socket: WebSocket, request: http.IncomingMessage) => void;
    refuse?: (
      request: http.IncomingMessage,
      count: number,
    ) => { status: number; body: string; head?: string } | undefined;
    protocol?: string | false;
    secure?: boolean;
  } = {},
): Promise<Served> {
  const seen: http.IncomingMessage[] = [];
  const server = o.secure
    ? https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY, ca: TEST_CA, requestCert: true })
    : http.createServer();
  const webSockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => o.protocol ?? [...offered][0] ?? false,
  });
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => sockets.add(socket));
  server.on("upgrade", (request, socket, head) => {
    seen.push(request);
    const no = o.refuse?.(request, seen.length);
    if (no) {
      const length = Buffer.byteLength(no.body);
      socket.end(`HTTP/1.1 ${no.status} No\r\n${no.head ?? ""}content-length: ${length}\r\n\r\n${no.body}`);
    } else webSockets.handleUpgrade(request, socket, head, (webSocket) => o.open?.(webSocket, request));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen, server };
}

function connect(server: string, o: Partial<HttpTransportOptions> & Partial<Access> = {}) {
  const credentials: Credentials = {
    current: async () => ({ tls: { rejectUnauthorized: true } }),
    renew: async () => false,
  };
  const { clock = systemClock, timeoutMs = 30_000, ...access } = o;
  const transport = new HttpTransport(
    { server, namespace: "default", source: "url", credentials, headers: {}, ...access },
    { clock, random: () => 0, timeoutMs },
  );
  onTestFinished(() => transport.close());
  return transport;
}

const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const path = "/api/v1/namespaces/default/pods/web/exec";
const status = (reason: string, message: string) =>
  JSON.stringify({ kind: "Status", status: "Failure", reason, message });

describe("a WebSocket", () => {
  it("offers the protocols in order and tells which one the server picked", async () => {
    const { port, seen } = await serve({ protocol: "v4.channel.k8s.io" });
    const connection = await connect(`http://127.0.0.1:${port}/prefix/`, {
      headers: { "impersonate-user": "jane" },
      credentials: {
        current: async () => ({ token: "t", tls: { rejectUnauthorized: true } }),
        renew: async () => false,
      },
    }).webSocket({
      path,
      query: [
        ["command", "a"],
        ["command", "b c"],
      ],
      protocols,
    });
    expect(connection.protocol).toBe("v4.channel.k8s.io");
    expect(seen[0]?.url).toBe(`/prefix${path}?command=a&command=b+c`);
    expect(seen[0]?.headers).toMatchObject({
      authorization: "Bearer t",
      "impersonate-user": "jane",
      "sec-websocket-protocol": "v5.channel.k8s.io,v4.channel.k8s.io",
    });
  });

  it("carries messages both ways, and ends when the server says goodbye", async () => {
    const { port } = await serve({
      open: (socket) => {
        socket.send("first, with the answer");
        socket.on("message", (data: Buffer) => {
          socket.send(data);
          socket.close(1000, "bye");
        });
      },
    });
    const connection = await connect(`http://127.0.0.1:${port}`).webSocket({
      path,
      query: { x: 1, y: undefined },
      protocols,
    });
    await connection.send(Buffer.from([0, 255]));
    const messages: Buffer[] = [];
    for await (const message of connection.messages) messages.push(message);
    expect(messages).toEqual([Buffer.from("first, with the answer"), Buffer.from([0, 255])]);
    expect(await connection.closed).toEqual({ code: 1000, reason: "bye" });
  });

  it.each([
    [403, status("Forbidden", "pods is forbidden"), ForbiddenError, "pods is forbidden"],
    [404, status("NotFound", 'pods "web" not found'), NotFoundError, 'pods "web" not found'],
    [401, status("Unauthorized", "Unauthorized"), UnauthorizedError, "Unauthorized"],
    [502, "<h1>Bad gateway</h1>", Error, expect.stringContaining("502")],
  ])("that is refused with %i is the error of the server's Status", async (code, body, Type, message) => {
    const { port, seen } = await serve({ refuse: () => ({ status: code, body }) });
    const error = await failure(connect(`http://127.0.0.1:${port}`).webSocket({ path, protocols }));
    expect(error).toBeInstanceOf(Type);
    expect(error).toMatchObject({ message, status: code, request: { method: "GET", path } });
    // A command may have begun: only what is certain not to have is asked for again.
    expect(seen).toHaveLength(1);
  });

  it("is asked for again when the server is busy", async () => {
    const busy = { status: 429, body: status("TooManyRequests", "slow"), head: "retry-after: 0\r\n" };
    const { port, seen } = await serve({ refuse: (_, count) => (count < 3 ? busy : undefined) });
    await connect(`http://127.0.0.1:${port}`).webSocket({ path, protocols });
    expect(seen).toHaveLength(3);
  });

  it("is opened with fresh credentials after a 401", async () => {
    let token = "old";
    const credentials: Credentials = {
      current: async () => ({ token, tls: { rejectUnauthorized: true } }),
      renew: async () => {
        token = "new";
        return true;
      },
    };
    const { port } = await serve({
      refuse: ({ headers }) => (headers.authorization === "Bearer new" ? undefined : { status: 401, body: "{}" }),
    });
    const connection = await connect(`http://127.0.0.1:${port}`, { credentials }).webSocket({ path, protocols });
    expect(connection.protocol).toBe("v5.channel.k8s.io");
  });

  it("says so when something in between answers instead", async () => {
    const { port } = await serve({ refuse: () => ({ status: 200, body: "hello" }) });
    const error = await failure(connect(`http://127.0.0.1:${port}`).webSocket({ path, protocols }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: expect.stringContaining("answered 200 instead of opening a WebSocket") });
  });

  it("says so when the server speaks none of the protocols", async () => {
    const { port } = await serve({ protocol: false });
    const error = await failure(connect(`http://127.0.0.1:${port}`).webSocket({ path, protocols }));
    expect(error).toMatchObject({ message: expect.stringContaining(`speaks none of ${protocols.join(", ")}`) });
  });

  it("names a server that is not there", async () => {
    const error = await failure(connect("http://127.0.0.1:1").webSocket({ path, protocols, retry: false }));
    expect(error).toMatchObject({
      code: "LOTSE_CONNECTION",
      sent: false,
      message: expect.stringContaining("cannot reach"),
    });
  });

  it("is given up when the server does not answer in time", async () => {
    const silent = net.createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const clock = new VirtualClock();
    const { port } = silent.address() as AddressInfo;
    const opening = failure(
      connect(`http://127.0.0.1:${port}`, { clock }).webSocket({ path, protocols, timeout: "3s" }),
    );
    await once(silent, "connection");
    await clock.advance(3_000);
    expect(await opening).toBeInstanceOf(TimeoutError);
    expect(clock.pending).toBe(0);
  });

  it("ends at once when its signal aborts, and its reader hears the reason", async () => {
    const closes: number[] = [];
    const { port } = await serve({ open: (socket) => void socket.once("close", (code: number) => closes.push(code)) });
    const controller = new AbortController();
    const connection = await connect(`http://127.0.0.1:${port}`).webSocket({
      path,
      protocols,
      signal: controller.signal,
    });
    const reading = failure(
      (async () => {
        for await (const _ of connection.messages);
      })(),
    );
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await reading).toBe(reason);
    expect((await connection.closed).code).toBe(1006);
    await expect(connection.send("x")).rejects.toBe(reason);
  });

  it("ends with its client", async () => {
    const { port } = await serve();
    const transport = connect(`http://127.0.0.1:${port}`);
    const connection = await transport.webSocket({ path, protocols });
    await transport.close();
    expect((await connection.closed).code).toBe(1006);
    await expect(transport.webSocket({ path, protocols })).rejects.toThrow("this client is closed");
  });

  it("is kept alive by pings", async () => {
    const clock = new VirtualClock();
    let pings = 0;
    const { port } = await serve({
      open: (socket) =>
        void socket.on("ping", () => {
          pings++;
          socket.send("pinged");
        }),
    });
    const connection = await connect(`http://127.0.0.1:${port}`, { clock }).webSocket({ path, protocols });
    const messages = connection.messages[Symbol.asyncIterator]();
    for (let i = 1; i <= 2; i++) {
      await clock.advance(30_000);
      await messages.next();
      expect(pings).toBe(i);
    }
    connection.close();
    await connection.closed;
    expect(clock.pending).toBe(0);
  });

  it("shows the client certificate and trusts the given authority", async () => {
    const users: unknown[] = [];
    const { port } = await serve({
      secure: true,
      open: (_, request) => users.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN),
    });
    const tls = { ca: TEST_CA, cert: TEST_CLIENT_CERT, key: TEST_CLIENT_KEY, rejectUnauthorized: true };
    const credentials = { current: async () => ({ tls }), renew: async () => false };
    await connect(`https://localhost:${port}`, { credentials }).webSocket({ path, protocols });
    expect(users).toEqual(["jane"]);
    const error = await failure(connect(`https://localhost:${port}`).webSocket({ path, protocols }));
    expect(error).toMatchObject({ code: "LOTSE_CONNECTION", hint: expect.stringContaining("certificate-authority") });
  });

  it("goes through the proxy", async () => {
    const { port } = await serve({ secure: true });
    const targets: (string | undefined)[] = [];
    const proxy = http.createServer().listen(0, "127.0.0.1");
    proxy.on("connect", (request, client: net.Socket) => {
      targets.push(request.url);
      const upstream = net.connect(port, "127.0.0.1", () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(client).pipe(upstream);
      });
      for (const socket of [client, upstream]) socket.on("error", () => undefined);
      onTestFinished(() => void client.destroy());
    });
    await once(proxy, "listening");
    onTestFinished(() => void proxy.close());
    const tls = { ca: TEST_CA, cert: TEST_CLIENT_CERT, key: TEST_CLIENT_KEY, rejectUnauthorized: true };
    const connection = await connect(`https://localhost:${port}`, {
      credentials: { current: async () => ({ tls }), renew: async () => false },
      proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    }).webSocket({ path, protocols });
    expect(connection.protocol).toBe("v5.channel.k8s.io");
    expect(targets).toEqual([`localhost:${port}`]);
  });
});
