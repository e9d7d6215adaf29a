import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Access, Credentials, Identity } from "../config/index.ts";
import { answer, type Handler, TestServer } from "../fixtures/index.ts";
import { type Clock, systemClock, VirtualClock } from "../meta/index.ts";
import { jwt } from "../test-jwt.ts";
import {
  AlreadyExistsError,
  ConnectionError,
  NotFoundError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedAnswerError,
} from "./errors.ts";
import { HttpTransport, type HttpTransportOptions } from "./http.ts";

const anonymous: Identity = { tls: { rejectUnauthorized: true } };

/** Real time for sockets, none for the waits between attempts; time limits are as they were asked for. */
function hastyClock(waits: number[] = []): Clock {
  return {
    ...systemClock,
    after: (ms, fn) => {
      waits.push(ms);
      return systemClock.after(ms >= 20_000 ? ms : 0, fn);
    },
  };
}

type ConnectOptions = Partial<HttpTransportOptions> & { credentials?: Credentials; headers?: Access["headers"] };

function connectOver(http: HttpTransportOptions["http"], server: string, o: ConnectOptions = {}) {
  const { credentials = { current: async () => anonymous, renew: async () => false }, headers = {}, ...options } = o;
  const transport = new HttpTransport(
    { server, namespace: "default", source: "url", credentials, headers },
    { clock: systemClock, random: () => 0, timeoutMs: 30_000, http, ...options },
  );
  onTestFinished(() => transport.close());
  return transport;
}

async function serve(handler: Handler): Promise<TestServer> {
  const server = await TestServer.start(handler);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

const status = (reason: string, message: string) => ({ kind: "Status", status: "Failure", reason, message });

describe.each(["own", "node"] as const)("HttpTransport with %s connections", (http) => {
  const connect = (server: string, o?: ConnectOptions) => connectOver(http, server, o);

  it("calls itself by the version of the package", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    await connect(server.url).request({ method: "GET", path: "/" });
    const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
    expect(server.seen[0]?.headers["user-agent"]).toMatch(`lotse-client/${version} `);
  });

  it("sends JSON with query, headers, token and user agent, and reads JSON", async () => {
    const server = await serve((_, response) => answer(response, 201, { ok: true }));
    const credentials = { current: async () => ({ ...anonymous, token: "secret" }), renew: async () => false };
    const transport = connect(`${server.url}/prefix/`, { credentials, headers: { "impersonate-user": "jane" } });
    const response = await transport.request({
      method: "POST",
      path: "/api/v1/pods",
      query: { limit: 5, watch: true, none: undefined, labelSelector: "a=b,c!=d" },
      body: { kind: "Pod", name: "größe" },
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ ok: true });
    expect(server.seen[0]).toMatchObject({
      method: "POST",
      url: "/prefix/api/v1/pods?limit=5&watch=true&labelSelector=a%3Db%2Cc%21%3Dd",
      body: '{"kind":"Pod","name":"größe"}',
      headers: {
        authorization: "Bearer secret",
        "content-type": "application/json",
        "impersonate-user": "jane",
        "user-agent": expect.stringMatching(/^lotse-client\/\d+\.\d+\.\d+ node\/\d+/),
      },
    });
  });

  it("uses one connection for requests after one another", async () => {
    const ports = new Set<number | undefined>();
    const server = await serve((_, response) => {
      ports.add(response.socket?.remotePort);
      answer(response, 200, {});
    });
    const transport = connect(server.url);
    for (let i = 0; i < 3; i++) await transport.request({ method: "GET", path: "/" });
    expect(ports.size).toBe(1);
  });

  it("throws typed errors that carry the server's sentence and the request", async () => {
    const server = await serve(({ url }, response) => {
      if (url === "/missing") answer(response, 404, status("NotFound", 'pods "x" not found'));
      else if (url === "/twice") answer(response, 409, status("AlreadyExists", 'pods "x" already exists'));
      else {
        response.writeHead(403, { "content-type": "text/html" });
        response.end("<h1>Forbidden by the proxy</h1>\n<p>…</p>");
      }
    });
    const transport = connect(server.url);
    const missing = await transport.request({ method: "GET", path: "/missing" }).catch((error) => error);
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({
      message: 'pods "x" not found',
      status: 404,
      reason: "NotFound",
      code: "LOTSE_NOT_FOUND",
      request: { method: "GET", path: "/missing" },
    });
    await expect(transport.request({ method: "POST", path: "/twice" })).rejects.toBeInstanceOf(AlreadyExistsError);
    await expect(transport.request({ method: "GET", path: "/proxy" })).rejects.toMatchObject({
      reason: "Forbidden",
      message: 'GET /proxy: the server answered 403 (a web page: "Forbidden by the proxy")',
      hint: expect.stringContaining("is this the address of a Kubernetes API server?"),
    });
  });

  it("retries idempotent verbs on 429 and 5xx, and waits as Retry-After says", async () => {
    const waits: number[] = [];
    const server = await serve((_, response, count) => {
      if (count === 1) answer(response, 503, status("ServiceUnavailable", "busy"));
      else if (count === 2) answer(response, 429, status("TooManyRequests", "slow down"), { "retry-after": "3" });
      else answer(response, 200, {});
    });
    await connect(server.url, { clock: hastyClock(waits) }).request({ method: "GET", path: "/" });
    expect(server.seen).toHaveLength(3);
    expect(waits.filter((ms) => ms < 20_000)).toEqual([50, 3_000]);
  });

  it("does not retry when Retry-After is longer than the time that is left", async () => {
    const server = await serve((_, response) =>
      answer(response, 429, status("TooManyRequests", "later"), { "retry-after": "60" }),
    );
    await expect(connect(server.url).request({ method: "GET", path: "/" })).rejects.toMatchObject({
      retryAfterMs: 60_000,
    });
    expect(server.seen).toHaveLength(1);
  });

  it("gives up after five attempts", async () => {
    const server = await serve((_, response) => answer(response, 500, status("InternalError", "broken")));
    const transport = connect(server.url, { clock: hastyClock() });
    await expect(transport.request({ method: "GET", path: "/" })).rejects.toThrow("broken");
    expect(server.seen).toHaveLength(5);
  });

  it("repeats a POST on 429 only, and nothing with retry: false", async () => {
    const server = await serve(({ url }, response, count) => {
      if (url === "/busy" && count === 1) answer(response, 429, status("TooManyRequests", "busy"));
      else if (url === "/busy") answer(response, 201, {});
      else answer(response, 503, status("ServiceUnavailable", "away"));
    });
    const transport = connect(server.url, { clock: hastyClock() });
    await transport.request({ method: "POST", path: "/busy" });
    expect(server.seen).toHaveLength(2);
    await expect(transport.request({ method: "POST", path: "/away" })).rejects.toThrow("away");
    expect(server.seen).toHaveLength(3);
    await expect(transport.request({ method: "GET", path: "/away", retry: false })).rejects.toThrow("away");
    expect(server.seen).toHaveLength(4);
  });

  it("repeats a GET and a merge patch, but no POST and no JSON patch, when the connection breaks", async () => {
    const broken = new Set<string>();
    const server = await serve(({ method, headers }, response) => {
      const key = `${method} ${headers["content-type"]}`;
      if (broken.has(key)) return answer(response, 200, {});
      broken.add(key);
      response.socket?.destroy();
    });
    const transport = connect(server.url, { clock: hastyClock() });
    const patch = (type: string) => ({ method: "PATCH", path: "/", headers: { "content-type": type }, body: "{}" });
    await transport.request({ method: "GET", path: "/" });
    await transport.request(patch("application/merge-patch+json"));
    for (const request of [{ method: "POST", path: "/" }, patch("application/json-patch+json")]) {
      const error = await transport.request(request).catch((reason) => reason);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ sent: true, message: expect.stringContaining("lost the connection") });
    }
  });

  it("repeats even a POST when the connection was refused, then says who cannot be reached and what to try", async () => {
    const listener = net.createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    await new Promise((resolve) => listener.close(resolve));
    const waits: number[] = [];
    const transport = connect(`https://127.0.0.1:${port}`, { clock: hastyClock(waits) });
    const error = await transport.request({ method: "POST", path: "/api" }).catch((reason) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      message: `cannot reach https://127.0.0.1:${port}: connection refused`,
      hint: "is the cluster running, and is this the right context?",
      sent: false,
    });
    expect(waits.filter((ms) => ms < 20_000)).toEqual([50, 100, 200, 400]);
  });

  it("renews the credentials once after a 401 and sends the request again, a POST too", async () => {
    const server = await serve(({ headers }, response) => {
      if (headers.authorization === "Bearer new") answer(response, 201, {});
      else answer(response, 401, status("Unauthorized", "Unauthorized"));
    });
    let identity: Identity = { ...anonymous, token: "old" };
    const credentials: Credentials = {
      current: async () => identity,
      renew: async () => {
        identity = { ...anonymous, token: "new" };
        return true;
      },
    };
    await connect(server.url, { credentials }).request({ method: "POST", path: "/" });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
  });

  it("neither renews the credentials nor asks again after a 403", async () => {
    const server = await serve((_, response) => answer(response, 403, status("Forbidden", "not for you")));
    let renewals = 0;
    const credentials: Credentials = {
      current: async () => anonymous,
      renew: async () => {
        renewals++;
        return true;
      },
    };
    const request = connect(server.url, { credentials }).request({ method: "GET", path: "/" });
    await expect(request).rejects.toThrow("not for you");
    expect([server.seen.length, renewals]).toEqual([1, 0]);
  });

  it("gives up when the renewed credentials are refused too", async () => {
    const server = await serve((_, response) => answer(response, 401, status("Unauthorized", "Unauthorized")));
    const credentials: Credentials = { current: async () => anonymous, renew: async () => true };
    const request = connect(server.url, { credentials }).request({ method: "GET", path: "/" });
    await expect(request).rejects.toBeInstanceOf(UnauthorizedError);
    expect(server.seen).toHaveLength(2);
  });

  it("says in which phase the time was over", async () => {
    const server = await serve(({ url }, response) => {
      if (url !== "/body") return;
      response.writeHead(200, { warning: '299 - "the headers are there"' });
      response.write("{");
    });
    const clock = new VirtualClock();
    const warnings: string[] = [];
    const transport = connect(server.url, { clock, onWarning: (text) => warnings.push(text) });
    // What has come as far as its phase: the server has the request, or the client has the headers.
    const reached = { headers: () => server.seen.length, body: () => warnings.length };
    for (const phase of ["headers", "body"] as const) {
      const request = transport.request({ method: "GET", path: `/${phase}`, timeout: 50 }).catch((reason) => reason);
      await expect.poll(reached[phase]).toBe(1);
      await clock.advance(50);
      const error = await request;
      expect(error).toBeInstanceOf(TimeoutError);
      expect(error).toMatchObject({ phase, code: "LOTSE_TIMEOUT", request: { path: `/${phase}` } });
    }
  });

  it("limits connecting, also for streams", async () => {
    // Accepts the connection, and never answers the TLS handshake.
    const mute = net.createServer().listen(0, "127.0.0.1");
    const sockets: net.Socket[] = [];
    mute.on("connection", (socket) => sockets.push(socket));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    await once(mute, "listening");
    const transport = connect(`https://127.0.0.1:${(mute.address() as AddressInfo).port}`, { timeoutMs: 50 });
    const request = transport.request({ method: "GET", path: "/", stream: true });
    await expect(request).rejects.toMatchObject({ phase: "connect" });
  });

  it("lets a stream live longer than the time limit", async () => {
    let goOn = () => {};
    const server = await serve((_, response) => {
      response.writeHead(200);
      response.write("one\n");
      goOn = () => response.end("two\n");
    });
    const clock = new VirtualClock();
    const response = await connect(server.url, { clock, timeoutMs: 40 }).request({
      method: "GET",
      path: "/",
      stream: true,
    });
    await clock.advance(10_000);
    goOn();
    expect(await response.text()).toBe("one\ntwo\n");
  });

  it("rejects with the signal's reason and closes the socket when it is aborted", async () => {
    let closed: Promise<unknown> | undefined;
    const arrived = new Promise<void>((resolve) => {
      void serveHanging((response) => {
        closed = once(response, "close");
        resolve();
      }).then(({ url }) => {
        request = connect(url).request({ method: "GET", path: "/", signal: stop.signal });
        request.catch(() => undefined);
      });
    });
    const stop = new AbortController();
    let request: Promise<unknown> | undefined;
    await arrived;
    stop.abort(new Error("enough"));
    await expect(request).rejects.toThrow("enough");
    await closed;
  });

  it("sends nothing when it is aborted while the credentials are fetched", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    const stop = new AbortController();
    const current = async () => {
      stop.abort(new Error("enough"));
      return anonymous;
    };
    const transport = connect(server.url, { credentials: { current, renew: async () => false } });
    await expect(transport.request({ method: "GET", path: "/", signal: stop.signal })).rejects.toThrow("enough");
    expect(server.seen).toEqual([]);
  });

  it("closes a stream's socket when it is aborted", async () => {
    let closed: Promise<unknown> | undefined;
    const { url } = await serveHanging((response) => {
      closed = once(response, "close");
      response.writeHead(200);
      response.write("one\n");
    });
    const stop = new AbortController();
    const response = await connect(url).request({ method: "GET", path: "/", stream: true, signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(response.text()).rejects.toThrow("enough");
    await closed;
  });

  it("leaves no listener on a signal that outlives its requests", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    await connect(server.url).request({ method: "GET", path: "/", signal });
    expect(listeners).toBe(0);
  });

  it("hands the server's warnings to the callback", async () => {
    const warnings: string[] = [];
    const server = await serve((_, response) =>
      answer(response, 200, {}, { warning: '299 - "v1 Old is deprecated", 299 - "say \\"hi\\", twice"' }),
    );
    await connect(server.url, { onWarning: (text) => warnings.push(text) }).request({ method: "GET", path: "/" });
    expect(warnings).toEqual(["v1 Old is deprecated", 'say "hi", twice']);
  });

  it("prints each warning once to stderr when nobody else takes them", async () => {
    const written: unknown[] = [];
    const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(text) > 0);
    onTestFinished(() => write.mockRestore());
    const server = await serve((_, response) => answer(response, 200, {}, { warning: '299 - "v1 Old is deprecated"' }));
    const transport = connect(server.url);
    for (let i = 0; i < 2; i++) await transport.request({ method: "GET", path: "/" });
    expect(written).toEqual(["Warning: v1 Old is deprecated\n"]);
  });

  it("impersonates whom the request names, and nobody else", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    const headers = { "impersonate-user": "ann", "impersonate-group": ["admins"], "x-other": "kept" };
    const transport = connect(server.url, { headers });
    const own = { "impersonate-user": "bob", "impersonate-group": ["a", "b"] };
    await transport.request({ method: "GET", path: "/" });
    await transport.request({ method: "GET", path: "/", headers: own });
    await transport.request({ method: "GET", path: "/", headers: { "impersonate-user": "eve" } });
    expect(server.seen[0]?.headers).toMatchObject({ "impersonate-user": "ann", "impersonate-group": "admins" });
    expect(server.seen[1]?.headers).toMatchObject({ "impersonate-user": "bob", "impersonate-group": "a, b" });
    expect(server.seen[2]?.headers).toMatchObject({ "impersonate-user": "eve", "x-other": "kept" });
    expect(server.seen[2]?.headers["impersonate-group"]).toBeUndefined();
  });

  it("sends no more requests at a time than it has reason to think the server bears, in their order", async () => {
    const open: ServerResponse[] = [];
    const order: string[] = [];
    let [most, now] = [0, 0];
    const server = await serve(({ url }, response) => {
      order.push(url);
      most = Math.max(most, ++now);
      response.once("close", () => now--);
      if (url === "/stream") response.writeHead(200).flushHeaders();
      else if (open.length < 33) open.push(response);
      else answer(response, 200, {});
    });
    const transport = connect(server.url, { clock: new VirtualClock() });
    const streams = Array.from({ length: 40 }, () =>
      transport.request({ method: "GET", path: "/stream", stream: true }),
    );
    for (const stream of streams) (await stream).body.destroy();
    while (now > 0) await pause(1);
    [most, order.length] = [0, 0];
    const all = Array.from({ length: 100 }, (_, i) => transport.request({ method: "GET", path: `/${i}` }));
    while (open.length < 32) await pause(1);
    expect(now).toBe(32);
    for (const response of open.splice(0)) answer(response, 200, {});
    const answering = setInterval(() => {
      for (const response of open.splice(0)) answer(response, 200, {});
    }, 1);
    onTestFinished(() => clearInterval(answering));
    await Promise.all(all);
    expect(most).toBeLessThanOrEqual(40);
    expect([...order].sort()).toEqual([...all.keys()].map((i) => `/${i}`).sort());
    const late = order.indexOf("/99");
    expect(late, "the last one asked for is among the last ones sent").toBeGreaterThan(60);
  });

  it("gives up a request that waits too long for its turn, and one that is aborted there", async () => {
    const server = await serve(() => undefined);
    const transport = connect(server.url);
    const hanging = Array.from({ length: 32 }, () => transport.request({ method: "GET", path: "/" }));
    for (const each of hanging) each.catch(() => undefined);
    while (server.seen.length < 32) await pause(1);
    const late = transport.request({ method: "GET", path: "/late", timeout: 20 });
    await expect(late).rejects.toMatchObject({ code: "LOTSE_TIMEOUT", phase: "queue" });
    const stop = new AbortController();
    const aborted = transport.request({ method: "GET", path: "/aborted", signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    const waiting = transport.request({ method: "GET", path: "/waiting" });
    await transport.close();
    await expect(waiting).rejects.toThrow("this client is closed");
    expect(server.seen).toHaveLength(32);
  });

  it("sends fewer at a time after a 429, but not after an eviction that a budget forbids", async () => {
    const open = new Set<ServerResponse>();
    const server = await serve(({ method, body }, response) => {
      if (method === "POST") return answer(response, 429, JSON.parse(body));
      open.add(response);
    });
    // No time passes: answers that a busy machine makes slow lower the limit as well.
    const transport = connect(server.url, { clock: new VirtualClock() });
    /** How many of many requests arrive as long as none is answered. */
    const atOnce = async (expected: number) => {
      const all = Array.from({ length: 64 }, () => transport.request({ method: "GET", path: "/" }));
      while (open.size < expected) await pause(1);
      await pause(20);
      const arrived = open.size;
      const answering = setInterval(() => {
        for (const response of open) answer(response, 200, {});
        open.clear();
      }, 1);
      await Promise.all(all);
      clearInterval(answering);
      return arrived;
    };
    const refuse = (details: object) =>
      expect(
        transport.request({ method: "POST", path: "/", retry: false, body: { message: "no", details } }),
      ).rejects.toThrow("no");
    await refuse({ causes: [{ reason: "DisruptionBudget" }] });
    expect(await atOnce(32)).toBe(32);
    const { length } = server.seen;
    await refuse({});
    expect(await atOnce(16)).toBeLessThan(24);
    expect(server.seen).toHaveLength(length + 65);
  });

  it("hands on whatever status there is where that is asked for, and sends nothing twice", async () => {
    const server = await serve(({ url }, response) => {
      if (url === "/own") return answer(response, 401, { apiVersion: "v1", ...status("Unauthorized", "who are you?") });
      response.writeHead(Number(url.slice(1)), { "retry-after": "0" }).end("said so");
    });
    const renewed: unknown[] = [];
    const credentials = {
      current: async () => anonymous,
      renew: async () => {
        renewed.push(anonymous);
        return false;
      },
    };
    const transport = connect(server.url, { credentials });
    for (const stream of [true, false]) {
      for (const code of [401, 404, 429, 500, 503]) {
        const response = await transport.request({ method: "GET", path: `/${code}`, stream, anyStatus: true });
        expect([response.status, await response.text()]).toEqual([code, "said so"]);
      }
    }
    expect(server.seen).toHaveLength(10);
    expect(renewed).toEqual([]);
    const refused = transport.request({ method: "GET", path: "/own", stream: true, anyStatus: true });
    await expect(refused).rejects.toBeInstanceOf(UnauthorizedError);
    expect(renewed).toHaveLength(1);
  });

  it("says that an answer is a web page or empty, who may have sent it, and where it points", async () => {
    const server = await serve(({ url }, response) => {
      if (url === "/login") {
        response.writeHead(302, { location: "https://sso.example.com/login" });
        return response.end("<html><head><title>Sign in</title></head></html>");
      }
      response.writeHead(200);
      response.end(url === "/page" ? "<!DOCTYPE html>\n<h1>It works!</h1>" : "");
    });
    const transport = connect(server.url);
    const said = async (path: string, stream = false) => {
      const response = await transport.request({ method: "GET", path, stream });
      const error = (await response.json().catch((reason) => reason)) as UnexpectedAnswerError;
      expect(error).toBeInstanceOf(UnexpectedAnswerError);
      expect(error).toMatchObject({ code: "LOTSE_UNEXPECTED_ANSWER", request: { path } });
      expect(error.hint).toContain("is this the address of a Kubernetes API server?");
      return error.message;
    };
    expect(await said("/page")).toBe('GET /page: the server answered 200, and not with JSON (a web page: "It works!")');
    expect(await said("/login", true)).toContain("302, pointing to https://sso.example.com/login, and not with JSON");
    expect(await said("/empty")).toContain("(nothing)");
  });

  it("says that the token has expired, and whose it is", async () => {
    const server = await serve((_, response) => answer(response, 401, status("Unauthorized", "Unauthorized")));
    const token = jwt({ exp: Date.parse("2020-01-01T00:00:00Z") / 1_000 });
    const credentials = { current: async () => ({ ...anonymous, token }), renew: async () => false };
    const transport = new HttpTransport(
      {
        ...{ server: server.url, namespace: "default", source: "kubeconfig", credentials, headers: {} },
        context: "main",
        origin: { files: "/home/ann/.kube/config", user: "ann" },
      },
      { clock: systemClock, random: () => 0, timeoutMs: 30_000, http },
    );
    onTestFinished(() => transport.close());
    const error = await transport.request({ method: "GET", path: "/" }).catch((reason) => reason);
    expect(error).toBeInstanceOf(UnauthorizedError);
    expect(error.hint).toBe(
      'the token of the user "ann" expired at 2020-01-01T00:00:00.000Z (context "main" in /home/ann/.kube/config): log in again',
    );
  });

  it("gets the credentials anew when it is told to", async () => {
    const asked: unknown[] = [];
    const credentials: Credentials = {
      current: async () => anonymous,
      renew: async () => false,
      reload: async (what) => {
        asked.push(what);
        return anonymous;
      },
    };
    await connect("http://127.0.0.1:1", { credentials }).reauthenticate();
    expect(asked).toEqual(["all"]);
  });

  it("refuses requests after it was closed, and lets the idle connections go", async () => {
    const server = await serve((_, response) => answer(response, 200, {}));
    const transport = connect(server.url);
    await transport.request({ method: "GET", path: "/" });
    expect(await server.connections()).toBe(1);
    await transport.close();
    while ((await server.connections()) > 0) await pause(1);
    await expect(transport.request({ method: "GET", path: "/" })).rejects.toThrow("this client is closed");
  });
});

async function serveHanging(onRequest: (response: ServerResponse) => void): Promise<TestServer> {
  return serve((_, response) => onRequest(response));
}
