import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { answer, TEST_CA, TEST_SERVER_CERT, TEST_SERVER_KEY, TestServer } from "../fixtures/index.ts";
import { systemClock } from "../meta/index.ts";
import { ConnectionError } from "./errors.ts";
import { HttpTransport } from "./http.ts";

/** A proxy that tunnels, unless it shall refuse. */
async function startProxy(o: { refuse?: boolean } = {}) {
  const seen: { target: string; authorization: string | undefined }[] = [];
  const sockets = new Set<net.Socket>();
  const proxy = http.createServer().listen(0, "127.0.0.1");
  proxy.on("connect", (request, client: net.Socket) => {
    seen.push({ target: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    if (o.refuse) return client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const [, port] = (request.url ?? "").split(":");
    const upstream = net.connect(Number(port), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
  });
  await once(proxy, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { seen, port: (proxy.address() as net.AddressInfo).port };
}

function connect(server: string, proxyUrl: string) {
  const credentials = { current: async () => ({ tls }), renew: async () => false };
  const tls = { ca: TEST_CA, rejectUnauthorized: true };
  const transport = new HttpTransport(
    { server, namespace: "default", source: "kubeconfig", credentials, headers: {}, proxyUrl },
    { clock: systemClock, random: () => 0, timeoutMs: 30_000 },
  );
  onTestFinished(() => transport.close());
  return transport;
}

describe("a proxy", () => {
  it("is asked for a tunnel once, and never sees what goes through it", async () => {
    const server = await TestServer.start(
      (_, response) => answer(response, 200, { ok: true }),
      (listener) => https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY }, listener),
    );
    onTestFinished(() => server[Symbol.asyncDispose]());
    const proxy = await startProxy();
    const transport = connect(`https://localhost:${server.port}`, `http://jane:p%40ss@127.0.0.1:${proxy.port}`);
    for (let i = 0; i < 2; i++) {
      expect(await (await transport.request({ method: "GET", path: "/" })).json()).toEqual({ ok: true });
    }
    const authorization = `Basic ${Buffer.from("jane:p@ss").toString("base64")}`;
    expect(proxy.seen).toEqual([{ target: `localhost:${server.port}`, authorization }]);
  });

  it("that refuses is named in the error", async () => {
    const proxy = await startProxy({ refuse: true });
    const transport = connect("https://localhost:1", `http://127.0.0.1:${proxy.port}`);
    const error = await transport.request({ method: "GET", path: "/", retry: false }).catch((reason) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port} answered 407`);
  });
});
