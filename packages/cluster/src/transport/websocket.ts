import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";

/**
 * The server's side of a WebSocket (RFC 6455), no more of it than the API needs. It is our own because clients offer
 * names of protocols (`SPDY/3.1+portforward.k8s.io`) that are no tokens, which strict libraries refuse.
 */

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const LARGEST_MESSAGE = 64 * 1_024 * 1_024;
/** How long the other side has to say goodbye. */
const CLOSE_WAIT_MS = 2_000;

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** What turns a request into a WebSocket; undefined when the request's key is missing or wrong. */
export function acceptKey(key: string | undefined, version: string | undefined): string | undefined {
  if (key === undefined || !/^[+/0-9A-Za-z]{22}==$/.test(key) || version !== "13") return undefined;
  return createHash("sha1")
    .update(key + GUID)
    .digest("base64");
}

interface Frame {
  readonly final: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
}

/** One WebSocket whose handshake is done. */
export class WebSocketPeer {
  readonly #socket: Duplex;
  #closing = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on("error", () => socket.destroy());
  }

  /** Messages in order; ends when the other side closes or breaks the rules. Reading slowly slows the sender down. */
  async *messages(): AsyncGenerator<Buffer> {
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const { final, opcode, payload } of readFrames(this.#socket)) {
        if (opcode === opcodes.close) break;
        if (opcode === opcodes.ping) void this.#send(opcodes.pong, payload);
        if (opcode >= opcodes.close) continue;
        parts.push(payload);
        size += payload.length;
        if (size > LARGEST_MESSAGE) break;
        if (!final) continue;
        yield Buffer.concat(parts.splice(0));
        size = 0;
      }
    } catch {
      // Whether the connection broke or the frames made no sense: nothing more will come.
    }
    this.close();
  }

  /** Sends one message; resolves when there is room for more. */
  send(data: Uint8Array | string): Promise<void> {
    if (this.#closing) return Promise.resolve();
    return typeof data === "string" ? this.#send(opcodes.text, Buffer.from(data)) : this.#send(opcodes.binary, data);
  }

  /** Says goodbye; what was sent before arrives. */
  close(code = 1_000): void {
    if (this.#closing) return;
    this.#closing = true;
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    void this.#send(opcodes.close, payload);
    this.#socket.end();
    // Half a goodbye is enough in the end: a client that keeps its side open must not keep ours.
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_WAIT_MS);
    this.#socket.once("close", () => clearTimeout(timer));
    this.#socket.resume();
  }

  #send(opcode: number, payload: Uint8Array): Promise<void> {
    return writeTo(this.#socket, [frameHeader(opcode, payload.length), payload]);
  }
}

/** Writes, and resolves when the stream wants more; a stream that is gone swallows everything. */
export function writeTo(socket: Duplex, chunks: readonly Uint8Array[]): Promise<void> {
  if (socket.destroyed || !socket.writable) return Promise.resolve();
  socket.cork();
  let room = true;
  for (const chunk of chunks) room = socket.write(chunk);
  socket.uncork();
  if (room) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      socket.off("drain", go);
      socket.off("close", go);
      resolve();
    };
    socket.on("drain", go);
    socket.on("close", go);
  });
}

function frameHeader(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  if (length < 65_536) {
    const header = Buffer.from([first, 126, 0, 0]);
    header.writeUInt16BE(length, 2);
    return header;
  }
  const header = Buffer.alloc(10);
  header[0] = first;
  header[1] = 127;
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}

async function* readFrames(socket: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let buffered: Buffer = Buffer.alloc(0);
  for await (const chunk of socket) {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    for (let found = parseFrame(buffered); found; found = parseFrame(buffered)) {
      yield found.frame;
      buffered = buffered.subarray(found.length);
    }
  }
}

/** The first frame of `bytes`, when all of it is there. */
function parseFrame(bytes: Buffer): { frame: Frame; length: number } | undefined {
  if (bytes.length < 2) return undefined;
  const [first, second] = bytes as unknown as [number, number];
  let at = 2;
  let length = second & 0x7f;
  if (length === 126) {
    if (bytes.length < 4) return undefined;
    length = bytes.readUInt16BE(2);
    at = 4;
  } else if (length === 127) {
    if (bytes.length < 10) return undefined;
    length = Number(bytes.readBigUInt64BE(2));
    at = 10;
  }
  if (length > LARGEST_MESSAGE) throw new Error("a frame is too large");
  if ((second & 0x80) === 0) throw new Error("frames of clients are masked");
  if (bytes.length < at + 4 + length) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + length));
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] as number) ^ (mask[i & 3] as number);
  return { frame: { final: (first & 0x80) !== 0, opcode: first & 0x0f, payload }, length: at + 4 + length };
}
