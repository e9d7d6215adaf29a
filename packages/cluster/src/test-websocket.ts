import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Socket } from "node:net";
import type { Cluster } from "./cluster.ts";

/** What came over a WebSocket: a message, or the code with which the server said goodbye. */
export interface Received {
  readonly opcode: number;
  readonly data: Buffer;
}

/** A client of our own for tests: what real clients never send can be sent with it. */
export interface TestSocket {
  readonly status: number;
  /** The answer's body when the server refused. */
  readonly text: string;
  readonly protocol: string | undefined;
  send(data: Uint8Array | string, options?: { readonly opcode?: number; readonly final?: boolean }): void;
  /** The next frame; rejects when the connection has ended. */
  next(): Promise<Received>;
  destroy(): void;
}

/** Opens a WebSocket to a cluster without TLS. */
export function openSocket(cluster: Cluster, path: string, protocols: readonly string[] = []): Promise<TestSocket> {
  return new Promise((resolve, reject) => {
    const upgrade = request({
      host: "127.0.0.1",
      port: cluster.port,
      path,
      headers: {
        authorization: `Bearer ${cluster.token}`,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        ...(protocols.length > 0 ? { "sec-websocket-protocol": protocols.join(", ") } : {}),
      },
    });
    upgrade.on("error", reject);
    upgrade.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ ...closed, status: response.statusCode ?? 0, text }));
    });
    upgrade.on("upgrade", (response, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      const protocol = response.headers["sec-websocket-protocol"];
      resolve({ status: 101, text: "", protocol, ...speak(socket as Socket) });
    });
    upgrade.end();
  });
}

const refuse = () => {
  throw new Error("the server did not open a WebSocket");
};
const closed = { protocol: undefined, send: refuse, next: refuse, destroy: () => {} };

function speak(socket: Socket): Pick<TestSocket, "send" | "next" | "destroy"> {
  let buffered: Buffer = Buffer.alloc(0);
  const frames: Received[] = [];
  const readers: { resolve: (frame: Received) => void; reject: (error: Error) => void }[] = [];
  let over = false;
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (let frame = take(); frame; frame = take()) {
      const reader = readers.shift();
      if (reader) reader.resolve(frame);
      else frames.push(frame);
    }
  });
  socket.on("close", () => {
    over = true;
    for (const { reject } of readers) reject(new Error("the connection has ended"));
  });
  const take = (): Received | undefined => {
    if (buffered.length < 2) return undefined;
    let length = (buffered[1] as number) & 0x7f;
    let at = 2;
    if (length === 126) [length, at] = [buffered.length < 4 ? Number.POSITIVE_INFINITY : buffered.readUInt16BE(2), 4];
    else if (length === 127) {
      [length, at] = [buffered.length < 10 ? Number.POSITIVE_INFINITY : Number(buffered.readBigUInt64BE(2)), 10];
    }
    if (buffered.length < at + length) return undefined;
    const frame = { opcode: (buffered[0] as number) & 0x0f, data: buffered.subarray(at, at + length) };
    buffered = buffered.subarray(at + length);
    return frame;
  };
  return {
    send: (data, { opcode = typeof data === "string" ? 1 : 2, final = true } = {}) => {
      const payload = Buffer.from(data);
      const mask = randomBytes(4);
      const header = payload.length < 126 ? Buffer.alloc(2) : Buffer.alloc(10);
      header[0] = (final ? 0x80 : 0) | opcode;
      header[1] = 0x80 | (payload.length < 126 ? payload.length : 127);
      if (payload.length >= 126) header.writeBigUInt64BE(BigInt(payload.length), 2);
      for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] as number) ^ (mask[i % 4] as number);
      socket.write(Buffer.concat([header, mask, payload]));
    },
    next: () =>
      new Promise((resolve, reject) => {
        const frame = frames.shift();
        if (frame) resolve(frame);
        else if (over) reject(new Error("the connection has ended"));
        else readers.push({ resolve, reject });
      }),
    destroy: () => socket.destroy(),
  };
}
