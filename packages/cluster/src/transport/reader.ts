import type { ReadSession } from "../api/index.ts";
import type { WebSocketPeer } from "./websocket.ts";

/** As much of a stream as goes into one message. */
const CHUNK = 2_048;

/**
 * Sends a stream in the messages of a WebSocket, after an empty one that says that it begins. What the other side sends is
 * dropped. Resolves when the stream has ended, or the other side has gone.
 */
export async function serveReader(peer: WebSocketPeer, { start }: ReadSession, protocol: string): Promise<void> {
  const isText = protocol.startsWith("base64.");
  let sent: Promise<void> = Promise.resolve();
  const send = (bytes: Uint8Array) => {
    sent = peer.send(isText ? Buffer.from(bytes).toString("base64") : bytes);
  };
  send(new Uint8Array());
  let stop = () => {};
  const over = new Promise<void>((resolve) => {
    stop = start({
      write: (chunk) => {
        const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        for (let at = 0; at < bytes.length; at += CHUNK) send(bytes.subarray(at, at + CHUNK));
      },
      drained: () => sent,
      end: resolve,
      reset: resolve,
    });
  });
  await Promise.race([over, gone(peer)]);
  stop();
  peer.close();
}

/** Resolves when the other side says goodbye; its messages are let pass. */
async function gone(peer: WebSocketPeer): Promise<void> {
  for await (const _ of peer.messages());
}
