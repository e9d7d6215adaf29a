import { mkdtemp, rm, writeFile } from "node:fs/promises";
import * as https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates, type TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { AuthError, openAccess, type TlsMaterial } from "../config/index.ts";
import {
  answer,
  TEST_CA,
  TEST_CLIENT_CERT,
  TEST_CLIENT_KEY,
  TEST_SERVER_CERT,
  TEST_SERVER_KEY,
  TestServer,
} from "../fixtures/index.ts";
import { systemClock } from "../meta/index.ts";
import { ConnectionError } from "./errors.ts";
import { HttpTransport, type HttpTransportOptions } from "./http.ts";

/** An authority that has nothing to do with these tests. */
const OTHER_CA = rootCertificates[0] as string;

async function serve() {
  let onConnection = () => undefined as unknown;
  const server = await TestServer.start(
    (_, response) => {
      const socket = response.socket as TLSSocket;
      answer(response, 200, { user: socket.getPeerCertificate().subject?.CN ?? "nobody", name: socket.servername });
    },
    (listener) =>
      https
        .createServer(
          { cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY, ca: TEST_CA, requestCert: true, rejectUnauthorized: false },
          listener,
        )
        .on("connection", () => onConnection()),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return {
    port: server.port,
    onConnection: (listener: () => unknown) => {
      onConnection = listener;
    },
  };
}

/** Credentials whose TLS part a test can change. */
function connectOver(http: HttpTransportOptions["http"], server: string, first: Partial<TlsMaterial>) {
  let tls: TlsMaterial = { rejectUnauthorized: true, ...first };
  const credentials = { current: async () => ({ tls }), renew: async () => false };
  const transport = new HttpTransport(
    { server, namespace: "default", source: "url", credentials, headers: {} },
    { clock: systemClock, random: () => 0, timeoutMs: 30_000, http },
  );
  onTestFinished(() => transport.close());
  return {
    ask: async () => (await transport.request({ method: "GET", path: "/", retry: false })).json(),
    change: (next: Partial<TlsMaterial>) => {
      tls = { ...tls, ...next };
    },
  };
}

describe.each(["own", "node"] as const)("TLS with %s connections", (http) => {
  const connect = (server: string, first: Partial<TlsMaterial>) => connectOver(http, server, first);

  it("trusts the given authority and shows the client certificate", async () => {
    const { port } = await serve();
    const tls = { ca: TEST_CA, cert: TEST_CLIENT_CERT, key: TEST_CLIENT_KEY };
    expect(await connect(`https://localhost:${port}`, tls).ask()).toMatchObject({ user: "jane" });
  });

  it("refuses a server that the authority does not vouch for, and says what to check", async () => {
    const { port } = await serve();
    const error = await connect(`https://localhost:${port}`, {})
      .ask()
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: false, hint: expect.stringContaining("certificate-authority") });
  });

  it("names the authority of the kubeconfig that did not sign the server's certificate, and tries once", async () => {
    const server = await serve();
    let connections = 0;
    server.onConnection(() => connections++);
    const origin = { files: "/home/ann/.kube/config", cluster: "dev", authority: "/etc/dev/ca.pem" };
    const transport = new HttpTransport(
      {
        ...{
          server: `https://localhost:${server.port}`,
          namespace: "default",
          source: "kubeconfig",
          headers: {},
          origin,
        },
        credentials: {
          current: async () => ({ tls: { ca: OTHER_CA, rejectUnauthorized: true } }),
          renew: async () => false,
        },
      },
      { clock: systemClock, random: () => 0, timeoutMs: 30_000, http },
    );
    onTestFinished(() => transport.close());
    const error = await transport.request({ method: "GET", path: "/" }).catch((reason) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/^cannot reach https:\/\/localhost:\d+: its certificate is not trusted/);
    expect(error.hint).toContain('certificate-authority of the cluster "dev" (/etc/dev/ca.pem)');
    expect(connections).toBe(1);
  });

  it("reads the authority's file again when it does not fit, as after a cluster was made anew", async () => {
    const { port } = await serve();
    const folder = await mkdtemp(join(tmpdir(), "lotse-ca-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const ca = join(folder, "ca.pem");
    await writeFile(ca, OTHER_CA);
    const kubeconfig = {
      contexts: [{ name: "main", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server: `https://localhost:${port}`, "certificate-authority": ca } }],
      "current-context": "main",
    };
    const access = await openAccess({ kubeconfig, env: {} });
    const transport = new HttpTransport(access, { clock: systemClock, random: () => 0, timeoutMs: 30_000, http });
    onTestFinished(() => transport.close());
    const ask = () => transport.request({ method: "GET", path: "/" });
    await expect(ask()).rejects.toMatchObject({ untrusted: true, hint: expect.stringContaining(ca) });
    await writeFile(ca, TEST_CA);
    expect((await ask()).status).toBe(200);
  });

  it("says that a server speaks plain HTTP, and what to write instead", async () => {
    const plain = await TestServer.start((_, response) => answer(response, 200, {}));
    onTestFinished(() => plain[Symbol.asyncDispose]());
    const error = await connect(`https://127.0.0.1:${plain.port}`, {})
      .ask()
      .catch((reason) => reason);
    expect(error).toMatchObject({
      message: `cannot reach https://127.0.0.1:${plain.port}: it does not speak TLS`,
      hint: expect.stringContaining(`write http://127.0.0.1:${plain.port}`),
      lasting: true,
    });
  });

  it("says that a certificate and a key are no pair, or no PEM", async () => {
    for (const tls of [
      { cert: TEST_CLIENT_CERT, key: TEST_SERVER_KEY },
      { cert: "nonsense", key: "nonsense" },
    ]) {
      const asking = connect("https://localhost:1", tls).ask();
      await expect(asking).rejects.toBeInstanceOf(AuthError);
      await expect(asking).rejects.toThrow("the certificates cannot be used");
    }
  });

  it("refuses a certificate for another host, unless tls-server-name says which one it is for", async () => {
    const { port } = await serve();
    const url = `https://127.0.0.1:${port}`;
    await expect(connect(url, { ca: TEST_CA }).ask()).rejects.toMatchObject({
      hint: expect.stringContaining("tls-server-name"),
    });
    const named = connect(url, { ca: TEST_CA, servername: "kubernetes.example" });
    expect(await named.ask()).toMatchObject({ name: "kubernetes.example" });
  });

  it("verifies nothing when it is told not to", async () => {
    const { port } = await serve();
    expect(await connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).ask()).toBeDefined();
  });

  it("makes new connections when the certificate has changed", async () => {
    const server = await serve();
    const connection = connect(`https://localhost:${server.port}`, { ca: TEST_CA });
    expect(await connection.ask()).toMatchObject({ user: "nobody" });
    connection.change({ cert: TEST_CLIENT_CERT, key: TEST_CLIENT_KEY });
    expect(await connection.ask()).toMatchObject({ user: "jane" });
  });
});
