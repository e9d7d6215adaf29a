import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { request as httpsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const open: { close(): void }[] = [];
afterEach(() => {
  for (const session of open.splice(0)) session.close();
});

function dial(cluster: Cluster): ClientHttp2Session {
  const session = connect(cluster.url, { rejectUnauthorized: false });
  session.on("error", () => {}); // some tests provoke it
  open.push(session);
  return session;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  /** The reason for which the stream was reset, 0 for none. */
  readonly reset: number;
}

function ask(
  session: ClientHttp2Session,
  cluster: Cluster,
  path: string,
  { method = "GET", body, headers = {} }: { method?: string; body?: string | Buffer; headers?: object } = {},
): Promise<Answer> {
  const stream = session.request({
    ":method": method,
    ":path": path,
    authorization: `Bearer ${cluster.token}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  });
  const answer = collect(stream);
  stream.end(body);
  return answer;
}

function collect(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve) => {
    let head: Record<string, unknown> = {};
    const chunks: Buffer[] = [];
    stream.on("response", (headers) => {
      head = headers;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => {}); // told by `reset`
    stream.on("close", () => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status: Number(head[":status"] ?? 0), headers: head, text, reset: stream.rstCode ?? 0 });
    });
  });
}

const map = (name: string, data = {}) =>
  JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data });

describe("HTTP/2", () => {
  it("is spoken with clients that choose it, many requests at once on one connection", async () => {
    await using cluster = await Cluster.start();
    const session = dial(cluster);
    const names = Array.from({ length: 40 }, (_, i) => `m${i}`);
    const made = await Promise.all(
      names.map((name) => ask(session, cluster, MAPS, { method: "POST", body: map(name) })),
    );
    expect(made.map(({ status }) => status)).toEqual(names.map(() => 201));
    const listed = await ask(session, cluster, MAPS);
    expect(listed.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(listed.text).items.length).toBeGreaterThanOrEqual(40);
    expect((await ask(session, cluster, `${MAPS}/none`)).status).toBe(404);
    expect((await ask(session, cluster, `${MAPS}/m1`, { method: "HEAD" })).text).toBe("");
    expect(cluster.requests.filter({ verb: "create", resource: "configmaps" }).length).toBe(40);
  });

  it("is not forced upon those who speak HTTP/1.1", async () => {
    await using cluster = await Cluster.start();
    const version = await new Promise((resolve, reject) => {
      const call = httpsRequest(`${cluster.url}/version`, { rejectUnauthorized: false, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.httpVersion);
      });
      call.on("error", reject).end();
    });
    expect(version).toBe("1.1");
    const silent = connectTls({
      host: "127.0.0.1",
      port: Number(new URL(cluster.url).port),
      rejectUnauthorized: false,
    });
    open.push({ close: () => silent.destroy() });
    silent.write("GET /version HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    const text = await new Promise<string>((resolve) => {
      silent.once("data", (chunk) => resolve(chunk.toString()));
    });
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("carries watches, which end cleanly when the server stops", async () => {
    const cluster = await Cluster.start();
    const session = dial(cluster);
    const stream = session.request({
      ":path": `${MAPS}?watch=1&labelSelector=a`,
      authorization: `Bearer ${cluster.token}`,
    });
    const watch = collect(stream);
    await new Promise((resolve) => stream.once("response", resolve));
    const body = JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "w", labels: { a: "b" } } });
    const told = new Promise((resolve) => stream.once("data", resolve));
    await ask(session, cluster, MAPS, { method: "POST", body });
    await told;
    await cluster.stop();
    const { status, text, reset } = await watch;
    expect([status, reset]).toEqual([200, constants.NGHTTP2_NO_ERROR]);
    expect(JSON.parse(text)).toMatchObject({ type: "ADDED", object: { metadata: { name: "w" } } });
  });

  it("has the guards of HTTP/1.1: credentials, web pages, bodies that are too large", async () => {
    await using cluster = await Cluster.start();
    const session = dial(cluster);
    expect((await ask(session, cluster, MAPS, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    expect((await ask(session, cluster, MAPS, { headers: { origin: "https://example.com" } })).status).toBe(403);
    const large = await ask(session, cluster, MAPS, { method: "POST", body: Buffer.alloc(4 * 1_024 * 1_024, "a") });
    expect(large.status).toBe(413);
    expect((await ask(session, cluster, "/version")).status).toBe(200);
  });

  it("outlives clients that reset what they ask, open too much, or send headers without end", async () => {
    await using cluster = await Cluster.start();
    const hostile = [dial(cluster), dial(cluster), dial(cluster)];
    for (let i = 0; i < 3_000; i++) {
      const [resets] = hostile as [ClientHttp2Session, ...unknown[]];
      if (resets.destroyed || resets.closed) break;
      const stream = resets.request({ ":path": MAPS, authorization: `Bearer ${cluster.token}` });
      stream.on("error", () => {}); // it is meant to fail
      stream.close(constants.NGHTTP2_CANCEL);
      if (i % 500 === 0) await delay(1);
    }
    const watches = Array.from({ length: 1_500 }, () => {
      const stream = (hostile[1] as ClientHttp2Session).request({
        ":path": `${MAPS}?watch=1`,
        authorization: `Bearer ${cluster.token}`,
      });
      stream.on("error", () => {}); // more than are allowed
      return stream;
    });
    const headers = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`x-${i}`, "a".repeat(100)]));
    const refused = await ask(hostile[2] as ClientHttp2Session, cluster, "/version", { headers });
    expect(refused.status).not.toBe(200);
    // A client that behaves is answered all the while.
    expect((await ask(dial(cluster), cluster, "/version")).status).toBe(200);
    for (const stream of watches) stream.destroy();
  });

  // nghttp2, which Node.js speaks HTTP/2 with, takes no single header above 64 KiB as it is sent, nor more than about
  // 128 KiB in all; HTTP/1.1 takes a mebibyte.
  it("takes long headers, and loses one connection to a header that is longer than its library takes", async () => {
    await using cluster = await Cluster.start();
    const session = () => {
      const made = connect(cluster.url, { rejectUnauthorized: false, maxSendHeaderBlockLength: 10_000_000 });
      made.on("error", () => {}); // one of them is cut
      open.push(made);
      return made;
    };
    const headers = { "x-one": "~".repeat(60_000), "x-two": "~".repeat(30_000) };
    expect((await ask(session(), cluster, "/version", { headers })).status).toBe(200);
    const long = { "x-long": "~".repeat(200_000) };
    const other = session();
    expect((await ask(other, cluster, "/version")).status).toBe(200);
    expect(await ask(session(), cluster, "/version", { headers: long })).toMatchObject({
      status: 0,
      reset: constants.NGHTTP2_COMPRESSION_ERROR,
    });
    expect((await ask(other, cluster, "/version")).status).toBe(200);
    const status = await new Promise((resolve, reject) => {
      const headers = { ...long, authorization: `Bearer ${cluster.token}` };
      const request = httpsRequest(`${cluster.url}/version`, { rejectUnauthorized: false, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on("error", reject);
      request.end();
    });
    expect(status).toBe(200);
  });
});
