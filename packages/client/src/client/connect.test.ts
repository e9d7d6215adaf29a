import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import * as https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Pod } from "../builtin/index.ts";
import type { Kubeconfig } from "../config/index.ts";
import {
  answer,
  type Handler,
  TEST_CA,
  TEST_CLIENT_CERT,
  TEST_CLIENT_KEY,
  TEST_SERVER_CERT,
  TEST_SERVER_KEY,
  TestServer,
} from "../fixtures/index.ts";
import { Client } from "./client.ts";
import type { ConnectOptions } from "./connect.ts";

async function serve(handler: Handler, create?: Parameters<typeof TestServer.start>[1]): Promise<TestServer> {
  const server = await TestServer.start(handler, create);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

async function connect(o: ConnectOptions): Promise<Client> {
  const client = await Client.connect(o);
  onTestFinished(() => client.close());
  return client;
}

const kubeconfig = (server: string, user: object, cluster: object = {}): Kubeconfig => ({
  "current-context": "test",
  clusters: [{ name: "c", cluster: { server, ...cluster } }],
  users: [{ name: "u", user }],
  contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
});

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a client over the network", () => {
  it("authenticates with the certificate of a kubeconfig", async () => {
    const { port } = await serve(
      (_, response) => {
        const { subject } = (response.socket as import("node:tls").TLSSocket).getPeerCertificate();
        answer(response, 200, { gitVersion: subject.CN });
      },
      (listener) =>
        https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY, ca: TEST_CA, requestCert: true }, listener),
    );
    const user = { "client-certificate-data": base64(TEST_CLIENT_CERT), "client-key-data": base64(TEST_CLIENT_KEY) };
    const cluster = { "certificate-authority-data": base64(TEST_CA), "tls-server-name": "kubernetes.example" };
    const client = await connect({ kubeconfig: kubeconfig(`https://127.0.0.1:${port}`, user, cluster) });
    expect(await client.version()).toMatchObject({ gitVersion: "jane" });
  });

  it("reaches the server by a kubeconfig, as a pod's service account, and by its url", async () => {
    const secured = await serve(
      ({ headers }, response) => answer(response, 200, { gitVersion: headers.authorization }),
      (listener) => https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY }, listener),
    );
    const plain = await serve((_, response) => answer(response, 200, { gitVersion: "v1.36.0" }));
    const account = await mkdtemp(join(tmpdir(), "lotse-account-"));
    onTestFinished(() => rm(account, { recursive: true, force: true }));
    await Promise.all([writeFile(join(account, "token"), "pod"), writeFile(join(account, "ca.crt"), TEST_CA)]);
    const config = kubeconfig(
      `https://localhost:${secured.port}`,
      { token: "me" },
      { "certificate-authority-data": base64(TEST_CA) },
    );
    const env = { KUBERNETES_SERVICE_HOST: "localhost", KUBERNETES_SERVICE_PORT: String(secured.port) };
    const versions = [];
    for (const o of [{ kubeconfig: config }, { serviceAccount: account, env }, { url: plain.url }]) {
      versions.push((await (await connect(o)).version()).gitVersion);
    }
    expect(versions).toEqual(["Bearer me", "Bearer pod", "v1.36.0"]);
  });

  it("asks for credentials once, and for nothing that it was not asked for", async () => {
    const server = await serve((_, response) => answer(response, 200, { metadata: { name: "web" }, items: [] }));
    let logins = 0;
    const login = () => {
      logins++;
      return { server: server.url, token: "t" };
    };
    const client = await connect({ login });
    for (let i = 0; i < 3; i++) await client.list(Pod).toArray();
    await client.inNamespace("other").get(Pod, "web");
    expect(server.seen.map(({ url }) => url.replace(/\?.*/, ""))).toEqual([
      ...Array(3).fill("/api/v1/namespaces/default/pods"),
      "/api/v1/namespaces/other/pods/web",
    ]);
    expect(logins).toBe(1);
  });

  it("by default is one for the whole process", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    const folder = await mkdtemp(join(tmpdir(), "lotse-default-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "config");
    await writeFile(file, JSON.stringify(kubeconfig(server.url, {})));
    vi.stubEnv("KUBECONFIG", file);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      Client.setDefault(undefined);
    });
    const [one, other] = await Promise.all([Client.default(), Client.default()]);
    onTestFinished(() => one.close());
    expect(one).toBe(other);
    expect(server.seen).toEqual([]);
  });

  it("keeps the keys of a kubeconfig in memory, and writes no file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lotse-empty-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { port } = await serve(
      (_, response) => answer(response, 200, {}),
      (listener) =>
        https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY, ca: TEST_CA, requestCert: true }, listener),
    );
    const user = { "client-certificate-data": base64(TEST_CLIENT_CERT), "client-key-data": base64(TEST_CLIENT_KEY) };
    const cluster = { "certificate-authority-data": base64(TEST_CA) };
    await (await connect({ kubeconfig: kubeconfig(`https://localhost:${port}`, user, cluster) })).version();
    expect(tmpdir()).toBe(folder);
    expect(await readdir(folder)).toEqual([]);
  });

  it("reads a renewed token file once when many requests are refused at the same time", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lotse-token-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, "old");
    let valid = "old";
    const server = await serve(({ headers }, response) => {
      const known = headers.authorization === `Bearer ${valid}`;
      answer(response, known ? 200 : 401, known ? {} : { reason: "Unauthorized", message: "Unauthorized" });
    });
    const client = await connect({ kubeconfig: kubeconfig(server.url, { tokenFile }) });
    await client.version();
    valid = "new";
    await writeFile(tokenFile, "new");
    await Promise.all([client.version(), client.version(), client.version()]);
    expect(server.seen.filter(({ headers }) => headers.authorization === "Bearer new")).toHaveLength(3);
  });

  it("watches, and closes the socket when the loop is left", async () => {
    let watching: ServerResponse | undefined;
    const server = await serve(({ url }, response) => {
      if (!url.includes("watch=true")) return answer(response, 200, { metadata: { resourceVersion: "7" }, items: [] });
      watching = response;
      response.writeHead(200, { "content-type": "application/json" });
      response.write(
        `${JSON.stringify({ type: "ADDED", object: { metadata: { name: "web", resourceVersion: "8" } } })}\n`,
      );
    });
    const client = await connect({ url: server.url });
    for await (const { type, object } of client.watch(Pod)) {
      expect(`${type} ${object.name}`).toBe("ADDED web");
      break;
    }
    if (!watching?.closed) await once(watching as ServerResponse, "close");
    expect(server.seen.at(-1)?.url).toContain("allowWatchBookmarks=true");
    expect(server.seen.at(-1)?.url).toContain("resourceVersion=7");
  });

  it("reconnects a watch that the network cut, from the last version", async () => {
    let watches = 0;
    const server = await serve(({ url }, response) => {
      if (!url.includes("watch=true")) return answer(response, 200, { metadata: { resourceVersion: "7" }, items: [] });
      watches++;
      response.writeHead(200);
      const object = { metadata: { name: `pod-${watches}`, resourceVersion: String(7 + watches) } };
      response.write(`${JSON.stringify({ type: "ADDED", object })}\n{"type":"ADD`, () => {
        if (watches === 1) response.socket?.destroy();
      });
    });
    const client = await connect({ url: server.url });
    const names: string[] = [];
    for await (const { object } of client.watch(Pod)) {
      names.push(object.name);
      if (names.length === 2) break;
    }
    expect(names).toEqual(["pod-1", "pod-2"]);
    expect(server.seen.at(-1)?.url).toContain("resourceVersion=8");
  });

  it("passes any request through raw, also a streamed one", async () => {
    const server = await serve(({ url }, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(`you asked for ${url}`);
    });
    const client = await connect({ url: server.url, userAgent: "my-tool/1" });
    const response = await client.raw({ method: "GET", path: "/readyz", query: { verbose: true } });
    expect(response.headers["content-type"]).toBe("text/plain");
    expect(await response.text()).toBe("you asked for /readyz?verbose=true");
    const chunks: Buffer[] = [];
    const streamed = await client.raw({ method: "GET", path: "/logs", stream: true });
    for await (const chunk of streamed.body) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe("you asked for /logs");
    expect(server.seen[0]?.headers["user-agent"]).toBe("my-tool/1");
  });

  it("goes back to the connections of Node.js with LOTSE_HTTP=node", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    for (const env of [{}, { LOTSE_HTTP: "node" }]) {
      const client = await connect({ url: server.url, env });
      await client.raw({ method: "GET", path: "/readyz" });
    }
    // Only they say what HTTP/1.1 means without a word.
    expect(server.seen.map(({ headers }) => headers.connection)).toEqual([undefined, "keep-alive"]);
  });
});
