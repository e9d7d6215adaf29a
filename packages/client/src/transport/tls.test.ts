import * as https from "node:https";
import type { TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import type { TlsMaterial } from "../config/index.ts";
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
import { HttpTransport } from "./http.ts";

async function serve() {
  const server = await TestServer.start(
    (_, response) => {
      const socket = response.socket as TLSSocket;
      answer(response, 200, { user: socket.getPeerCertificate().subject?.CN ?? "nobody", name: socket.servername });
    },
    (listener) =>
      https.createServer(
        { cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY, ca: TEST_CA, requestCert: true, rejectUnauthorized: false },
        listener,
      ),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** Credentials whose TLS part a test can change. */
function connect(server: string, first: Partial<TlsMaterial>) {
  let tls: TlsMaterial = { rejectUnauthorized: true, ...first };
  const credentials = { current: async () => ({ tls }), renew: async () => false };
  const transport = new HttpTransport(
    { server, namespace: "default", source: "url", credentials, headers: {} },
    { clock: systemClock, random: () => 0, timeoutMs: 30_000 },
  );
  onTestFinished(() => transport.close());
  return {
    ask: async () => (await transport.request({ method: "GET", path: "/", retry: false })).json(),
    change: (next: Partial<TlsMaterial>) => {
      tls = { ...tls, ...next };
    },
  };
}

describe("TLS", () => {
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
