import * as https from "node:https";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAccess } from "../config/index.ts";
import { answer, TEST_CA, TEST_SERVER_CERT, TEST_SERVER_KEY, TestServer } from "../fixtures/index.ts";
import { systemClock } from "../meta/index.ts";
import { ConnectionError } from "./errors.ts";
import { HttpTransport, type HttpTransportOptions } from "./http.ts";
import { startHttpProxy, startSocksProxy } from "./test-proxies.ts";

/** A server with TLS, which only knows its proxies. */
async function serve(): Promise<TestServer> {
  const server = await TestServer.start(
    (_, response) => answer(response, 200, { ok: true }),
    (listener) => https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY }, listener),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function connectOver(http: HttpTransportOptions["http"], server: string, proxyUrl: string, servername?: string) {
  const credentials = { current: async () => ({ tls }), renew: async () => false };
  const tls = { ca: TEST_CA, rejectUnauthorized: true, ...(servername && { servername }) };
  const transport = new HttpTransport(
    { server, namespace: "default", source: "kubeconfig", credentials, headers: {}, proxyUrl },
    { clock: systemClock, random: () => 0, timeoutMs: 30_000, http },
  );
  onTestFinished(() => transport.close());
  return {
    ask: async () => (await transport.request({ method: "GET", path: "/" })).json(),
    failure: async () => {
      const error = await transport.request({ method: "GET", path: "/" }).catch((reason) => reason);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ sent: false, hint: expect.stringContaining("proxy-url") });
      return error as ConnectionError;
    },
  };
}

describe.each(["own", "node"] as const)("an HTTP proxy and %s connections", (http) => {
  const connect = (server: string, proxyUrl: string, name?: string) => connectOver(http, server, proxyUrl, name);

  it("is asked for a tunnel once, and never sees what goes through it", async () => {
    const [server, proxy] = [await serve(), await startHttpProxy()];
    const client = connect(`https://localhost:${server.port}`, `http://jane:p%40ss@127.0.0.1:${proxy.port}`);
    for (let i = 0; i < 2; i++) expect(await client.ask()).toEqual({ ok: true });
    const authorization = `Basic ${Buffer.from("jane:p@ss").toString("base64")}`;
    expect(proxy.seen).toEqual([{ target: `localhost:${server.port}`, authorization }]);
  });

  it("is found by the environment", async () => {
    const [server, proxy] = [await serve(), await startHttpProxy()];
    const access = await openAccess({
      url: `https://kubernetes.example:${server.port}`,
      ca: TEST_CA,
      env: { HTTPS_PROXY: `127.0.0.1:${proxy.port}` },
    });
    const transport = new HttpTransport(access, { clock: systemClock, random: () => 0, timeoutMs: 30_000, http });
    onTestFinished(() => transport.close());
    expect(await (await transport.request({ method: "GET", path: "/" })).json()).toEqual({ ok: true });
    expect(proxy.seen).toEqual([{ target: `kubernetes.example:${server.port}`, authorization: undefined }]);
  });

  it("with TLS has to have a certificate that everybody or the cluster's authority vouches for", async () => {
    const [server, proxy] = [await serve(), await startHttpProxy({ secure: true })];
    const url = `https://localhost:${server.port}`;
    expect(await connect(url, `https://localhost:${proxy.port}`).ask()).toEqual({ ok: true });
    expect(proxy.seen).toHaveLength(1);
    const error = await connect(url, `https://127.0.0.1:${proxy.port}`).failure();
    expect(error.message).toMatch(/the proxy 127.0.0.1:\d+ failed: .*certificate/);
    expect(proxy.seen).toHaveLength(1);
  });

  it("that refuses is named in the error, and not asked again", async () => {
    const proxy = await startHttpProxy({ refuse: true });
    const error = await connect("https://localhost:1", `http://127.0.0.1:${proxy.port}`).failure();
    expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port} answered 407`);
    expect(proxy.seen).toHaveLength(1);
  });
});

describe.each(["own", "node"] as const)("a SOCKS proxy and %s connections", (http) => {
  const connect = (server: string, proxyUrl: string, name?: string) => connectOver(http, server, proxyUrl, name);

  it.each(["socks5", "socks5h"])("of %s resolves the host name itself", async (scheme) => {
    const [server, proxy] = [await serve(), await startSocksProxy()];
    const client = connect(`https://kubernetes.example:${server.port}`, `${scheme}://127.0.0.1:${proxy.port}`);
    for (let i = 0; i < 2; i++) expect(await client.ask()).toEqual({ ok: true });
    expect(proxy.seen).toEqual([{ methods: [0], type: 3, target: `kubernetes.example:${server.port}` }]);
  });

  it("is told addresses as such", async () => {
    const [server, proxy] = [await serve(), await startSocksProxy()];
    const proxyUrl = `socks5://127.0.0.1:${proxy.port}`;
    expect(await connect(`https://10.0.0.1:${server.port}`, proxyUrl, "localhost").ask()).toEqual({ ok: true });
    expect(await connect(`https://[fd00::a:1]:${server.port}`, proxyUrl, "localhost").ask()).toEqual({ ok: true });
    expect(proxy.seen.map(({ type, target }) => `${type} ${target}`)).toEqual([
      `1 0a000001:${server.port}`,
      `4 fd0000000000000000000000000a0001:${server.port}`,
    ]);
  });

  it("gets user name and password when it wants them", async () => {
    const [server, proxy] = [await serve(), await startSocksProxy({ login: "jane:p@ss" })];
    const url = `https://localhost:${server.port}`;
    expect(await connect(url, `socks5://jane:p%40ss@127.0.0.1:${proxy.port}`).ask()).toEqual({ ok: true });
    expect(proxy.seen[0]).toMatchObject({ methods: [0, 2], login: "jane:p@ss" });
    const wrong = await connect(url, `socks5://jane:wrong@127.0.0.1:${proxy.port}`).failure();
    expect(wrong.message).toContain("does not accept the user name and password");
    expect(wrong.message).not.toContain("wrong@");
    const without = await connect(url, `socks5://127.0.0.1:${proxy.port}`).failure();
    expect(without.message).toContain("wants a user name and a password");
    expect(proxy.seen, "none of them was asked twice").toHaveLength(3);
  });

  it.each([
    [{ reply: 2 }, "its rules do not allow the connection"],
    [{ reply: 5 }, "the server refused the connection"],
    [{ version: 4 }, "does not speak SOCKS 5"],
    [{ method: 255 }, "wants a user name and a password"],
  ])("that answers %j is told about", async (o, said) => {
    const proxy = await startSocksProxy(o);
    expect((await connect("https://localhost:1", `socks5://127.0.0.1:${proxy.port}`).failure()).message).toContain(
      said,
    );
  });
});
