/**
 * What a transport does with bytes on sockets, the same for connections of our own and for `node:http`: the server of these
 * tests sends exactly what a test says, over plain sockets and over TLS.
 */
import { once } from "node:events";
import * as net from "node:net";
import * as tls from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { TEST_CA, TEST_SERVER_CERT, TEST_SERVER_KEY } from "../fixtures/index.ts";
import { type Clock, systemClock } from "../meta/index.ts";
import { failure } from "../test-failure.ts";
import { ConnectionError } from "./errors.ts";
import { HttpTransport, type HttpTransportOptions } from "./http.ts";
import type { RawRequest, RequestAttempt } from "./request.ts";

/** One request as it came, and the socket to answer on. */
interface Asked {
  readonly head: string;
  readonly body: string;
  readonly socket: net.Socket;
  /** Which connection, from 1. */
  readonly connection: number;
}

type Answering = (asked: Asked) => void;

/** Reads requests with a length off sockets, one after the other, and lets the test answer in bytes. */
async function serve(secure: boolean, answer: Answering) {
  let connections = 0;
  const sockets = new Set<net.Socket>();
  const resumed: boolean[] = [];
  const seen: Asked[] = [];
  const onSocket = (socket: net.Socket) => {
    const connection = ++connections;
    sockets.add(socket);
    socket.setNoDelay(true);
    if (socket instanceof tls.TLSSocket) resumed.push(socket.isSessionReused());
    socket.on("error", () => socket.destroy());
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
      for (let end = received.indexOf("\r\n\r\n"); end >= 0; end = received.indexOf("\r\n\r\n")) {
        const head = received.slice(0, end);
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
        if (received.length < end + 4 + length) return;
        const body = received.slice(end + 4, end + 4 + length);
        received = received.slice(end + 4 + length);
        const asked = { head, body, socket, connection };
        seen.push(asked);
        answer(asked);
      }
    });
  };
  const server = secure
    ? tls.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY }, onSocket)
    : net.createServer(onSocket);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as net.AddressInfo;
  const url = `${secure ? "https" : "http"}://localhost:${port}`;
  return { url, seen, resumed, sockets, connections: () => connections };
}

/** Real time for sockets, none for the waits between attempts. */
const hastyClock: Clock = {
  ...systemClock,
  after: (ms, fn) => systemClock.after(ms >= 20_000 ? ms : 0, fn),
};

const OK = "HTTP/1.1 200 OK\r\n";
const EMPTY = `${OK}Content-Length: 2\r\n\r\n{}`;
const GET: RawRequest = { method: "GET", path: "/" };

describe.each([
  ["own", "plain"],
  ["node", "plain"],
  ["own", "TLS"],
  ["node", "TLS"],
] as const)("a transport with %s connections over %s sockets", (http, sort) => {
  const secure = sort === "TLS";

  async function start(answer: Answering, o: Partial<HttpTransportOptions> = {}) {
    const server = await serve(secure, answer);
    const material = { ca: TEST_CA, rejectUnauthorized: true };
    const credentials = { current: async () => ({ tls: material }), renew: async () => false };
    const transport = new HttpTransport(
      { server: server.url, namespace: "default", source: "url", credentials, headers: {} },
      { clock: hastyClock, random: () => 0, timeoutMs: 30_000, http, ...o },
    );
    onTestFinished(() => transport.close());
    const text = async (request: Partial<RawRequest> = {}) => (await transport.request({ ...GET, ...request })).text();
    return { ...server, transport, text };
  }

  /** One answer, byte by byte: each in a packet of its own. */
  function dribble(socket: net.Socket, bytes: string): void {
    let at = 0;
    const next = () => {
      if (at < bytes.length) socket.write(bytes.slice(at, ++at), "latin1", () => setImmediate(next));
    };
    next();
  }

  it.each([
    ["a length", `${OK}Content-Length: 5\r\n\r\nhello`],
    ["chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`],
    ["chunks with extensions", `${OK}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3;c="d e"\r\nllo\r\n0;z\r\n\r\n`],
    ["chunks and trailers", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n`],
    ["an announcement before it", `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`],
    ["a reason of its own", "HTTP/1.1 200 F\xfcr dich\r\nContent-Length: 5\r\n\r\nhello"],
    ["no reason", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"],
  ])("reads an answer with %s, whole and byte by byte, and uses the connection again", async (_, answer) => {
    const { text, connections } = await start(({ socket, head }) => {
      if (head.includes("/slow")) dribble(socket, answer);
      else socket.write(answer, "latin1");
    });
    for (const path of ["/", "/slow", "/"]) expect(await text({ path })).toBe("hello");
    expect(connections()).toBe(1);
  });

  it.each([
    ["has no length", `${OK}\r\nhello`],
    ["is of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    ["says that it is the last one", `${OK}Connection: close\r\nContent-Length: 5\r\n\r\nhello`],
  ])("reads an answer that %s, and asks on another connection", async (_, answer) => {
    const { text, connections } = await start(({ socket }) => void socket.end(answer));
    for (let i = 0; i < 2; i++) expect(await text()).toBe("hello");
    expect(connections()).toBe(2);
  });

  it.each([204, 304])("expects no body with a %d, whatever its headers say", async (status) => {
    const { transport } = await start(({ socket }) => void socket.write(`HTTP/1.1 ${status} None\r\n\r\n`));
    const response = await transport.request(GET);
    expect([response.status, await response.text()]).toEqual([status, ""]);
  });

  it("expects no body after HEAD, though its length is told", async () => {
    const { text, transport, connections } = await start(({ socket, head }) => {
      socket.write(head.startsWith("HEAD") ? `${OK}Content-Length: 500\r\n\r\n` : EMPTY);
    });
    const response = await transport.request({ method: "HEAD", path: "/" });
    expect(response.headers["content-length"]).toBe("500");
    expect(await text()).toBe("{}");
    expect(connections()).toBe(1);
  });

  it("hands headers on in lower case, and what came twice as its name allows", async () => {
    const fields = "X-Two: a\r\nETag: 1\r\nSet-Cookie: a\r\nx-two: b\r\nEtag: 2\r\nset-cookie: b\r\nX-Byte: \xe9 \r\n";
    const { transport } = await start(({ socket }) => {
      socket.write(`${OK}${fields}Content-Length: 0\r\n\r\n`, "latin1");
    });
    expect((await transport.request(GET)).headers).toEqual({
      "x-two": "a, b",
      etag: "1",
      "set-cookie": ["a", "b"],
      "x-byte": "\xe9",
      "content-length": "0",
    });
  });

  it.each([
    ["a length that is none", `${OK}Content-Length: -1\r\n\r\n`],
    ["two lengths", `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}}`],
    ["a length and chunks", `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["a header that is folded", `${OK}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n`],
    ["a header without a colon", `${OK}nonsense\r\n\r\n`],
    ["a blank before the colon", `${OK}Content-Length : 2\r\n\r\n{}`],
    ["a zero byte", `${OK}X-A: \0\r\nContent-Length: 0\r\n\r\n`],
    ["a chunk whose size is none", `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
    ["a chunk that is longer than it says", `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n`],
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
  ])("refuses an answer with %s, closes the connection, and repeats what may be repeated", async (_, answer) => {
    const { text, connections, seen } = await start(({ socket, connection }) => {
      socket.write(connection < 2 ? answer : EMPTY, "latin1");
    });
    expect(await text()).toBe("{}");
    expect([connections(), seen.length]).toEqual([2, 2]);
  });

  it("does not repeat a POST whose answer it refuses, for the server has acted", async () => {
    const { transport, seen } = await start(({ socket }) => void socket.write(`${OK}: x\r\n\r\n`));
    const error = await failure(transport.request({ method: "POST", path: "/", body: {} }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: true, lasting: false });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["before an answer", ""],
    ["in its head", `${OK}Content-Le`],
    ["in its body", `${OK}Content-Length: 10\r\n\r\nhello`],
    ["between chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`],
  ])("repeats a GET and no POST when the connection ends %s", async (_, part) => {
    const { text, transport, seen } = await start(({ socket, connection }) => {
      if (connection === 2) socket.write(EMPTY);
      else socket.end(part);
    });
    expect(await text()).toBe("{}");
    seen[1]?.socket.destroy();
    const error = await failure(transport.request({ method: "POST", path: "/" }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: expect.stringContaining("lost the connection") });
  });

  it("sends a GET again whose kept connection the server closes instead of an answer, and no POST", async () => {
    const { text, transport, connections } = await start(({ socket, head, connection }) => {
      if ((connection === 1 && head.includes("/second")) || head.startsWith("POST")) socket.destroy();
      else socket.write(EMPTY);
    });
    await text();
    expect(await text({ path: "/second" })).toBe("{}");
    expect(connections()).toBe(2);
    const error = await failure(transport.request({ method: "POST", path: "/" }));
    expect(error).toMatchObject({ code: "LOTSE_CONNECTION", sent: true });
    expect(connections()).toBe(2);
  });

  it("never takes what comes unasked for the answer to the next request", async () => {
    const { text, connections } = await start(({ socket, connection }) => {
      const unasked = `${OK}Content-Length: 4\r\n\r\n"no"`;
      socket.write(connection === 1 ? EMPTY + unasked : EMPTY);
    });
    expect(await text()).toBe("{}");
    expect(await text()).toBe("{}");
    expect(connections()).toBe(2);
  });

  it("sends what it is given, with a length where there is a body or could be one", async () => {
    const { text, seen } = await start(({ socket }) => void socket.write(EMPTY));
    await text({ query: { a: "ä b", c: "x~y'*", d: true } });
    await text({ method: "POST" });
    await text({ method: "POST", body: "größe" });
    await text({ method: "PUT", body: { x: "y".repeat(200_000) } });
    await text({ method: "DELETE", body: new Uint8Array([65, 66]), headers: { "Content-Type": "a/b" } });
    await text({ method: "DELETE" });
    const lines = seen.map(({ head }) => head.split("\r\n"));
    const lengths = lines.map((list) => list.find((line) => /^content-length/i.test(line))?.split(": ")[1]);
    expect(lengths).toEqual([undefined, "0", "7", String(200_008), "2", undefined]);
    expect(lines[0]?.[0]).toBe("GET /?a=%C3%A4+b&c=x%7Ey%27*&d=true HTTP/1.1");
    expect(seen.map(({ body }) => body.length)).toEqual([0, 0, 7, 200_008, 2, 0]);
    expect(lines.map((list) => list.filter((line) => /^host: localhost:\d+$/i.test(line)).length)).toEqual(
      lines.map(() => 1),
    );
    expect(lines[4]?.filter((line) => /^content-type/i.test(line))).toHaveLength(1);
  });

  it.each([
    ["a line break in a header", { headers: { "x-a": "b\r\nx-c: d" } }],
    ["a line feed in a header", { headers: { "x-a": "b\nc" } }],
    ["a zero byte in a header", { headers: { "x-a": "b\0" } }],
    ["a character that is no byte", { headers: { "x-a": "→" } }],
    ["a line break in a name", { headers: { "x-a: b\r\nx-c": "d" } }],
    ["a line break among several values", { headers: { "x-a": ["b", "c\r\nd: e"] } }],
    ["a line break in the path", { path: "/a\r\nx-b: c" }],
    ["a blank in the path", { path: "/a HTTP/1.1" }],
    ["a line break in the method", { method: "GET / HTTP/1.1\r\nX:" }],
  ])("sends nothing of a request with %s", async (_, part) => {
    const { text, seen } = await start(({ socket }) => void socket.write(EMPTY));
    await text();
    const error = await failure(text({ ...part, retry: false }));
    expect(error).toBeInstanceOf(TypeError);
    expect(await text()).toBe("{}");
    expect(seen).toHaveLength(2);
  });

  it("asks beforeSend when the connection stands, and right before the bytes", async () => {
    const order: string[] = [];
    const server = await start(({ socket }) => {
      order.push("arrived");
      socket.write(EMPTY);
    });
    for (let i = 0; i < 2; i++) {
      await server.text({
        beforeSend: () => {
          order.push(`asked with ${server.connections()}`);
        },
      });
    }
    // A plain server hears of a connection a moment after the client.
    expect(order.map((one) => one.replace(/ with \d/, ""))).toEqual(["asked", "arrived", "asked", "arrived"]);
    const refusal = new Error("not now");
    const attempts: RequestAttempt[] = [];
    const refused = server.text({
      beforeSend: () => {
        throw refusal;
      },
      onAttempt: (attempt) => attempts.push(attempt),
    });
    expect(await failure(refused)).toBe(refusal);
    expect(attempts).toEqual([]);
    expect(await server.text()).toBe("{}");
    expect(server.seen).toHaveLength(3);
  });

  it("tells of each attempt with its bytes", async () => {
    const { text } = await start(({ socket, connection }) => {
      if (connection === 1) socket.end("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbusy");
      else socket.write(EMPTY);
    });
    const attempts: RequestAttempt[] = [];
    await text({ method: "PUT", body: "größe", onAttempt: (attempt) => attempts.push(attempt) });
    expect(attempts).toEqual([
      { status: 503, sentBytes: 7, receivedBytes: 4 },
      { status: 200, sentBytes: 7, receivedBytes: 2 },
    ]);
  });

  it("holds the server back while a stream is not read, and gives all of it in the end", async () => {
    const size = 8 * 1024 * 1024;
    let pushed = 0;
    const { transport } = await start(({ socket }) => {
      socket.write(`${OK}Content-Length: ${size}\r\n\r\n`);
      const piece = Buffer.alloc(64 * 1024, "x");
      const more = () => {
        while (pushed < size) {
          pushed += piece.length;
          if (!socket.write(piece)) return void socket.once("drain", more);
        }
      };
      more();
    });
    const { body } = await transport.request({ ...GET, stream: true });
    let [received, most] = [0, 0];
    // A reader at leisure: the event loop turns after each piece, so that everything would come in that is let in.
    for await (const chunk of body) {
      received += (chunk as Buffer).length;
      most = Math.max(most, body.readableLength);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([received, pushed]).toEqual([size, size]);
    expect(most).toBeLessThan(1024 * 1024);
  });

  it("gives a stream piece by piece, and closes the connection of one that is left", async () => {
    const closed: Promise<unknown>[] = [];
    const { transport } = await start(({ socket }) => {
      closed.push(once(socket, "close"));
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n`);
    });
    const { body } = await transport.request({ ...GET, stream: true });
    const [first] = (await once(body, "data")) as [Buffer];
    expect(first.toString()).toBe("one\n");
    body.destroy();
    await closed[0];
  });

  it("ends a stream with an error when the connection breaks, and without one at its proper end", async () => {
    const { transport } = await start(({ socket, head }) => {
      const begun = `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n`;
      if (head.includes("/proper")) socket.write(`${begun}0\r\n\r\n`);
      else socket.end(begun);
    });
    const read = async (path: string) => (await transport.request({ method: "GET", path, stream: true })).text();
    expect(await read("/proper")).toBe("one\n");
    expect(await failure(read("/"))).toMatchObject({ code: "ECONNRESET" });
  });

  it("goes on with a TLS session on new connections", async () => {
    const { text, resumed } = await start(({ socket }) => {
      socket.end(`${OK}Connection: close\r\nContent-Length: 2\r\n\r\n{}`);
    });
    for (let i = 0; i < 3; i++) await text();
    expect(resumed).toEqual(secure ? [false, true, true] : []);
  });

  it("lets the process's other work go on while many requests share few connections", async () => {
    const { text, connections } = await start(({ socket }) => void socket.write(EMPTY));
    await Promise.all(Array.from({ length: 200 }, () => text()));
    expect(connections()).toBeLessThanOrEqual(64);
  });
});
