import { Duplex } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import type { WireExchange } from "./exchange.ts";
import { ConnectionPool, type PoolOptions } from "./pool.ts";

/** A socket whose other end is the test. */
class FakeSocket extends Duplex {
  readonly sent: string[] = [];
  referenced = true;
  timeoutMs = 0;
  answer: (text: string) => void = () => undefined;

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.sent.push(chunk.toString("latin1"));
    done();
  }

  ref(): void {
    this.referenced = true;
  }

  unref(): void {
    this.referenced = false;
  }

  setTimeout(ms: number): void {
    this.timeoutMs = ms;
  }
}

/** A pool, its sockets in the order in which they were opened, and what became of exchanges. */
function start(o: Partial<PoolOptions> = {}) {
  const sockets: FakeSocket[] = [];
  const log: string[] = [];
  const pool = new ConnectionPool({
    monotonic: () => 0,
    idleMs: 55_000,
    dial: (onBytes) => {
      const socket = new FakeSocket();
      socket.answer = (text) => onBytes(Buffer.from(text));
      sockets.push(socket);
      return { socket, ready: undefined };
    },
    ...o,
  });
  onTestFinished(() => pool.destroy());
  const send = (name: string, agrees = true): WireExchange => {
    const exchange: WireExchange = {
      method: "GET",
      head: `GET /${name} HTTP/1.1\r\n\r\n`,
      body: undefined,
      connection: undefined,
      onConnected: () => agrees,
      onHead: () => undefined,
      onBody: () => undefined,
      onEnd: () => log.push(`${name} ended`),
      onFailure: ({ message }) => log.push(`${name} failed: ${message}`),
    };
    pool.send(exchange);
    return exchange;
  };
  return { pool, sockets, log, send };
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

describe("a pool of connections", () => {
  it("opens no more than it may; what waits goes in its order, and may leave", () => {
    const { pool, sockets, log, send } = start({ most: 2 });
    const [, , third] = ["a", "b", "c", "d"].map((name) => send(name));
    expect(pool.state).toEqual({ open: 2, idle: 0, waiting: 2 });
    pool.cancel(third as WireExchange);
    sockets[0]?.answer(OK);
    expect(sockets[0]?.sent.join("")).toContain("GET /d ");
    expect([pool.state, log]).toEqual([{ open: 2, idle: 0, waiting: 0 }, ["a ended"]]);
  });

  it("opens another one for what waits when one breaks", () => {
    const { pool, sockets, log, send } = start({ most: 1 });
    send("a");
    send("b");
    sockets[0]?.answer("nonsense");
    expect(sockets[1]?.sent.join("")).toContain("GET /b ");
    expect(pool.state).toEqual({ open: 1, idle: 0, waiting: 0 });
    expect(log).toEqual(["a failed: its answer is no proper HTTP: it does not begin with HTTP/1"]);
  });

  it("uses the last one that was used, and closes the one on which something comes unasked", () => {
    const { pool, sockets, send } = start();
    for (const name of ["a", "b"]) send(name);
    for (const socket of sockets) socket.answer(OK);
    send("c");
    expect(sockets[1]?.sent).toHaveLength(2);
    sockets[0]?.answer(OK);
    expect([sockets[0]?.destroyed, pool.state]).toEqual([true, { open: 1, idle: 0, waiting: 0 }]);
  });

  it("gives an idle connection a time limit, and lets it keep no process alive", async () => {
    let now = 0;
    const { pool, sockets, send } = start({ monotonic: () => now });
    send("a");
    sockets[0]?.answer("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=7\r\nContent-Length: 0\r\n\r\n");
    // A second less than the server says, so that none is used while it is being closed.
    await expect.poll(() => sockets[0]?.timeoutMs).toBe(4_000);
    expect(sockets[0]?.referenced).toBe(false);
    send("b");
    expect([sockets[0]?.referenced, sockets[0]?.timeoutMs]).toEqual([true, 0]);
    sockets[0]?.answer(OK);
    await expect.poll(() => sockets[0]?.timeoutMs).toBe(55_000);
    sockets[0]?.emit("timeout");
    expect([sockets[0]?.destroyed, pool.state.open]).toEqual([true, 0]);
    send("c");
    sockets[1]?.answer(OK);
    await expect.poll(() => sockets[1]?.timeoutMs).toBe(55_000);
    // The process was stopped, and its timers are late.
    now = 60_000;
    send("d");
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, false]);
  });

  it("keeps a connection on which nothing was sent, because the exchange did not agree", () => {
    const { pool, sockets, send } = start();
    send("a", false);
    expect([sockets[0]?.sent, pool.state]).toEqual([[], { open: 1, idle: 1, waiting: 0 }]);
  });

  it("closes a connection with the exchange that leaves it", () => {
    const { pool, sockets, log, send } = start();
    pool.cancel(send("a"));
    expect([sockets[0]?.destroyed, pool.state.open, log]).toEqual([true, 0, []]);
  });

  it("lets work come to its end when it is retired, and keeps nothing", () => {
    const { pool, sockets, log, send } = start();
    for (const name of ["a", "b"]) send(name);
    sockets[0]?.answer(OK);
    pool.retire();
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false]);
    sockets[1]?.answer(OK);
    expect([sockets[1]?.destroyed, log]).toEqual([true, ["a ended", "b ended"]]);
  });

  it("ends everything when it is destroyed, and opens nothing for what waits", () => {
    const { pool, sockets, log, send } = start({ most: 1 });
    for (const name of ["a", "b"]) send(name);
    pool.destroy();
    expect(log).toEqual(["a failed: socket hang up", "b failed: socket hang up"]);
    expect([sockets.length, pool.state]).toEqual([1, { open: 0, idle: 0, waiting: 0 }]);
  });

  it("tells the exchange when no socket can be opened", async () => {
    const { log, send } = start({ dial: async () => Promise.reject(new Error("no proxy")) });
    send("a");
    await expect.poll(() => log).toEqual(["a failed: no proxy"]);
  });
});
