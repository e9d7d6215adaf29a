import { request as httpRequest, type IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { apiErrorFrom, Client, defineKind, type RawRequest, type RawResponse, type Transport } from "@lotse/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RunningConsole, startConsole } from "./console.ts";
import type { ConsoleRecord } from "./feed.ts";

const Rate = defineKind({ group: "rates.example.com", version: "v1", kind: "Rate" });
const RATES = "/apis/rates.example.com/v1/rates";
const EUR = "/apis/rates.example.com/v1/namespaces/default/rates/eur";

const eur = {
  apiVersion: "rates.example.com/v1",
  kind: "Rate",
  metadata: { name: "eur", namespace: "default", uid: "u1", resourceVersion: "5" },
  status: { rate: 1.08, lotse: { rates: { uid: "u1", handled: "d" } } },
};

/** A server with one object, behind a real client. */
class FakeServer implements Transport {
  readonly requests: RawRequest[] = [];
  readonly #watches = new Set<PassThrough>();

  async request(request: RawRequest): Promise<RawResponse> {
    this.requests.push(request);
    const { method, path, query = {}, headers = {}, signal } = request;
    if (path === RATES && query.watch) return answer(this.#watch(signal));
    if (path === RATES && headers.accept?.includes("as=Table")) return answer(table(query.continue));
    if (path === RATES) return answer({ kind: "RateList", metadata: { resourceVersion: "5" }, items: [eur] });
    if (path === EUR) return answer(eur);
    throw apiErrorFrom(404, { message: "not found" }, { method, path });
  }

  send(type: string, object: unknown): void {
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type, object })}\n`);
  }

  async close(): Promise<void> {}

  #watch(signal: AbortSignal | undefined): PassThrough {
    const stream = new PassThrough();
    this.#watches.add(stream);
    const end = () => stream.destroy();
    signal?.addEventListener("abort", end);
    return stream.once("close", () => this.#watches.delete(stream));
  }
}

function table(token: unknown) {
  const second = token === "two";
  const row = { cells: [second ? "usd" : "eur", 1.08], object: { metadata: eur.metadata } };
  return {
    kind: "Table",
    metadata: second ? {} : { continue: "two" },
    columnDefinitions: second
      ? null
      : [
          { name: "Name", format: "name" },
          { name: "Rate", type: "number" },
        ],
    rows: [row],
  };
}

function answer(value: unknown): RawResponse {
  const body = value instanceof PassThrough ? value : new PassThrough();
  return {
    status: 200,
    headers: {},
    body,
    json: async <T>() => value as T,
    text: async () => JSON.stringify(value),
  };
}

let server: FakeServer;
let page: RunningConsole;

beforeEach(async () => {
  server = new FakeServer();
  const client = await Client.connect({ url: "https://fake:6443", transport: server });
  page = await startConsole({ client, kinds: [Rate, Rate, "unheard-of"] });
});

afterEach(() => page.stop());

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  readonly body: any;
}

const tokenOf = (url: string): string => new URL(url).hash.slice("#token=".length);
const bearer = () => ({ authorization: `Bearer ${tokenOf(page.url)}` });

const get = async (path: string, headers: Record<string, string> = bearer()): Promise<Answer> => {
  const response = await fetch(new URL(path, page.url), { headers });
  return { status: response.status, body: await response.json() };
};

/** `fetch` does not let a Host through. */
function send(options: {
  method?: string;
  host?: string;
  path?: string;
  headers?: Record<string, string>;
}): Promise<IncomingMessage> {
  const { port } = new URL(page.url);
  return new Promise((resolve, reject) => {
    const { method = "GET", path = "/api/kinds", host } = options;
    const headers = { ...bearer(), ...options.headers, ...(host === undefined ? {} : { host }) };
    httpRequest({ host: "127.0.0.1", port, method, path, headers }, (response) => resolve(response.resume()))
      .once("error", reject)
      .end();
  });
}

interface Told {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
}

/** An open page: what happens from now on, and the kept lines, can be taken one by one. */
async function openPage(lastId?: string) {
  const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
  const url = new URL("/api/events", page.url);
  url.searchParams.set("token", tokenOf(page.url));
  const response = await fetch(url, { headers });
  const all = parseEvents(response.body as unknown as AsyncIterable<Uint8Array>);
  const next = async (event: string): Promise<Told> => {
    for (;;) {
      const { value, done } = await all.next();
      if (done) throw new Error(`the stream ended before ${event}`);
      if (value.event === event) return value;
    }
  };
  return { next, close: () => all.return(undefined) };
}

async function* parseEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Told, void, undefined> {
  let text = "";
  for await (const chunk of chunks) {
    text += Buffer.from(chunk).toString();
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1];
      const data = field("data");
      if (data !== undefined) yield { event: field("event"), id: field("id"), data: JSON.parse(data) };
    }
  }
}

const record = (message: string): ConsoleRecord => ({ time: 1, level: "info", message, fields: {} });

test("the page and its files are served with a policy that allows nothing foreign", async () => {
  const response = await fetch(page.url);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  const html = await response.text();
  const named = [...html.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path as string);
  expect(named.length).toBeGreaterThan(2);
  for (const path of named) expect((await fetch(new URL(path, page.url))).status, path).toBe(200);
  expect(html).not.toMatch(/https?:/);
});

test("every module that the page imports is served", async () => {
  const todo = ["/page.js"];
  for (const path of todo) {
    const response = await fetch(new URL(path, page.url));
    expect(response.headers.get("content-type"), path).toContain("text/javascript");
    for (const [, next] of (await response.text()).matchAll(/from "\.(\/[^"]+)"/g)) {
      if (next && !todo.includes(next)) todo.push(next);
    }
  }
  expect(todo.length).toBeGreaterThan(1);
});

test("each kind is told once, with its state", async () => {
  const { body } = await get("/api/kinds");
  expect(body.server).toBe("https://fake:6443");
  expect(body.kinds).toMatchObject([
    { id: "rates.rates.example.com", kind: "Rate", group: "rates.example.com", version: "v1", namespaced: true },
    { id: "unheard-of" },
  ]);
});

test("the objects of a kind come from the server's Table, over all pages", async () => {
  const { body } = await get("/api/objects?kind=rates.rates.example.com");
  expect(body).toMatchObject({
    columns: [{ name: "Rate", type: "number" }],
    rows: [
      { namespace: "default", name: "eur", cells: [1.08] },
      { namespace: "default", name: "eur" },
    ],
    truncated: false,
  });
});

test("an object comes with its YAML and its record", async () => {
  const { body } = await get("/api/object?kind=rates.rates.example.com&namespace=default&name=eur");
  expect(body.object.status.rate).toBe(1.08);
  expect(body.yaml).toContain("kind: Rate\n");
  expect(body.records).toEqual({ rates: { uid: "u1", handled: "d" } });
});

test("what is not there is told as such", async () => {
  expect(await get("/api/object?kind=rates.rates.example.com&namespace=default&name=gone")).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining("not found") },
  });
  expect(await get("/api/objects?kind=secrets")).toMatchObject({ status: 404 });
  expect(await get("/api/objects")).toMatchObject({ status: 400 });
  expect(await get("/../package.json")).toMatchObject({ status: 404 });
});

test("a kind that the console does not show is never asked for", async () => {
  await get("/api/object?kind=secrets&namespace=default&name=x");
  expect(server.requests.filter(({ path }) => path.includes("secrets"))).toEqual([]);
});

test("nothing but reading is possible", async () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const response = await send({ method });
    expect(response.statusCode, method).toBe(405);
    expect(response.headers.allow).toBe("GET, HEAD");
  }
});

test("a foreign host name is refused, an address and localhost are not", async () => {
  const status = async (host: string) => (await send({ host })).statusCode;
  expect(await status("evil.example.com")).toBe(403);
  expect(await status("evil.example.com:80")).toBe(403);
  expect(await status("127.0.0.1.evil.example.com")).toBe(403);
  expect(await status("localhost:1234")).toBe(200);
  expect(await status("[::1]:1234")).toBe(200);
  expect(await status("127.0.0.1")).toBe(200);
});

test("objects and log are for whoever has the whole address; the page itself loads without", async () => {
  expect(page.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
  const refused = {
    status: 401,
    body: {
      error: "the console shows objects only to whoever has its token",
      hint: "open the whole address that `lotse dev` printed, with what follows the #",
    },
  };
  for (const path of ["/api/kinds", "/api/events", "/api/objects?kind=rates.rates.example.com", "/api/none"]) {
    for (const authorization of ["", "Bearer wrong", `Bearer ${tokenOf(page.url)}x`, tokenOf(page.url)]) {
      expect(await get(path, { authorization }), path).toEqual(refused);
    }
    expect(await get(`${path}${path.includes("?") ? "&" : "?"}token=wrong`, {}), path).toEqual(refused);
  }
  expect((await get("/api/kinds")).status).toBe(200);
  expect((await get(`/api/kinds?token=${tokenOf(page.url)}`, {})).status).toBe(200);
  for (const path of ["/", "/session.js", "/icon.svg"]) {
    expect((await fetch(new URL(path, page.url))).status, path).toBe(200);
  }
  const client = await Client.connect({ url: "https://fake:6443", transport: server });
  await using other = await startConsole({ client, kinds: [] });
  expect(tokenOf(other.url)).not.toBe(tokenOf(page.url));
});

test("another web page may lead to the console, but gets nothing of it", async () => {
  const status = async (path: string, headers: Record<string, string>) => (await send({ path, headers })).statusCode;
  for (const path of ["/api/kinds", "/api/events", "/api/objects?kind=x"]) {
    expect(await status(path, { origin: "https://evil.example" }), path).toBe(403);
    expect(await status(path, { "sec-fetch-site": "cross-site" }), path).toBe(403);
    expect(await status(path, { "sec-fetch-site": "same-site" }), path).toBe(403);
  }
  expect(await status("/", { "sec-fetch-site": "cross-site" })).toBe(200);
  expect(await status("/api/kinds", { "sec-fetch-site": "same-origin" })).toBe(200);
});

test("log lines reach a page that is there and one that comes later", async () => {
  page.sink(record("early"));
  const open = await openPage();
  const early = await open.next("log");
  expect(early.data.message).toBe("early");
  page.sink(record("late"));
  expect((await open.next("log")).data.message).toBe("late");
  const back = await openPage(early.id);
  expect((await back.next("log")).data.message).toBe("late");
});

test("changes of objects are told as they happen, and counted", async () => {
  const counted = async () => (await get("/api/kinds")).body.kinds[0];
  await expect.poll(counted).toMatchObject({ count: 1, phase: "watching" });
  const open = await openPage();
  server.send("ADDED", { ...eur, metadata: { ...eur.metadata, name: "usd", uid: "u2", resourceVersion: "6" } });
  expect((await open.next("change")).data).toEqual({
    kind: "rates.rates.example.com",
    type: "ADDED",
    namespace: "default",
    name: "usd",
    uid: "u2",
  });
  expect((await open.next("kind")).data).toMatchObject({ id: "rates.rates.example.com", count: 2 });
  server.send("DELETED", { ...eur, metadata: { ...eur.metadata, resourceVersion: "7" } });
  expect((await open.next("change")).data).toMatchObject({ type: "DELETED", name: "eur" });
  expect((await open.next("kind")).data).toMatchObject({ count: 1 });
});

test("a kind that is not there is told with its reason", async () => {
  const missing = async () => (await get("/api/kinds")).body.kinds[1];
  await expect.poll(missing).toMatchObject({ phase: "waiting", problem: "not found" });
});

test("other kinds can be shown, and those that stay are not asked for again", async () => {
  const watches = () => server.requests.filter(({ query }) => query?.watch).length;
  await expect.poll(watches).toBe(1);
  const open = await openPage();
  page.show(["another", Rate]);
  await open.next("kinds");
  const { body } = await get("/api/kinds");
  expect(body.kinds.map(({ id }: { id: string }) => id)).toEqual(["another", "rates.rates.example.com"]);
  expect(body.kinds[1]).toMatchObject({ count: 1, phase: "watching" });
  expect(watches()).toBe(1);
  page.show([]);
  expect((await get("/api/objects?kind=rates.rates.example.com")).status).toBe(404);
});

test("a port in use is told with what to do", async () => {
  const client = await Client.connect({ url: "https://fake:6443", transport: server });
  const port = Number(new URL(page.url).port);
  await expect(startConsole({ client, kinds: [], port })).rejects.toMatchObject({
    message: `the console cannot listen on 127.0.0.1:${port}: the port is in use`,
    hint: "stop the other program, or choose another port",
  });
});

test("stopping ends open pages and takes further lines in silence", async () => {
  const open = await fetch(new URL("/api/events", page.url), { headers: bearer() });
  expect(open.status).toBe(200);
  const ended = open.text().then(
    () => "ended",
    () => "cut",
  );
  await page.stop();
  expect(await ended).toMatch(/ended|cut/);
  page.sink(record("too late"));
  await expect(fetch(page.url)).rejects.toThrow();
});
