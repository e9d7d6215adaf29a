/**
 * Connections through a SOCKS 5 proxy (RFC 1928, with user name and password by RFC 1929).
 *
 *     greeting: the ways to log in that we know ──► the one that the proxy chooses ──► log in ──► CONNECT host:port
 *
 * The proxy resolves the host name, for `socks5` as for `socks5h`: kubectl does so too, and inside a cluster's network
 * are names that nothing outside of it knows.
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import * as net from "node:net";
import { PROXY_PATIENCE_MS, ProxyError } from "./proxy-error.ts";

const VERSION = 5;
const NO_LOGIN = 0;
const PASSWORD = 2;
const NONE_ACCEPTABLE = 0xff;
const ADDRESS = { ipv4: 1, name: 3, ipv6: 4 } as const;

/** What the codes of a reply mean; from the RFC. */
const REPLIES: Readonly<Record<number, string>> = {
  1: "it failed",
  2: "its rules do not allow the connection",
  3: "the network is unreachable from there",
  4: "the host is unreachable from there",
  5: "the server refused the connection",
  6: "the server is too far away",
  7: "it cannot connect for others",
  8: "it does not know this kind of address",
};

/** A socket whose other end is `target`. */
export async function openSocksTunnel(
  proxy: URL,
  target: { readonly host: string; readonly port: number },
): Promise<net.Socket> {
  const where = { host: proxy.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(proxy.port || 1080) };
  const socket = net.connect(where);
  const giveUp = () => socket.destroy(new Error("it does not answer"));
  socket.setTimeout(PROXY_PATIENCE_MS).once("timeout", giveUp);
  // Between two answers this code does not listen, and an unheard error ends the process.
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect");
    const reader = new Reader(socket);
    await logIn(socket, reader, proxy);
    await connect(socket, reader, target, proxy);
    reader.release();
    // What goes through the tunnel may be quiet as long as it likes.
    return socket.setTimeout(0).off("timeout", giveUp);
  } catch (cause) {
    socket.destroy();
    if (cause instanceof ProxyError) throw cause;
    throw new ProxyError(`the proxy ${proxy.host} failed: ${(cause as Error).message}`, { cause });
  }
}

async function logIn(socket: net.Socket, reader: Reader, proxy: URL): Promise<void> {
  const methods = proxy.username ? [NO_LOGIN, PASSWORD] : [NO_LOGIN];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method] = await reader.take(2);
  if (version !== VERSION) throw new ProxyError(`the proxy ${proxy.host} does not speak SOCKS 5`, { refused: true });
  if (method === NO_LOGIN) return;
  if (method !== PASSWORD || !proxy.username) {
    const wish = method === NONE_ACCEPTABLE && proxy.username ? "another way to log in" : "a user name and a password";
    throw new ProxyError(`the proxy ${proxy.host} wants ${wish}`, { refused: true });
  }
  const [user, password] = [proxy.username, proxy.password].map((text) => Buffer.from(decodeURIComponent(text)));
  socket.write(Buffer.concat([Buffer.from([1]), counted(user as Buffer), counted(password as Buffer)]));
  const [, status] = await reader.take(2);
  if (status !== 0) {
    throw new ProxyError(`the proxy ${proxy.host} does not accept the user name and password`, { refused: true });
  }
}

async function connect(
  socket: net.Socket,
  reader: Reader,
  target: { host: string; port: number },
  proxy: URL,
): Promise<void> {
  const port = Buffer.from([target.port >> 8, target.port & 0xff]);
  socket.write(Buffer.concat([Buffer.from([VERSION, 1, 0]), addressOf(target.host), port]));
  const [, reply = 1, , type] = await reader.take(4);
  if (reply !== 0) {
    const said = REPLIES[reply] ?? `it answered ${reply}`;
    const message = `the proxy ${proxy.host} cannot connect to ${target.host}:${target.port}: ${said}`;
    throw new ProxyError(message, { refused: reply === 2 });
  }
  // Where the proxy's own end is: the client does not need it, but it has to be read away.
  const length = type === ADDRESS.ipv4 ? 4 : type === ADDRESS.ipv6 ? 16 : ((await reader.take(1))[0] ?? 0);
  await reader.take(length + 2);
}

function addressOf(host: string): Buffer {
  const family = net.isIP(host);
  if (family === 4) return Buffer.from([ADDRESS.ipv4, ...host.split(".").map(Number)]);
  if (family === 6) return Buffer.concat([Buffer.from([ADDRESS.ipv6]), ipv6Bytes(host)]);
  return Buffer.concat([Buffer.from([ADDRESS.name]), counted(Buffer.from(host))]);
}

/** The sixteen bytes of an address, whose longest run of zeros may be written as `::` and whose end as an IPv4 address. */
export function ipv6Bytes(address: string): Buffer {
  const [plain = ""] = address.split("%");
  const text = plain.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const pair = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
    return `${pair(a, b)}:${pair(c, d)}`;
  });
  const [head = "", tail] = text.split("::");
  const words = (part: string) => (part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16)));
  const [first, last] = [words(head), words(tail ?? "")];
  const zeros = tail === undefined ? [] : new Array<number>(8 - first.length - last.length).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [index, word] of [...first, ...zeros, ...last].entries()) bytes.writeUInt16BE(word, index * 2);
  return bytes;
}

/** A text with its length in front, which has one byte. */
function counted(text: Buffer): Buffer {
  if (text.length <= 255) return Buffer.concat([Buffer.from([text.length]), text]);
  throw new ProxyError("a SOCKS proxy takes no name and no password of more than 255 bytes", { refused: true });
}

/** Reads so many bytes at a time; what comes after the last ones belongs to the connection. */
class Reader {
  readonly #socket: net.Socket;
  #bytes = Buffer.alloc(0);
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on("data", this.#onData).on("error", this.#onEnd).on("close", this.#onEnd).on("end", this.#onEnd);
  }

  async take(length: number): Promise<Buffer> {
    while (this.#bytes.length < length) {
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  /** Leaves the socket to others, as if it had never been read. */
  release(): void {
    const socket = this.#socket.pause();
    socket.off("data", this.#onData).off("error", this.#onEnd).off("close", this.#onEnd).off("end", this.#onEnd);
    if (this.#bytes.length > 0) socket.unshift(this.#bytes);
  }

  readonly #onData = (chunk: Buffer) => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    this.#wake();
  };

  readonly #onEnd = (error?: Error | boolean) => {
    this.#failure ??= error instanceof Error ? error : new Error("it closed the connection");
    this.#wake();
  };
}
